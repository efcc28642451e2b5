"""Block lines of nodeos's log: planted delays come back, rotation is followed, what is no log is said so."""

import os
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import ConfigError
from leapprof.latency.log_stream import LogSubscription, message_of
from leapprof.latency.standings import standings
from leapprof.latency.stream import Received, StreamPlan, receive
from leapprof.latency.wire import Failure, ProbeError
from leapprof.standin.log import format_line, iso_time
from tests.support.program import leapprof
from tests.support.steady import steady

MS = 10**6


def line(number, stamp_ns=None, told_ms=5, kind="Received", fork="0"):
    """Return a block line as the stand-in writes it."""
    stamp_ns = time.time_ns() if stamp_ns is None else stamp_ns
    latency = f", latency: {told_ms} ms" if kind == "Received" else ""
    return (
        format_line(
            "info", stamp_ns, "producer_plugin.cpp:651", "on_incoming_block",
            f"{kind} block {fork}{number:015x}... #{number} @ {iso_time(stamp_ns)} signed by standin [trxs: 1, lib: 1, "
            f"confirmed: 0, net: 100, cpu: 100, elapsed: 100, time: 100{latency}]",
        )
        + "\n"
    )  # fmt: skip


def write(path, *lines):
    """Append to a log."""
    with path.open("a") as out:
        out.write("".join(lines))


@contextmanager
def receiving(*paths, timeout_s=20.0, highest=0):
    """Subscribe to logs in a thread, from where they were when they were checked on; yields what came."""
    logs = tuple(LogSubscription(path=path) for path in paths)
    for log in logs:
        log.check(timeout_s)
    plan = StreamPlan(subscriptions=logs, most=1000, duration_s=200.0, timeout_s=timeout_s)
    received, stopped = tuple(Received(name=one.name, highest=highest) for one in logs), threading.Event()
    thread = threading.Thread(target=receive, args=(plan, received, stopped))
    thread.start()
    try:
        yield received
    finally:
        stopped.set()
        thread.join()
        for log in logs:
            log.close()


def until(condition):
    """Wait until something is so."""
    end_s = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end_s
        time.sleep(0.01)


@pytest.mark.quiet
def test_blocks_late_by_a_planted_time_come_back(tmp_path):
    """Lines written 20 ms after the block's time, every fifth 120 ms; the log's own figure stands beside it."""
    log = tmp_path / "nodeos.log"
    write(log, line(1))
    with steady(), receiving(log) as (received,):
        written = {}
        for number in range(2, 22):
            late_ms = 120 if number % 5 == 0 else 20
            write(log, line(number, time.time_ns() - late_ms * MS, told_ms=late_ms))
            written[number] = time.monotonic_ns()
            time.sleep(0.02)
        until(lambda: len(received.arrivals) == 20)
    for arrival in received.arrivals.values():
        number = arrival.message.number
        late_ms = 120 if number % 5 == 0 else 20
        assert arrival.message.told_ns == late_ms * MS
        assert arrival.wall_ns - arrival.message.stamp_ns >= late_ms * MS - MS
    came = {a.message.number: a.monotonic_ns for a in received.arrivals.values()}
    assert np.median([came[number] - at_ns for number, at_ns in written.items()]) < 20 * MS
    assert received.gaps == received.duplicates == 0


def test_what_stood_there_before_does_not_count(tmp_path):
    """A megabyte of blocks that were there before: none of them is an arrival, only what comes."""
    log = tmp_path / "nodeos.log"
    write(log, *(line(n) for n in range(5000)))
    with receiving(log, highest=None) as (received,):
        for number in range(5000, 8000):
            write(log, line(number))
            time.sleep(0.02)
            if received.arrivals:
                break
    assert min(a.message.number for a in received.arrivals.values()) >= 5000


@pytest.mark.parametrize("how", ["rename", "truncate"])
def test_a_rotated_log_is_followed(tmp_path, how):
    """Renamed and made anew, or copied and truncated: the next blocks come from the new beginning."""
    log = tmp_path / "nodeos.log"
    write(log, *(line(n) for n in range(1, 30)))
    with receiving(log) as (received,):
        write(log, line(30))
        until(lambda: len(received.arrivals) == 1)
        if how == "rename":
            log.rename(tmp_path / "nodeos.log.1")
        else:
            os.truncate(log, 0)
        write(log, line(31), line(32))
        until(lambda: len(received.arrivals) == 3)
    assert (received.gaps, received.duplicates, received.losses) == (0, 0, [])


