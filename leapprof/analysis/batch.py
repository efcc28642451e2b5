"""Means over equal stretches of time: the one door through which 1 Hz data and a server's means enter.

A batch is a whole number of minutes, because the kernel writes back dirty pages every 5 and 30 s: batches
cut across that pattern make their means look anticorrelated and hide the slow part. Between 20 and 39
batches are made of a window; from three whole days on the day is the independent unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.model import BatchMeans, Series
from leapprof.units import DAY_S

MINUTE_S = 60
FEWEST_BATCHES = 20
WHOLE_DAYS = 3
LEAST_COVERED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A stretch of time on the host's CLOCK_BOOTTIME, seconds."""

    start_s: float
    end_s: float

    @property
    def duration_s(self) -> float:
        """Return its length in seconds."""
        return self.end_s - self.start_s


def batch_length_s(duration_s: float) -> float | None:
    """Return the length of a batch for a window: whole minutes, or a day; None when under 20 minutes."""
    if duration_s >= WHOLE_DAYS * DAY_S:
        return float(DAY_S)
    minutes = int((duration_s + 1e-6) // (MINUTE_S * FEWEST_BATCHES))
    return float(MINUTE_S * minutes) if minutes else None


def rows_within(time_s: NDArray[np.float64], span: Span) -> slice:
    """Return which intervals, of which each moment is the end, end inside a span."""
    low, high = np.searchsorted(time_s, [span.start_s, span.end_s], side="right")
    return slice(int(low), int(high))


def within(series: Series, span: Span) -> Series:
    """Return the part of a series whose intervals end inside a span (a view, nothing is copied)."""
    part = rows_within(series.time_s, span)
    return Series(
        time_s=series.time_s[part],
        value=series.value[part],
        weight_s=series.weight_s[part],
        non_negative=series.non_negative,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weighed:
    """Samples made ready for means over several lengths: a week's arrays cost more to get than to add up.

    Attributes:
        series: the metric.
        total: (n+1,) values times seconds, 0 where there is no sample; the last place is free.
        covered_s: (n+1,) seconds, likewise.
    """

    series: Series
    total: NDArray[np.float64]
    covered_s: NDArray[np.float64]


def weighed(series: Series) -> Weighed:
    """Return samples made ready for ``batch_means``."""
    n = series.value.size
    total, covered = np.empty(n + 1), np.empty(n + 1)
    np.multiply(series.value, series.weight_s, out=total[:n])
    covered[:n] = series.weight_s
    gone = ~np.isfinite(series.value)
    if gone.any():
        total[:n][gone] = 0.0
        covered[:n][gone] = 0.0
    return Weighed(series=series, total=total, covered_s=covered)


def batch_means(samples: Series | Weighed, span: Span, batch_s: float) -> BatchMeans:
    """Return time-weighted means over equal batches that end with the window.

    Args:
        samples: of the metric; weighed where they are asked for several times.
        span: the window; what is left over at its start is not used.
        batch_s: length of a batch, seconds.

    Returns:
        The batches of which at least half is covered.
    """
    ready = samples if isinstance(samples, Weighed) else weighed(samples)
    series = ready.series
    count = int((span.duration_s + 1e-6) // batch_s)
    start_s = span.end_s - count * batch_s
    starts = start_s + batch_s * np.arange(count + 1, dtype=np.float64)
    edges = _first_after(series, starts)
    total, covered = _sums(ready.total, edges), _sums(ready.covered_s, edges)
    return _kept(starts[:-1], batch_s, total, covered, non_negative=series.non_negative)


def batch_shares(
    series: Series, batches: BatchMeans, limits: Sequence[float]
) -> tuple[NDArray[np.float64], ...]:
    """Return for each limit (k,) shares of the samples of each batch that are at or below it.

    Args:
        series: within the window that the batches were made of.
        batches: its batch means.
        limits: in the unit of the series.
    """
    first, end = (
        _first_after(series, moments) for moments in (batches.start_s, batches.start_s + batches.batch_s)
    )
    known = _counts(np.isfinite(series.value), first, end)
    return tuple(_counts(series.value <= limit, first, end) / known for limit in limits)


def _counts(flags: NDArray[np.bool_], first: NDArray[np.intp], end: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how many flags are set from each first to before each end."""
    return np.array(
        [np.count_nonzero(flags[a:b]) for a, b in zip(first.tolist(), end.tolist(), strict=True)], dtype=float
    )


def _first_after(series: Series, moments: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the first sample whose interval's middle is not before each moment."""
    at = np.searchsorted(series.time_s, moments - 1e-9, side="left")
    while True:
        inside = np.minimum(at, series.time_s.size - 1)
        early = at < series.time_s.size
        if series.time_s.size:
            early &= series.time_s[inside] - series.weight_s[inside] / 2 < moments - 1e-9
        if not early.any():
            return at
        at = at + early


def _sums(values: NDArray[np.float64], edges: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the sums between neighbouring edges, 0 for an empty stretch."""
    if edges.size < 2:
        return np.zeros(0)
    last, kept = edges[-1], values[edges[-1]]
    values[last] = 0.0  # where an empty last stretch begins
    sums = np.add.reduceat(values[: last + 1], edges[:-1])
    values[last] = kept
    return np.where(edges[1:] > edges[:-1], sums, 0.0)


def merge(batches: BatchMeans, batch_s: float) -> BatchMeans:
    """Return a server's means (say of one minute) as means over longer batches, as batch_means does."""
    if batches.start_s.size == 0:
        return batches
    end_s = float(batches.start_s[-1]) + batches.batch_s
    series = Series(
        time_s=batches.start_s + batches.batch_s,
        value=batches.mean,
        weight_s=batches.covered_s,
        non_negative=batches.non_negative,
    )
    return batch_means(series, Span(start_s=float(batches.start_s[0]), end_s=end_s), batch_s)


def _kept(
    start_s: NDArray[np.float64],
    batch_s: float,
    total: NDArray[np.float64],
    covered: NDArray[np.float64],
    *,
    non_negative: bool,
) -> BatchMeans:
    """Return the batches that are covered enough."""
    keep = covered >= LEAST_COVERED * batch_s * (1 - 1e-9)
    return BatchMeans(
        start_s=start_s[keep],
        batch_s=batch_s,
        mean=total[keep] / covered[keep],
        covered_s=np.minimum(covered[keep], batch_s),
        non_negative=non_negative,
    )
