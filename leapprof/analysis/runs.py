"""Repeated, alternating runs: the pair is the unit, not the second.

Within one run an interval knows nothing of how runs differ (placement of pages, peers, another start): with a
2 % run-to-run deviation it covers an effect of the change in 81 of 100 cases at best. Over pairs of runs the
mean of the pairs' differences has Student's t with pairs - 1 degrees of freedom.
"""

import math
from collections.abc import Sequence

import numpy as np

from leapprof.analysis.estimate import CONFIDENCE, t_quantile, t_two_sided
from leapprof.model import Effect, Interval

FEWEST_PAIRS = 3


def between_pairs(differences: Sequence[float]) -> Effect:
    """Return the mean of the pairs' differences with its t interval; none below two pairs."""
    values = np.asarray(differences, dtype=np.float64)
    mean = float(values.mean())
    if values.size < 2:
        return Effect(value=mean, ci95=None)
    half = (
        t_quantile(0.5 + CONFIDENCE / 2, values.size - 1) * float(values.std(ddof=1)) / math.sqrt(values.size)
    )
    return Effect(value=mean, ci95=Interval(low=mean - half, high=mean + half))


def p_between(differences: Sequence[float]) -> float | None:
    """Return the two-sided p for no difference over pairs; None below two pairs."""
    values = np.asarray(differences, dtype=np.float64)
    if values.size < 2:
        return None
    se = float(values.std(ddof=1)) / math.sqrt(values.size)
    if se <= 0:
        return 1.0 if values[0] == 0 else 0.0
    return t_two_sided(float(values.mean()) / se, values.size - 1)


def within_runs(effects: Sequence[Effect]) -> Effect:
    """Return the mean of effects that each hold for their own runs; their arms add by squares."""
    n = len(effects)
    value = sum(e.value for e in effects) / n
    intervals = [(e.value, e.ci95) for e in effects if e.ci95 is not None]
    if len(intervals) < n:
        return Effect(value=value, ci95=None)
    down = math.hypot(*(v - i.low for v, i in intervals)) / n
    up = math.hypot(*(i.high - v for v, i in intervals)) / n
    return Effect(value=value, ci95=Interval(low=value - down, high=value + up))
