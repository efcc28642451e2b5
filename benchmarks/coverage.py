"""How often leapprof's intervals hold the truth, and how often its verdicts cry wolf: simulated.

Eight kinds of series that a node produces, with a mean that is known, in windows from 20 minutes to a day, go through
the very functions that reports use. Writes docs/coverage.md.

    python -m benchmarks.coverage --quick     under 3 minutes
    python -m benchmarks.coverage             ten times the draws
"""

import argparse
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from leapprof.analysis.batch import Span, batch_length_s, batch_means
from leapprof.analysis.compare import difference, p_value, ratio
from leapprof.analysis.estimate import count_bursts, estimate, mean_interval, upper_limit_only
from leapprof.analysis.verdict import Bursts, Sides, Threshold, Traits, dominated, judge
from leapprof.model import Better, Effect, Estimate, Grade, Interval, Series, Verdict

Draw = Callable[[np.random.Generator, int, float], NDArray[np.float64]]
MEAN = 1.0
EFFECT = 0.7
LENGTHS = (1200, 3600, 21_600, 86_400)
DRAWS_QUICK = (300, 300, 200, 80)
FULL_TIMES = 10
OUT = Path(__file__).parent.parent / "docs" / "coverage.md"
CPU = Threshold(absolute=0.0, relative=0.035)
WRITES = Threshold(absolute=0.0, relative=0.2)


def ar1(rng: np.random.Generator, n: int, phi: float, share: float) -> NDArray[np.float64]:
    """Return a stationary AR(1) with that standard deviation."""
    noise = rng.normal(size=n) * math.sqrt(1 - phi * phi)
    value, _ = lfilter([1.0], [1.0, -phi], noise, zi=[rng.normal() * phi])
    return np.asarray(share * value)


def smooth(phi: float) -> Draw:
    """Return a CPU-like family: 15 % deviation, memory (1+phi)/(1-phi) seconds."""
    return lambda rng, n, mean: mean * (1 + ar1(rng, n, phi, 0.15))


def writeback(rng: np.random.Generator, n: int, mean: float) -> NDArray[np.float64]:
    """Return writes every 5 s, three times as many every 30 s, under a slow load."""
    load = np.exp(ar1(rng, n, 0.998, 0.5) - 0.125)
    at = np.arange(n) + rng.integers(0, 30)
    flush = np.where(at % 5 == 0, np.where(at % 30 == 0, 3.0, 1.0), 0.0)
    return np.asarray(mean * load * flush / (8 / 30))


def bursts(rng: np.random.Generator, n: int, mean: float) -> NDArray[np.float64]:
    """Return Poisson flushes (mean gap 30 s) of bounded-Pareto size (1.5, 1 to 1000), each over 2 s."""
    alpha, top, gap = 1.5, 1000.0, 30.0
    times = np.flatnonzero(rng.random(n + 2) < 1 / gap)
    u = rng.random(times.size)
    size = (-(u * top**alpha - u - top**alpha) / top**alpha) ** (-1 / alpha)
    expected = (1 / (1 - top**-alpha)) * (alpha / (alpha - 1)) * (1 - top ** (1 - alpha))
    value = np.zeros(n + 4)
    value[times] += size / 2
    value[times + 1] += size / 2
    return np.asarray(value[2 : n + 2] * mean * gap / expected)


def rare(rng: np.random.Generator, n: int, mean: float) -> NDArray[np.float64]:
    """Return lognormal writes with a mean gap of 600 s (the 12 kB/s case)."""
    value = np.zeros(n)
    at = rng.integers(0, n, rng.poisson(n / 600))
    np.add.at(value, at, rng.lognormal(0, 1, at.size))
    return np.asarray(value * mean * 600 / math.exp(0.5))


