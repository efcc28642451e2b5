"""The quantiles of a comparison."""

from dataclasses import replace

from leapprof.model import Interval
from leapprof.report.quantile_rows import QUANTILE_HEADS, quantile_rows
from tests.support.comparisons import sample


def test_each_side_of_a_headline_metric_is_a_line():
    """With its interval where it has one."""
    comparison = sample()
    (metric,) = [m for m in comparison.metrics if m.name == "nodeos.cpu_cores"]
    known = replace(metric, before=replace(metric.before, p95_ci95=Interval(low=0.04, high=0.05)))
    lines = quantile_rows(replace(comparison, metrics=(known,)))
    assert [line[2] for line in lines] == ["before", "after"]
    assert all(len(line) == len(QUANTILE_HEADS) for line in lines)
    assert "(0.0400 to 0.0500" in lines[0][4].replace("\u00a0", " ")
    assert "(" not in lines[1][4]


def test_what_never_moved_or_is_no_headline_has_none():
    """A constant has one value."""
    comparison = sample()
    (metric,) = [m for m in comparison.metrics if m.name == "nodeos.cpu_cores"]
    still = {
        side: replace(getattr(metric, side), mean=1.0, p50=1.0, p95=1.0, p99=1.0)
        for side in ("before", "after")
    }
    assert quantile_rows(replace(comparison, metrics=(replace(metric, **still),))) == ()
    assert quantile_rows(replace(comparison, metrics=(replace(metric, headline=False),))) == ()
