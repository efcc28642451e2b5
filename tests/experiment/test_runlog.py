"""Tests of a run on disk: nothing written is lost, a torn line is cut, one process at a time."""

import json

import pytest

from leapprof.errors import ConfigError, FormatVersionError, StoreError
from leapprof.experiment.runlog import (
    RUN_FORMAT,
    RunLog,
    find_runs,
    new_run_directory,
    read_entries,
    read_run_file,
    write_run_file,
)
from leapprof.recorder.clock import SystemClock


def test_entries_are_there_after_reopening(tmp_path):
    """Done is what was written done; the last of a kind counts."""
    with RunLog(tmp_path, SystemClock()) as log:
        log.append("intent", "001-edit", host="h", before="x")
        log.append("intent", "001-edit", host="h", before="y")
        log.append("done", "001-edit", host="h")
    with RunLog(tmp_path, SystemClock()) as log:
        assert log.is_done("001-edit")
        assert not log.is_done("002-stop")
        assert log.last("intent", "001-edit") == {"host": "h", "before": "y"}
        assert [entry.kind for entry in log.entries] == ["intent", "intent", "done"]


def test_a_torn_last_line_is_cut_off(tmp_path):
    """A crash while writing leaves half a line: it never happened, and what follows stays readable."""
    with RunLog(tmp_path, SystemClock()) as log:
        log.append("done", "a")
    whole = (tmp_path / "log.jsonl").read_bytes()
    for cut in range(1, len(whole)):
        (tmp_path / "log.jsonl").write_bytes(whole + whole[:cut].rstrip(b"\n"))
        with RunLog(tmp_path, SystemClock()) as log:
            assert [entry.step for entry in log.entries] == ["a"]
            log.append("done", "b")
        assert [entry.step for entry in read_entries(tmp_path)] == ["a", "b"]


def test_a_damaged_line_before_the_last_is_an_error(tmp_path):
    """Nobody guesses what it said."""
    (tmp_path / "log.jsonl").write_text(
        '{"wall_ns": 1, "kind"\n{"wall_ns":1,"kind":"done","step":"a","data":{}}\n'
    )
    with pytest.raises(StoreError, match="line 1 is damaged"):
        read_entries(tmp_path)


def test_two_processes_do_not_run_the_same_run(tmp_path):
    """The second is told so."""
    with RunLog(tmp_path, SystemClock()), pytest.raises(ConfigError, match="another leapprof runs it"):
        RunLog(tmp_path, SystemClock()).__enter__()


def test_each_run_has_a_directory_of_its_own(tmp_path):
    """Of the same second too; they are found in order."""
    book = tmp_path / "my book.yml"
    first = new_run_directory(tmp_path / "runs", book, 1_700_000_000_000_000_000)
    second = new_run_directory(tmp_path / "runs", book, 1_700_000_000_000_000_000)
    assert first != second
    assert first.stat().st_mode & 0o777 == 0o700
    for directory in (first, second):
        write_run_file(directory, {"playbook": {}})
    assert find_runs(tmp_path / "runs", book) == (first, second)
    assert find_runs(tmp_path / "runs", tmp_path / "other.yml") == ()


def test_a_run_of_a_newer_leapprof_is_refused(tmp_path):
    """And a file that is no run."""
    write_run_file(tmp_path, {})
    assert read_run_file(tmp_path)["format"] == RUN_FORMAT
    (tmp_path / "run.json").write_text(json.dumps({"format": RUN_FORMAT + 1}))
    with pytest.raises(FormatVersionError):
        read_run_file(tmp_path)
    (tmp_path / "run.json").write_text("[]")
    with pytest.raises(StoreError):
        read_run_file(tmp_path)
