"""Starts and stops of nodeos, measured: duration, peak memory and swap, bytes read and written, kind of start.

Times of a start count from the process's own start time; a stop begins with what restarts.py says. Sources for the
kind of a start: chainbase and chain_plugin (Leap 5.0.3): after ``--snapshot`` the whole state of a mapped_private
nodeos is anonymous memory (measured: 900 of 940 MiB; 2 MiB after the next, clean start).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from leapprof.assess.process_life import LIFE_COLUMNS, LONGEST_GAP_S, Life, curve_of, lives_of
from leapprof.assess.restarts import SAYS_STOPPING, RestartWindow, restart_windows
from leapprof.assess.samples import RecordingTables, read_samples
from leapprof.model import Event, Nodeos, Recording
from leapprof.model.start import EndKind, StartKind, StartMeasure
from leapprof.nodeos.logs import LifeLine, parse_event
from leapprof.units import MIB, NS_PER_S

SEEN_WITHIN_S = 20.0
"""A process that was first sampled later than this after its start was not seen starting."""
FIRST_SECONDS_S = 60.0
"""A busy node dirties most of its state within minutes: later, anonymous memory does not tell a first start."""
SNAPSHOT_SHARE = 0.7
CLEAN_SHARE = 0.2
FEW_BYTES = 64 * MIB
HTTP_OK = 200


def measure_starts(recording: RecordingTables, label: str = "") -> tuple[StartMeasure, ...]:
    """Return each run of each nodeos in a recording, in the order of their starts.

    Args:
        recording: to read from.
        label: side or phase, for print.
    """
    windows = restart_windows(recording)
    found = []
    for nodeos in sorted({n.id for n in recording.manifest.nodeos} | {w.nodeos for w in windows}):
        rows = read_samples(recording, "nodeos", LIFE_COLUMNS, {"nodeos": nodeos})
        if rows is None:
            continue
        answers = _answers(recording, nodeos)
        for life in lives_of(rows):
            stop = _stop_of(life, [w for w in windows if w.nodeos == nodeos and w.kind == "exit"])
            found.append(_measure(recording, life, nodeos, label, answers, stop))
    return tuple(sorted(found, key=lambda m: (m.started_wall_ns, m.nodeos)))


def _answers(recording: RecordingTables, nodeos: str) -> NDArray[np.int64]:
    """Return (n,) wall clock of the answers of get_info, nanoseconds."""
    chain = read_samples(recording, "chain", ("http_status",), {"nodeos": nodeos})
    if chain is None or not chain.has("http_status"):
        return np.empty(0, dtype=np.int64)
    status = chain.columns["http_status"]
    return np.asarray(chain.wall_ns[status.present & (status.values == HTTP_OK)])


def _stop_of(life: Life, exits: Sequence[RestartWindow]) -> RestartWindow | None:
    """Return the stop that ended a process."""
    last_s = float(life.rows.time_s[life.at][-1])
    return next((w for w in exits if last_s - 1.0 <= w.gone_s), None) if exits else None


def _measure(
    recording: RecordingTables,
    life: Life,
    nodeos: str,
    label: str,
    answers: NDArray[np.int64],
    stop: RestartWindow | None,
) -> StartMeasure:
    last_wall_ns = life.last_wall_ns
    log = _log_events(recording.manifest, nodeos, life.began_wall_ns, stop, last_wall_ns)
    known = next((n for n in recording.manifest.nodeos if n.id == nodeos), None)
    own = known if known is not None and known.start_ticks == life.start_ticks else None
    start_s = _start_s(life, log, answers)
    is_seen = bool(life.t_s[0] <= SEEN_WITHIN_S)
    kind, source = _kind(life, log, own, _state_used(recording, nodeos))
    until_s = start_s if start_s is not None else float(life.t_s[-1])
    peak_until_s = max(start_s + 1, float(life.t_s[0])) if is_seen and start_s is not None else None
    gone_s = _gone_s(life, log, stop)
    stop_from_s = _stop_from_s(life, log, stop, answers)
    end_s = float(life.t_s[-1])
    return StartMeasure(
        label=label,
        nodeos=nodeos,
        pid=life.pid,
        started_wall_ns=life.began_wall_ns,
        map_mode=_map_mode(recording.manifest, known, own, life, log),
        kind=kind,
        kind_source=source,
        is_start_seen=is_seen,
        start_s=start_s if is_seen or (start_s is not None and _has(log, "log-chain-started")) else None,
        start_peak_rss_bytes=life.highest("rss_bytes", 0, peak_until_s),
        start_peak_anon_bytes=life.highest("rss_anon_bytes", 0, peak_until_s),
        start_peak_swap_bytes=life.highest("swap_bytes", 0, peak_until_s),
        start_read_bytes=_read_until(life, until_s) if peak_until_s is not None else None,
        uptime_s=stop_from_s if stop_from_s is not None else end_s,
        end=_end(log, stop),
        stop_s=gone_s - stop_from_s if gone_s is not None and stop_from_s is not None else None,
        stop_peak_rss_bytes=life.highest("rss_bytes", stop_from_s, end_s),
        stop_peak_swap_bytes=life.highest("swap_bytes", stop_from_s, end_s),
        stop_written_bytes=None if stop_from_s is None else _written_since(life, stop_from_s),
        curve=curve_of(life, until_s, stop_from_s) if is_seen else None,
    )


def _log_events(
    manifest: Recording, nodeos: str, began_wall_ns: int, stop: RestartWindow | None, last_wall_ns: int
) -> list[Event]:
    """Return what the log told while a process ran."""
    until_ns = (stop.gone_wall_ns if stop is not None else last_wall_ns) + NS_PER_S
    return [
        e
        for e in manifest.events
        if e.subject == nodeos
        and e.kind.startswith("log-")
        and began_wall_ns - NS_PER_S <= e.wall_ns <= until_ns
    ]


def _stop_from_s(
    life: Life, log: Sequence[Event], stop: RestartWindow | None, answers: NDArray[np.int64]
) -> float | None:
    """Return when a process began to stop, seconds since its start: its log's word, else its API's last answer."""
    if stop is None:
        return None
    said = [e.wall_ns for e in log if e.kind in SAYS_STOPPING]
    own = answers[(answers > life.began_wall_ns) & (answers <= life.last_wall_ns)]
    last_ns = min(said) if said else (int(own[-1]) if own.size else None)
    return None if last_ns is None else (last_ns - life.began_wall_ns) / NS_PER_S


def _gone_s(life: Life, log: Sequence[Event], stop: RestartWindow | None) -> float | None:
    """Return when a process had gone, seconds since its start; where samples are missing then, its log's last word.

    None where neither saw it.

    That word comes a second or so before the end (seen on Leap 5.0.3: 1.2 s).
    """
    if stop is None or not stop.timed:
        return None
    gone_s = stop.gone_s - life.began_s
    said = [(e.wall_ns - life.began_wall_ns) / NS_PER_S for e in log if e.kind == "log-exited"]
    return said[-1] if said and gone_s - said[-1] > LONGEST_GAP_S else gone_s


def _map_mode(
    manifest: Recording, known: Nodeos | None, own: Nodeos | None, life: Life, log: Sequence[Event]
) -> str | None:
    """Return the map mode of a run: of the manifest, or as it was seen to change; None when nothing tells."""
    if own is not None or known is None:
        return own.map_mode if own else None
    until_ns = life.last_wall_ns
    changes = [
        e
        for e in manifest.events
        if e.subject == known.id and e.kind == "map-mode-changed" and e.wall_ns <= until_ns
    ]
    if not changes:
        return known.map_mode if log else None
    mode = changes[-1].detail.removesuffix(" now").rpartition(" ")[2]
    return "mapped" if mode == "set" else mode  # not set: nodeos's default


def _has(log: Sequence[Event], *kinds: str) -> bool:
    return any(event.kind in kinds for event in log)


def _start_s(life: Life, log: Sequence[Event], answers: NDArray[np.int64]) -> float | None:
    """Return how long the process took to start; None when neither log nor API tells."""
    started = next((e for e in log if e.kind == "log-chain-started"), None)
    if started is not None:
        return max((started.wall_ns - life.began_wall_ns) / NS_PER_S, 0.0)
    own = answers[(answers > life.began_wall_ns) & (answers <= life.last_wall_ns)]
    return int(own[0] - life.began_wall_ns) / NS_PER_S if own.size else None


def _state_used(recording: RecordingTables, nodeos: str) -> int | None:
    chain = read_samples(recording, "chain", ("state_used_bytes",), {"nodeos": nodeos})
    if chain is None or not chain.has("state_used_bytes"):
        return None
    column = chain.columns["state_used_bytes"]
    return int(column.values[column.present].max())


def _kind(
    life: Life, log: Sequence[Event], own: Nodeos | None, state_used_bytes: int | None
) -> tuple[StartKind, str | None]:
    """Return how a process began, and what says so."""
    if any(_replayed_blocks(event) for event in log):
        return StartKind.REPLAY, "log"
    for kinds, found in (
        (("log-snapshot-begin", "log-snapshot-end"), StartKind.SNAPSHOT),
        (("log-dirty",), StartKind.AFTER_CRASH),
        (("log-chain-started",), StartKind.CLEAN),
    ):
        if _has(log, *kinds):
            return found, "log"
    options = own.options if own else {}
    if "snapshot" in options:
        return StartKind.SNAPSHOT, "command line"
    if "replay-blockchain" in options or "hard-replay-blockchain" in options:
        return StartKind.REPLAY, "command line"
    return _kind_by_memory(life, own, state_used_bytes)


def _replayed_blocks(event: Event) -> int:
    """Return how many blocks a log line says were replayed; nodeos says so of 0 blocks at every clean start."""
    told = parse_event(event.detail) if event.kind == "log-replayed" else None
    return told.blocks or 0 if isinstance(told, LifeLine) else 0


def _kind_by_memory(
    life: Life, own: Nodeos | None, state_used_bytes: int | None
) -> tuple[StartKind, str | None]:
    """Return what the anonymous memory of a young mapped_private process says of its start."""
    anon = life.column("rss_anon_bytes")
    is_private = own is not None and own.map_mode == "mapped_private"
    if not is_private or anon is None or not state_used_bytes or life.t_s[0] > SEEN_WITHIN_S:
        return StartKind.UNKNOWN, None
    first = anon.present & (life.t_s <= FIRST_SECONDS_S)
    if anon.values[first].max(initial=0) >= SNAPSHOT_SHARE * state_used_bytes:
        return StartKind.SNAPSHOT, "memory"
    if first.any() and anon.values[first].max() <= max(CLEAN_SHARE * state_used_bytes, FEW_BYTES):
        return StartKind.CLEAN, "memory"
    return StartKind.UNKNOWN, None


def _end(log: Sequence[Event], stop: RestartWindow | None) -> EndKind:
    if stop is None:
        return EndKind.STILL_RUNNING
    if _has(log, "log-exited", "log-written"):
        return EndKind.CLEAN
    return EndKind.KILLED if _has(log, "log-chain-started") else EndKind.UNKNOWN


def _read_until(life: Life, until_s: float) -> int | None:
    """Return the bytes that the process had read from drives when its start was over."""
    column = life.column("io_read_bytes_total")
    if column is None:
        return None
    at = np.flatnonzero(column.present & (life.t_s >= until_s))
    return int(column.values[at[0]]) if at.size else int(column.values[np.flatnonzero(column.present)[-1]])


def _written_since(life: Life, from_s: float) -> int | None:
    """Return the bytes that the process dirtied from a moment to its last sample; None without a sample since."""
    column = life.column("io_write_bytes_total")
    if column is None:
        return None
    known = np.flatnonzero(column.present)
    before = known[life.t_s[known] <= from_s]
    is_seen = before.size and before[-1] != known[-1]
    if not is_seen or life.t_s[before[-1]] < from_s - LONGEST_GAP_S:
        return None
    return max(int(column.values[known[-1]] - column.values[before[-1]]), 0)
