"""What may be said of two estimates of one metric: grade, verdict, reason.

Whether a verdict may be given is decided by the design (length of the window against the metric's memory)
first. What the data show can only add a refusal: a short window under-estimates its own autocorrelation.
"""

import math
from dataclasses import dataclass

from leapprof.analysis.compare import ratio
from leapprof.model import Better, Effect, Estimate, Grade, Interval, Verdict
from leapprof.units import DAY_S, format_duration

TOO_SHORT_S = 1200.0
"""20 batches of a minute: below it no interval holds its level."""
FULL_FROM_S = 6000.0
"""20 times a memory of 300 s. An hour is 18 times one of 200 s: one in six such pairs looks shorter of memory than it
is, and of those the intervals hold in 88 of 100."""
MEMORIES_NEEDED = 20.0
HIGHEST_LAG1 = 0.5
FEWEST_EFFECTIVE = 20.0
FEWEST_BATCHES = 20
FEWEST_BURSTS = 10.0
LARGEST_BURST_SHARE = 0.2
PRELIMINARY_WIDENING = 2.0
"""A preliminary window has to show an effect with an interval this much wider."""
ON_OFF_SPREAD = 0.5
"""Half-minute means that deviate from their mean by half of it or more: something goes on and off."""
ON_OFF_MEMORY_S = 1200.0
"""Such a metric is long-range dependent for all that is known; within less than 20 times this no mean is known."""
ON_OFF_FULL_FROM_S = 3.0 * DAY_S
"""Its memory has no end: within a day its intervals hold in 90 of 100 only, so whole days have to tell."""
RANGE_WIDENING = 1.5
"""Where no mean is known: how far beyond the ranges seen the unseen may reach."""
ALPHA = 0.05
GRADES = (Grade.TOO_SHORT, Grade.PRELIMINARY, Grade.FULL)
"""The lowest first."""
ROUND_UP_S = 600.0
ROUNDING = 0.99
"""A window may miss this share of a limit: first and last sample never fall on the second."""
_PROVEN = frozenset({Verdict.IMPROVED, Verdict.REGRESSED})
_SETTLED = _PROVEN | {Verdict.UNCHANGED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """The difference that matters in practice: the larger of an absolute one and a share of before.

    Attributes:
        absolute: in the metric's unit.
        relative: share of the mean before, 0.2 = 20 %.
    """

    absolute: float
    relative: float = 0.0

    def of(self, before_mean: float) -> float:
        """Return the threshold for this mean before."""
        return max(self.absolute, self.relative * abs(before_mean))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What may be said of one metric.

    Attributes:
        reason: one sentence.
        needed_seconds: length that each side would need; None when it has it, or when unknown.
        design_seconds: length from which on the metric is graded full.
    """

    grade: Grade
    verdict: Verdict
    reason: str
    needed_seconds: float | None = None
    design_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What a metric brings along.

    Attributes:
        better: direction that is good.
        threshold: difference that matters, in the metric's unit.
        memory_s: prior of the integrated autocorrelation time.
    """

    better: Better
    threshold: float
    memory_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bursts:
    """How bursty a rate is: Kish's effective number of bursts, and the share of the largest."""

    effective: float
    largest_share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Both estimates of a metric and what is known of their samples.

    Attributes:
        before_bursts, after_bursts: None when the metric does not come in bursts.
        before_range, after_range: lowest and highest batch mean.
        confounded: what else forbids a full verdict, each a clause.
        swing: what the hour of the day alone could make of the difference; both arms are longer by it.
        on_off: the metric goes on and off, see ON_OFF_SPREAD.
        by_ratio: the verdict stands on the ratio, as a share of the mean before, and not on the difference.
    """

    before: Estimate
    after: Estimate
    confounded: tuple[str, ...] = ()
    before_bursts: Bursts | None = None
    after_bursts: Bursts | None = None
    before_range: Interval | None = None
    after_range: Interval | None = None
    swing: float = 0.0
    on_off: bool = False
    by_ratio: bool = False

    @property
    def shorter_s(self) -> float:
        """Return the covered seconds of the shorter side."""
        return min(self.before.covered_seconds, self.after.covered_seconds)


def memory_s(estimate: Estimate, prior_s: float) -> float:
    """Return the integrated autocorrelation time to reckon with.

    A day or more tells its own; a shorter window can only raise the prior.
    """
    if not estimate.effective_samples:
        return prior_s
    seen = estimate.covered_seconds / estimate.effective_samples
    return seen if estimate.covered_seconds >= DAY_S * ROUNDING else max(seen, prior_s)


def needed_design_s(sides: Sides, traits: Traits) -> float:
    """Return how long each side has to be for a full grade."""
    memory = max(memory_s(sides.before, traits.memory_s), memory_s(sides.after, traits.memory_s))
    least_s = ON_OFF_FULL_FROM_S if sides.on_off else FULL_FROM_S
    return max(least_s, MEMORIES_NEEDED * memory)


def judge(effect: Effect, p_adjusted: float | None, sides: Sides, traits: Traits) -> Judgement:
    """Return grade, verdict and reason of one metric.

    Args:
        effect: difference of both estimates.
        p_adjusted: p value after Holm; None outside the headline's metrics.
        sides: both estimates and what is known of their samples.
        traits: of the metric.
    """
    have_s = sides.shorter_s
    wanted_s = max(sides.before.needed_seconds or 0.0, sides.after.needed_seconds or 0.0)
    if wanted_s:
        return _unresolved(have_s, math.ceil(wanted_s / ROUND_UP_S) * ROUND_UP_S)
    if have_s < TOO_SHORT_S * ROUNDING or effect.ci95 is None:
        return Judgement(
            grade=Grade.TOO_SHORT,
            verdict=Verdict.INCONCLUSIVE,
            reason=f"too little data: {format_duration(have_s)}, and {format_duration(TOO_SHORT_S)} after warm-up "
            "are the least",
            needed_seconds=FULL_FROM_S,
            design_seconds=FULL_FROM_S,
        )
    design_s = needed_design_s(sides, traits)
    flags = [*_flags(sides), *sides.confounded]
    short = have_s < design_s * ROUNDING
    grade = Grade.PRELIMINARY if short or flags else Grade.FULL
    verdict, text = _settled(allowing(effect, sides, grade), p_adjusted, traits, grade)
    memory = "this metric's memory asks for"
    why = [f"{format_duration(have_s)} of the {format_duration(design_s)} that {memory}"] * short
    settled = grade is Grade.FULL and verdict in _SETTLED
    return Judgement(
        grade=grade,
        verdict=verdict,
        reason=text + (f" ({'; '.join([*why, *flags])})" if short or flags else ""),
        needed_seconds=None if settled else _needed(effect, traits, have_s, design_s),
        design_seconds=design_s,
    )


def _unresolved(have_s: float, needed_s: float) -> Judgement:
    """Return that an interval of this length of time would not hold."""
    return Judgement(
        grade=Grade.TOO_SHORT,
        verdict=Verdict.INCONCLUSIVE,
        reason=f"too little data: an interval from {format_duration(have_s)} would not hold for values that come in "
        f"spells as these do or may do; {format_duration(needed_s)} a side are the least",
        needed_seconds=needed_s,
        design_seconds=needed_s,
    )


def allowing(effect: Effect, sides: Sides, grade: Grade) -> Effect:
    """Return an effect with the interval on which its verdict stands.

    Of a flow that of the ratio; twice as wide when preliminary; with a trend, or on and off for too short, no mean is
    known and it reaches as far as the ranges of the batch means; and longer by what other hours of the day could make.
    """
    if effect.ci95 is None:
        return effect
    unresolved = sides.on_off and sides.shorter_s < MEMORIES_NEEDED * ON_OFF_MEMORY_S * ROUNDING
    trend = _has_trend(sides.before) or _has_trend(sides.after)
    interval = _of_ratio(sides) or effect.ci95
    if grade is not Grade.FULL:
        interval = widened(effect.value, interval)
    if trend or unresolved:
        interval = _with_ranges(effect.value, interval, sides)
    interval = Interval(low=interval.low - sides.swing, high=interval.high + sides.swing)
    return Effect(value=effect.value, ci95=interval)


def _of_ratio(sides: Sides) -> Interval | None:
    """Return the interval of the ratio as one of a difference from the mean before; None where it is not asked for."""
    quotient = ratio(sides.before, sides.after) if sides.by_ratio else None
    if quotient is None or quotient.ci95 is None:
        return None
    mean = sides.before.mean
    return Interval(low=(quotient.ci95.low - 1) * mean, high=(quotient.ci95.high - 1) * mean)


def settle(effect: Effect, p_adjusted: float | None, traits: Traits, grade: Grade) -> tuple[Verdict, str]:
    """Return verdict and reason of an effect whose grade is known.

    Args:
        effect: a difference, by whatever it was adjusted.
        p_adjusted: p value after Holm; None outside the headline's metrics.
        traits: of the metric.
        grade: preliminary asks for twice the interval; too_short forbids a verdict.
    """
    if grade is Grade.TOO_SHORT or effect.ci95 is None:
        return Verdict.INCONCLUSIVE, "too little data for an interval"
    interval = effect.ci95 if grade is Grade.FULL else widened(effect.value, effect.ci95)
    return _settled(Effect(value=effect.value, ci95=interval), p_adjusted, traits, grade)


def _settled(effect: Effect, p_adjusted: float | None, traits: Traits, grade: Grade) -> tuple[Verdict, str]:
    """Return verdict and reason of an interval that allows for everything, after Holm."""
    assert effect.ci95 is not None
    # Beside it the interval of the difference is printed, which may say something else than the wider one.
    name = "interval" if grade is Grade.FULL else "interval, widened for being preliminary,"
    verdict, text = _verdict(effect.ci95, traits, name)
    if verdict in _PROVEN and p_adjusted is not None and p_adjusted > ALPHA:
        return Verdict.INCONCLUSIVE, "not certain once all headline metrics are counted (Holm)"
    return verdict, text


def _verdict(interval: Interval, traits: Traits, name: str) -> tuple[Verdict, str]:
    """Return what an interval of a difference says against the threshold; the reason calls it by that name."""
    delta = traits.threshold
    if interval.low > delta or interval.high < -delta:
        text = f"the whole {name} lies beyond the difference that matters"
        return _direction(traits.better, rose=interval.low > delta), text
    if -delta <= interval.low and interval.high <= delta:
        return Verdict.UNCHANGED, f"the whole {name} lies within the difference that matters"
    if interval.low > 0 or interval.high < 0:
        word = "higher" if interval.low > 0 else "lower"
        return Verdict.CHANGED, f"certainly {word}, but whether by an amount that matters is open"
    return Verdict.INCONCLUSIVE, f"too little data: the {name} holds both no change and one that matters"


def _direction(better: Better, *, rose: bool) -> Verdict:
    """Return whether going up or down is good for this metric."""
    if better is Better.NEITHER:
        return Verdict.CHANGED
    return Verdict.IMPROVED if rose == (better is Better.HIGHER) else Verdict.REGRESSED


def _flags(sides: Sides) -> list[str]:
    """Return what in the samples forbids a full verdict; these only ever add a refusal."""
    found = []
    for name, estimate, bursts in (
        ("before", sides.before, sides.before_bursts),
        ("after", sides.after, sides.after_bursts),
    ):
        if dominated(bursts):
            assert bursts is not None
            found.append(
                f"{name} is dominated by {max(bursts.effective, 1):.0f} bursts, so only an upper limit"
            )
        if (
            estimate.lag1 is not None
            and estimate.lag1 > HIGHEST_LAG1
            and estimate.batches >= FEWEST_EFFECTIVE
        ):
            found.append(f"{name} has a trend or a memory longer than the window resolves")
        elif (estimate.effective_samples or 0.0) < FEWEST_EFFECTIVE:
            found.append(f"{name} is worth {estimate.effective_samples or 0:.0f} independent samples of 20")
    return found


def _has_trend(estimate: Estimate) -> bool:
    """Return whether the batch means follow each other so closely that their spread says little."""
    return (estimate.lag1 or 0.0) > HIGHEST_LAG1 and estimate.batches >= FEWEST_BATCHES


def dominated(bursts: Bursts | None) -> bool:
    """Return whether so few bursts made a rate that only its upper limit says anything."""
    if bursts is None or bursts.effective <= 0:
        return False
    return bursts.effective < FEWEST_BURSTS or bursts.largest_share > LARGEST_BURST_SHARE


def _with_ranges(value: float, interval: Interval, sides: Sides) -> Interval:
    """Return the interval widened beyond what the ranges of the batch means allow, for no mean is known."""
    if sides.before_range is None or sides.after_range is None:
        return interval
    down = value - (sides.after_range.low - sides.before_range.high)
    up = sides.after_range.high - sides.before_range.low - value
    return Interval(
        low=min(interval.low, value - RANGE_WIDENING * down),
        high=max(interval.high, value + RANGE_WIDENING * up),
    )


def _needed(effect: Effect, traits: Traits, have_s: float, design_s: float) -> float:
    """Return how long each side would have to be: an interval shrinks with the root of time."""
    if effect.ci95 is None or traits.threshold <= 0:
        return design_s
    half = (effect.ci95.high - effect.ci95.low) / 2
    margin = max(abs(abs(effect.value) - traits.threshold), traits.threshold / 2)
    wanted_s = max(have_s * (half / margin) ** 2, design_s)
    return math.ceil(wanted_s / ROUND_UP_S) * ROUND_UP_S


def widened(value: float, interval: Interval) -> Interval:
    """Return the interval with both arms PRELIMINARY_WIDENING times as long."""
    return Interval(
        low=value - PRELIMINARY_WIDENING * (value - interval.low),
        high=value + PRELIMINARY_WIDENING * (interval.high - value),
    )
