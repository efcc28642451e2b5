"""What a nodeos was doing at each moment."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leapprof.nodeos.stages import CODES, NOT_TOLD, STAGES, label_stages, with_writing, words

NO = float("nan")


def label(up, lag, step_s=10.0, **kwargs):
    """Return the labels of lists, one tick every step."""
    n = len(up)
    found = label_stages(
        np.arange(n) * step_s, np.array(up, dtype=bool), np.array(lag, dtype=float), **kwargs
    )
    return list(words(found))


def codes(*stages):
    """Return the numbers of stages."""
    return np.array([CODES.get(stage, NOT_TOLD) for stage in stages], dtype=np.uint8)


def test_a_life_goes_from_starting_over_syncing_to_live():
    """Before the first answer it starts, then it catches up, then it is live."""
    found = label([0, 1, 1, 1, 1, 1], [NO, NO, NO, 900_000, 6_000, 400])
    assert found == ["down", "starting", "starting", "syncing", "syncing", "live"]


def test_five_seconds_behind_is_still_live():
    """The border between live and syncing is a head five seconds old."""
    assert label([1, 1], [5_000, 5_001]) == ["live", "syncing"]


def test_an_answer_holds_until_the_next_one():
    """Ticks between two answers have the stage of the earlier one."""
    assert label([1] * 5, [400, NO, NO, 9_000, NO], step_s=1.0) == [
        "live",
        "live",
        "live",
        "syncing",
        "syncing",
    ]


def test_silence_before_the_end_is_stopping():
    """A process whose API falls silent for good before it goes away is stopping."""
    found = label([1] * 8 + [0], [400, 400] + [NO] * 6 + [NO])
    assert found == ["live"] * 2 + ["stopping"] * 6 + ["down"]


def test_silence_of_a_process_that_answers_again_is_syncing():
    """Nodeos does not answer while it catches up: a gap between answers is no stop."""
    found = label([1] * 8, [400] + [NO] * 6 + [9_000])
    assert found == ["live"] * 4 + ["syncing"] * 4


def test_a_busy_node_that_answers_late_is_live():
    """Its head was fresh before and after: a silence of two minutes is no evidence that it fell behind."""
    assert label([1] * 14, [400] + [NO] * 11 + [400, 400]) == ["live"] * 14


def test_a_silence_of_more_than_five_minutes_is_not_taken_for_live():
    """What a node did for so long is not known."""
    found = label([1] * 33, [400] + [NO] * 31 + [400])
    assert found == ["live"] * 4 + ["syncing"] * 28 + ["live"]


def test_another_process_starts_anew():
    """A restart between two ticks begins with starting, although no tick was without process."""
    found = label([1, 1, 1], [400, NO, 400], process_id=np.array([1, 2, 2]))
    assert found == ["live", "starting", "live"]


def test_evidence_wins_while_the_process_is_up():
    """What the log proves replaces what the head lag suggests, but not that the process is gone."""
    evidence = codes("replaying", None, "writing-state", "writing-state")
    found = label([1, 1, 1, 0], [NO, 400, NO, NO], evidence=evidence)
    assert found == ["replaying", "live", "writing-state", "down"]


def test_silence_at_the_end_of_a_recording_is_silence_when_an_answer_was_missed():
    """Longer than answers are apart: busy, hung or on its way down, and nothing tells which; it is not live."""
    lag = [400] + [NO] * 9 + [400] + [NO] * 25
    assert label([1] * 36, lag, step_s=1.0) == ["live"] * 11 + ["silent"] * 25
    assert label([1] * 20, lag[:20], step_s=1.0) == ["live"] * 20


def test_a_syncing_node_that_falls_silent_is_syncing():
    """A node that catches up may not answer for long, and is not taken for stopping."""
    lag = [90_000, 80_000] + [NO] * 8
    assert label([1] * 10, lag) == ["syncing"] * 10


def test_the_write_back_of_a_real_stop_is_told_apart():
    """The captured stop of mapped_private wrote in bursts for 35 s: all between them is writing back."""
    labels = codes(*["live"] * 3, *["stopping"] * 8, "down")
    rates = np.array([0, 9e7, 0, 0, 3.3e7, 3.8e8, NO, 2e3, 9.4e8, 1.3e8, 0, NO])
    found = list(words(with_writing(labels, rates)))
    assert found == ["live"] * 3 + ["stopping"] + ["writing-state"] * 6 + ["stopping", "down"]


def test_nothing_gives_nothing():
    """No ticks have no labels."""
    assert label([], []) == []


@given(
    st.lists(
        st.tuples(st.booleans(), st.floats(allow_nan=True, allow_infinity=True), st.integers(0, 2)),
        max_size=40,
    )
)
def test_every_tick_has_one_of_the_labels(ticks):
    """Any presence, lag and process numbers give a known label for each tick, down exactly without process."""
    up = [u for u, _, _ in ticks]
    found = label(
        up, [lag for _, lag, _ in ticks], process_id=np.array([p for _, _, p in ticks], dtype=np.int64)
    )
    assert len(found) == len(ticks)
    assert set(found) <= set(STAGES)
    assert [f == "down" for f in found] == [not u for u in up]
