"""The swing of a day in batch means: it is spread, but it is no memory.

A window of a day holds one whole swing. Its ups and downs make neighbouring batch means alike, and to take that for
memory makes the interval three times as wide as the spread alone does: it would say that the next day may be all peak.
So the swing stays in the spread and is taken out of what the lag-1 autocorrelation is computed from.
"""

import math

import numpy as np
from numpy.typing import NDArray

from leapprof.model import BatchMeans
from leapprof.units import DAY_S

NEARLY_A_DAY = 0.9
"""Share of a day that shows its swing: warm-up takes up to a twentieth."""
FEWEST_FOR_CYCLE = 15
HARMONICS = 2
"""Of a day and of half a day: most days have one peak or two."""
LEAST_EXPLAINED = 0.75
"""Share of the spread that a wave of one day explains, else nothing is taken out: of a steady rise it explains 0.61."""


def without_daily_swing(batches: BatchMeans) -> tuple[NDArray[np.float64], int]:
    """Return the means without the swing of a day, and how many waves that took; as they are where there is none."""
    mean = batches.mean
    if mean.size < FEWEST_FOR_CYCLE or batches.batch_s >= DAY_S:
        return mean, 0
    if float(batches.start_s[-1] - batches.start_s[0]) + batches.batch_s < NEARLY_A_DAY * DAY_S:
        return mean, 0
    turn = 2 * math.pi / DAY_S * batches.start_s
    waves = [wave(h * turn) for h in range(1, HARMONICS + 1) for wave in (np.sin, np.cos)]
    around = mean - mean.mean()
    if _left(around, waves[:2]).var() > (1 - LEAST_EXPLAINED) * around.var():
        return mean, 0
    return _left(around, waves), len(waves)


def _left(values: NDArray[np.float64], waves: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Return what least squares leave of values."""
    design = np.column_stack([np.ones(values.size), *waves])
    return np.asarray(values - design @ np.linalg.lstsq(design, values, rcond=None)[0])