def on_off(rng: np.random.Generator, n: int, mean: float) -> NDArray[np.float64]:
    """Return on and off times with Pareto(1.5) lengths: long-range dependent, no method is exact."""
    lengths = 20 * (1 - rng.random((200_000 + n) // 20)) ** (-1 / 1.5)
    at = np.searchsorted(np.cumsum(lengths), 200_000 + np.arange(n))
    state = (at + rng.integers(0, 2)) % 2
    return np.asarray(2 * mean * (state + 0.2 * rng.normal(size=n)))


def daily(rng: np.random.Generator, n: int, mean: float) -> NDArray[np.float64]:
    """Return a 30 % daily swing; the truth is the daily mean, which less than a day cannot tell."""
    swing = 0.3 * np.sin(2 * np.pi * (np.arange(n) / 86_400 + rng.random()))
    return np.asarray(mean * (1 + swing + ar1(rng, n, 0.99, 0.15)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One kind of series, and how leapprof would see it."""

    name: str
    about: str
    draw: Draw
    threshold: Threshold = WRITES
    memory_s: float = 300.0
    bursty: bool = False
    non_negative: bool = True


FAMILIES = (
    Family(name="ar09", about="CPU-like, memory 19 s", draw=smooth(0.9), threshold=CPU, memory_s=120.0),
    Family(name="ar099", about="CPU-like, memory 199 s", draw=smooth(0.99), threshold=CPU, memory_s=120.0),
    Family(
        name="ar0999", about="CPU-like, memory 1,999 s", draw=smooth(0.999), threshold=CPU, memory_s=120.0
    ),
    Family(name="wb", about="writeback every 5 and 30 s under a slow load", draw=writeback, bursty=True),
    Family(name="burst", about="flushes of heavy-tailed size, one in 30 s", draw=bursts, bursty=True),
    Family(name="rare", about="writes once in 10 minutes", draw=rare, bursty=True),
    Family(
        name="onoff",
        about="long-range dependent",
        draw=on_off,
        threshold=CPU,
        memory_s=120.0,
        non_negative=False,
    ),
    Family(name="daily", about="30 % daily swing", draw=daily, threshold=CPU, memory_s=120.0),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arm:
    """One simulated side."""

    estimate: Estimate
    plain: Interval
    bursts: Bursts | None
    range: Interval


def arm(family: Family, value: NDArray[np.float64]) -> Arm | None:
    """Return what leapprof makes of samples of one second each; None when nothing was seen at all."""
    n = value.size
    series = Series(
        time_s=np.arange(1.0, n + 1), value=value, weight_s=np.ones(n), non_negative=family.non_negative
    )
    length_s = batch_length_s(n)
    assert length_s is not None
    batches = batch_means(series, Span(start_s=0.0, end_s=float(n)), length_s)
    found = estimate(batches, series)
    if found is None or found.mean <= 0:
        return None
    seen = None
    if family.bursty:
        count = count_bursts(series)
        seen = Bursts(effective=count.effective, largest_share=count.largest_share)
        found = upper_limit_only(found, count) if dominated(seen) else found
    span = Interval(low=float(batches.mean.min()), high=float(batches.mean.max()))
    plain = mean_interval(batches.mean, non_negative=family.non_negative)
    return Arm(estimate=found, plain=plain, bursts=seen, range=span)


@dataclass(slots=True)
class Tally:
    """Counts of one family and length."""

    draws: int = 0
    level: int = 0
    level_plain: int = 0
    difference: int = 0
    ratio: int = 0
    significant: int = 0
    alarms_full: int = 0
    alarms: int = 0
    full: int = 0
    found: int = 0
    width: float = 0.0

    def add(self, family: Family, before: Arm, same: Arm, after: Arm) -> None:
        """Count one draw: a level, a pair that differs by EFFECT and a pair that does not differ."""
        self.draws += 1
        assert before.estimate.ci95 is not None
        self.level += holds(before.estimate.ci95, MEAN)
        self.level_plain += holds(before.plain, MEAN)
        self.width += (before.estimate.ci95.high - before.estimate.ci95.low) / 2
        effect = difference(before.estimate, after.estimate)
        self.difference += holds(effect.ci95, EFFECT - 1)
        quotient = ratio(before.estimate, after.estimate)
        self.ratio += quotient is not None and holds(quotient.ci95, EFFECT)
        self.significant += (p_value(before.estimate, same.estimate) or 1.0) < 0.05
        null, real = judgement(family, before, same), judgement(family, before, after)
        alarm = null[1] in {Verdict.IMPROVED, Verdict.REGRESSED}
        self.alarms += alarm
        self.full += null[0] is Grade.FULL
        self.alarms_full += alarm and null[0] is Grade.FULL
        self.found += real[1] is Verdict.IMPROVED


def holds(interval: Interval | None, truth: float) -> bool:
    """Return whether an interval holds the truth."""
    return interval is not None and interval.low <= truth <= interval.high


def judgement(family: Family, before: Arm, after: Arm) -> tuple[Grade, Verdict]:
    """Return grade and verdict of a pair."""
    effect: Effect = difference(before.estimate, after.estimate)
    sides = Sides(
        before=before.estimate,
        after=after.estimate,
        before_bursts=before.bursts,
        after_bursts=after.bursts,
        before_range=before.range,
        after_range=after.range,
    )
    traits = Traits(
        better=Better.LOWER, threshold=family.threshold.of(before.estimate.mean), memory_s=family.memory_s
    )
    found = judge(effect, None, sides, traits)
    return found.grade, found.verdict


def simulate(family: Family, n: int, draws: int, seed: int) -> Tally:
    """Return the counts of one family and length."""
    rng = np.random.default_rng(seed)
    tally = Tally()
    for _ in range(draws):
        arms = [arm(family, family.draw(rng, n, mean)) for mean in (MEAN, MEAN, EFFECT)]
        if arms[0] and arms[1] and arms[2]:
            tally.add(family, arms[0], arms[1], arms[2])
    return tally


def row(family: Family, n: int, tally: Tally) -> str:
    """Return one line of the table."""

    def share(count: int, of: int | None = None) -> str:
        whole = tally.draws if of is None else of
        return f"{100 * count / whole:.1f}" if whole else "–"

    cells = (
        family.name, f"{n:,}", str(tally.draws), share(tally.level), share(tally.level_plain),
        share(tally.difference), share(tally.ratio), f"{100 * tally.width / max(tally.draws, 1):.1f}",
        share(tally.significant), share(tally.full), share(tally.alarms_full, tally.full),
        share(tally.alarms), share(tally.found),
    )  # fmt: skip
    return "| " + " | ".join(cells) + " |"


HEAD = """# How often the intervals hold, and how often verdicts are wrong

Made by `python -m benchmarks.coverage`: simulated series of one second whose true mean is known go through the
functions that make reports. 95 % intervals should hold in 95 of 100 draws; the error of these percentages is about
±{error:.1f} points. Columns, in percent of the draws:

- **level**: the interval of one side's mean holds the truth; **plain**: without the allowance for one more of the
  largest sample;
- **difference**, **ratio**: of a pair whose second side is at 0.7 of the first;
- **width**: half of the level's interval, percent of the mean;
- **p < .05**: of a pair without difference;
- **full**: pairs without difference that get the grade full; **alarms**: those of them that are called improved or
  regressed; **any alarms**: of all pairs without difference, whatever their grade;
- **found**: pairs at 0.7 that are called improved.

The difference that matters is 3.5 % for CPU-like series and 20 % for writes. A draw without a single write is left out.

| family | seconds | draws | level | plain | difference | ratio | width | p < .05 | full | alarms | any alarms | found |
|---|---|---|---|---|---|---|---|---|---|---|---|---|
"""

TAIL = """
Reading: where the window is 20 times the memory or more, the intervals hold. Where it is shorter no method makes up for
the missing time; such pairs are graded preliminary, have to show their effect with twice the interval, and are seldom
wrong then. `daily` cannot be told from less than a day by anything but a load that both sides share: same hours, or the
figures at equal load; a report grades pairs of different hours without a common load preliminary (not simulated here).
`onoff` has no finite memory; nothing is exact there.

Families:

"""


def main() -> None:
    """Run the simulation and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws, under 3 minutes")
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    times = 1 if arguments.quick else FULL_TIMES
    error = 100 * math.sqrt(0.05 * 0.95 / (DRAWS_QUICK[0] * times))
    lines = [HEAD.format(error=error)]
    for number, family in enumerate(FAMILIES):
        for index, n in enumerate(LENGTHS):
            tally = simulate(family, n, DRAWS_QUICK[index] * times, seed=1000 * number + index)
            lines.append(row(family, n, tally) + "\n")
            sys.stderr.write(lines[-1])
    families = "".join(f"- `{family.name}`: {family.about}\n" for family in FAMILIES)
    arguments.out.write_text("".join(lines) + TAIL + families, encoding="utf-8")


if __name__ == "__main__":
    main()
