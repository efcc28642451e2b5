"""Verdicts of a fleet from batch means of its hosts."""

import numpy as np
import pytest

from leapprof.assess.fleet import fleet
from leapprof.assess.fleet_hosts import DRIVES, host_difference
from leapprof.model import BatchMeans, Grade, Verdict


def _batches(mean, rng, spread=0.05, count=24, batch_s=600.0):
    return BatchMeans(
        start_s=np.arange(count) * batch_s,
        batch_s=batch_s,
        mean=np.maximum(mean * (1 + spread * rng.normal(size=count)), 0),
        covered_s=np.full(count, batch_s),
    )


def _hosts(count, before, after, *, metric="host.cpu_percent", is_control=False, seed=1, odd=None):
    rng = np.random.default_rng(seed)
    for number in range(count):
        there = odd if odd is not None and number == 0 else after
        yield host_difference(
            f"{'c' if is_control else 'h'}{number}",
            metric,
            _batches(before, rng),
            _batches(there, rng),
            is_control=is_control,
        )


def _verdict(hosts):
    (found,) = fleet(hosts).verdicts
    return found


def test_a_change_on_every_host_is_a_verdict():
    """60 % to 48 % of CPU on ten hosts."""
    found = _verdict(_hosts(10, 60, 48))
    assert found.verdict is Verdict.IMPROVED
    assert found.ci95.low < -12 < found.ci95.high


def test_no_change_is_unchanged_and_more_writes_are_regressed():
    """The direction comes from the metric table."""
    assert _verdict(_hosts(10, 60, 60)).verdict is Verdict.UNCHANGED
    assert _verdict(_hosts(10, 1e6, 3e6, metric=DRIVES)).verdict is Verdict.REGRESSED


def test_what_happened_to_the_controls_too_is_not_the_change():
    """All hosts rose by 10 points: the changed ones did not change."""
    hosts = [*_hosts(12, 50, 60), *_hosts(12, 50, 60, is_control=True, seed=2)]
    found = _verdict(hosts)
    assert found.changed.mean == pytest.approx(10, abs=1)
    assert abs(found.value) < 1.5
    assert found.verdict in {Verdict.UNCHANGED, Verdict.INCONCLUSIVE}


def test_the_host_that_went_another_way_is_named():
    """Nine fell, one rose."""
    whole = fleet(_hosts(10, 60, 48, odd=75))
    assert whole.verdicts[0].changed.outliers == ("h0",)
    assert "hosts-stand-out" in {f.code for f in whole.findings}


def test_one_host_gives_no_verdict():
    """Its difference is shown all the same."""
    whole = fleet(_hosts(1, 60, 30))
    assert whole.verdicts[0].verdict is Verdict.INCONCLUSIVE
    assert whole.hosts[0].effect.value == pytest.approx(-30, abs=3)


def test_too_few_batches_are_no_host():
    """Two days say nothing about days."""
    rng = np.random.default_rng(1)
    short = _batches(1.0, rng, count=2)
    assert host_difference("h", "host.cpu_percent", short, short, is_control=False) is None


def test_a_server_s_windows_have_a_grade_too():
    """Of an hour each side's interval is longer, and what all hosts say is preliminary; so it is at other hours."""

    def of(**choices):
        rng = np.random.default_rng(3)
        batch_s = choices.pop("batch_s", 600.0)
        sides = [_batches(mean, rng, batch_s=batch_s) for mean in (60, 50)]
        return host_difference("h", "host.cpu_percent", *sides, is_control=False, **choices)

    hour = of(batch_s=150.0)
    assert (of().grade, hour.grade, of(other_hours=True).grade) == (Grade.FULL, *[Grade.PRELIMINARY] * 2)
    assert hour.before.widening == 2.0
    assert hour.standard_error == pytest.approx(2 * of().standard_error)
    assert _verdict([hour, hour]).grade is Grade.PRELIMINARY


def test_metrics_are_adjusted_together():
    """Holm over the metrics of the fleet."""
    hosts = [*_hosts(5, 60, 59.5), *_hosts(5, 1e6, 9.9e5, metric=DRIVES, seed=5)]
    for verdict in fleet(hosts).verdicts:
        assert verdict.p_adjusted >= verdict.p_value
