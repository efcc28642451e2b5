"""Tests of leapprof.standin.log."""

import io
import re

from leapprof.standin.log import BlockLog, Log, format_line, iso_time

# The form of nodeos's console appender, as log readers take it.
LINE = re.compile(r"^(\w+)\s+(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3})\s+(\S+)\s+(\S+:\d+)\s+(\S+)\s+\] (.*)$")


def test_times_are_utc_with_milliseconds_and_no_zone():
    """The epoch and half a second is printed as nodeos would."""
    assert iso_time(500_000_000) == "1970-01-01T00:00:00.500"


def test_a_line_has_the_form_of_nodeos():
    """Level, time, thread, place, method and message can be told apart."""
    match = LINE.match(format_line("info", 0, "main.cpp:1", "main", "hello ] there"))
    assert match is not None
    assert match.groups() == (
        "info",
        "1970-01-01T00:00:00.000",
        "standin",
        "main.cpp:1",
        "main",
        "hello ] there",
    )


def test_a_journal_gets_the_level_in_front(monkeypatch):
    """Under systemd each line opens with its syslog level."""
    monkeypatch.setenv("JOURNAL_STREAM", "1:2")
    stream = io.StringIO()
    Log(stream).line("warn", 0, "main.cpp:1", "main", "x")
    assert stream.getvalue().startswith("<4>warn ")


def test_a_closed_stream_does_not_end_the_program():
    """A log whose reader went away is not an error."""
    stream = io.StringIO()
    log = Log(stream)
    stream.close()
    log.chainbase("x")


def test_the_block_log_grows_by_appending(tmp_path):
    """A second run appends to what the first wrote."""
    for body in (b"one", b"two"):
        with BlockLog(tmp_path / "blocks") as blocks:
            blocks.append(body)
    assert (tmp_path / "blocks" / "blocks.log").read_bytes() == b"onetwo"
