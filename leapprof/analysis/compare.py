"""Two estimates of one metric: difference, ratio, and p values adjusted for many metrics.

Difference and ratio by MOVER (Zou and Donner 2008) on the one-sided distances of both intervals; p by
Welch's t on the adjusted standard errors; Holm (1979) over the metrics that the headline speaks of.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.estimate import t_two_sided
from leapprof.model import Effect, Estimate, Interval

NORMAL_975 = 1.959964
ROUNDING_ERROR = 1e-12
"""Means that differ by this share are one: what is left over of sums of a week."""


def difference(before: Estimate, after: Estimate) -> Effect:
    """Return after minus before; the interval is None when either side has none."""
    value = after.mean - before.mean
    if before.ci95 is None or after.ci95 is None:
        return Effect(value=value, ci95=None)
    low = value - math.hypot(after.mean - after.ci95.low, before.ci95.high - before.mean)
    high = value + math.hypot(after.ci95.high - after.mean, before.mean - before.ci95.low)
    return Effect(value=value, ci95=Interval(low=low, high=high))


def ratio(before: Estimate, after: Estimate) -> Effect | None:
    """Return after divided by before; None unless both means are above 0."""
    if before.mean <= 0 or after.mean <= 0:
        return None
    return ratio_of(Effect(value=before.mean, ci95=before.ci95), Effect(value=after.mean, ci95=after.ci95))


def ratio_of(before: Effect, after: Effect) -> Effect:
    """Return after divided by before, both above 0; the interval is None when either side has none."""
    value = after.value / before.value
    if before.ci95 is None or after.ci95 is None:
        return Effect(value=value, ci95=None)
    down = math.hypot(_log(after.value) - _log(after.ci95.low), _log(before.ci95.high) - _log(before.value))
    up = math.hypot(_log(after.ci95.high) - _log(after.value), _log(before.value) - _log(before.ci95.low))
    return Effect(value=value, ci95=Interval(low=_exp(_log(value) - down), high=_exp(_log(value) + up)))


def p_value(before: Estimate, after: Estimate) -> float | None:
    """Return Welch's two-sided p for no difference; None when either side has no standard error."""
    if before.standard_error is None or after.standard_error is None:
        return None
    difference_of_means = after.mean - before.mean
    if abs(difference_of_means) <= ROUNDING_ERROR * max(abs(before.mean), abs(after.mean)):
        return 1.0
    first, second = before.standard_error**2, after.standard_error**2
    variance = first + second
    if variance <= 0:
        return 0.0
    parts = first**2 / (before.degrees_of_freedom or 1) + second**2 / (after.degrees_of_freedom or 1)
    freedom = variance**2 / parts if parts > 0 else 1.0
    return t_two_sided(difference_of_means / math.sqrt(variance), freedom)


def p_of_effect(effect: Effect) -> float | None:
    """Return the two-sided p for no effect that a 95 % interval implies; None without one."""
    from scipy.special import ndtr

    if effect.ci95 is None:
        return None
    arm = effect.value - effect.ci95.low if effect.value > 0 else effect.ci95.high - effect.value
    if arm <= 0:
        return 1.0 if effect.value == 0 else 0.0
    return float(2 * ndtr(-NORMAL_975 * abs(effect.value) / arm))


def less(first: Effect, second: Effect) -> Effect:
    """Return the difference of two effects that are independent of each other (MOVER)."""
    value = first.value - second.value
    if first.ci95 is None or second.ci95 is None:
        return Effect(value=value, ci95=None)
    down = math.hypot(first.value - first.ci95.low, second.ci95.high - second.value)
    up = math.hypot(first.ci95.high - first.value, second.value - second.ci95.low)
    return Effect(value=value, ci95=Interval(low=value - down, high=value + up))


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return p values adjusted so that the chance of any false alarm among them stays nominal (Holm 1979)."""
    return _adjusted(p_values, lambda p, n: np.minimum(np.maximum.accumulate(p * (n - np.arange(n))), 1.0))


def benjamini_hochberg(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return p values adjusted for the share of false alarms among alarms (exploratory metrics)."""
    return _adjusted(
        p_values,
        lambda p, n: np.minimum(np.minimum.accumulate((p * n / np.arange(1, n + 1))[::-1])[::-1], 1.0),
    )


def _adjusted(
    p_values: Sequence[float | None], step: Callable[[NDArray[np.float64], int], NDArray[np.float64]]
) -> tuple[float | None, ...]:
    """Return p values adjusted by a step over the sorted ones; None stays None and is not counted."""
    known = [i for i, p in enumerate(p_values) if p is not None]
    out: list[float | None] = [None] * len(p_values)
    if not known:
        return tuple(out)
    values = np.array([p_values[i] for i in known], dtype=float)
    order = np.argsort(values, kind="stable")
    for i, p in zip(order, step(values[order], len(known)), strict=True):
        out[known[int(i)]] = float(p)
    return tuple(out)


def _log(value: float) -> float:
    """Return the logarithm, of 0 minus infinity: what may be 0 has no ratio to it that is bounded."""
    return math.log(value) if value > 0 else -math.inf


def _exp(value: float) -> float:
    """Return the exponential, infinite rather than an overflow."""
    return math.exp(value) if value < 700 else math.inf
