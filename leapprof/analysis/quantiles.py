"""Quantiles as numpy.quantile and numpy.median compute them, but of a week's samples in a third of the time.

numpy sorts with the vector instructions of the processor, and finds several ranks of one array without them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def quantiles(value: NDArray[np.float64], probabilities: Sequence[float]) -> tuple[float, ...]:
    """Return quantiles of (n,) finite values, n >= 1, interpolated between the two ranks beside each."""
    return of_ordered(np.sort(value), probabilities)


def of_ordered(ordered: NDArray[np.float64], probabilities: Sequence[float]) -> tuple[float, ...]:
    """Return quantiles of (n,) values that are in order, n >= 1."""
    return tuple(_between(ordered, probability * (ordered.size - 1)) for probability in probabilities)


def median(value: NDArray[np.float64]) -> float:
    """Return the middle of (n,) finite values, n >= 1: the mean of the two middle ones if n is even."""
    ordered = np.sort(value)
    return float(ordered[(value.size - 1) // 2] + ordered[value.size // 2]) / 2


def _between(ordered: NDArray[np.float64], place: float) -> float:
    low = int(place)
    share = place - low
    below, above = float(ordered[low]), float(ordered[min(low + 1, ordered.size - 1)])
    # From the nearer end, as numpy does: the last digit is the same.
    return above - (above - below) * (1 - share) if share >= 0.5 else below + (above - below) * share
