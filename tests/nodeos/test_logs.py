"""Lines of nodeos's log."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.nodeos.logs import BlockLine, LifeLine, LineKind, parse_event, parse_line

DATA = Path(__file__).parent / "data"
BLOCKS = json.loads((DATA / "block-lines.json").read_text(encoding="utf-8"))
PREFIXES = [
    "",
    "info  2026-11-30T15:10:02.236 nodeos    producer_plugin.cpp:2653      produce_block        ] ",
    "<6>info  2026-11-30T15:10:02.236 nodeos    controller.cpp:3333      log_applied          ] ",
    "Nov 30 15:10:02 node1 nodeos[123]: info  2026-11-30T15:10:02.236 nodeos    a.cpp:1      f        ] ",
    "2026-11-30T15:10:02+0000 node1 nodeos[123]: <6>info  2026-11-30T15:10:02.236 net-0    a.cpp:1      f        ] ",
]


def events(name):
    """Return what the lines of a captured log tell, without the lines that tell nothing."""
    lines = (DATA / "logs" / name).read_text(encoding="utf-8").splitlines()
    return [event for event in map(parse_event, lines) if event is not None]


@pytest.mark.parametrize("row", BLOCKS, ids=[row["of"] for row in BLOCKS])
@pytest.mark.parametrize("prefix", PREFIXES, ids=["bare", "console", "systemd", "syslog", "journal"])
def test_each_shape_of_block_line_is_read_behind_each_prefix(row, prefix):
    """All versions' block lines give their numbers, whatever stands in front."""
    block = parse_event(prefix + row["line"] + "\n")
    assert isinstance(block, BlockLine)
    assert [
        block.is_produced,
        block.number,
        block.lib,
        block.transactions,
        block.confirmed,
        block.net_bytes,
        block.cpu_us,
        block.elapsed_us,
        block.taken_us,
        block.latency_ms,
    ] == row["expect"]
    assert (block.logged_ms is None) == (prefix == "")


def test_a_start_from_a_snapshot_is_read_from_a_real_log():
    """The captured first start tells the snapshot's begin and end with its seconds, then the head."""
    found = events("v5.0.3-first-start.log")
    kinds = [e.kind for e in found if isinstance(e, LifeLine)]
    order = [
        LineKind.VERSION,
        LineKind.SNAPSHOT_BEGIN,
        LineKind.SNAPSHOT_END,
        LineKind.CHAIN_STARTED,
        LineKind.EXITED,
    ]
    assert [k for k in kinds if k in order][:4] == order[:4]
    assert next(e.seconds for e in found if isinstance(e, LifeLine) and e.kind is LineKind.SNAPSHOT_END) == 4
    assert any(isinstance(e, LifeLine) and e.is_supported is False for e in found)


def test_bare_lines_of_chainbase_are_read():
    """Loading and writing of heap are told by lines without time, with their percentage."""
    found = [e for e in events("v4.0.6-heap.log") if isinstance(e, LifeLine) and e.kind is LineKind.WRITING]
    assert found == [] or all(e.logged_ms is None for e in found)
    done = parse_event('CHAINBASE: Writing "state" database file, complete.')
    half = parse_event('CHAINBASE: Preloading "state" database file, 50% complete...')
    begin = parse_event('CHAINBASE: Preloading "state" database file, this could take a moment...')
    assert (done.kind, done.percent) == (LineKind.WRITING, 100)
    assert (half.kind, half.percent) == (LineKind.PRELOADING, 50)
    assert (begin.kind, begin.percent) == (LineKind.PRELOADING, None)


def test_a_dirty_state_and_a_refused_mapping_are_told():
    """Real refusals are found in their logs."""
    assert LineKind.DIRTY in [e.kind for e in events("v5.0.3-dirty.log") if isinstance(e, LifeLine)]
    assert LineKind.OUT_OF_MEMORY in [e.kind for e in events("v5.0.3-refused.log") if isinstance(e, LifeLine)]


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Snapshot initialization 40% complete", LineKind.SNAPSHOT_PROGRESS),
        ("p2p client connections: 3/25, peer connections: 2/4, block producer peers: 1", LineKind.PEERS),
        ("appbase quit called", LineKind.SHUTDOWN),
        ("Gracefully shutting down, exceeded file system configured threshold.", LineKind.DISK_FULL),
        ("replayed 1000 blocks in 12 seconds, 12.5 ms/block", LineKind.REPLAYED),
    ],
)
def test_lines_of_other_versions_are_known_by_their_message(message, kind):
    """Spring's and the resource monitor's lines are recognised."""
    assert parse_event(message).kind is kind


def test_the_text_of_non_default_options_is_dropped():
    """The line that may hold keys and addresses is told without its text."""
    event = parse_event(PREFIXES[1] + "Non-default options: peer-private-key = secret")
    assert event.kind is LineKind.OPTIONS
    assert "secret" not in repr(event)


@given(st.text(max_size=300))
def test_any_text_is_a_line(text):
    """No text raises, behind any prefix, and a bare text is its own message."""
    for prefix in (*PREFIXES, "Received block ", "CHAINBASE: ", "nodeos version "):
        parse_event(prefix + text)
    assert parse_line("\t" + text).level is None


@given(st.integers(0, len(BLOCKS) - 1), st.integers(0, 200), st.characters())
def test_a_damaged_block_line_is_read_or_left(index, at, character):
    """A block line with one wrong character is read or is nothing, and never raises."""
    line = BLOCKS[index]["line"]
    parse_event(line[:at] + character + line[at + 1 :])
