"""Raw counters and gauges to series of rates and levels.

A counter that went down (reboot, replugged drive, restarted process) starts a new segment: what was
counted in between is unknown, so the interval is a gap and the total a lower bound. It is never clamped
to 0 and never taken for a 32-bit wrap. A counter that went on during a gap in the samples has counted
the gap: its total keeps those bytes, although no rate is drawn there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.quantiles import median
from leapprof.model import Column, Series

GAP_FACTOR = 3.0
"""An interval longer than this many usual ones is a gap: nothing is drawn across it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterTotal:
    """What a counter counted within a window.

    Attributes:
        amount: the sum of its segments, in the counter's unit.
        duration_s: seconds that the segments span, gaps in the samples included.
        lower_bound: the counter was reset in between, so at least this much.
    """

    amount: float
    duration_s: float
    lower_bound: bool

    @property
    def per_s(self) -> float | None:
        """Return the mean rate, or None without duration."""
        return self.amount / self.duration_s if self.duration_s > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Timeline:
    """The times of one subject's samples, and what all its columns share.

    Attributes:
        time_s: (n,) float64, seconds, increasing.
        breaks: (n,) bool, True where a new identity begins; None: nowhere.
        elapsed_s: (n-1,) between neighbouring samples.
        usual_s: their median; NaN with fewer than two samples.
        good: (n-1,) bool: an interval of one identity that is no gap.
        weight_s: (n,) of a rate that is known wherever it can be.
    """

    time_s: NDArray[np.float64]
    breaks: NDArray[np.bool_] | None
    elapsed_s: NDArray[np.float64]
    usual_s: float
    good: NDArray[np.bool_]
    weight_s: NDArray[np.float64]


def timeline(time_s: NDArray[np.float64], breaks: NDArray[np.bool_] | None = None) -> Timeline:
    """Return what the columns of one subject share.

    Args:
        time_s: (n,) float64, seconds, increasing within an identity.
        breaks: (n,) bool, True where a new identity begins.
    """
    elapsed = np.diff(time_s)
    usual = median(elapsed) if elapsed.size else float("nan")
    good = (elapsed > 0) & (elapsed <= GAP_FACTOR * usual)
    if breaks is not None:
        good &= ~breaks[1:]
    weight = np.zeros(time_s.size)
    weight[1:] = np.where(good, elapsed, 0.0)
    return Timeline(
        time_s=time_s, breaks=breaks, elapsed_s=elapsed, usual_s=usual, good=good, weight_s=weight
    )


def counter_rate(
    time_s: NDArray[np.float64], column: Column, breaks: NDArray[np.bool_] | None = None
) -> Series:
    """Return the rate per second of a counter, on the samples' own times.

    Args:
        time_s: (n,) float64, CLOCK_BOOTTIME in seconds, increasing within a boot.
        column: the counter, (n,).
        breaks: (n,) bool, True where a new identity begins (another boot, process or drive): no difference
            is taken across it.

    Returns:
        A series of n values: NaN (weight 0) at absent readings, at starts of segments and after gaps.
    """
    return rate_on(timeline(time_s, breaks), column)


def rate_on(times: Timeline, column: Column, *, scale: float = 1.0) -> Series:
    """Return the rate of a counter times a factor; see counter_rate."""
    if not column.present.all():
        return _rate_with_holes(times, column, scale)
    value = np.empty(times.time_s.size)
    value[:1] = np.nan
    rate = value[1:]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        amount = np.diff(column.values)
        np.divide(amount, times.elapsed_s, out=rate)
    rate *= scale
    good = amount >= 0
    good &= times.good
    weight = times.weight_s
    if not good.all():
        rate[~good] = np.nan
        weight = np.where(np.isfinite(value), times.weight_s, 0.0)
    return Series(time_s=times.time_s, value=value, weight_s=weight)


