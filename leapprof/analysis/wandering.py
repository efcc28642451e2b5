"""How long a level remembers, and how long a window has to be for an interval of a quantile.

Above a high quantile lie the few highest excursions of a level that wanders. However many values there are, the window
holds few such excursions, so its interval is too narrow; batches do not show it. How long the window has to be, in
memories of the level, was found by simulation (docs/latency.md).
"""

import math

import numpy as np
from numpy.typing import NDArray

MEMORIES_NEEDED = {0.5: 20.0, 0.9: 50.0, 0.95: 80.0, 0.99: 150.0}
LEAST_S = {0.99: 3000.0}
"""In less even a memory of a minute may not show, as values beyond the quantile are too few."""
_ROUNDING_ERROR = 1e-9
"""Shares that are alike differ by this much at most."""
_FIRST_LAGS = 3
_DEVIATIONS = 2.0
"""The mean of three autocorrelations of white noise exceeds 2 / √n in one of 3,700 windows."""


def memory_steps(value: NDArray[np.float64]) -> int:
    """Return after how many steps the autocorrelation of (n,) values has fallen to 1/e of where it begins; 0 for none.

    Where it begins is the mean over the first three lags: what differs from one value to the next alone is no memory.
    """
    count = value.size
    if count < 2 * (_FIRST_LAGS + 1):
        return 0
    deviation = value - value.mean()
    square = float(deviation @ deviation)
    if square <= count * _ROUNDING_ERROR**2:
        return 0
    spectrum = np.fft.rfft(deviation, 2 * count)
    lags = np.fft.irfft(spectrum * spectrum.conj())[1 : count // 2] / square
    first = float(lags[:_FIRST_LAGS].mean())
    if first < _DEVIATIONS / math.sqrt(count):
        return 0
    below = np.flatnonzero(lags < first / math.e)
    return int(below[0]) + 1 if below.size else count // 2


def needed_s(probability: float, memory_s: float) -> float:
    """Return how long a window has to be for an interval of a quantile, seconds.

    Args:
        probability: of the quantile, one of MEMORIES_NEEDED.
        memory_s: of the level.
    """
    return max(MEMORIES_NEEDED[probability] * memory_s, LEAST_S.get(probability, 0.0))
