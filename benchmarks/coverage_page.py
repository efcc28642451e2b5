"""docs/coverage.md: its words and its tables."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.families import DAY_S, FAMILIES, HELD_OUT, UNSEEN, Family
from benchmarks.other_methods import PROGRAMS
from benchmarks.simulation import COVERS, OTHERS_SEE, REPORT, Tally, narrowest

COLUMNS = (
    "family", "seconds", "draws", "samples alone", "level", "difference", "ratio", "judged", "judged full", "width",
    "of best", "full", "alarms", "any alarms", "false unchanged", "found", *PROGRAMS,
)  # fmt: skip
ENOUGH_DRAWS = 200
FEWEST_INTERVALS = 50
"""What the sentences speak of."""
QUANTILE_COLUMNS = ("family", "seconds", "median", "given", "95th", "given", "99th", "given")
SWINGING = frozenset({"daily", "daily-same", "days"})
HOURS_COLUMNS = ("family", "seconds", "level", "difference")

HEAD = """# How often the intervals hold, and how often verdicts are wrong

Made by `python -m benchmarks.coverage{options}`: simulated series of one second whose true mean is known go through
the functions that make reports. Of 95 % intervals 95 in 100 should hold; the standard error of such a percentage is
{error}.
The second side of a pair is of the same hours of the next day, of `daily` it follows the first; no load is known.
Columns, in percent of the draws:

- **level**: the interval of one side's mean, as it is printed and as writes a year stand on it, holds the truth;
  **samples alone**: the same before it allows for a window that is short for the metric's memory;
- **difference**, **ratio**: of a pair whose second side is at 0.7 of the first; **judged**: the interval on which that
  pair's verdict stands (that of the ratio, as a share of the mean before; longer by the swing of a day when the hours
  differ); **judged full**: the same of the pairs that get the grade full alone;
- **width**: median of half the level's interval, percent of the mean; **of best**: divided by that of the narrowest
  other method whose interval holds in {covers:.0f} % (equal-weighted cosines, 10 and 20 batch means, and batch means
  with AR(1) and skewness but without the allowance for one more large burst); – where none does;
- **full**: pairs without difference that get the grade full; **alarms**: those of them that are called improved or
  regressed; **any alarms**: of all pairs without difference, whatever their grade;
