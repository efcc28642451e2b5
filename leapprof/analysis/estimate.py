"""The mean of one metric in one phase, with an interval that survives autocorrelation, skew and gaps.

Batch means with an AR(1) inflation of the standard error (the idea of SKART: Tafazzoli, Wilson, Lada and
Steiger 2011), a skewness-adjusted t interval (Johnson 1978, Willink 2005) united with the interval on the
log scale, and for metrics that come in bursts the upper limit of one more burst as large as the largest
seen. docs/coverage.md shows how often such intervals hold the truth.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis import allowance
from leapprof.analysis.batch import Span, Weighed, batch_means, batch_shares
from leapprof.analysis.cycle import without_daily_swing
from leapprof.analysis.quantiles import of_ordered
from leapprof.analysis.wandering import needed_s
from leapprof.model import BatchMeans, Estimate, Interval, Series

CONFIDENCE = 0.95
PROBABILITIES = (0.5, 0.95, 0.99)
HIGHEST_LAG1 = 0.8
LARGEST_LOG_STEP = 50.0
FEWEST_FOR_LAG1 = 10
"""With fewer batches (whole days) each is taken as independent: its lag-1 autocorrelation cannot be seen."""
FEWEST_FOR_SKEW = 10
"""The skewness of fewer batches (whole days) is mostly chance, and would make the interval wider by a lot."""
RULE_OF_THREE = 3.0
FEWEST_BATCHES = 2
BURST_S = 5.0
LEAST_RANKS = 3
"""How far an interval of a quantile reaches at least, in samples: it may lie right at a jump, as of a spike that takes
one second in twenty, and the share below it never varies then."""
HALF_MINUTE_S = 30.0


def t_quantile(probability: float, degrees_of_freedom: float) -> float:
    """Return the quantile of Student's t distribution."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees_of_freedom, probability))


def t_two_sided(t: float, degrees_of_freedom: float) -> float:
    """Return the two-sided p value of a t statistic."""
    from scipy.special import stdtr

    return float(2 * stdtr(degrees_of_freedom, -abs(t)))


def lag1(batch: NDArray[np.float64]) -> float:
    """Return the lag-1 autocorrelation of (k,) batch means; 0 for constant ones."""
    deviation = batch - batch.mean()
    square = float(deviation @ deviation)
    return float(deviation[1:] @ deviation[:-1]) / square if square > 0 else 0.0


def inflation(autocorrelation: float, bias: float) -> float:
    """Return by how much an AR(1) process's standard error exceeds that of independent values."""
    r = min(max(autocorrelation + bias, 0.0), HIGHEST_LAG1)
    return math.sqrt((1 + r) / (1 - r))


def ar1_factor(batch: NDArray[np.float64], taken: int = 0) -> float:
    """Return by how much autocorrelation widens; 1 with few batches.

    Args:
        batch: (k,) batch means.
        taken: parameters that were fitted to them; each lowers the autocorrelation that is seen.
    """
    if batch.size < FEWEST_FOR_LAG1:
        return 1.0
    return inflation(lag1(batch), (1 + taken) / batch.size)


def standard_error(batch: NDArray[np.float64], factor: float | None = None) -> float:
    """Return the AR(1)-adjusted standard error of the mean of (k,) batch means, k >= 2.

    Args:
        batch: the means.
        factor: by how much autocorrelation widens; None: as it is seen in the means.
    """
    widening = ar1_factor(batch) if factor is None else factor
    return float(batch.std(ddof=1)) / math.sqrt(batch.size) * widening


def mean_interval(
    batch: NDArray[np.float64],
    *,
    non_negative: bool,
    largest_share: float = 0.0,
    factor: float | None = None,
) -> Interval:
    """Return the 95 % interval of the mean of (k,) batch means, k >= 2.

    Args:
        batch: the means.
        non_negative: the metric cannot be below 0: the log-scale interval joins in.
        largest_share: part of the mean that the single largest burst makes up; the upper limit allows for
            one more such, because the tail of a bursty process is mostly unseen.
        factor: by how much autocorrelation widens; None: as it is seen in the means.
    """
    k, mean = batch.size, float(batch.mean())
    se = standard_error(batch, factor)
    t = t_quantile(0.5 + CONFIDENCE / 2, k - 1)
    skew = _skewness(batch) / math.sqrt(k) if k >= FEWEST_FOR_SKEW else 0.0
    low, high = mean - _willink(skew, t) * se, mean - _willink(skew, -t) * se
    if non_negative and mean > 0:
        step = min(t * se / mean, LARGEST_LOG_STEP)
        low, high = max(min(low, mean * math.exp(-step)), 0.0), max(high, mean * math.exp(step))
        high += mean * largest_share
    return Interval(low=low, high=high)


