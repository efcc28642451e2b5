"""Raw counters and gauges to series of rates and levels.

A counter that went down (reboot, replugged drive, restarted process) starts a new segment: what was
counted in between is unknown, so the interval is a gap and the total a lower bound. It is never clamped
to 0 and never taken for a 32-bit wrap. A counter that went on during a gap in the samples has counted
the gap: its total keeps those bytes, although no rate is drawn there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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


def usual_interval_s(time_s: NDArray[np.float64]) -> float:
    """Return the median distance of samples in seconds; NaN with fewer than two."""
    return float(np.median(np.diff(time_s))) if time_s.size > 1 else float("nan")


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
    value = np.full(time_s.size, np.nan)
    weight = np.zeros(time_s.size)
    at = np.flatnonzero(column.present)
    if at.size < 2:
        return Series(time_s=time_s, value=value, weight_s=weight)
    amount, elapsed, whole = _differences(time_s, column, breaks, at)
    limit = GAP_FACTOR * float(np.median(elapsed))
    good = whole & (elapsed > 0) & (elapsed <= limit)
    to = at[1:][good]
    value[to] = amount[good] / elapsed[good]
    weight[to] = elapsed[good]
    return Series(time_s=time_s, value=value, weight_s=weight)


def counter_total(
    time_s: NDArray[np.float64], column: Column, breaks: NDArray[np.bool_] | None = None
) -> CounterTotal | None:
    """Return what a counter counted from first to last reading, gaps included; None below two readings."""
    at = np.flatnonzero(column.present)
    if at.size < 2:
        return None
    amount, elapsed, whole = _differences(time_s, column, breaks, at)
    whole &= elapsed > 0
    if not whole.any():
        return None
    return CounterTotal(
        amount=float(amount[whole].sum()),
        duration_s=float(elapsed[whole].sum()),
        lower_bound=bool((~whole).any()),
    )


def gauge(time_s: NDArray[np.float64], column: Column, *, scale: float = 1.0) -> Series:
    """Return a level as a series; each reading stands for the time since the one before."""
    return level(time_s, np.where(column.present, column.values * scale, np.nan))


def level(time_s: NDArray[np.float64], value: NDArray[np.float64], *, non_negative: bool = True) -> Series:
    """Return a derived level as a series.

    Args:
        time_s: (n,) float64, seconds, increasing.
        value: (n,) float64, NaN where not known.
        non_negative: the level cannot be below 0.
    """
    weight = np.zeros(time_s.size)
    known = np.flatnonzero(np.isfinite(value))
    if known.size:
        usual = usual_interval_s(time_s[known]) if known.size > 1 else 1.0
        elapsed = np.diff(time_s[known], prepend=time_s[known[0]] - usual)
        weight[known] = np.where((elapsed > GAP_FACTOR * usual) | (elapsed <= 0), usual, elapsed)
    return Series(time_s=time_s, value=value, weight_s=weight, non_negative=non_negative)


def _differences(
    time_s: NDArray[np.float64], column: Column, breaks: NDArray[np.bool_] | None, at: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.bool_]]:
    """Return amounts and seconds between present readings, and which of them lie within one segment."""
    values = column.values[at]
    whole = values[1:] >= values[:-1]  # compared, not subtracted: a difference may overflow
    with np.errstate(over="ignore"):
        amount = np.diff(values)
    whole &= amount >= 0
    elapsed = np.diff(time_s[at])
    if breaks is not None:
        number = np.cumsum(breaks)[at]
        whole &= number[1:] == number[:-1]
    return amount, elapsed, whole
