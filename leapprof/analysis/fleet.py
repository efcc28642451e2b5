"""Many hosts in one verdict: a random-effects summary of their differences, how unlike they are, and who stands out.

Between-host variance by DerSimonian and Laird (1986), the interval of the mean by Hartung and Knapp (2001) with
Student's t on k - 1 degrees of freedom, never narrower than the plain random-effects one (Röver, Knapp and Friede
2015), the prediction interval of one more host by Higgins, Thompson and Spiegelhalter (2009). A host stands out when
its deleted residual (Viechtbauer and Cheung 2010) is too large for the largest of k (Bonferroni).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.estimate import t_quantile, t_two_sided
from leapprof.model import FleetReference, FleetSummary, Interval

CONFIDENCE = 0.95
FEWEST_HOSTS = 2
FEWEST_FOR_PREDICTION = 3
FEWEST_FOR_OUTLIERS = 5
ALPHA = 0.05
SMALLEST_SE = 1e-12
"""Share of the largest standard error below which one is taken for it: a constant host does not outweigh all others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One host's difference, after minus before, and its standard error."""

    name: str
    difference: float
    standard_error: float


def reference_of(controls: Sequence[Unit], freedom: float) -> FleetReference | None:
    """Return what the controls moved by together; None without any.

    Args:
        controls: a single one stands on its own standard error, which does not hold how hosts differ.
        freedom: degrees of freedom of a single control's standard error.
    """
    if len(controls) == 1:
        one = controls[0]
        return FleetReference(
            hosts=1, mean=one.difference, standard_error=one.standard_error, freedom=freedom
        )
    found = random_effects(controls)
    if found is None:
        return None
    return FleetReference(
        hosts=found.hosts, mean=found.mean, standard_error=found.standard_error, freedom=found.hosts - 1
    )


def random_effects(units: Sequence[Unit]) -> FleetSummary | None:
    """Return the summary of some hosts; None below two."""
    k = len(units)
    if k < FEWEST_HOSTS:
        return None
    y = np.array([unit.difference for unit in units])
    variance = _variances(units)
    fixed = 1 / variance
    q = _q(y, fixed)
    tau2 = _tau2(q, k - 1, float(fixed.sum()), float((fixed**2).sum()))
    weight = 1 / (variance + tau2)
    mean = float(weight @ y / weight.sum())
    plain = 1 / float(weight.sum())
    scale = max(1.0, float(weight @ (y - mean) ** 2) / (k - 1))
    error = math.sqrt(plain * scale)
    half = t_quantile(0.5 + CONFIDENCE / 2, k - 1) * error
    return FleetSummary(
        hosts=k,
        mean=mean,
        ci95=Interval(low=mean - half, high=mean + half),
        standard_error=error,
        p_value=t_two_sided(mean / error, k - 1),
        tau=math.sqrt(tau2),
        q=q,
        q_p_value=_chi2_above(q, k - 1),
        i2=max(0.0, (q - (k - 1)) / q) if q > 0 else 0.0,
        prediction95=_prediction(mean, tau2 + plain, k),
        outliers=_outliers(units, y, variance),
    )


def against_controls(changed: FleetSummary, controls: FleetReference) -> tuple[float, Interval, float]:
    """Return the mean difference beyond that of the controls, its interval and p value (Welch's degrees of freedom)."""
    value = changed.mean - controls.mean
    parts = changed.standard_error**2, controls.standard_error**2
    error = math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / (changed.hosts - 1) + parts[1] ** 2 / controls.freedom)
    half = t_quantile(0.5 + CONFIDENCE / 2, freedom) * error
    return value, Interval(low=value - half, high=value + half), t_two_sided(value / error, freedom)


def _variances(units: Sequence[Unit]) -> NDArray[np.float64]:
    error = np.array([unit.standard_error for unit in units])
    largest = float(error.max())
    return np.asarray(np.maximum(error, SMALLEST_SE * largest if largest > 0 else SMALLEST_SE) ** 2)


def _q(y: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    centre = weight @ y / weight.sum()
    return float(weight @ (y - centre) ** 2)


def _tau2(q: float, freedom: int, sum1: float, sum2: float) -> float:
    """Return DerSimonian and Laird's moment estimate of the variance between hosts."""
    scale = sum1 - sum2 / sum1
    return max(0.0, (q - freedom) / scale) if scale > 0 else 0.0


def _prediction(mean: float, variance: float, k: int) -> Interval | None:
    if k < FEWEST_FOR_PREDICTION:
        return None
    half = t_quantile(0.5 + CONFIDENCE / 2, k - 2) * math.sqrt(variance)
    return Interval(low=mean - half, high=mean + half)


def _outliers(
    units: Sequence[Unit], y: NDArray[np.float64], variance: NDArray[np.float64]
) -> tuple[str, ...]:
    """Return the hosts whose difference does not fit the others'."""
    k = len(units)
    if k < FEWEST_FOR_OUTLIERS:
        return ()
    residuals = np.array([_deleted_residual(y, variance, at) for at in range(k)])
    found = [at for at in range(k) if k * t_two_sided(float(residuals[at]), k - 2) < ALPHA]
    return tuple(units[at].name for at in sorted(found, key=lambda at: -abs(residuals[at])))


def _deleted_residual(y: NDArray[np.float64], variance: NDArray[np.float64], at: int) -> float:
    """Return how far one host lies from the mean of the others, in its standard error."""
    others = np.delete(y, at)
    own = np.delete(variance, at)
    fixed = 1 / own
    tau2 = _tau2(_q(others, fixed), others.size - 1, float(fixed.sum()), float((fixed**2).sum()))
    weight = 1 / (own + tau2)
    mean = float(weight @ others / weight.sum())
    return float((y[at] - mean) / math.sqrt(variance[at] + tau2 + 1 / float(weight.sum())))


def _chi2_above(value: float, freedom: int) -> float:
    from scipy.special import gammaincc

    return float(gammaincc(freedom / 2, value / 2))
