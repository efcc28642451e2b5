"""How often leapprof's intervals hold the truth, and how often its verdicts cry wolf: simulated.

Kinds of series that a node produces, with a mean that is known, in windows from 20 minutes to a week, go through the
very functions that reports use; other methods and other programs' rules see the same draws. Writes docs/coverage.md.

    python -m benchmarks.coverage --quick     a tenth of the draws, some minutes on two cores
    python -m benchmarks.coverage             all draws
"""

import argparse
import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.families import DAY_S, FAMILIES, HELD_OUT, Family
from benchmarks.other_methods import alarms, levels
from leapprof.analysis.batch import Span, batch_length_s, batch_means
from leapprof.analysis.compare import difference, holm, p_value, ratio
from leapprof.analysis.estimate import count_bursts, estimate, relative_spread, upper_limit_only
from leapprof.analysis.verdict import (
    ON_OFF_SPREAD,
    Bursts,
    Judgement,
    Sides,
    Traits,
    allowing,
    dominated,
    judge,
)
from leapprof.analysis.windows import hours_covered, share_hours
from leapprof.assess.adjusting import DAILY_SWING, OTHER_HOURS
from leapprof.model import Better, Estimate, Grade, Interval, Series, Verdict

MEAN = 1.0
EFFECT = 0.7
LENGTHS = (1200, 3600, 21_600, 86_400, 604_800)
DRAWS = (3000, 3000, 1500, 400, 60)
QUICK_SHARE = 10
FEWEST_DRAWS = 30
REPORT_DRAWS = 1000
REPORT = ("ar09", "ar09", "ar099", "ar099", "wb", "burst", "rare")
"""Seven headline metrics of a report, independent of each other."""
COVERS = 93.0
NS_PER_S = 1_000_000_000
OUT = Path(__file__).parent.parent / "docs" / "coverage.md"
PROVEN = frozenset({Verdict.IMPROVED, Verdict.REGRESSED})
METHODS = ("prototype", "ewc12", "batch10", "batch20")
PROGRAMS = ("benchstat", "pyperf", "kayenta")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arm:
    """One simulated side; clock_s: seconds since midnight at its start."""

    value: NDArray[np.float64]
    batch: NDArray[np.float64]
    clock_s: float
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
    found = estimate(batches, series)
    if found is None or found.mean <= 0:
        return None
    seen = None
    if family.bursty:
        count = count_bursts(series)
        seen = Bursts(effective=count.effective, largest_share=count.largest_share)
        found = upper_limit_only(found) if dominated(seen) else found
    return Arm(
        value=value, batch=batches.mean, clock_s=clock_s, estimate=found, bursts=seen,
        spread=0.0 if family.bursty else relative_spread(series, span),
    )  # fmt: skip


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
        before_range=Interval(low=float(before.batch.min()), high=float(before.batch.max())),
        after_range=Interval(low=float(after.batch.min()), high=float(after.batch.max())),
        confounded=(OTHER_HOURS,) if other else (),
        swing=flow,
        on_off=max(before.spread, after.spread) > ON_OFF_SPREAD,
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
    standing = allowing(effect, sides, found.grade)
    assert standing.ci95 is not None
    return found, standing.ci95


