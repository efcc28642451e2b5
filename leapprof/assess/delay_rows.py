"""The blocks of one operation's delays in a window → its quantiles, each with an interval over blocks of time.

A quantile is that of the merged histograms, so it is the quantile of its requests and no mean of quantiles. Its
interval is Woodruff's (1952): batch means of the share of requests at or below it, turned back through the merged
histogram. Blocks with more requests weigh more (linearised ratio). There is none in a window that is too short for how
long the delays beyond it remember (analysis/wandering.py).
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.allowance import ROUNDING
from leapprof.analysis.batch import WHOLE_DAYS, Span, batch_length_s, batch_means
from leapprof.analysis.estimate import CONFIDENCE, lag1, standard_error, t_quantile
from leapprof.analysis.log_linear import Buckets, LogLinear
from leapprof.analysis.wandering import memory_steps, needed_s
from leapprof.model import BatchMeans, Estimate, Interval, Series
from leapprof.units import DAY_S, NS_PER_S

_FEWEST_BATCHES = 20
_MEDIAN = 0.5
"""Beyond a high quantile lie too few delays of a block to tell for how long their level remembers; here do not."""
_UNDER_DAYS_S = WHOLE_DAYS * DAY_S - 1.0
"""Whole days would be fewer batches than the interval asks for; what the hour does is a memory like another."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DelayRows:
    """The blocks of one operation within a window, (n,) each.

    Attributes:
        time_s: end of each block.
        weight_s: its length.
        histograms: of its delays.
        errors: its failed attempts.
        columns: name of a quantile → seconds, NaN where nothing succeeded.
        buckets: of the histograms: fine ones, or those of a service.
    """

    time_s: NDArray[np.float64]
    weight_s: NDArray[np.float64]
    histograms: tuple[LogLinear, ...]
    errors: NDArray[np.int64]
    columns: dict[str, NDArray[np.float64]]
    buckets: Buckets

    @property
    def counts(self) -> NDArray[np.float64]:
        """Return (n,) values of each block."""
        return np.array([h.total for h in self.histograms], dtype=np.float64)

    def series(self, value: NDArray[np.float64]) -> Series:
        """Return (n,) values of the blocks over time; NaN has no weight."""
        weight = np.where(np.isfinite(value), self.weight_s, 0.0)
        return Series(time_s=self.time_s, value=value, weight_s=weight)


def delay_batches(series: Series, span: Span, longest_s: float = math.inf) -> BatchMeans | None:
    """Return batch means of blocks; None when the window is under 20 minutes.

    Args:
        series: values of the blocks.
        span: the window.
        longest_s: window by which the length of a batch is chosen at most.
    """
    usual_s = float(np.median(series.weight_s)) if series.weight_s.size else 0.0
    length_s = batch_length_s(min(span.duration_s + usual_s, longest_s))
    return batch_means(series, span, length_s) if length_s else None


def plain_estimate(rows: DelayRows, whole: LogLinear, mean: float) -> Estimate:
    """Return an estimate without an interval."""
    p50, p95, p99 = (_of(rows, whole, q) for q in (0.5, 0.95, 0.99))
    return Estimate(
        mean=mean, ci95=None, p50=p50, p95=p95, p99=p99, samples=whole.total,
        effective_samples=None, covered_seconds=float(rows.weight_s.sum()),
    )  # fmt: skip


def _of(rows: DelayRows, whole: LogLinear, probability: float) -> float:
    """Return a quantile of a histogram with values, seconds."""
    found = rows.buckets.quantile(whole, probability)
    assert found is not None
    return found / NS_PER_S


def quantile_estimate(p: float, rows: DelayRows, whole: LogLinear, span: Span) -> Estimate:
    """Return a quantile with its interval, or how much longer it would take for one that holds.

    Args:
        p: probability of the quantile.
        rows: the blocks of a window.
        whole: all their delays together; at least one.
        span: the window.
    """
    plain = plain_estimate(rows, whole, _of(rows, whole, p))
    up_to = _up_to(p, rows, whole)
    share = float(up_to.sum() / whole.total)
    linear = share + (up_to - share * rows.counts) / rows.counts.mean()
    batches = delay_batches(rows.series(linear), span, _UNDER_DAYS_S)
    if batches is None or batches.mean.size < _FEWEST_BATCHES:
        return plain
    needed = needed_s(p, max(_memory_s(rows, up_to), _memory_s(rows, _up_to(_MEDIAN, rows, whole))))
    if needed > plain.covered_seconds * ROUNDING:
        return replace(plain, needed_seconds=needed)
    se = standard_error(batches.mean)
    t = t_quantile(0.5 + CONFIDENCE / 2, batches.mean.size - 1)
    low, high = _bounds(rows.buckets, whole, max(p - t * se, 0.0), p + t * se)
    if high is None:
        longer = (t * se / (1 - p)) ** 2  # an interval shrinks with the root of time
        return replace(plain, needed_seconds=plain.covered_seconds * longer if longer > 1 else None)
    return replace(
        plain,
        ci95=Interval(low=min(low, plain.mean), high=max(high, plain.mean)),
        effective_samples=min(float(whole.total), p * (1 - p) / se**2) if se > 0 else float(whole.total),
        standard_error=(high - low) / (2 * t),
        degrees_of_freedom=int(batches.mean.size - 1),
        lag1=lag1(batches.mean),
        batches=int(batches.mean.size),
    )


def _up_to(p: float, rows: DelayRows, whole: LogLinear) -> NDArray[np.float64]:
    """Return (n,) how many delays of each block are at or below a quantile of all."""
    bucket = whole.quantile_bucket(p)
    assert bucket is not None
    return np.array([h.count_up_to(bucket) for h in rows.histograms], dtype=np.float64)


def _memory_s(rows: DelayRows, up_to: NDArray[np.float64]) -> float:
    """Return for how long blocks remember what share of their delays is at or below a quantile."""
    some = rows.counts > 0
    return memory_steps(up_to[some] / rows.counts[some]) * float(np.median(rows.weight_s))


def _bounds(buckets: Buckets, whole: LogLinear, low: float, high: float) -> tuple[float, float | None]:
    """Return the outer edges of the buckets of two quantiles, seconds; no upper one from probability 1 on."""
    lowest, highest = whole.quantile_bucket(low), whole.quantile_bucket(min(high, 1.0))
    assert lowest is not None
    assert highest is not None
    upper = buckets.edges(highest)[1]
    return (
        buckets.edges(lowest)[0] / NS_PER_S,
        None if high >= 1 or upper is None else upper / NS_PER_S,
    )
