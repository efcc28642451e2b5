"""How often leapprof's intervals hold the truth, and how often its verdicts cry wolf: simulated.

Kinds of series that a node produces, with a mean that is known, in windows from 20 minutes to a week, go through the
very functions that reports use; other methods and other programs' rules see the same draws. Writes docs/coverage.md.

    python -m benchmarks.coverage --quick     a tenth of the draws, no week
    python -m benchmarks.coverage             all draws, three minutes of two idle cores
"""

import argparse
import multiprocessing
import os
import sys
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from benchmarks.coverage_page import SWINGING, Tables, cells, hours_cells, line, page, quantile_cells
from benchmarks.families import DAY_S, FAMILIES, HELD_OUT, UNSEEN
from benchmarks.simulation import report_alarms, simulate, simulate_quantiles

WEEK_S = 604_800
OF_A_WEEK = frozenset(
    {"ar099", "ar0999", "wb", "burst", "rare", "onoff", "daily-same", "pareto13", "logn15", "days"}
)
"""A week is a handful of days, each a batch: what differs is how heavy the tails are and how long the memory is."""
LENGTHS = (1200, 3600, 21_600, 86_400, WEEK_S)
DRAWS = (600, 1000, 1000, 200, 30)
CLOSE = {("pareto13", 86_400): 1000, ("often", 86_400): 1000}
"""Cells in which another method holds in about 93 of 100: with fewer draws it is chance on which side it is found."""
REPORT_LENGTHS = (1200, 3600, 21_600)
REPORT_DRAWS = 400
QUANTILE_LENGTHS = (6000, 21_600, 86_400)
QUANTILE_DRAWS = 200
QUICK_SHARE = 10
FEWEST_DRAWS = 30
SEED = 20_000
OUT = Path(__file__).parent.parent / "docs" / "coverage.md"
EVERY = (*FAMILIES, *HELD_OUT, *UNSEEN)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One cell of the table, or of that of quantiles, or of the reports when family is None."""

    family: int | None
    n: int
    draws: int
    seed: int
    of_quantiles: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Lines of a job; hours: only of families that swing with the day, for a part of it."""

    job: Job
    cells: list[str]
    hours: list[str] | None = None


def run(job: Job) -> Done:
    """Return the lines of a job."""
    if job.family is None:
        alarms = report_alarms(job.n, job.draws, job.seed)
        return Done(job=job, cells=[f"{job.n:,}", f"{job.draws:,}", f"{alarms:.1f}"])
    family = EVERY[job.family]
    if job.of_quantiles:
        found = simulate_quantiles(family, job.n, job.draws, job.seed)
        return Done(job=job, cells=quantile_cells(family, job.n, job.draws, found))
    tally = simulate(family, job.n, job.draws, job.seed)
    part = family.of_day and job.n < DAY_S
    return Done(
        job=job,
        cells=cells(family, job.n, tally),
        hours=hours_cells(family, job.n, tally) if part else None,
    )


def draws_of(share: int) -> list[tuple[int, int]]:
    """Return seconds and draws of each length."""
    lengths = LENGTHS if share < QUICK_SHARE else LENGTHS[:-1]
    return [(n, max(d // share, FEWEST_DRAWS)) for n, d in zip(lengths, DRAWS, strict=False)]


def jobs(share: int) -> list[Job]:
    """Return all cells with a share of the draws."""
    found = [
        Job(
            family=i,
            n=n,
            draws=max(draws, CLOSE.get((EVERY[i].name, n), 0) // share),
            seed=SEED + 100 * i + j,
        )
        for i in range(len(EVERY))
        for j, (n, draws) in enumerate(draws_of(share))
        if n < WEEK_S or EVERY[i].name in OF_A_WEEK
    ]
    quantiles = [
        Job(family=i, n=n, draws=QUANTILE_DRAWS // share, seed=SEED + 100 * i + n, of_quantiles=True)
        for i in range(len(EVERY))
        for n in QUANTILE_LENGTHS
        if n >= DAY_S or EVERY[i].name not in SWINGING
    ]
    reports = [Job(family=None, n=n, draws=REPORT_DRAWS // share, seed=SEED + n) for n in REPORT_LENGTHS]
    return [*found, *quantiles, *reports]


def work(share: int) -> list[Done]:
    """Run all jobs in two processes, the longest first, and return them in the order of the table."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    order = jobs(share)
    done: dict[Job, Done] = {}
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        costly_first = sorted(order, key=lambda job: -job.n * job.draws)
        for future in as_completed([pool.submit(run, job) for job in costly_first]):
            found = future.result()
            done[found.job] = found
            sys.stderr.write(line(found.cells))
    return [done[job] for job in order]


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
    done = work(share)
    first_unseen = len(EVERY) - len(UNSEEN)
    means = [(d.job.family, d.cells) for d in done if d.job.family is not None and not d.job.of_quantiles]
    tables = Tables(
        means=[found for family, found in means if family < first_unseen],
        unseen=[found for family, found in means if family >= first_unseen],
        hours=[d.hours for d in done if d.hours is not None],
        quantiles=[d.cells for d in done if d.job.of_quantiles],
        reports=[d.cells for d in done if d.job.family is None],
    )
    text = page(tables, options=f" --share {share}" if share > 1 else "", draws=draws_of(share))
    arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