- **false unchanged**: pairs at 0.7 that are called unchanged; **found**: those called improved;
- **benchstat**, **pyperf**, **kayenta**: pairs without difference in which their rules see one (Mann-Whitney at 5 %;
  Student's t at 5 %; 98 % interval of the shift of means a minute beyond a quarter of the shift), of {others} draws.

The difference that matters is 3.5 % for CPU-like series and 20 % for writes. A draw without a single write is left out.
Under 20 minutes there is no interval and no verdict. From 100 minutes on a verdict can be full.

"""

UNSEEN_HEAD = """
## Nothing was chosen on these

Four kinds that were written down before any of them was run, run once after the rules were settled:

"""

HOURS_HEAD = """
## What a part of a day tells of its own hours

The same draws of `daily` and `daily-same`, held against the true level and difference of the hours that were recorded.
That is what a report says: a year is “if every hour is like these”, and a difference is that of these windows.

"""

QUANTILES_HEAD = """
## Quantiles

Of the samples of a window: in how many of 100 an interval holds the quantile of the process, and how often one is
given. A window has to be 20 (median), 80 (95th) or 150 (99th percentile) times the metric's memory; of fewer than
{least} intervals no percentage is told. Families that swing with the day are held against the whole day, so from a day
on only.

"""

TAIL = """
## Whole reports

Reports of {count} independent metrics without any change ({names}), Holm over all:

{reports}
## Reading

{reading}
Families:

{families}"""

READING = """\
Of cells with 200 draws or more, the interval on which a verdict stands holds in at least {judged} % of the draws of
the first table and {judged_unseen} % of the second. Of pairs without any difference at most {alarms} % and
{alarms_unseen} % are called improved or regressed. Cells with fewer draws, as those of a week, only show what is
far off.

**What is printed** (level, difference, ratio) holds in at least {printed} % of the draws of these cells; left out are
those whose question has no answer in the window: parts of a day held against the whole day (`daily`, `daily-same`,
`days` under a day; below they are held against their own hours).

**Short windows**: no method makes up for the missing time. Of an hour or less the samples alone, by this method or any
of the others, give intervals that hold in {alone} to 98 % of the draws, and nothing in the data tells which it is. So
intervals from windows under 100 minutes, 20 memories or three days of what goes on and off are twice as long (under
40 minutes two and a half times), with a trend longer still, for all families alike: that holds, and it is why **of
best** is about 2 or more there. Where another method is narrower it is so by luck of the family, which an operator
does not know.

**judged full** counts only pairs that the data let through. Where the window is short for the memory, or days
differ, few are (`full`): those that look quieter than they are, and of just those the interval holds less often
(`ar0999` and `days` at 6 h). No rule that looks at the data mends that, which is why an hour is never full; **any
alarms** is what an operator meets.

**of best** of windows that are long enough is above 1.3 for `often` at a day, where another method just holds, and
for `rare` at a week, where seven days have to do for 20 batches. Ours allows for skewness and for one more large
burst; at `often` it holds in 97 of 100.

**The hours of a day.** `daily` is not identifiable from less than a day: at other hours without a common load an
effect has to exceed the swing of a day as well. At the same hours of two days (`daily-same`) the difference is
known only as that of these hours, and the ratio is what carries over to the day: a verdict on CPU or a rate stands
on the ratio. One whole day holds one swing, which stays in the spread: the interval is wider than the noise alone
asks for. Days that differ by themselves (`days`, by 5 %) are in no interval of two windows, as runs that differ are
not: repeat the phases, or record the load. Over a week the days are the batches, but they begin with the window and
not at midnight, so neighbours share a day: of `days` that is the weak place left.

**Without end**: `onoff` has no finite memory, and nothing is exact. It is never full before three whole days,
reaches beyond the range of its batch means below six hours and 40 minutes, and where such a process happens to stay on
for 20 minutes nothing in the data tells.

What was chosen on what: all rules on the families of the first table, with other seeds than these. The rule for few
bursts on `burst`, `rare` and the last {held_out} of it; how far ranges reach (2.5), and what goes on and off, on
`ar0999`, `wb` and `onoff`; 100 minutes on `ar099`; the swing of a day on `daily` and `onoff`. The second table is
the independent check.
"""


def line(values: Sequence[str]) -> str:
    """Return one line of a Markdown table."""
    return f"| {' | '.join(values)} |\n"


def headed(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return line(columns) + line(["---"] * len(columns)) + "".join(line(found) for found in lines)


def shown(value: float | None, digits: int = 1) -> str:
    """Return a number, or a dash."""
    return "–" if value is None else f"{value:.{digits}f}"


def numbers(column: str, lines: Sequence[Sequence[str]]) -> list[float]:
    """Return the numbers of a column, of cells with enough draws."""
    at, draws = COLUMNS.index(column), COLUMNS.index("draws")
    enough = [found for found in lines if int(found[draws].replace(",", "")) >= ENOUGH_DRAWS]
    return [float(found[at]) for found in enough if found[at] != shown(None)]


def in_range(lines: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Return the lines without those that hold a part of a day against the whole."""
    seconds = COLUMNS.index("seconds")
    return [one for one in lines if one[0] not in SWINGING or int(one[seconds].replace(",", "")) >= DAY_S]


def printed(lines: Sequence[Sequence[str]]) -> list[float]:
    """Return how often what is printed holds, of cells with enough draws."""
    return [
        value for column in ("level", "difference", "ratio") for value in numbers(column, in_range(lines))
    ]


def cells(family: Family, n: int, tally: Tally) -> list[str]:
    """Return one line of the table."""
    width = 100 * float(np.median(tally.widths["level"])) if tally.draws else None
    return [
        family.name, f"{n:,}", f"{tally.draws:,}",
        *(shown(tally.percent(name)) for name in ("alone", "level", "difference", "ratio", "judged")),
        shown(tally.percent("judged full", "real full")), shown(width), shown(narrowest(tally), 2),
        shown(tally.percent("full")), shown(tally.percent("alarm full", "full")), shown(tally.percent("alarm")),
        shown(tally.percent("false unchanged")), shown(tally.percent("found")),
        *(shown(tally.percent(name, "seen by others"), 0) for name in PROGRAMS),
    ]  # fmt: skip


def hours_cells(family: Family, n: int, tally: Tally) -> list[str]:
    """Return what a part of a day tells of its own hours."""
    shares = (tally.percent("level of hours"), tally.percent("difference of hours"))
    return [family.name, f"{n:,}", *(shown(share) for share in shares)]


def quantile_cells(
    family: Family, n: int, draws: int, found: Mapping[str, tuple[float | None, float]]
) -> list[str]:
    """Return how often the intervals of quantiles hold, and how often they are given."""
    enough = {name: given * draws / 100 >= FEWEST_INTERVALS for name, (_, given) in found.items()}
    cells = [
        (shown(held) if enough[name] else shown(None), shown(given)) for name, (held, given) in found.items()
    ]
    return [family.name, f"{n:,}", *(cell for pair in cells for cell in pair)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """Lines of the tables of the page.

    Attributes:
        means: of the families on which rules were chosen or checked before.
        unseen: of the others.
        hours: of the parts of a day.
        quantiles: of quantiles.
        reports: of whole reports.
    """

    means: Sequence[Sequence[str]]
    unseen: Sequence[Sequence[str]]
    hours: Sequence[Sequence[str]]
    quantiles: Sequence[Sequence[str]]
    reports: Sequence[Sequence[str]]


def page(tables: Tables, *, options: str, draws: Sequence[tuple[int, int]]) -> str:
    """Return the page.

    Args:
        tables: what was found.
        options: of the command.
        draws: seconds and draws of each length.
    """
    error = ", ".join(f"{100 * math.sqrt(0.05 * 0.95 / d):.1f} points at {n:,} s" for n, d in draws)
    families = "".join(f"- `{f.name}`: {f.about}\n" for f in (*FAMILIES, *HELD_OUT, *UNSEEN))
    head = HEAD.format(options=options, error=error, covers=COVERS, others=OTHERS_SEE)
    tail = TAIL.format(
        count=len(REPORT),
        names=", ".join(REPORT),
        reports=headed(["seconds", "reports", "with an alarm, percent"], tables.reports),
        reading=READING.format(
            judged=min(numbers("judged", tables.means), default=math.nan),
            printed=min(printed([*tables.means, *tables.unseen]), default=math.nan),
            alone=min(
                numbers("samples alone", [*in_range(tables.means), *in_range(tables.unseen)]),
                default=math.nan,
            ),
            judged_unseen=min(numbers("judged", tables.unseen), default=math.nan),
            alarms=max(numbers("any alarms", tables.means), default=math.nan),
            alarms_unseen=max(numbers("any alarms", tables.unseen), default=math.nan),
            held_out=len(HELD_OUT),
        ),
        families=families,
    )
    return (
        head
        + headed(COLUMNS, tables.means)
        + UNSEEN_HEAD
        + headed(COLUMNS, tables.unseen)
        + HOURS_HEAD
        + headed(HOURS_COLUMNS, tables.hours)
        + QUANTILES_HEAD.format(least=FEWEST_INTERVALS)
        + headed(QUANTILE_COLUMNS, tables.quantiles)
        + tail
    )
