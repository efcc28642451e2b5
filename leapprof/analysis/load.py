"""The effect of a change at equal load: analysis of covariance on batch means, with a slope per side.

A common slope is biased when the loads differ; per-second ratios are never averaged. Outside the loads
that both sides have seen the effect is an extrapolation, and is refused.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.estimate import HIGHEST_LAG1, standard_error, t_quantile
from leapprof.model import BatchMeans, Effect, Interval

FEWEST_PER_SIDE = 10
BIAS = 3.0
LEAST_OVERLAP = 0.3
PARAMETERS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadEffect:
    """Difference of both sides at a common load.

    Attributes:
        effect: after minus before at reference_load.
        reference_load: the pooled mean load.
        overlap: share of the range of loads that both sides have seen.
        extrapolated: a side has never seen the reference load.
    """

    effect: Effect
    reference_load: float
    overlap: float
    extrapolated: bool


def at_equal_load(
    before: BatchMeans, before_load: BatchMeans, after: BatchMeans, after_load: BatchMeans
) -> LoadEffect | None:
    """Return the difference at the pooled mean load; None without 10 common batches a side or any spread."""
    y0, x0 = _paired(before, before_load)
    y1, x1 = _paired(after, after_load)
    if min(y0.size, y1.size) < FEWEST_PER_SIDE or min(np.ptp(x0), np.ptp(x1)) <= 0:
        return None
    reference = float(x0.mean() + x1.mean()) / 2
    low, high = max(x0.min(), x1.min()), min(x0.max(), x1.max())
    overlap = max(0.0, float(high - low)) / float(max(x0.max(), x1.max()) - min(x0.min(), x1.min()))
    effect = _effect_at(y0, x0 - reference, y1, x1 - reference)
    return LoadEffect(
        effect=effect,
        reference_load=reference,
        overlap=overlap,
        extrapolated=not low <= reference <= high,
    )


def per_unit(amount: BatchMeans, load: BatchMeans) -> tuple[float, Interval] | None:
    """Return amount per unit of load (bytes a transaction) as a ratio of sums; None without 10 batches."""
    w, n = _paired(amount, load)
    if w.size < FEWEST_PER_SIDE or n.sum() <= 0 or w.sum() <= 0:
        return None
    value = float(w.sum() / n.sum())
    residual = (w - value * n) / n.mean()
    step = t_quantile(0.975, w.size - 1) * standard_error(residual) / value
    return value, Interval(low=value * math.exp(-step), high=value * math.exp(min(step, 50.0)))


def _paired(values: BatchMeans, load: BatchMeans) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of the batches that both have."""
    _, first, second = np.intersect1d(
        np.round(values.start_s), np.round(load.start_s), assume_unique=True, return_indices=True
    )
    return values.mean[first], load.mean[second]


def _effect_at(
    y0: NDArray[np.float64], x0: NDArray[np.float64], y1: NDArray[np.float64], x1: NDArray[np.float64]
) -> Effect:
    """Return the difference of both regression lines at load 0, with an AR(1)-adjusted interval."""
    y, x = np.concatenate([y0, y1]), np.concatenate([x0, x1])
    side = np.concatenate([np.zeros(y0.size), np.ones(y1.size)])
    design = np.column_stack([np.ones(y.size), side, x, side * x])
    inverse = np.linalg.pinv(design.T @ design)
    coefficient = inverse @ design.T @ y
    residual = y - design @ coefficient
    square, k = float(residual @ residual), y.size / 2
    r = 0.0
    if square > 0:
        within = float(residual[1 : y0.size] @ residual[: y0.size - 1])
        within += float(residual[y0.size + 1 :] @ residual[y0.size : -1])
        r = min(max(within / square * k / (k - 1) + BIAS / k, 0.0), HIGHEST_LAG1)
    freedom = y.size - PARAMETERS
    se = math.sqrt(float(inverse[1, 1]) * square / freedom * (1 + r) / (1 - r))
    value, half = float(coefficient[1]), t_quantile(0.975, freedom) * se
    return Effect(value=value, ci95=Interval(low=value - half, high=value + half))