def estimate(
    batches: BatchMeans | None,
    series: Series | None = None,
    *,
    total_per_s: float | None = None,
    on_off: bool = False,
    memory_s: float | None = None,
) -> Estimate | None:
    """Return the estimate of one metric in one phase; None without a finite sample.

    Args:
        batches: its batch means; None or fewer than two when the window is too short for an interval.
        series: its samples within the window; None when only batch means are known.
        total_per_s: mean rate from the whole counter, bytes of gaps included; it becomes the mean.
        on_off: it goes on and off by itself, and what looks like the swing of a day is none.
        memory_s: prior of its integrated autocorrelation time; None: quantiles get no intervals.
    """
    value, weight = _finite(series)
    mean = _mean(value, weight, batches, total_per_s)
    if mean is None:
        return None
    ordered = np.sort(value)
    p50, p95, p99 = of_ordered(ordered, PROBABILITIES) if value.size else (None, None, None)
    covered_s = (
        float(weight.sum()) if series is not None or batches is None else float(batches.covered_s.sum())
    )
    plain = Estimate(
        mean=mean, ci95=None, p50=p50, p95=p95, p99=p99, samples=int(value.size),
        effective_samples=None, covered_seconds=covered_s,
    )  # fmt: skip
    if batches is None or batches.mean.size < FEWEST_BATCHES:
        return plain
    steady = (batches.mean, 0) if on_off else without_daily_swing(batches)
    found = _with_interval(plain, batches, (value, weight), steady)
    if series is None or memory_s is None or p50 is None or p95 is None or p99 is None:
        return found
    seen_s = allowance.memory_s(found, memory_s)
    of50, of95, of99 = _quantile_intervals(ordered, series, batches, (p50, p95, p99), seen_s)
    return replace(found, p50_ci95=of50, p95_ci95=of95, p99_ci95=of99)


