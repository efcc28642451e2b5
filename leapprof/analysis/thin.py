"""A million samples to about 1,200 points for drawing: the lowest and highest of each stretch are kept."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.quantiles import median
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
    time_s, value = series.time_s, series.value
    if not known.all():
        time_s, value = time_s[known], value[known]
    if value.size <= points:
        return _with_gaps(time_s, value, time_s)
    length = -(-value.size // (points // 2))
    chosen = np.unique(
        np.concatenate([_extremes(value, length, np.argmin), _extremes(value, length, np.argmax)])
    )
    return _with_gaps(time_s[chosen], value[chosen], time_s)


def _extremes(
    value: NDArray[np.float64], length: int, extreme: Callable[..., NDArray[np.intp]]
) -> NDArray[np.intp]:
    """Return where the lowest or highest value of each stretch of a length lies; the last stretch may be shorter."""
    rows = value.size // length
    whole = rows * length
    found = np.arange(rows) * length + extreme(value[:whole].reshape(rows, length), axis=1)
    return np.append(found, whole + extreme(value[whole:])) if whole < value.size else found


def _with_gaps(
    time_s: NDArray[np.float64], value: NDArray[np.float64], known_s: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the points with a NaN wherever there is a gap between two of the moments that are known."""
    if time_s.size < 2:
        return time_s, value
    step = np.diff(known_s)
    usual = median(step[:ENOUGH_STEPS])
    holes = known_s[np.flatnonzero(step > GAP_FACTOR * usual)] + usual / 2
    if not holes.size:
        return time_s, value
    at = np.searchsorted(time_s, holes)
    return np.insert(time_s, at, holes), np.insert(value, at, np.nan)
