"""What a nodeos was doing at each moment: arrays in, labels out, each the number of a stage (see CODES and words).

With head lag and process presence alone there are four labels; evidence from the log or the counters
(loading, flushing) refines them. Sources: nodeos's start order (programs/nodeos/main.cpp and
plugins/chain_plugin of Leap 5.0.3: the API answers only after the state is mapped, the snapshot loaded
and the blocks replayed); libraries/chain of the same: a block every 0.5 s.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.uint8]

STARTING = "starting"
LOADING_SNAPSHOT = "loading-snapshot"
PRELOADING_STATE = "preloading-state"
REPLAYING = "replaying"
SYNCING = "syncing"
LIVE = "live"
STOPPING = "stopping"
WRITING_STATE = "writing-state"
DOWN = "down"
SILENT = "silent"

STAGES = (
    STARTING,
    LOADING_SNAPSHOT,
    PRELOADING_STATE,
    REPLAYING,
    SYNCING,
    LIVE,
    STOPPING,
    WRITING_STATE,
    DOWN,
    SILENT,
)
NOT_TOLD = 0
CODES = {stage: number for number, stage in enumerate(STAGES, start=1)}
"""Stage → its number in arrays: of a week's ticks a number each takes an eighth of the room and time of a word."""

# A node at the head lags by a block (0.5 s), the way there and the age of the answer; irreversible mode
# and hand-overs of producers add seconds. Ten blocks behind is catching up.
SYNCING_LAG_MS = 5_000
# How long a head lag read from the API may stand for later ticks: get_info is asked every 10 s, and an
# answer may be missed; three missed ones are no knowledge.
LAG_HOLDS_S = 35.0
# Between two answers with a fresh head a busy host may answer late: get_info waits for the main thread (Leap 5.0.3,
# http_plugin posts it there), and a stand-in on a busy drive was silent for 111 s, its head 0.4 s old before and after.
# To leave that out would be to leave out the busiest minutes. A longer silence may hide a node that fell behind.
LIVE_SILENCE_S = 300.0
# A silence this many times as long as answers usually are apart is no coincidence: the API is gone.
MISSED_AFTER = 1.5
# Writing back 2.1 GB of state a real 5.0.3 reached 130 to 940 MB/s in bursts; running, it writes kilobytes.
WRITING_BYTES_PER_S = 10e6


def words(codes: NDArray[np.uint8], known: Sequence[str] = STAGES) -> NDArray[np.object_]:
    """Return the words of numbers counted from 1, None for 0."""
    return np.array([None, *known], dtype=object)[codes]


def label_stages(
    time_s: NDArray[np.float64],
    process_up: NDArray[np.bool_],
    head_lag_ms: NDArray[np.float64],
    process_id: NDArray[np.int64] | None = None,
    evidence: Labels | None = None,
) -> Labels:
    """Return the stage of a nodeos at each tick.

    Args:
        time_s: (n,) seconds, not decreasing.
        process_up: (n,) whether the process was there.
        head_lag_ms: (n,) wall clock minus time of the head block, milliseconds, NaN where not asked or not
            answered. It holds for later ticks of the same process until LAG_HOLDS_S have passed.
        process_id: (n,) any integer that changes when another process takes over (start ticks); without
            it a change shows only as a tick without process.
        evidence: (n,) a stage that the log or the counters prove (replaying, writing-state …), or NOT_TOLD;
            it wins over the head lag while the process is up.

    Returns:
        (n,) numbers of the stages above: down without process; starting until its API has answered for the first
        time; then syncing while the head is more than SYNCING_LAG_MS old, or not known for long, else live (also in a
        silence of at most LIVE_SILENCE_S between two answers with a fresh head); stopping after the last
        answer of a process that went away; silent after that of one that is still there at the end and missed an
        answer: it may be busy, hang or stop (so that the writes of a stop never count as those of a live node).
    """
    n = len(time_s)
    labels = np.full(n, CODES[DOWN], dtype=np.uint8)
    for first, end in _lives(process_up, process_id):
        labels[first:end] = _label_life(time_s[first:end], head_lag_ms[first:end], is_last=end == n)
    if evidence is not None:
        proved = process_up & (evidence != NOT_TOLD)
        labels[proved] = evidence[proved]
    return labels