def test_own_blocks_are_no_arrivals_and_no_gaps(tmp_path):
    """A producer's blocks tell only that their number is there; numbers that nobody tells of are gaps."""
    log = tmp_path / "nodeos.log"
    write(log, line(1))
    with receiving(log) as (received,):
        write(log, line(10), line(11, kind="Produced"), line(12), line(12), line(15), line(15, fork="1"))
        until(lambda: len(received.arrivals) == 4)
    assert (received.gaps, received.duplicates) == (2, 1)


def test_lines_in_pieces_and_lines_without_end_are_read(tmp_path):
    """Half a line waits for its other half; megabytes without a line end do not stay in memory."""
    log = tmp_path / "nodeos.log"
    write(log, line(1))
    with receiving(log) as (received,):
        whole = line(2)
        write(log, whole[:60])
        time.sleep(0.1)
        assert not received.arrivals
        write(log, whole[60:], "x" * 3_000_000, "\n", line(3))
        until(lambda: len(received.arrivals) == 2)


def test_a_silent_log_is_a_loss_and_goes_on(tmp_path):
    """Each time-out without a block is one; blocks after it count and nothing between is lost."""
    log = tmp_path / "nodeos.log"
    write(log, line(1))
    with receiving(log, timeout_s=0.4) as (received,):
        write(log, line(2))
        until(lambda: received.losses)
        write(log, line(3))
        until(lambda: len(received.arrivals) == 2)
    assert {failure for _, failure in received.losses} == {Failure.TIMEOUT}
    assert received.gaps == 0


@pytest.mark.quiet
def test_two_logs_run_head_to_head(tmp_path):
    """The same block in both: the log that has it first wins."""
    logs = (tmp_path / "a.log", tmp_path / "b.log")
    for log in logs:
        write(log, line(1))
    planted_ns = []
    with steady(), receiving(*logs) as received:
        for number in range(2, 12):
            stamp_ns = time.time_ns()
            write(logs[0], line(number, stamp_ns))
            first_ns = time.monotonic_ns()
            time.sleep(0.03)
            write(logs[1], line(number, stamp_ns))
            planted_ns.append(time.monotonic_ns() - first_ns)
        until(lambda: all(len(one.arrivals) == 10 for one in received))
    ahead, behind = standings(received)
    assert (ahead.firsts, ahead.shared, behind.firsts) == (10, 10, 0)
    assert ahead.lead_ns == pytest.approx(np.mean(planted_ns), abs=10 * MS)


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda path: None, ConfigError, "No such file"),
        (lambda path: path.mkdir(), ConfigError, "no file"),
        (lambda path: path.write_text("hello\n"), ProbeError, "no block line within"),
        (lambda path: path.write_bytes(bytes(1_000_000)), ProbeError, "no block line within"),
        (lambda path: os.mkfifo(path), ConfigError, "no file"),
        (lambda path: path.symlink_to("/dev/zero"), ConfigError, "no file"),
    ],
)
def test_what_is_no_log_is_said_so(tmp_path, make, error, said):
    """Nothing there, a directory, other text, binary, a pipe, a device that never ends."""
    make(tmp_path / "log")
    with closing(LogSubscription(path=tmp_path / "log")) as log, pytest.raises(error, match=said):
        log.check(0.4)
    done = leapprof(
        "latency",
        "stream",
        "--log",
        str(tmp_path / "log"),
        "--out",
        str(tmp_path / "rec"),
        "--timeout",
        "400ms",
    )
    assert done.code == (2 if error is ConfigError else 3)
    assert said in done.err
    assert not (tmp_path / "rec").exists()


def test_a_journal_is_read_from_standard_input(tmp_path):
    """Lines with a journal's head; its end is the end of the run, with what came."""
    words = ["latency", "stream", "--log", "-", "--out", str(tmp_path), "--block", "1s"]
    with subprocess.Popen(
        [sys.executable, "-c", "from leapprof.cli.main import main; main()", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        left = 60
        for number in range(1, 2000):
            process.stdin.write("Nov 30 15:10:02 host nodeos[123]: <6>" + line(number))
            process.stdin.flush()
            time.sleep(0.02)
            left -= bool(list(tmp_path.glob("*/recording.json")))
            if not left:
                break
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "behind the fastest standard input" in out
    assert "told by the log standard input" in out
    assert "p50 5.00 ms" in out


@given(st.binary(max_size=300))
def test_any_line_is_a_block_or_nothing(data):
    """Nothing else comes out."""
    message = message_of(data)
    assert message is None or message.number >= 0
