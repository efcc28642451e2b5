"""What an interval allows for when its window is short for the memory of its metric.

A short window under-estimates its own spread, and no estimator makes up for time that was not recorded. So how long
a window has to be is decided by design (its length against the metric's memory) first; what the data show can only
add a reason. Where the window is too short, the arms of the interval become longer before anything is made of it:
levels, differences, ratios, p values and a year of writes all stand on the longer ones (docs/coverage.md shows how
often they hold).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from leapprof.model import Estimate, Interval
from leapprof.units import DAY_S

FULL_FROM_S = 6000.0
"""20 times a memory of 300 s. An hour is 18 times one of 200 s: one in six such pairs looks shorter of memory than it
is, and of those the intervals hold in 88 of 100."""
MEMORIES_NEEDED = 20.0
HIGHEST_LAG1 = 0.5
FEWEST_EFFECTIVE = 20.0
FEWEST_BATCHES = 20
FEWEST_BURSTS = 10.0
LARGEST_BURST_SHARE = 0.2
SHORT_WIDENING = 2.0
"""By how much both arms become longer in a window that is short."""
VERY_SHORT_S = 2400.0
VERY_SHORT_WIDENING = 2.5
"""The same below VERY_SHORT_S, where there are 20 to 39 batches of a minute, and a memory may be longer than all."""
RANGE_WIDENING = 2.5
"""Where no mean is known: how far beyond the range of the batch means the mean may lie."""
ON_OFF_SPREAD = 0.5
"""Half-minute means that deviate from their mean by half of it or more: something goes on and off."""
ON_OFF_MEMORY_S = 1200.0
"""Such a metric is long-range dependent for all that is known; within less than 20 times this no mean is known."""
ON_OFF_FULL_FROM_S = 3.0 * DAY_S
"""Its memory has no end: within a day its intervals hold in 90 of 100 only, so whole days have to tell."""
ROUNDING = 0.99
"""A window may miss this share of a limit: first and last sample never fall on the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bursts:
    """How bursty a rate is: Kish's effective number of bursts, and the share of the largest."""

    effective: float
    largest_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Nature:
    """What is known of a metric in one phase beside its estimate.

    Attributes:
        memory_s: prior of the integrated autocorrelation time.
        bursts: None when the metric does not come in bursts.
        range: lowest and highest batch mean; None without batches.
        on_off: it goes on and off, see ON_OFF_SPREAD.
        non_negative: it cannot be below 0.
    """

    memory_s: float
    bursts: Bursts | None = None
    range: Interval | None = None
    on_off: bool = False
    non_negative: bool = True


def memory_s(estimate: Estimate, prior_s: float) -> float:
    """Return the integrated autocorrelation time to reckon with.

    A day or more tells its own; a shorter window can only raise the prior.
    """
    if not estimate.effective_samples:
        return prior_s
    seen = estimate.covered_seconds / estimate.effective_samples
    return seen if estimate.covered_seconds >= DAY_S * ROUNDING else max(seen, prior_s)


def design_s(estimate: Estimate, prior_s: float, *, on_off: bool) -> float:
    """Return how long a window has to be for a full grade."""
    least_s = ON_OFF_FULL_FROM_S if on_off else FULL_FROM_S
    return max(least_s, MEMORIES_NEEDED * memory_s(estimate, prior_s))


def doubts(estimate: Estimate, bursts: Bursts | None) -> Iterator[str]:
    """Yield what in the samples forbids a full grade, each a clause that follows ``before`` or ``after``."""
    if bursts is not None and dominated(bursts):
        yield f"is dominated by {max(bursts.effective, 1):.0f} bursts, so only an upper limit"
    if has_trend(estimate):
        yield "has a trend or a memory longer than the window resolves"
    elif estimate.effective_samples is not None and estimate.effective_samples < FEWEST_EFFECTIVE:
        yield f"is worth {estimate.effective_samples:.0f} independent samples of {FEWEST_EFFECTIVE:.0f}"


