"""Comparisons in a fresh process that works with two: ``python -m tests.support.two_processes CASE DIRECTORY``.

A test runner has threads of its own, and must not be forked. What is printed is how many processes were made; the
directory holds the report, or the text of an error.
"""

import sys
from pathlib import Path

import pytest

from leapprof import report
from leapprof.assess import beside, both_sides
from leapprof.assess.apart import Apart
from leapprof.assess.cached import CachedTables
from leapprof.assess.compare import compare, compare_cut
from leapprof.assess.load import load
from leapprof.assess.material import CompareOptions
from leapprof.assess.sides import cut_side
from leapprof.assess.summary import SummaryRow, summarize
from leapprof.errors import NotEnoughDataError
from leapprof.model import Comparison

SAMPLES = Path(__file__).parents[2] / "samples"
ACROSS = CompareOptions(across=True)
TWO_NODES = ("nodeos-v5-long/mapped", "nodeos-v5-long/mapped_private")
REFUSED, NO_PROCESS, SUMMARY = "refused", "no process", "summary"
COMPARISONS = {
    "two recordings": lambda: pair("standin-two-hours/before", "standin-two-hours/after"),
    "two nodes": lambda: pair(*TWO_NODES),
    "delays": lambda: pair("latency/request/before", "latency/request/after"),
    "one recording": lambda: compare_cut(load(SAMPLES / "nodeos-v5-starts" / "mapped"), None),
}


def pair(before: str, after: str) -> Comparison:
    """Return the comparison of two samples."""
    return compare(load(SAMPLES / before), load(SAMPLES / after), ACROSS)


def summary() -> tuple[SummaryRow, ...]:
    """Return the summary of a sample."""
    return summarize(CachedTables(load(SAMPLES / "standin-two-hours" / "before")))


def write_report(comparison: Comparison, directory: Path) -> None:
    """Write every text of a report."""
    report.write(comparison, directory, frozenset(report.Format) - {report.Format.PNG}, public=False)


def refuse_after(recording, label, window, within):
    """Cut a side, but not the one after the change."""
    if label == "after":
        raise NotEnoughDataError("after side", "nothing", "something")
    return cut_side(recording, label, window, within)


def no_process(make: object) -> Apart:
    """Refuse as a limit on processes does."""
    raise BlockingIOError(11, "Resource temporarily unavailable")


def run(case: str, directory: Path) -> int:
    """Run a case in two processes; return how many were made beside this one."""
    made = 0

    class Counted(Apart):
        def __init__(self, make) -> None:
            nonlocal made
            super().__init__(make)
            made += 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beside, "WORTH_A_PROCESS_BYTES", 0)
        patch.setattr(beside, "Apart", no_process if case == NO_PROCESS else Counted)
        if case == REFUSED:
            patch.setattr(both_sides, "cut_side", refuse_after)
        directory.mkdir()
        if case == SUMMARY:
            (directory / "summary").write_text(repr(summary()), encoding="utf-8")
            return made
        try:
            write_report(COMPARISONS.get(case, COMPARISONS["two nodes"])(), directory)
        except NotEnoughDataError as error:
            (directory / "error").write_text(str(error), encoding="utf-8")
    return made


if __name__ == "__main__":
    print(run(sys.argv[1], Path(sys.argv[2])))
