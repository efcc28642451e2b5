"""A million samples to about 1,200 points for drawing: the lowest and highest of each stretch are kept."""

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.rates import GAP_FACTOR
from leapprof.model import Series

POINTS = 1200
ENOUGH_STEPS = 10_000


def thin(series: Series, points: int = POINTS) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return times and values to draw, at most `points` and a NaN per gap.

    A stretch of samples is replaced by its minimum and its maximum in the order of time, so a peak of one
    second is still as high as it was. A gap is a NaN between two points and breaks the line.
    """
    known = np.isfinite(series.value)
    time_s, value = series.time_s[known], series.value[known]
    if value.size <= points:
        return _with_gaps(time_s, value, series)
    length = -(-value.size // (points // 2))
    rows = -(-value.size // length)
    padded = np.pad(value, (0, rows * length - value.size), mode="edge").reshape(rows, length)
    first = np.arange(rows) * length
    keep = np.minimum(
        np.concatenate([first + padded.argmin(axis=1), first + padded.argmax(axis=1)]), value.size - 1
    )
    chosen = np.unique(keep)
    return _with_gaps(time_s[chosen], value[chosen], series)


def _with_gaps(
    time_s: NDArray[np.float64], value: NDArray[np.float64], series: Series
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points with a NaN wherever the series has a gap between two of them."""
    if time_s.size < 2:
        return time_s, value
    known = series.time_s[np.isfinite(series.value)]
    step = np.diff(known)
    usual = float(np.median(step[:ENOUGH_STEPS]))
    holes = known[:-1][step > GAP_FACTOR * usual] + usual / 2
    if not holes.size:
        return time_s, value
    at = np.searchsorted(time_s, holes)
    return np.insert(time_s, at, holes), np.insert(value, at, np.nan)