@dataclass(slots=True)
class Tally:
    """Counts of one family and length; widths are halves of the intervals of a level."""

    draws: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    widths: dict[str, list[float]] = field(default_factory=dict)

    def count(self, name: str, *, hit: bool) -> None:
        """Count one draw."""
        self.counts[name] = self.counts.get(name, 0) + bool(hit)

    def width(self, name: str, interval: Interval) -> None:
        """Keep the half width of an interval."""
        self.widths.setdefault(name, []).append((interval.high - interval.low) / 2)

    def add(self, family: Family, before: Arm, same: Arm, after: Arm) -> None:
        """Count one draw: a level, a pair that differs by EFFECT and a pair that does not differ."""
        self.draws += 1
        assert before.estimate.ci95 is not None
        ours = {"level": before.estimate.ci95}
        others = levels(before.value, before.batch, non_negative=family.non_negative)
        for name, interval in (ours | others).items():
            self.count(name, hit=holds(interval, MEAN))
            self.width(name, interval)
        effect, quotient = difference(before.estimate, after.estimate), ratio(before.estimate, after.estimate)
        self.count("difference", hit=holds(effect.ci95, EFFECT - 1))
        self.count("ratio", hit=quotient is not None and holds(quotient.ci95, EFFECT))
        self.count("significant", hit=(p_value(before.estimate, same.estimate) or 1.0) < 0.05)
        (null, _), (real, interval) = judgement(family, before, same), judgement(family, before, after)
        alarm, full = null.verdict in PROVEN, null.grade is Grade.FULL
        self.count("alarm", hit=alarm)
        self.count("full", hit=full)
        self.count("alarm full", hit=alarm and full)
        self.count("found", hit=real.verdict is Verdict.IMPROVED)
        self.count("false unchanged", hit=real.verdict is Verdict.UNCHANGED)
        self.count("judged", hit=holds(interval, EFFECT - 1))
        for name, said in alarms(before.value, same.value).items():
            self.count(name, hit=said)

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
        clocks = (start, later, later)
        arms = [
            arm(family, family.draw(rng, n, mean, clock), clock)
            for mean, clock in zip((MEAN, MEAN, EFFECT), clocks, strict=True)
        ]
        if arms[0] and arms[1] and arms[2]:
            tally.add(family, arms[0], arms[1], arms[2])
    return tally


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


def cells(family: Family, n: int, tally: Tally) -> list[str]:
    """Return one line of the table."""

    def shown(value: float | None, digits: int = 1) -> str:
        return "–" if value is None else f"{value:.{digits}f}"

    first = [shown(tally.percent(name)) for name in ("level", "difference", "ratio", "judged")]
    width = 100 * float(np.median(tally.widths["level"])) if tally.draws else None
    return [
        family.name, f"{n:,}", f"{tally.draws:,}", *first, shown(width), shown(narrowest(tally), 2),
        shown(tally.percent("full")), shown(tally.percent("alarm full", "full")),
        shown(tally.percent("alarm")), shown(tally.percent("false unchanged")), shown(tally.percent("found")),
        *(shown(tally.percent(name), 0) for name in PROGRAMS),
    ]  # fmt: skip


def line(values: Sequence[str]) -> str:
    """Return one line of a Markdown table."""
    return f"| {' | '.join(values)} |\n"


COLUMNS = (
    "family", "seconds", "draws", "level", "difference", "ratio", "judged", "width", "of best", "full", "alarms",
    "any alarms", "false unchanged", "found", *PROGRAMS,
)  # fmt: skip

HEAD = """# How often the intervals hold, and how often verdicts are wrong

Made by `python -m benchmarks.coverage{options}`: simulated series of one second whose true mean is known go through
the functions that make reports. Of 95 % intervals 95 in 100 should hold; the error of these percentages is about
±{error:.1f} points in the first lengths and more where there are fewer draws. The second arm of a pair is
of the same hours of the next day, of `daily` it follows the first; no load is known. Columns, in percent of the draws:

- **level**: the interval of one side's mean holds the truth; **difference**, **ratio**: of a pair whose second side is
  at 0.7 of the first; **judged**: the interval on which that pair's verdict stands (twice as wide when preliminary,
  longer by the swing of a day when the hours differ);
- **width**: median of half the level's interval, percent of the mean; **of best**: divided by that of the narrowest
  other method whose interval holds in 93 % (equal-weighted cosines, 10 and 20 batch means, and batch means with AR(1)
  and skewness but without the allowance for one more large burst); – where none does;
- **full**: pairs without difference that get the grade full; **alarms**: those of them that are called improved or
  regressed; **any alarms**: of all pairs without difference, whatever their grade;
- **false unchanged**: pairs at 0.7 that are called unchanged; **found**: those called improved;
- **benchstat**, **pyperf**, **kayenta**: pairs without difference in which their rules see one (Mann-Whitney at 5 %;
  Student's t at 5 %; 98 % interval of the shift of means a minute beyond a quarter of the shift).

The difference that matters is 3.5 % for CPU-like series and 20 % for writes. A draw without a single write is left out.
Under 20 minutes there is no interval and no verdict.

"""