def zero_rate_interval(duration_s: float, largest_burst: float) -> Interval:
    """Return the interval of a rate of which nothing was seen: at most 3 events in the time (rule of three).

    Args:
        duration_s: seconds without an event.
        largest_burst: size of the largest event known, of the other phase.
    """
    return Interval(low=0.0, high=RULE_OF_THREE * largest_burst / duration_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstCount:
    """How a rate is made up: Kish's effective number of bursts, share and size of the largest sample."""

    effective: float
    largest_share: float
    largest: float


def count_bursts(series: Series) -> BurstCount:
    """Return how bursty a rate is; no bursts when nothing was counted."""
    value, weight = _finite(series)
    amount = value * weight
    total = float(amount.sum())
    if total <= 0:
        return BurstCount(effective=0.0, largest_share=0.0, largest=0.0)
    largest = float(amount.max())
    return BurstCount(
        effective=total**2 / float(amount @ amount), largest_share=largest / total, largest=largest
    )


def upper_limit_only(found: Estimate) -> Estimate:
    """Return the estimate of a rate made by few bursts: nothing is known but its upper limit."""
    if found.ci95 is None:
        return found
    return replace(found, ci95=Interval(low=0.0, high=found.ci95.high))


def relative_spread(samples: Series | Weighed, span: Span) -> float:
    """Return the standard deviation of half-minute means as a share of their mean; 0 below two or at mean 0."""
    batch = batch_means(samples, span, HALF_MINUTE_S).mean
    if batch.size < FEWEST_BATCHES or float(batch.mean()) <= 0:
        return 0.0
    return float(batch.std(ddof=1) / batch.mean())


def _quantile_intervals(
    ordered: NDArray[np.float64],
    series: Series,
    batches: BatchMeans,
    quantiles: Sequence[float],
    memory_s: float,
) -> tuple[Interval | None, ...]:
    """Return the intervals of PROBABILITIES (Woodruff 1952, by batch means of the indicator).

    None where the window is too short for the memory (see wandering.py), or the upper limit is not identified.

    Args:
        ordered: the samples in order.
        series: the samples.
        batches: batch means.
        quantiles: of the samples.
        memory_s: integrated autocorrelation time.
    """
    covered_s = float(batches.covered_s.sum())
    enough = [covered_s >= needed_s(p, memory_s) * allowance.ROUNDING for p in PROBABILITIES]
    wanted = [q for q, long in zip(quantiles, enough, strict=True) if long]
    shares = iter(batch_shares(series, batches, wanted)) if wanted else iter(())
    return tuple(
        _inverted(ordered, p, next(shares)) if long else None
        for p, long in zip(PROBABILITIES, enough, strict=True)
    )


def _inverted(
    ordered: NDArray[np.float64], probability: float, shares: NDArray[np.float64]
) -> Interval | None:
    """Return the values at both ends of the interval of the share of the time below a quantile."""
    half = t_quantile(0.5 + CONFIDENCE / 2, shares.size - 1) * standard_error(shares)
    half = max(half, LEAST_RANKS / ordered.size)
    if probability + half >= 1:
        return None
    low, high = of_ordered(ordered, (max(probability - half, 0.0), probability + half))
    return Interval(low=low, high=high)


def _with_interval(
    plain: Estimate,
    batches: BatchMeans,
    samples: tuple[NDArray[np.float64], NDArray[np.float64]],
    steady: tuple[NDArray[np.float64], int],
) -> Estimate:
    """Return the estimate with interval, standard error and effective samples.

    Args:
        plain: without them.
        batches: batch means.
        samples: values and weights; empty when only batch means are known.
        steady: what the autocorrelation is seen in, and the waves that were taken out.
    """
    batch, (value, weight) = batches.mean, samples
    share = _largest_excess(value, weight) if batches.non_negative else 0.0
    factor = ar1_factor(*steady)
    around = mean_interval(batch, non_negative=batches.non_negative, largest_share=share, factor=factor)
    shift = plain.mean - float(batch.mean())
    low, high = around.low + shift, around.high + shift
    if batches.non_negative:
        low = max(low, 0.0)
    se = standard_error(batch, factor)
    return replace(
        plain,
        ci95=Interval(low=min(low, plain.mean), high=max(high, plain.mean)),
        effective_samples=_effective_samples(value, se) if value.size else None,
        standard_error=se,
        degrees_of_freedom=int(batch.size - 1),
        lag1=lag1(steady[0]),
        batches=int(batch.size),
    )


def _finite(series: Series | None) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return values and weights of the samples that are there."""
    if series is None:
        return np.empty(0), np.empty(0)
    good = np.isfinite(series.value) & (series.weight_s > 0)
    if good.all():
        return series.value, series.weight_s
    return series.value[good], series.weight_s[good]


def _mean(
    value: NDArray[np.float64],
    weight: NDArray[np.float64],
    batches: BatchMeans | None,
    total_per_s: float | None,
) -> float | None:
    """Return the mean from the whole counter, else over the samples, else over the batches."""
    if total_per_s is not None:
        return total_per_s
    if value.size:
        return float(value @ weight / weight.sum())
    if batches is not None and batches.mean.size:
        return float(np.average(batches.mean, weights=batches.covered_s))
    return None


def _largest_excess(value: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return by what share of the sum of all the largest burst exceeds an average stretch as long; 0 without any.

    A burst is what falls into BURST_S seconds: a flush rarely ends within one sample.
    """
    if not value.size:
        return 0.0
    covered_s, total = float(weight.sum()), float(value @ weight)
    samples = max(round(BURST_S * value.size / max(covered_s, 1.0)), 1)
    if total <= 0 or samples >= value.size:
        return 0.0
    # From the mean on, or the longer interval of a late sample would look like a burst.
    sums = value - total / covered_s
    sums *= weight
    np.cumsum(sums, out=sums)
    largest = max(float((sums[samples:] - sums[:-samples]).max()), float(sums[samples - 1]))
    return max(largest / total, 0.0)


def _effective_samples(value: NDArray[np.float64], se: float) -> float:
    """Return how many independent samples would give this standard error; all of them when constant."""
    spread = float(value.var())
    if se <= 0 or spread <= 0:
        return float(value.size)
    return min(spread / se**2, float(value.size))


def _skewness(batch: NDArray[np.float64]) -> float:
    """Return the adjusted Fisher-Pearson skewness; 0 below three values or without spread."""
    k, spread = batch.size, float(batch.std(ddof=1))
    if k <= 2 or spread <= 0:
        return 0.0
    return float(k / ((k - 1) * (k - 2)) * (((batch - batch.mean()) / spread) ** 3).sum())


def _willink(skew: float, t: float) -> float:
    """Return t transformed for skewness (Willink 2005, equation 9; Johnson 1978)."""
    b = skew / 6
    if abs(b) < 1e-6:
        return t
    v = 1 + 6 * b * (t - b)
    return (math.copysign(abs(v) ** (1 / 3), v) - 1) / (2 * b)
