"""Tests of gaps."""

import numpy as np

from leapprof.assess.gaps import Mark, find_gaps, gap_between
from leapprof.model import Column, Event, Table

S = 1_000_000_000


def mark(second: float, seq: int, boot: int = 0, dropped: int = 0) -> Mark:
    """Return a mark."""
    return Mark(seq=seq, boottime_ns=round(second * S), wall_ns=round(second * S), boot=boot, dropped=dropped)


def host(seconds: list[float], boots: list[int]) -> Table:
    """Return a host table."""

    def column(values: list[int]) -> Column:
        return Column(values=np.array(values, dtype=np.int64), present=np.ones(len(values), dtype=bool))

    times = [round(s * S) for s in seconds]
    columns = {"seq": list(range(len(times))), "boottime_ns": times, "wall_ns": times, "boot": boots}
    return Table(name="host", rows=len(times), integers={n: column(v) for n, v in columns.items()}, texts={})


def test_a_late_tick_is_no_gap() -> None:
    """Up to one and a half intervals is jitter."""
    assert gap_between(mark(1, 1), mark(2.4, 2), 1.0) is None


def test_the_reason_is_what_is_known() -> None:
    """A lost connection, dropped frames, lost frames, a reboot and a late agent are told apart."""
    reasons = [
        gap_between(mark(1, 1), mark(5, 2), 1.0, "connection-lost"),
        gap_between(mark(1, 1), mark(5, 5, dropped=3), 1.0),
        gap_between(mark(1, 1), mark(5, 5), 1.0),
        gap_between(mark(9, 1), mark(1, 2, boot=1), 1.0, "connection-lost"),
        gap_between(mark(1, 1), mark(5, 2), 1.0),
    ]
    expected = ["connection-lost", "frames-dropped", "frames-lost", "host-rebooted", "agent-late"]
    assert [gap.reason for gap in reasons if gap] == expected


def test_gaps_are_found_again_in_the_data() -> None:
    """A recording that nobody closed has its gaps recomputed, with the reason that an event gives."""
    lost = Event(boottime_ns=3 * S, wall_ns=3 * S, kind="connection-lost", subject="", detail="")
    gaps = find_gaps(host([1, 2, 3, 9, 10, 1], [0, 0, 0, 0, 0, 1]), 1.0, (lost,))
    assert [(g.start_ns // S, g.end_ns // S, g.reason) for g in gaps] == [
        (3, 9, "connection-lost"),
        (10, 1, "host-rebooted"),
    ]


def test_no_samples_have_no_gaps() -> None:
    """An empty table and a single sample have none."""
    assert find_gaps(host([], []), 1.0) == ()
    assert find_gaps(host([1], [0]), 1.0) == ()