def _lives(process_up: NDArray[np.bool_], process_id: NDArray[np.int64] | None) -> list[tuple[int, int]]:
    """Return the index ranges in which one process was up."""
    n = len(process_up)
    if n == 0:
        return []
    starts = process_up.copy()
    starts[1:] &= ~process_up[:-1] if process_id is None else (~process_up[:-1] | (np.diff(process_id) != 0))
    lives = []
    for first in np.flatnonzero(starts):
        later = np.flatnonzero(~process_up[first:] | starts[first:])
        later = later[later > 0]
        lives.append((int(first), int(first + later[0]) if len(later) else n))
    return lives


def _label_life(time_s: NDArray[np.float64], head_lag_ms: NDArray[np.float64], *, is_last: bool) -> Labels:
    """Return the labels of one process from its first to its last tick."""
    n = len(time_s)
    labels = np.full(n, CODES[STARTING], dtype=np.uint8)
    answered = np.flatnonzero(np.isfinite(head_lag_ms))
    if len(answered) == 0:
        return labels
    first, last = answered[0], answered[-1]
    ticks = np.diff(answered, append=n)  # for which each answer is the last one
    asked_s = np.repeat(time_s[answered], ticks)
    was_behind = head_lag_ms[answered] > SYNCING_LAG_MS
    holds_s = np.repeat(_holds_s(time_s[answered], was_behind), ticks)
    is_behind = np.repeat(was_behind, ticks) | (time_s[first:] - asked_s > holds_s)
    labels[first:] = np.where(is_behind, np.uint8(CODES[SYNCING]), np.uint8(CODES[LIVE]))
    if not is_last:
        labels[last + 1 :] = CODES[STOPPING]
    elif _missed_an_answer(time_s, answered):
        labels[last + 1 :] = CODES[SYNCING if head_lag_ms[last] > SYNCING_LAG_MS else SILENT]
    return labels


def _holds_s(answered_s: NDArray[np.float64], was_behind: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return for how long each answer stands: until the next one where both say that the head was fresh."""
    silence_s = np.diff(answered_s)
    is_live = ~was_behind[:-1] & ~was_behind[1:] & (silence_s <= LIVE_SILENCE_S)
    return np.append(np.where(is_live, np.maximum(silence_s, LAG_HOLDS_S), LAG_HOLDS_S), LAG_HOLDS_S)


def _missed_an_answer(time_s: NDArray[np.float64], answered: NDArray[np.intp]) -> bool:
    """Return whether the silence after the last answer is longer than answers were apart."""
    usual_s = float(np.median(np.diff(time_s[answered]))) if len(answered) > 1 else LAG_HOLDS_S
    return bool(time_s[-1] - time_s[answered[-1]] > MISSED_AFTER * max(usual_s, 1.0))


def with_writing(labels: Labels, write_bytes_per_s: NDArray[np.float64]) -> Labels:
    """Return the labels with the state's write-back told apart from the rest of a stop.

    Args:
        labels: (n,) of label_stages.
        write_bytes_per_s: (n,) what the process dirtied or its device wrote until each tick, NaN where not known.

    Returns:
        (n,) with writing-state from the first to the last tick of each stretch of stopping that writes fast.
    """
    found = labels.copy()
    fast = np.nan_to_num(write_bytes_per_s, nan=0.0) >= WRITING_BYTES_PER_S
    stopping = labels == CODES[STOPPING]
    edges = np.flatnonzero(np.diff(np.concatenate(([False], stopping, [False])).astype(np.int8)))
    for first, end in zip(edges[::2], edges[1::2], strict=True):
        ticks = first + np.flatnonzero(fast[first:end])
        if len(ticks):
            found[ticks[0] : ticks[-1] + 1] = CODES[WRITING_STATE]
    return found
