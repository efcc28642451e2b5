"""The quantiles of the headline metrics on both sides, as strings."""

from collections.abc import Iterator

from leapprof.model import Comparison, Estimate, MetricComparison
from leapprof.report import text
from leapprof.report.labels import metric_label, subject_label

QUANTILE_HEADS = ("metric", "subject", "side", "median", "95th percentile", "99th percentile")


def quantile_rows(comparison: Comparison) -> tuple[tuple[str, ...], ...]:
    """Return a line a side of each headline metric that never stayed the same; in brackets the 95 % interval."""
    return tuple(line for metric in comparison.metrics if metric.headline for line in _lines(metric))


def _lines(metric: MetricComparison) -> Iterator[tuple[str, ...]]:
    if all(side is None or side.p50 == side.p99 == side.mean for side in (metric.before, metric.after)):
        return
    for name, side in (("before", metric.before), ("after", metric.after)):
        if side is not None and side.p50 is not None:
            about = (metric_label(metric.name), subject_label(metric.subject), name)
            yield (*map(text.clean, about), *_quantiles(side, metric.unit))


def _quantiles(side: Estimate, unit: str) -> Iterator[str]:
    for value, interval in ((side.p50, side.p50_ci95), (side.p95, side.p95_ci95), (side.p99, side.p99_ci95)):
        yield text.value_text(value, unit) + text.bracketed(text.interval_text(interval, unit))