def has_trend(estimate: Estimate) -> bool:
    """Return whether the batch means follow each other so closely that their spread says little."""
    return (estimate.lag1 or 0.0) > HIGHEST_LAG1 and estimate.batches >= FEWEST_BATCHES


def dominated(bursts: Bursts | None) -> bool:
    """Return whether so few bursts made a rate that only its upper limit says anything."""
    if bursts is None or bursts.effective <= 0:
        return False
    return bursts.effective < FEWEST_BURSTS or bursts.largest_share > LARGEST_BURST_SHARE


def is_short(estimate: Estimate, nature: Nature) -> bool:
    """Return whether a window is too short for its metric, or its samples tell too little, for a full grade."""
    needed_s = design_s(estimate, nature.memory_s, on_off=nature.on_off)
    return estimate.covered_seconds < needed_s * ROUNDING or any(doubts(estimate, nature.bursts))


def allowing(estimate: Estimate, nature: Nature) -> Estimate:
    """Return an estimate whose interval allows for what its window is too short to show.

    Arms become SHORT_WIDENING times as long, in a very short one VERY_SHORT_WIDENING times; with a trend, or on and off
    for too short, no mean is known, and they reach beyond the range of the batch means. The standard error grows with
    the interval. Quantiles lose theirs: in a short window nothing says how long it should be.
    """
    interval = estimate.ci95
    if interval is None or not is_short(estimate, nature):
        return estimate
    estimate = replace(estimate, p50_ci95=None, p95_ci95=None, p99_ci95=None)
    unresolved = nature.range if _is_unresolved(estimate, nature) else None
    very_short = estimate.covered_seconds < VERY_SHORT_S * ROUNDING
    by = VERY_SHORT_WIDENING if very_short else SHORT_WIDENING
    wide = _lengthened(estimate.mean, interval, by, unresolved, non_negative=nature.non_negative)
    # The lower arm may be short for being near 0.
    was, now = interval.high - estimate.mean, wide.high - estimate.mean
    widening = now / was if was > 0 else 1.0
    error = estimate.standard_error
    return replace(
        estimate,
        ci95=wide,
        widening=widening,
        standard_error=None if error is None else error * widening,
    )


def widened(value: float, interval: Interval, by: float = SHORT_WIDENING) -> Interval:
    """Return the interval with both arms so many times as long."""
    return Interval(low=value - by * (value - interval.low), high=value + by * (interval.high - value))


def is_widened(*estimates: Estimate | None) -> bool:
    """Return whether the interval of one of these allows for a short window."""
    return any(e is not None and e.widening > 1.0 for e in estimates)


def _is_unresolved(estimate: Estimate, nature: Nature) -> bool:
    never_known = estimate.covered_seconds < MEMORIES_NEEDED * ON_OFF_MEMORY_S * ROUNDING
    return has_trend(estimate) or (nature.on_off and never_known)


def _lengthened(
    mean: float, interval: Interval, by: float, seen: Interval | None, *, non_negative: bool
) -> Interval:
    """Return the interval with longer arms.

    Args:
        mean: of the samples.
        interval: of the mean.
        by: how many times as long they become.
        seen: range of the batch means, if the mean may lie beyond it.
        non_negative: the lower arm is made longer on the log scale, or it would always end at 0, and no ratio to such
            a metric would ever be known.
    """
    wide = _stretched(mean, interval, by, non_negative=non_negative)
    if seen is None:
        return wide
    beyond = _stretched(mean, seen, RANGE_WIDENING, non_negative=non_negative)
    return Interval(low=min(wide.low, beyond.low), high=max(wide.high, beyond.high))


def _stretched(mean: float, interval: Interval, by: float, *, non_negative: bool) -> Interval:
    wide = widened(mean, interval, by)
    if not non_negative or mean <= 0:
        return wide
    return replace(wide, low=mean * (max(interval.low, 0.0) / mean) ** by)
