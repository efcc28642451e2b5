"""One metric on one side."""

from dataclasses import replace

import numpy as np
import pytest

from leapprof.assess.compute import BUSY, BUSY_MAYBE, CPU_COLUMNS
from leapprof.assess.measure import measure, reading_of
from leapprof.assess.metrics import spec_of
from leapprof.assess.samples import read_samples
from leapprof.assess.sides import WindowChoice, cut_side
from tests.support.recordings import counter, made
from tests.support.sample_comparisons import FOLDERS, comparison


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_interval_leaves_what_can_be(folder):
    """A share is at most 100 %, and what cannot be negative is not; the mean is always inside."""
    for metric in comparison(folder).metrics:
        for side in (metric.before, metric.after):
            if side is None or side.ci95 is None:
                continue
            assert side.ci95.low <= side.mean <= side.ci95.high
            assert metric.unit != "percent" or side.ci95.high <= 100.0
            assert metric.name == "chain.head_lag_s" or side.ci95.low >= 0.0


def test_cpu_share_is_the_ratio_of_the_sums_of_ticks():
    """A busy host reads its counters late: intervals of one second hold from 400 to 1,200 ticks."""
    base = made(seconds=3600)
    late = 400 + 400 * np.arange(3600) % 1200 + np.linspace(0, 80, 3600)
    host = base.tables["host"]
    ticks = {"cpu_user_ticks_total": counter((late > 900) * 700.0), "cpu_idle_ticks_total": counter(late)}
    recording = replace(base, tables=base.tables | {"host": replace(host, integers=host.integers | ticks)})
    side = cut_side(recording, "before", WindowChoice(from_s=600))
    samples = read_samples(side.tables, "host", CPU_COLUMNS)
    found = measure(spec_of("host.cpu_percent"), reading_of(side, samples)).estimate
    first = int(np.searchsorted(samples.time_s, side.span.start_s))
    grown = {
        name: float(samples.columns[name].values[-1] - samples.columns[name].values[first])
        for name in CPU_COLUMNS
    }
    busy = sum(grown[name] for name in (*BUSY, *BUSY_MAYBE))
    assert found.mean == pytest.approx(100 * busy / sum(grown.values()))
    assert found.covered_seconds == pytest.approx(2999), "seconds stay those of the clock"
