"""How long each value was held, on both sides, in the same bins."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.quantiles import quantiles
from leapprof.model import Series

BINS = 40
TAIL = 0.002
LOG_FROM = 50.0
"""From this ratio of the 99.8th percentile to the median on, bins grow by a factor instead of a step."""
LOG_DECADES = 4.0
MOST_SAMPLES = 10_000
"""A drawing of 40 bins needs no more."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distributions:
    """How both sides are spread over the same bins.

    Attributes:
        edges: (b+1,) of the bins; outliers fall into the outermost ones.
        before, after: (b,) shares of time in each bin; zeros without samples.
    """

    edges: NDArray[np.float64]
    before: NDArray[np.float64]
    after: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Held:
    """What a side's values were and how long each was held: enough of them for a drawing.

    Attributes:
        value: (n,) finite.
        weight_s: (n,) seconds, above 0.
    """

    value: NDArray[np.float64]
    weight_s: NDArray[np.float64]


def held(series: Series) -> Held:
    """Return values and weights of the samples that are there; of very many, evenly spread ones."""
    step = max(1, series.value.size // MOST_SAMPLES)
    value, weight = series.value[::step], series.weight_s[::step]
    good = np.isfinite(value) & (weight > 0)
    return Held(value=value[good], weight_s=weight[good])


def distributions(before: Held, after: Held, bins: int = BINS) -> Distributions:
    """Return how both sides are spread over bins that hold both."""
    edges = _shared_edges(np.concatenate([before.value, after.value]), bins)
    return Distributions(edges=edges, before=_shares(before, edges), after=_shares(after, edges))


def _shared_edges(values: NDArray[np.float64], bins: int) -> NDArray[np.float64]:
    if not values.size:
        return np.linspace(0.0, 1.0, bins + 1)
    low, middle, high = quantiles(values, (TAIL, 0.5, 1 - TAIL))
    if high <= low:
        low, high = float(values.min()), float(values.max())
    if high <= low:
        pad = max(abs(high) * 0.01, 0.5)
        return np.linspace(low - pad, high + pad, bins + 1)
    if low >= 0 and high > LOG_FROM * max(middle, 0.0):
        edges = np.geomspace(high / 10**LOG_DECADES, high, bins)
        return np.concatenate([[0.0], edges])
    return np.linspace(low, high, bins + 1)


def _shares(side: Held, edges: NDArray[np.float64]) -> NDArray[np.float64]:
    count = edges.size - 1
    if not side.value.size:
        return np.zeros(count)
    place = np.clip(np.searchsorted(edges, side.value, side="right") - 1, 0, count - 1)
    time_s = np.bincount(place, weights=side.weight_s, minlength=count).astype(np.float64)
    return np.asarray(time_s / time_s.sum(), dtype=np.float64)
