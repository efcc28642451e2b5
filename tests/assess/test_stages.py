"""Stages come from API, log, counters and command line, and each row says from which."""

from dataclasses import replace

import numpy as np
import pytest

from leapprof.assess.stages import with_stages
from leapprof.model import Event
from tests.support.recordings import NS, START_WALL_NS, MemoryRecording, counter, level, made, table

N = 120


def recording(
    *, lag_from: int = 0, lag_to: int = N, written=None, anon=None, mode="mapped", options=None, log=()
):
    """Return a recording whose API answered every 10 s between two seconds."""
    base = made(seconds=N, map_mode=mode, options=options or {})
    lag = np.full(N, np.nan)
    lag[lag_from:lag_to:10] = 500
    full = np.ones(N, dtype=np.int64)
    manifest = replace(base.manifest, nodeos=tuple(replace(n, start_ticks=5) for n in base.manifest.nodeos))
    nodeos = manifest.nodeos[0].id
    events = tuple(
        Event(
            boottime_ns=0,
            wall_ns=START_WALL_NS + second * NS,
            kind=f"log-{word}",
            subject=nodeos,
            detail=detail,
        )
        for second, word, detail in log
    )
    columns = {
        "start_ticks": level(full * 5),
        "pid": level(full * 7),
        "io_write_bytes_total": counter(np.zeros(N) if written is None else written),
        "rss_anon_bytes": level(full if anon is None else anon),
    }
    tables = {
        "nodeos": table("nodeos", N, columns, texts={"nodeos": nodeos, "stage": None}),
        "chain": table(
            "chain",
            N,
            {"head_lag_ms": level(lag), "http_status": level(full * 200)},
            texts={"nodeos": nodeos},
        ),
    }
    return MemoryRecording(manifest=replace(manifest, events=events), tables=tables)


def told(made_recording) -> list[tuple[str | None, str | None, int]]:
    """Return stage, source and number of rows of each stretch."""
    found = with_stages(made_recording.table("nodeos"), made_recording)
    stretches: list[list] = []
    for pair in zip(found.texts["stage"], found.texts["stage_source"], strict=True):
        if stretches and tuple(stretches[-1][:2]) == pair:
            stretches[-1][2] += 1
        else:
            stretches.append([*pair, 1])
    return [tuple(s) for s in stretches]


def test_the_api_alone_tells_starting_and_live() -> None:
    """Before its first answer it starts."""
    assert told(recording(lag_from=20)) == [("starting", "API", 20), ("live", "API", 100)]


def test_without_answer_and_log_there_is_no_stage() -> None:
    """Presence alone does not tell syncing from live."""
    assert told(recording(lag_from=N)) == [(None, None, N)]


@pytest.mark.parametrize(
    ("option", "stage"),
    [
        ("snapshot", "loading-snapshot"),
        ("replay-blockchain", "replaying"),
        ("hard-replay-blockchain", "replaying"),
    ],
)
def test_the_command_line_tells_what_a_start_does(option: str, stage: str) -> None:
    """As long as the API has not answered."""
    found = told(recording(lag_from=20, options={option: ("x",)}))
    assert found == [(stage, "command line", 20), ("live", "API", 100)]


def test_heap_fills_its_memory_before_it_answers() -> None:
    """Anonymous memory that grows at the speed of a drive is the state being loaded."""
    anon = np.minimum(np.arange(N), 10) * 100_000_000
    found = told(recording(lag_from=20, mode="heap", anon=anon))
    assert found[:3] == [("starting", "API", 1), ("preloading-state", "counters", 10), ("starting", "API", 9)]


def test_fast_writes_in_a_stop_are_the_state() -> None:
    """Counters tell it where no log is read, also that the silence before and after is a stop."""
    written = np.zeros(N)
    written[90:100] = 200e6
    assert told(recording(lag_to=61, written=written)) == [
        ("live", "API", 61),
        ("stopping", "counters", 29),
        ("writing-state", "counters", 10),
        ("stopping", "counters", 20),
    ]


def test_a_silence_at_the_end_is_no_stop_without_evidence() -> None:
    """The process is there when the recording ends: it may be busy, hang or stop; its log would tell."""
    assert told(recording(lag_to=61)) == [("live", "API", 61), ("silent", "API", 59)]
    log = ((70, "shutdown", "entered shutdown..."),)
    assert told(recording(lag_to=61, log=log)) == [
        ("live", "API", 61),
        ("silent", "API", 9),
        ("stopping", "log", 50),
    ]


def test_the_log_wins() -> None:
    """It knows the moment; the stretch ends with the process's last word."""
    log = (
        (2, "initializing", "initializing chain plugin"),
        (4, "snapshot-begin", "Starting initialization from snapshot"),
        (9, "snapshot-end", "Finished initialization from snapshot (snapshot load time was 5s)"),
        (10, "chain-started", "Blockchain started; head block is #7"),
        (80, "shutdown", "entered shutdown..."),
        (90, "writing", 'CHAINBASE: Writing "state" database file, this could take a moment...'),
        (100, "written", 'CHAINBASE: Writing "state" database file, complete.'),
    )
    found = told(recording(lag_from=10, lag_to=80, log=log))
    assert ("loading-snapshot", "log", 5) in found
    assert found[-3:] == [("stopping", "log", 10), ("writing-state", "log", 10), ("stopping", "log", 20)]


def test_a_start_that_the_log_never_ended_ends_with_the_first_answer() -> None:
    """Half a log must not make a live node look as if it started for ever."""
    log = ((2, "initializing", "initializing chain plugin"),)
    assert told(recording(lag_from=10, log=log))[-1] == ("live", "API", 110)


def test_a_replay_of_no_blocks_is_none() -> None:
    """Nodeos says at every clean start that it replayed 0 blocks."""
    log = ((5, "replayed", "replayed 0 blocks in 3 seconds, 0.1 ms/block"),)
    assert not any(stage == "replaying" for stage, _, _ in told(recording(lag_from=10, log=log)))


def test_a_quick_stop_is_no_live_node() -> None:
    """A process that is gone before its next answer was due has been stopping since its last one."""
    still_there = recording(lag_to=111)
    assert told(still_there)[-1] == ("live", "API", N)
    gone = Event(
        boottime_ns=0,
        wall_ns=START_WALL_NS + (N + 1) * NS,
        kind="nodeos-stopped",
        subject=still_there.manifest.nodeos[0].id,
        detail="",
    )
    stopped = replace(still_there, manifest=replace(still_there.manifest, events=(gone,)))
    assert told(stopped) == [("live", "API", 111), ("stopping", "API", 9)]
