"""Both sides at once: in one process or in two, the comparison is the same to the last digit."""

import threading
from pathlib import Path

import pytest

from leapprof import report
from leapprof.assess import beside, both_sides
from leapprof.assess.apart import Apart
from leapprof.assess.cached import CachedTables
from leapprof.assess.compare import compare, compare_cut
from leapprof.assess.load import load
from leapprof.assess.material import CompareOptions
from leapprof.assess.summary import summarize
from leapprof.errors import NotEnoughDataError
from leapprof.model import Comparison

SAMPLES = Path(__file__).parents[2] / "samples"
ACROSS = CompareOptions(across=True)


@pytest.fixture
def processes(monkeypatch: pytest.MonkeyPatch) -> list[Apart]:
    """Have every side that can be apart in a process of its own; return those that were made."""
    made: list[Apart] = []

    class Counted(Apart):
        def __init__(self, make) -> None:
            super().__init__(make)
            made.append(self)

    monkeypatch.setattr(beside, "WORTH_A_PROCESS_BYTES", 0)
    # The test runner has threads; none of them holds a lock of ours.
    monkeypatch.setattr(beside, "can_fork", lambda: True)
    monkeypatch.setattr(beside, "Apart", Counted)
    return made


def written(comparison: Comparison, directory: Path) -> dict[str, str]:
    """Return every text of a report."""
    paths = report.write(comparison, directory, frozenset(report.Format) - {report.Format.PNG}, public=False)
    return {path.name: path.read_text(encoding="utf-8") for path in paths}


CASES = {
    "two recordings": lambda: compare(
        load(SAMPLES / "standin-two-hours" / "before"), load(SAMPLES / "standin-two-hours" / "after")
    ),
    "two nodes": lambda: compare(
        load(SAMPLES / "nodeos-v5-long" / "mapped"),
        load(SAMPLES / "nodeos-v5-long" / "mapped_private"),
        ACROSS,
    ),
    "delays": lambda: compare(
        *(load(path) for path in sorted((SAMPLES / "latency" / "request").iterdir(), reverse=True)[:2]),
        ACROSS,
    ),
    "one recording": lambda: compare_cut(load(SAMPLES / "nodeos-v5-starts" / "mapped"), None),
}


@pytest.mark.parametrize("name", CASES)
def test_a_side_in_another_process_compares_the_same(name, processes, monkeypatch, tmp_path):
    """Every file of the report is the same."""
    apart = written(CASES[name](), tmp_path / "apart")
    assert len(processes) == 1
    monkeypatch.setattr(beside, "can_fork", lambda: False)
    together = written(CASES[name](), tmp_path / "together")
    assert len(processes) == 1
    assert apart == together


def test_what_the_other_side_refuses_is_refused(processes, monkeypatch):
    """With the same error, and nothing is left running."""

    def refuse(recording, label, window, within):
        raise NotEnoughDataError(f"{label} side", "nothing", "something")

    monkeypatch.setattr(both_sides, "cut_side", refuse)
    with pytest.raises(NotEnoughDataError, match="before side"):
        CASES["two nodes"]()
    assert len(processes) == 1


def test_a_summary_made_by_two_processes_is_the_same(processes, monkeypatch):
    """Every row of every metric, in the same order."""
    recording = load(SAMPLES / "standin-two-hours" / "before")
    apart = summarize(CachedTables(recording))
    assert len(processes) == 1
    monkeypatch.setattr(beside, "can_fork", lambda: False)
    assert summarize(CachedTables(recording)) == apart
    assert {row.subject.device for row in apart} >= {None, "loop0", "loop2"}


def test_small_recordings_share_a_process(monkeypatch):
    """A process costs more than it saves; a program with threads is never forked."""
    monkeypatch.setattr(beside, "Apart", None)
    CASES["two nodes"]()
    monkeypatch.setattr(beside, "WORTH_A_PROCESS_BYTES", 0)
    thread = threading.Timer(600, print)
    thread.start()
    try:
        CASES["two nodes"]()
    finally:
        thread.cancel()


def test_where_no_process_can_be_made_both_share_this_one(processes, monkeypatch):
    """A limit on processes or memory is no reason to fail."""

    def none_left(make):
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(beside, "Apart", none_left)
    assert CASES["two nodes"]().metrics
