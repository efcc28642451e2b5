"""Simulated pairs through the very functions that make reports: what their intervals hold and their verdicts say."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.families import DAY_S, FAMILIES, Family, daily_level
from benchmarks.other_methods import alarms, levels
from leapprof.analysis.allowance import ON_OFF_SPREAD, Bursts, Nature, allowing, dominated
from leapprof.analysis.batch import Span, batch_length_s, batch_means
from leapprof.analysis.compare import difference, holm, p_value, ratio
from leapprof.analysis.estimate import count_bursts, estimate, relative_spread, upper_limit_only
from leapprof.analysis.verdict import Judgement, Sides, Traits, judge, standing
from leapprof.analysis.windows import hours_covered, share_hours
from leapprof.assess.adjusting import DAILY_SWING, OTHER_HOURS
from leapprof.assess.measure import range_of
from leapprof.model import Better, Estimate, Grade, Interval, Series, Verdict

MEAN = 1.0
EFFECT = 0.7
REPORT = ("ar09", "ar09", "ar099", "ar099", "wb", "burst", "rare")
"""Seven headline metrics of a report, independent of each other."""
COVERS = 93.0
NS_PER_S = 1_000_000_000
PROVEN = frozenset({Verdict.IMPROVED, Verdict.REGRESSED})
METHODS = ("prototype", "ewc12", "batch10", "batch20")
OTHERS_SEE = 40
"""Draws that the rules of other programs see: slow, and none of them is near 5 %."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arm:
    """One simulated side.

    Attributes:
        clock_s: seconds since midnight at its start.
        alone: as its samples alone tell, before the interval allows for a short window.
    """

    value: NDArray[np.float64]
    batch: NDArray[np.float64]
    clock_s: float
    alone: Estimate
    estimate: Estimate
    bursts: Bursts | None
    spread: float


def arm(family: Family, value: NDArray[np.float64], clock_s: float = 0.0) -> Arm | None:
    """Return what leapprof makes of samples of one second each; None when nothing was seen at all."""
    n = value.size
    series = Series(
        time_s=np.arange(1.0, n + 1), value=value, weight_s=np.ones(n), non_negative=family.non_negative
    )
    span = Span(start_s=0.0, end_s=float(n))
    length_s = batch_length_s(n)
    assert length_s is not None
    batches = batch_means(series, span, length_s)
    spread = 0.0 if family.bursty else relative_spread(series, span)
    found = estimate(batches, series, on_off=spread > ON_OFF_SPREAD, memory_s=family.memory_s)
    if found is None or found.mean <= 0:
        return None
    seen = None
    if family.bursty:
        count = count_bursts(series)
        seen = Bursts(effective=count.effective, largest_share=count.largest_share)
        found = upper_limit_only(found) if dominated(seen) else found
    nature = Nature(
        memory_s=family.memory_s, bursts=seen, range=range_of(batches), on_off=spread > ON_OFF_SPREAD,
        non_negative=family.non_negative,
    )  # fmt: skip
    return Arm(
        value=value, batch=batches.mean, clock_s=clock_s, alone=found, estimate=allowing(found, nature), bursts=seen,
        spread=spread,
    )  # fmt: skip


def scaled(side: Arm, by: float) -> Arm:
    """Return what leapprof makes of the same samples times a number: everything but counts and shares follows."""
    found = side.estimate
    assert found.ci95 is not None
    assert found.standard_error is not None
    return replace(
        side,
        value=by * side.value,
        batch=by * side.batch,
        estimate=replace(
            found,
            mean=by * found.mean,
            ci95=Interval(low=by * found.ci95.low, high=by * found.ci95.high),
            standard_error=by * found.standard_error,
        ),
    )


def _hours(side: Arm) -> frozenset[int]:
    start = round(side.clock_s) * NS_PER_S
    return hours_covered(start, start + side.value.size * NS_PER_S)


def sides_of(family: Family, before: Arm, after: Arm) -> Sides:
    """Return both sides as a comparison without a known load sees them: the hours of the day are checked."""
    other = not share_hours(_hours(before), _hours(after))
    flow = DAILY_SWING * before.estimate.mean if other else 0.0
    return Sides(
        before=before.estimate,
        after=after.estimate,
        before_bursts=before.bursts,
        after_bursts=after.bursts,
        confounded=(OTHER_HOURS,) if other else (),
        swing=flow,
        on_off=max(before.spread, after.spread) > ON_OFF_SPREAD,
        by_ratio=True,
    )


def judgement(
    family: Family, before: Arm, after: Arm, p_adjusted: float | None = None
) -> tuple[Judgement, Interval]:
    """Return what is said of a pair, and the interval on which it stands."""
    sides = sides_of(family, before, after)
    traits = Traits(
        better=Better.LOWER, threshold=family.threshold.of(before.estimate.mean), memory_s=family.memory_s
    )
    effect = difference(before.estimate, after.estimate)
    found = judge(effect, p_adjusted, sides, traits)
    stands_on = standing(effect, sides, found.grade)
    assert stands_on.ci95 is not None
    return found, stands_on.ci95


@dataclass(frozen=True, slots=True, kw_only=True)
class Draw:
    """One draw: a side, one that does not differ, the same at EFFECT, and their true levels in their own hours."""

    before: Arm
    same: Arm
    after: Arm
    level: float
    later_level: float


