"""Lines of a log as an agent sends them: what they tell, and when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.nodeos.logs import LineKind
from leapprof.nodeos.told import MARKS, OPTIONS_MARK, parse_told, shown_options, told_options

AT = "2026-11-30T16:45:02.136"
AT_MS = 1_796_057_102_136
WIF = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"


def test_a_bare_line_has_the_time_of_the_line_before_it_else_after_it() -> None:
    """Lines of chainbase have no time of their own."""
    text = (
        '-\tCHAINBASE: Preloading "state" database file, this could take a moment...\n'
        f"{AT}\tentered shutdown...\n"
        '-\tCHAINBASE: Writing "state" database file, 25% complete...\n'
        '-\tCHAINBASE: Writing "state" database file, complete.\n'
    )
    told = list(parse_told(text))
    assert [(line.life.kind, line.logged_ms, line.life.is_complete) for line in told] == [
        (LineKind.PRELOADING, AT_MS, False),
        (LineKind.SHUTDOWN, AT_MS, False),
        (LineKind.WRITING, AT_MS, False),
        (LineKind.WRITING, AT_MS, True),
    ]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("successfully exiting", LineKind.EXITED),
        ("atabase dirty flag set (likely due to unclean shutdown): replay required", LineKind.DIRTY),
        ('"state" database dirty flag set', LineKind.DIRTY),
        ("Cannot allocate memory", LineKind.OUT_OF_MEMORY),
        ("replayed 7 blocks in 2.5 seconds, 0.3 ms/block", LineKind.REPLAYED),
        ("Finished initialization from snapshot (snapshot load time was 4s)", LineKind.SNAPSHOT_END),
        ("Gracefully shutting down, exceeded file system configured threshold.", LineKind.DISK_FULL),
    ],
)
def test_a_message_that_begins_with_its_mark_is_known(message: str, kind: LineKind) -> None:
    """An agent cuts what stands before the mark."""
    assert any(mark in message for mark in MARKS)
    assert [line.life.kind for line in parse_told(f"{AT}\t{message}\n")] == [kind]


def test_complete_has_the_time_of_the_line_after_it() -> None:
    """The agent gives a bare line the time of the line before it; what took long is over only later."""
    text = (
        f'~{AT}\tCHAINBASE: Writing "state" database file, this could take a moment...\n'
        f'~{AT}\tCHAINBASE: Writing "state" database file, complete.\n'
        "2026-11-30T16:45:40.136\tsuccessfully exiting\n"
    )
    assert [line.logged_ms - AT_MS for line in parse_told(text)] == [0, 38_000, 38_000]


def test_the_last_options_line_of_this_process_counts() -> None:
    """Lines of an earlier process are left out; a switch has no value; of a repeated option all values stay."""
    text = (
        f"2026-11-30T10:00:00.000\t{OPTIONS_MARK} database-map-mode = heap\n"
        f"{AT}\t{OPTIONS_MARK} plugin = a, plugin = b, disable-replay-opts, database-map-mode = mapped\n"
    )
    expected = {"plugin": ("a", "b"), "disable-replay-opts": (), "database-map-mode": ("mapped",)}
    assert told_options(text) == expected
    assert told_options(text, since_ms=AT_MS) == expected
    assert told_options(text, since_ms=AT_MS + 1) is None
    assert told_options("") is None


def test_who_reads_a_frame_trusts_no_agent() -> None:
    """An unknown option, and one whose value looks like a key, is dropped once more."""
    options = {"plugin": ("a",), "secret": ("x",), "agent-name": (WIF,)}
    assert shown_options(options, {"plugin", "agent-name"}) == {"plugin": ("a",)}


@given(
    st.text(max_size=400)
    | st.lists(st.sampled_from([*MARKS, OPTIONS_MARK, AT, "\t", "\n", " = ", ", "])).map("".join)
)
def test_any_text_gives_lines_or_none(text: str) -> None:
    """No exception comes out."""
    list(parse_told(text))
    told_options(text)
