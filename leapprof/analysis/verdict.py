"""What may be said of two estimates of one metric: grade, verdict, reason.

Estimates come with intervals that allow for a short window (allowance.py). Whether a verdict is full is decided by the
design (length of the window against the metric's memory) first; what the data show can only add a refusal.
"""

import math
from dataclasses import dataclass

from leapprof.analysis.allowance import (
    FULL_FROM_S,
    ROUNDING,
    Bursts,
    design_s,
    doubts,
    is_widened,
    widened,
)
from leapprof.analysis.compare import ratio
from leapprof.model import Better, Effect, Estimate, Grade, Interval, Verdict
from leapprof.units import format_duration

TOO_SHORT_S = 1200.0
"""20 batches of a minute: below it no interval holds its level."""
ALPHA = 0.05
GRADES = (Grade.TOO_SHORT, Grade.PRELIMINARY, Grade.FULL)
"""The lowest first."""
ROUND_UP_S = 600.0
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
class Sides:
    """Both estimates of a metric and what is known of their samples.

    Attributes:
        before_bursts, after_bursts: None when the metric does not come in bursts.
        confounded: what else forbids a full verdict, each a clause.
        swing: what the hour of the day alone could make of the difference; both arms are longer by it.
        on_off: the metric goes on and off, see ON_OFF_SPREAD in allowance.py.
        by_ratio: the verdict stands on the ratio, as a share of the mean before, and not on the difference.
    """

    before: Estimate
    after: Estimate
    confounded: tuple[str, ...] = ()
    before_bursts: Bursts | None = None
    after_bursts: Bursts | None = None
    swing: float = 0.0
    on_off: bool = False
    by_ratio: bool = False

    @property
    def allowed(self) -> bool:
        """Return whether the interval of one of them allows for a short window."""
        return is_widened(self.before, self.after)

    @property
    def shorter_s(self) -> float:
        """Return the covered seconds of the shorter side."""
        return min(self.before.covered_seconds, self.after.covered_seconds)


def needed_design_s(sides: Sides, traits: Traits) -> float:
    """Return how long each side has to be for a full grade."""
    return max(design_s(one, traits.memory_s, on_off=sides.on_off) for one in (sides.before, sides.after))


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
    needed_s = needed_design_s(sides, traits)
    flags = [*_flags(sides), *sides.confounded]
    short = have_s < needed_s * ROUNDING
    grade = Grade.PRELIMINARY if short or flags else Grade.FULL
    full = grade is Grade.FULL
    twice = _asks_twice(grade, allowed=sides.allowed)
    verdict, text = _settled(standing(effect, sides, grade), p_adjusted, traits, twice=twice)
    memory = "this metric's memory asks for"
    why = [f"{format_duration(have_s)} of the {format_duration(needed_s)} that {memory}"] * short
    settled = full and verdict in _SETTLED
    return Judgement(
        grade=grade,
        verdict=verdict,
        reason=text + (f" ({'; '.join([*why, *flags])})" if short or flags else ""),
        needed_seconds=None if settled else _needed(effect, traits, sides, needed_s),
        design_seconds=needed_s,
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


def standing(effect: Effect, sides: Sides, grade: Grade) -> Effect:
    """Return an effect with the interval on which its verdict stands.

    Of a flow that of the ratio; twice as wide when preliminary for another reason than a short window, which the
    interval allows for; and longer by what other hours of the day could make.
    """
    if effect.ci95 is None:
        return effect
    interval = _of_ratio(sides) or effect.ci95
    if _asks_twice(grade, allowed=sides.allowed):
        interval = widened(effect.value, interval)
    interval = Interval(low=interval.low - sides.swing, high=interval.high + sides.swing)
    return Effect(value=effect.value, ci95=interval)


def _of_ratio(sides: Sides) -> Interval | None:
    """Return the interval of the ratio as one of a difference from the mean before; None where it is not asked for."""
    quotient = ratio(sides.before, sides.after) if sides.by_ratio else None
    if quotient is None or quotient.ci95 is None:
        return None
    mean = sides.before.mean
    return Interval(low=(quotient.ci95.low - 1) * mean, high=(quotient.ci95.high - 1) * mean)


def _asks_twice(grade: Grade, *, allowed: bool) -> bool:
    """Return whether twice the interval has to show an effect: preliminary, and not for what it allows for."""
    return grade is not Grade.FULL and not allowed


def settle(
    effect: Effect, p_adjusted: float | None, traits: Traits, grade: Grade, *, allowed: bool
) -> tuple[Verdict, str]:
    """Return verdict and reason of an effect whose grade is known.

    Args:
        effect: a difference, by whatever it was adjusted.
        p_adjusted: p value after Holm; None outside the headline's metrics.
        traits: of the metric.
        grade: preliminary asks for twice the interval; too_short forbids a verdict.
        allowed: the interval allows for a short window already.
    """
    if grade is Grade.TOO_SHORT or effect.ci95 is None:
        return Verdict.INCONCLUSIVE, "too little data for an interval"
    twice = _asks_twice(grade, allowed=allowed)
    interval = widened(effect.value, effect.ci95) if twice else effect.ci95
    return _settled(Effect(value=effect.value, ci95=interval), p_adjusted, traits, twice=twice)


def _settled(effect: Effect, p_adjusted: float | None, traits: Traits, *, twice: bool) -> tuple[Verdict, str]:
    """Return verdict and reason of an interval that allows for everything, after Holm."""
    assert effect.ci95 is not None
    # Beside it the interval of the effect is printed, which may say something else than one twice as wide.
    is_wide = twice and effect.ci95.low < effect.ci95.high
    name = "interval, widened for being preliminary," if is_wide else "interval"
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
    both = (
        ("before", sides.before, sides.before_bursts),
        ("after", sides.after, sides.after_bursts),
    )
    return [f"{name} {doubt}" for name, estimate, bursts in both for doubt in doubts(estimate, bursts)]


def _needed(effect: Effect, traits: Traits, sides: Sides, needed_s: float) -> float:
    """Return how long each side would have to be: an interval shrinks with the root of time.

    A window that is long enough is not widened, so that is taken out first.
    """
    if effect.ci95 is None or traits.threshold <= 0:
        return needed_s
    widening = max(sides.before.widening, sides.after.widening)
    half = (effect.ci95.high - effect.ci95.low) / 2 / widening
    margin = max(abs(abs(effect.value) - traits.threshold), traits.threshold / 2)
    wanted_s = max(sides.shorter_s * (half / margin) ** 2, needed_s)
    return math.ceil(wanted_s / ROUND_UP_S) * ROUND_UP_S
