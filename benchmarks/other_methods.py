"""What others would say of the same draws: interval methods, and the rules of benchstat, pyperf and Kayenta."""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import mannwhitneyu

from leapprof.analysis.estimate import mean_interval, t_quantile
from leapprof.model import Interval

COSINES = 12
PROGRAMS = ("benchstat", "pyperf", "kayenta")
KAYENTA_Z = 2.3263
"""of its 98 % interval."""
KAYENTA_TOLERANCE = 0.25
MOST_MEANS = 600
"""Kayenta's shift needs all pairs of samples; longer arms are thinned to means."""


def levels(
    value: NDArray[np.float64], batch: NDArray[np.float64], *, non_negative: bool
) -> dict[str, Interval]:
    """Return the 95 % interval of a mean by other methods."""
    return {
        "prototype": mean_interval(batch, non_negative=non_negative),
        "ewc12": _cosines(value),
        "batch10": _batches(value, 10),
        "batch20": _batches(value, 20),
    }


def _cosines(value: NDArray[np.float64]) -> Interval:
    """Return the equal-weighted cosine interval (Lazarus, Lewis, Stock and Watson 2018) with 12 cosines."""
    n = value.size
    mean = float(value.mean())
    sums = _cosine_table(n) @ (value - mean)
    variance = 2 / n * float(np.mean(np.square(sums)))
    half = t_quantile(0.975, COSINES) * math.sqrt(variance / n)
    return Interval(low=mean - half, high=mean + half)


@lru_cache(maxsize=1)
def _cosine_table(n: int) -> NDArray[np.float64]:
    at = np.pi * (np.arange(n) + 0.5) / n
    return np.cos(np.arange(1, COSINES + 1)[:, None] * at)


def _batches(value: NDArray[np.float64], count: int) -> Interval:
    """Return the interval of nonoverlapping batch means."""
    size = value.size // count
    batch = value[: size * count].reshape(count, size).mean(axis=1)
    mean = float(batch.mean())
    half = t_quantile(0.975, count - 1) * float(batch.std(ddof=1)) / math.sqrt(count)
    return Interval(low=mean - half, high=mean + half)


def alarms(first: NDArray[np.float64], second: NDArray[np.float64]) -> dict[str, bool]:
    """Return who would call two arms different."""
    return {
        "benchstat": bool(mannwhitneyu(first, second, method="asymptotic").pvalue < 0.05),
        "pyperf": _pyperf(first, second),
        "kayenta": _kayenta(_thinned(first), _thinned(second)),
    }


def _pyperf(first: NDArray[np.float64], second: NDArray[np.float64]) -> bool:
    """Return pyperf's is_significant: Student's t with pooled variance, two-sided at 95 %."""
    n, m = first.size, second.size
    pooled = ((n - 1) * first.var(ddof=1) + (m - 1) * second.var(ddof=1)) / (n + m - 2)
    score = (first.mean() - second.mean()) / math.sqrt(pooled * (1 / n + 1 / m))
    return bool(abs(score) >= t_quantile(0.975, n + m - 2))


def _kayenta(first: NDArray[np.float64], second: NDArray[np.float64]) -> bool:
    """Return Kayenta's NetflixACAJudge: a 98 % Mann-Whitney interval of the shift beyond a quarter of the shift."""
    shifts = np.subtract.outer(second, first).ravel()
    shifts.sort()
    n, m = first.size, second.size
    middle, half = n * m / 2, KAYENTA_Z * math.sqrt(n * m * (n + m + 1) / 12)
    low = shifts[max(int(middle - half), 0)]
    high = shifts[min(int(middle + half), n * m - 1)]
    edge = KAYENTA_TOLERANCE * abs(float(np.median(shifts)))
    return bool(low > edge or high < -edge)


def _thinned(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means a minute, as a canary's queries step; of long arms fewer."""
    step = max(60, value.size // MOST_MEANS)
    count = value.size // step
    return np.asarray(value[: count * step].reshape(count, step).mean(axis=1))
