"""What the log proves about stages."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leapprof.nodeos.logs import LifeLine, LineKind, parse_event
from leapprof.nodeos.stage_evidence import evidence_at, stretches
from leapprof.nodeos.stages import STAGES, words

LOGS = Path(__file__).parent / "data" / "logs"


def proved(name):
    """Return the stretches that a captured log proves."""
    lines = (LOGS / name).read_text(encoding="utf-8").splitlines()
    return stretches(event for event in map(parse_event, lines) if isinstance(event, LifeLine))


def test_a_snapshot_start_is_seen_in_a_real_log():
    """The captured start loads its snapshot for four and a half seconds, then writes its state when it stops."""
    found = proved("v5.0.3-first-start.log")
    loading = next(s for s in found if s.stage == "loading-snapshot")
    assert 4_000 < loading.end_ms - loading.start_ms < 5_000
    assert [s.stage for s in found] == [
        "starting",
        "loading-snapshot",
        "starting",
        "stopping",
        "writing-state",
    ]
    assert 10_000 < found[-1].end_ms - found[-1].start_ms < 20_000


def test_a_replay_begins_its_seconds_earlier():
    """The line about a replay comes at its end and says how long it took."""
    line = parse_event(
        "info  2026-11-30T15:10:02.000 nodeos    controller.cpp:582            replay               ] "
        "replayed 100 blocks in 3 seconds, 30 ms/block"
    )
    replay, after = stretches([line])
    assert (replay.stage, replay.end_ms - replay.start_ms, after.stage) == ("replaying", 3_000, "starting")


def test_ticks_get_the_stage_of_their_moment():
    """A tick inside a stretch has its stage, one outside has none."""
    lines = [
        LifeLine(kind=LineKind.SHUTDOWN, logged_ms=1_000),
        LifeLine(kind=LineKind.WRITING, logged_ms=None),
        LifeLine(kind=LineKind.EXITED, logged_ms=3_000),
    ]
    labels = evidence_at(np.array([0, 1_000, 2_999, 3_000]), stretches(lines))
    assert list(words(labels)) == [None, "writing-state", "writing-state", None]


def test_lines_without_any_time_prove_nothing():
    """Bare lines alone have no moment."""
    assert stretches([LifeLine(kind=LineKind.WRITING, logged_ms=None)]) == ()


@given(
    st.lists(
        st.builds(
            LifeLine,
            kind=st.sampled_from(list(LineKind)),
            logged_ms=st.none() | st.integers(0, 10**13),
            seconds=st.none() | st.floats(0, 1e6),
        ),
        max_size=20,
    )
)
def test_any_lines_give_known_stages(lines):
    """Lines in any order, with clocks that step back, give stretches of known stages that do not end early."""
    found = stretches(lines)
    assert {s.stage for s in found} <= set(STAGES)
    assert all(s.end_ms is None or s.end_ms >= s.start_ms for s in found)
    assert len(evidence_at(np.arange(5), found)) == 5
