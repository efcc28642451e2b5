"""One metric on one side."""

import pytest

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