def counter_total(
    time_s: NDArray[np.float64], column: Column, breaks: NDArray[np.bool_] | None = None
) -> CounterTotal | None:
    """Return what a counter counted from first to last reading, gaps included; None below two readings."""
    at = np.flatnonzero(column.present)
    if at.size < 2:
        return None
    values, times = (column.values, time_s) if at.size == time_s.size else (column.values[at], time_s[at])
    whole = _within_segments(values, breaks, at)
    if whole.all() and times[-1] > times[0]:
        amount = float(values[-1]) - float(values[0]) if values[-1] > 2**53 else float(values[-1] - values[0])
        return CounterTotal(amount=amount, duration_s=float(times[-1] - times[0]), lower_bound=False)
    elapsed = np.diff(times)
    whole &= elapsed > 0
    if not whole.any():
        return None
    with np.errstate(over="ignore"):
        steps = np.diff(values)
    return CounterTotal(
        amount=float(steps[whole].sum(dtype=np.float64)),
        duration_s=float(elapsed[whole].sum()),
        lower_bound=True,
    )


def gauge(time_s: NDArray[np.float64], column: Column, *, scale: float = 1.0) -> Series:
    """Return a level as a series; each reading stands for the time since the one before."""
    return level_on(timeline(time_s), level_values(column, scale))


def level(time_s: NDArray[np.float64], value: NDArray[np.float64], *, non_negative: bool = True) -> Series:
    """Return a derived level as a series.

    Args:
        time_s: (n,) float64, seconds, increasing.
        value: (n,) float64, NaN where not known.
        non_negative: the level cannot be below 0.
    """
    return level_on(timeline(time_s), value, non_negative=non_negative)


def level_values(column: Column, scale: float = 1.0) -> NDArray[np.float64]:
    """Return (n,) float64 readings times a factor, NaN where absent."""
    value = column.values.astype(np.float64)
    value *= scale
    if not column.present.all():
        value[~column.present] = np.nan
    return value


def level_on(times: Timeline, value: NDArray[np.float64], *, non_negative: bool = True) -> Series:
    """Return a derived level on known times; see level."""
    known = np.isfinite(value)
    if known.all() and times.good.size:
        weight = np.where(times.weight_s > 0, times.weight_s, times.usual_s)
    else:
        weight = _weight_with_holes(times.time_s, np.flatnonzero(known))
    return Series(time_s=times.time_s, value=value, weight_s=weight, non_negative=non_negative)


def _weight_with_holes(time_s: NDArray[np.float64], at: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return the seconds that each of some readings stands for."""
    weight = np.zeros(time_s.size)
    if at.size:
        elapsed = np.diff(time_s[at])
        usual = median(elapsed) if elapsed.size else 1.0
        steps = np.concatenate([[usual], elapsed])
        weight[at] = np.where((steps > GAP_FACTOR * usual) | (steps <= 0), usual, steps)
    return weight


def _rate_with_holes(times: Timeline, column: Column, scale: float) -> Series:
    """Return the rate between the readings that are there, however far apart they usually are."""
    value, weight = np.full(times.time_s.size, np.nan), np.zeros(times.time_s.size)
    at = np.flatnonzero(column.present)
    if at.size >= 2:
        values = column.values[at]
        elapsed = np.diff(times.time_s[at])
        good = _within_segments(values, times.breaks, at) & (elapsed > 0)
        good &= elapsed <= GAP_FACTOR * median(elapsed)
        with np.errstate(over="ignore"):
            amount = np.diff(values)
        value[at[1:][good]] = scale * amount[good] / elapsed[good]
        weight[at[1:][good]] = elapsed[good]
    return Series(time_s=times.time_s, value=value, weight_s=weight)


def _within_segments(
    values: NDArray[np.int64], breaks: NDArray[np.bool_] | None, at: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return for neighbouring readings whether the counter went on between them."""
    whole = np.asarray(values[1:] >= values[:-1])
    if breaks is not None and breaks.any():
        number = np.cumsum(breaks)[at]
        whole &= number[1:] == number[:-1]
    return whole
