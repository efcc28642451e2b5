"""What a log says becomes events at its own time, each once, and never of an earlier process."""

from datetime import UTC, datetime

from leapprof.ingest.rows import FrameIngest
from tests.ingest.frames import WALL_NS, frame, nodeos_texts

NS_PER_MS = 1_000_000


def at(second: float) -> str:
    """Return a log's time, seconds after the first frame's zero."""
    moment = datetime.fromtimestamp(WALL_NS / 1e9 + second, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}"


def told(*logs: str) -> list[tuple[str, int]]:
    """Return kind and milliseconds since the first frame's zero of the events of frames with these logs."""
    ingest = FrameIngest()
    for seq, log in enumerate(logs, 1):
        ingest.add(frame(seq, nodeos_texts(start=99_900) | {"nodeos/eos/42/99900/log": log}))
    events = [event for event in ingest.events() if event.kind.startswith("log-")]
    assert all(event.boottime_ns == event.wall_ns - WALL_NS + 1000 * 10**9 for event in events)
    return [(event.kind, (event.wall_ns - WALL_NS) // NS_PER_MS) for event in events]


def test_a_line_is_an_event_at_its_own_time() -> None:
    """Not at that of the frame which brought it."""
    assert told(f"{at(0.25)}\tBlockchain started; head block is #7\n") == [("log-chain-started", 250)]


def test_a_line_that_comes_again_is_told_once() -> None:
    """After a lost connection a new agent reads the end of the log anew."""
    line = f"{at(0.5)}\tentered shutdown...\n"
    assert told(line, line) == [("log-shutdown", 500)]


def test_a_bare_line_alone_has_the_time_of_its_frame() -> None:
    """And written is told apart from writing."""
    writing = '-\tCHAINBASE: Writing "state" database file, 25% complete...\n'
    written = '-\tCHAINBASE: Writing "state" database file, complete.\n'
    assert told(writing, written) == [("log-writing", 1000), ("log-written", 2000)]


def test_lines_of_an_earlier_process_are_left_out() -> None:
    """A log file holds the history of many runs."""
    assert told(f"{at(-60)}\tBlockchain started; head block is #7\n") == []


def test_options_of_a_log_that_change_are_events() -> None:
    """After an edit and a restart the log says what runs now."""
    ingest = FrameIngest()
    for seq, mode in enumerate(("mapped", "mapped_private"), 1):
        log = f"{at(seq)}\tNon-default options: database-map-mode = {mode}\n"
        ingest.add(frame(seq, nodeos_texts() | {"nodeos/eos/42/900/log": log}))
    assert [e.detail for e in ingest.events() if e.kind == "map-mode-changed"] == [
        "mapped before, mapped_private now"
    ]


def test_the_log_of_a_command_is_that_of_the_only_nodeos() -> None:
    """What an allowed journalctl printed."""
    ingest = FrameIngest()
    line = f"exit 0\n{at(0.5)}\tentered shutdown...\n"
    ingest.add(frame(1, nodeos_texts(start=99_900) | {"command/nodeos-log": line}))
    assert [(e.kind, e.subject) for e in ingest.events()] == [("log-shutdown", "eos")]