@dataclass(slots=True)
class Tally:
    """Counts of one family and length; widths are halves of the intervals of a level."""

    draws: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    widths: dict[str, list[float]] = field(default_factory=dict)

    def count(self, name: str, *, hit: bool) -> None:
        """Count one draw."""
        self.counts[name] = self.counts.get(name, 0) + bool(hit)

    def add(self, family: Family, draw: Draw) -> None:
        """Count one draw."""
        self.draws += 1
        self._add_level(family, draw)
        self._add_pair(draw)
        self._add_verdicts(family, draw)
        if self.draws <= OTHERS_SEE:
            self.count("seen by others", hit=True)
            for name, said in alarms(draw.before.value, draw.same.value).items():
                self.count(name, hit=said)

    def _add_level(self, family: Family, draw: Draw) -> None:
        interval = draw.before.estimate.ci95
        assert interval is not None
        ours = {"level": interval}
        others = levels(draw.before.value, draw.before.batch, non_negative=family.non_negative)
        for name, found in (ours | others).items():
            self.count(name, hit=holds(found, MEAN))
            self.widths.setdefault(name, []).append((found.high - found.low) / 2)
        self.count("alone", hit=holds(draw.before.alone.ci95, MEAN))
        self.count("level of hours", hit=holds(interval, draw.level))

    def _add_pair(self, draw: Draw) -> None:
        effect = difference(draw.before.estimate, draw.after.estimate)
        quotient = ratio(draw.before.estimate, draw.after.estimate)
        self.count("difference", hit=holds(effect.ci95, EFFECT - 1))
        self.count(
            "difference of hours", hit=holds(effect.ci95, EFFECT * draw.later_level - MEAN * draw.level)
        )
        self.count("ratio", hit=quotient is not None and holds(quotient.ci95, EFFECT))

    def _add_verdicts(self, family: Family, draw: Draw) -> None:
        null, _ = judgement(family, draw.before, draw.same)
        real, interval = judgement(family, draw.before, draw.after)
        alarm, full = null.verdict in PROVEN, null.grade is Grade.FULL
        self.count("alarm", hit=alarm)
        self.count("full", hit=full)
        self.count("alarm full", hit=alarm and full)
        self.count("found", hit=real.verdict is Verdict.IMPROVED)
        self.count("false unchanged", hit=real.verdict is Verdict.UNCHANGED)
        judged = holds(interval, (EFFECT - 1) * draw.before.estimate.mean)
        self.count("judged", hit=judged)
        self.count("real full", hit=real.grade is Grade.FULL)
        self.count("judged full", hit=judged and real.grade is Grade.FULL)

    def percent(self, name: str, of: str | None = None) -> float | None:
        """Return a count in percent of the draws, or of another count; None of nothing."""
        whole = self.draws if of is None else self.counts.get(of, 0)
        return 100 * self.counts.get(name, 0) / whole if whole else None


def holds(interval: Interval | None, truth: float) -> bool:
    """Return whether an interval holds the truth."""
    return interval is not None and interval.low <= truth <= interval.high


def simulate(family: Family, n: int, draws: int, seed: int) -> Tally:
    """Return the counts of one family and length; the first arm begins at any hour of the day."""
    rng = np.random.default_rng(seed)
    tally = Tally()
    for _ in range(draws):
        start = float(rng.integers(0, DAY_S))
        later = start + n + (-n % DAY_S if family.next_day else 0)
        before, same = (arm(family, family.draw(rng, n, MEAN, clock), clock) for clock in (start, later))
        if before and same:
            level, later_level = (daily_level(clock, n) if family.of_day else 1.0 for clock in (start, later))
            after = scaled(same, EFFECT)
            tally.add(
                family,
                Draw(before=before, same=same, after=after, level=level, later_level=later_level),
            )
    return tally


QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
TRUTH_DAYS = 40


def simulate_quantiles(
    family: Family, n: int, draws: int, seed: int
) -> dict[str, tuple[float | None, float]]:
    """Return for each quantile in how many of 100 its interval holds the truth, and how often there is one, percent."""
    rng = np.random.default_rng(seed)
    long = np.concatenate([family.draw(rng, DAY_S, MEAN, 0.0) for _ in range(TRUTH_DAYS)])
    truth = dict(zip(QUANTILES, np.quantile(long, list(QUANTILES.values())), strict=True))
    hit, given = dict.fromkeys(QUANTILES, 0), dict.fromkeys(QUANTILES, 0)
    for _ in range(draws):
        side = arm(family, family.draw(rng, n, MEAN, float(rng.integers(0, DAY_S))))
        for name in QUANTILES if side else ():
            assert side is not None
            interval = getattr(side.estimate, f"{name}_ci95")
            given[name] += interval is not None
            hit[name] += holds(interval, truth[name])
    return {
        name: (100 * hit[name] / given[name] if given[name] else None, 100 * given[name] / draws)
        for name in QUANTILES
    }


def report_alarms(n: int, draws: int, seed: int) -> float:
    """Return in how many of 100 reports without any change some headline metric is improved or regressed."""
    rng = np.random.default_rng(seed)
    families = {family.name: family for family in FAMILIES}
    bad = 0
    for _ in range(draws):
        pairs = []
        for name in REPORT:
            one, two = (arm(families[name], families[name].draw(rng, n, MEAN, 0.0)) for _ in range(2))
            if one and two:
                pairs.append((families[name], one, two))
        p_values = holm([p_value(a.estimate, b.estimate) for _, a, b in pairs])
        said = [judgement(f, a, b, p)[0].verdict for (f, a, b), p in zip(pairs, p_values, strict=True)]
        bad += any(verdict in PROVEN for verdict in said)
    return 100 * bad / draws


def narrowest(tally: Tally) -> float | None:
    """Return our median width over that of the narrowest other method that covers; None when none does."""
    widths = [float(np.median(tally.widths[m])) for m in METHODS if (tally.percent(m) or 0.0) >= COVERS]
    return float(np.median(tally.widths["level"])) / min(widths) if widths else None