TAIL = """
Reports of {count} independent metrics without any change ({names}), Holm over all:

{reports}
Reading: where the window is 20 times the memory or more, the intervals hold. Where it is shorter no method makes up
for the missing time; such pairs are graded preliminary and stand on twice the interval. `daily` is not identifiable
from less than a day: at other hours without a common load an effect has to exceed the swing of a day as well. Of
the same hours of two days (`daily-same`) the ratio is known, the difference only as that of these hours: it is the
ratio that carries over to the day. `onoff` has no finite memory; nothing is exact there, it stands on the ranges of
its batch means below six hours and 40 minutes, and where such a process happens to stay on for 20 minutes nothing
in the data tells. The level of `daily` below a day and of `onoff` is that of these hours: reports say “if every
hour is like these”.

What was chosen on what: the rule for few bursts on `burst`, `rare` and, with other seeds, the last {held_out} families;
how far ranges reach (1.5) on `ar0999`, `wb` and `onoff` with these very seeds: their rows are no independent check.

Families:

{families}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One cell of the table, or of the reports when family is None."""

    family: int | None
    n: int
    draws: int
    seed: int


def run(job: Job) -> list[str]:
    """Return the line of a job."""
    if job.family is None:
        return [f"{job.n:,}", f"{job.draws:,}", f"{report_alarms(job.n, job.draws, job.seed):.1f}"]
    family = (*FAMILIES, *HELD_OUT)[job.family]
    return cells(family, job.n, simulate(family, job.n, job.draws, job.seed))


def jobs(share: int) -> list[Job]:
    """Return all cells with a share of the draws."""
    every = [*FAMILIES, *HELD_OUT]
    found = [
        Job(family=i, n=n, draws=max(DRAWS[j] // share, FEWEST_DRAWS), seed=1000 * i + j)
        for i in range(len(every))
        for j, n in enumerate(LENGTHS if share < QUICK_SHARE else LENGTHS[:-1])
    ]
    reports = [Job(family=None, n=n, draws=REPORT_DRAWS // share, seed=77 + n) for n in (1200, 3600, 21_600)]
    return [*found, *reports]


def page(lines: Sequence[tuple[Job, list[str]]], share: int) -> str:
    """Return the page."""
    options = f" --share {share}" if share > 1 else ""
    error = 100 * math.sqrt(0.05 * 0.95 / max(DRAWS[0] // share, 10))
    table = "".join(line(found) for job, found in lines if job.family is not None)
    reports = line(["seconds", "reports", "with an alarm, percent"]) + line(["---"] * 3)
    reports += "".join(line(found) for job, found in lines if job.family is None)
    families = "".join(f"- `{f.name}`: {f.about}\n" for f in (*FAMILIES, *HELD_OUT))
    head = HEAD.format(options=options, error=error) + line(COLUMNS) + line(["---"] * len(COLUMNS))
    return (
        head
        + table
        + TAIL.format(
            count=len(REPORT),
            names=", ".join(REPORT),
            reports=reports,
            held_out=len(HELD_OUT),
            families=families,
        )
    )


def main() -> None:
    """Run the simulation and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws, no week")
    parser.add_argument("--share", type=int, default=1, help="of the draws, one in so many")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    share = QUICK_SHARE if arguments.quick else arguments.share
    lines = []
    work = jobs(share)
    with ProcessPoolExecutor(2) as pool:
        for job, found in zip(work, pool.map(run, work), strict=True):
            lines.append((job, found))
            sys.stderr.write(line(found))
    arguments.out.write_text(page(lines, share), encoding="utf-8")


if __name__ == "__main__":
    main()
