"""Estimates: numbers with their uncertainty, and the door through which all data enters analysis."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Grade(StrEnum):
    """How far a comparison can be trusted."""

    FULL = "full"
    PRELIMINARY = "preliminary"
    TOO_SHORT = "too_short"


class Verdict(StrEnum):
    """What a comparison of one metric says."""

    IMPROVED = "improved"
    REGRESSED = "regressed"
    UNCHANGED = "unchanged"
    CHANGED = "changed"
    INCONCLUSIVE = "inconclusive"


class Better(StrEnum):
    """Which direction of a metric is good."""

    LOWER = "lower"
    HIGHER = "higher"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A 95 % confidence interval, in the unit of what it belongs to."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """A metric of one phase, in base units, on its own times.

    Attributes:
        time_s: (n,) float64, host's CLOCK_BOOTTIME in seconds, increasing: the end of each interval.
        value: (n,) float64; NaN where there is a gap or a reset.
        weight_s: (n,) float64, seconds that each value covers (a rate's interval); 0 at a gap.
        non_negative: the metric cannot be below 0.
    """

    time_s: NDArray[np.float64]
    value: NDArray[np.float64]
    weight_s: NDArray[np.float64]
    non_negative: bool = True


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BatchMeans:
    """Means over equal stretches of time: what 1 Hz data becomes, and what a server can be asked for.

    Attributes:
        start_s: (k,) float64, start of each batch, host's clock, seconds.
        batch_s: length of a batch, seconds.
        mean: (k,) float64; batches less than half covered are not here at all.
        covered_s: (k,) float64, seconds of the batch that the data covers.
        non_negative: the metric cannot be below 0.
    """

    start_s: NDArray[np.float64]
    batch_s: float
    mean: NDArray[np.float64]
    covered_s: NDArray[np.float64]
    non_negative: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """One metric in one phase.

    Attributes:
        mean: over the covered time, base unit.
        ci95: of the mean, widened where the window is short; None when too short.
        p50, p95, p99: quantiles of the samples; None when only batch means are known.
        p50_ci95, p95_ci95, p99_ci95: of the quantiles; None where the window is too short for one that holds.
        samples: finite samples.
        effective_samples: number of independent samples worth as much; None when too short, or when only batch means
            are known.
        covered_seconds: time that the samples cover.
        standard_error: of the mean, adjusted for autocorrelation and widened as ci95 is; None when too short.
        degrees_of_freedom: of standard_error.
        lag1: lag-1 autocorrelation of the batch means, None when too short.
        batches: number of batches.
        bursts: effective number of bursts (Kish) of a metric that comes in bursts; None for others.
        needed_seconds: time that samples would have to cover at least for an interval that holds; None where they do.
        widening: how many times as long ci95 and standard_error are as the samples alone would make them, because the
            window is short for the metric's memory; 1 where it is long enough.
    """

    mean: float
    ci95: Interval | None
    p50: float | None
    p95: float | None
    p99: float | None
    samples: int
    effective_samples: float | None
    covered_seconds: float
    standard_error: float | None = None
    degrees_of_freedom: int | None = None
    lag1: float | None = None
    batches: int = 0
    bursts: float | None = None
    needed_seconds: float | None = None
    widening: float = 1.0
    p50_ci95: Interval | None = None
    p95_ci95: Interval | None = None
    p99_ci95: Interval | None = None
