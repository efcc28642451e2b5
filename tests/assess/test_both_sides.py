"""Both sides at once: in one process or in two, the comparison is the same to the last digit."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from leapprof.assess import beside
from tests.support.two_processes import COMPARISONS, NO_PROCESS, REFUSED, SUMMARY, summary, write_report

ROOT = Path(__file__).parents[2]


def in_two_processes(case: str, directory: Path) -> int:
    """Run a case in a fresh process; return how many it made beside itself."""
    words = [sys.executable, "-m", "tests.support.two_processes", case, str(directory)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return int(done.stdout)


def texts(directory: Path) -> dict[str, str]:
    """Return every file of a report."""
    return {path.name: path.read_text(encoding="utf-8") for path in directory.iterdir()}


@pytest.mark.parametrize("name", COMPARISONS)
def test_a_side_in_another_process_compares_the_same(name, monkeypatch, tmp_path):
    """Every file of the report is the same."""
    assert in_two_processes(name, tmp_path / "apart") == 1
    monkeypatch.setattr(beside, "can_fork", lambda: False)
    write_report(COMPARISONS[name](), tmp_path / "together")
    assert len(texts(tmp_path / "together")) == 7
    assert texts(tmp_path / "apart") == texts(tmp_path / "together")


def test_a_summary_made_by_two_processes_is_the_same(monkeypatch, tmp_path):
    """Every row of every metric, in the same order."""
    assert in_two_processes(SUMMARY, tmp_path / "apart") == 1
    monkeypatch.setattr(beside, "can_fork", lambda: False)
    rows = summary()
    assert texts(tmp_path / "apart") == {"summary": repr(rows)}
    assert {row.subject.device for row in rows} >= {None, "loop0", "loop2"}


def test_what_the_other_side_refuses_is_refused(tmp_path):
    """With the same error, and nothing is said beside it."""
    assert in_two_processes(REFUSED, tmp_path / "apart") == 1
    assert texts(tmp_path / "apart") == {"error": "after side: nothing; needed: something"}


def test_where_no_process_can_be_made_both_share_this_one(tmp_path):
    """A limit on processes or memory is no reason to fail."""
    assert in_two_processes(NO_PROCESS, tmp_path / "apart") == 0
    assert "report.json" in texts(tmp_path / "apart")


def test_small_recordings_share_a_process(monkeypatch):
    """A process costs more than it saves; a program with threads is never forked."""
    monkeypatch.setattr(beside, "Apart", None)
    COMPARISONS["two nodes"]()
    monkeypatch.setattr(beside, "WORTH_A_PROCESS_BYTES", 0)
    thread = threading.Timer(600, print)
    thread.start()
    try:
        COMPARISONS["two nodes"]()
    finally:
        thread.cancel()
