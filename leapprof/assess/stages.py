"""The stage of each row of table nodeos, and which source said so (see nodeos/stages.py and stage_evidence.py).

Sources, the later the stronger: the API's head lag (``API``), the command line and map mode of the process
(``command line``), how fast it writes or fills memory (``counters``), its log (``log``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.rates import counter_rate
from leapprof.assess.samples import RecordingTables
from leapprof.ingest.log_events import LOG_EVENT
from leapprof.model import Column, Nodeos, Table
from leapprof.nodeos.logs import LifeLine, parse_event
from leapprof.nodeos.stage_evidence import STARTUP_STAGES, evidence_at, stretches
from leapprof.nodeos.stages import (
    CODES,
    LOADING_SNAPSHOT,
    NOT_TOLD,
    PRELOADING_STATE,
    REPLAYING,
    SILENT,
    STARTING,
    STOPPING,
    WRITING_STATE,
    Labels,
    label_stages,
    with_writing,
    words,
)
from leapprof.units import NS_PER_MS, NS_PER_S

FILLING_BYTES_PER_S = 10e6
"""heap and locked read the state into anonymous memory at drive speed; running, it grows by kilobytes."""
STOPPED = "nodeos-stopped"
SOURCES = ("API", "command line", "counters", "log")
_API, _COMMAND_LINE, _COUNTERS, _LOG = range(1, len(SOURCES) + 1)

_EXTRA = ("start_ticks", "io_write_bytes_total", "rss_anon_bytes")
_OPTION_STAGES = (
    ("snapshot", LOADING_SNAPSHOT),
    ("replay-blockchain", REPLAYING),
    ("hard-replay-blockchain", REPLAYING),
)
_FILLED_MODES = frozenset({"heap", "locked"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Rows:
    """Rows of one nodeos: (n,) each.

    Attributes:
        time_s, wall_ms: when.
        start_ticks: of the process.
        life: number of the process, counted from 0.
        lag_ms: head lag, NaN where it was not read.
        went_away: the last process ended within the recording, which went on without rows of it.
    """

    time_s: NDArray[np.float64]
    wall_ms: NDArray[np.int64]
    start_ticks: NDArray[np.int64]
    life: NDArray[np.int64]
    lag_ms: NDArray[np.float64]
    went_away: bool = False


def with_stages(nodeos: Table, recording: RecordingTables, where: Mapping[str, str] | None = None) -> Table:
    """Return table nodeos with its columns ``stage`` and ``stage_source`` filled.

    A nodeos whose API never answered has a stage only where its log proves one: presence alone does not tell
    syncing from live.

    Args:
        nodeos: rows of one or more nodeos.
        recording: the whole of it, for head lags, counters and events.
        where: as the rows were chosen.
    """
    stage = nodeos.texts.get("stage", np.full(nodeos.rows, None, dtype=object)).copy()
    source = np.full(nodeos.rows, None, dtype=object)
    chain = recording.table("chain", ("head_lag_ms", "http_status"), where)
    counters = recording.table("nodeos", _EXTRA, where)
    ids = nodeos.texts["nodeos"]
    chosen = (where or {}).get("nodeos")
    for one in [chosen] if chosen else sorted(set(ids.tolist()) - {None}):
        at = np.flatnonzero(ids == one)
        rows = _rows_of(nodeos, counters, chain, one, at)
        rows = replace(rows, went_away=_went_away(recording, one, rows))
        known = next((n for n in recording.manifest.nodeos if n.id == one), None)
        labels, sources = _told(rows, counters, at, known, _log_lines(recording, one))
        stage[at], source[at] = words(labels), words(sources, SOURCES)
    return replace(nodeos, texts={**nodeos.texts, "stage": stage, "stage_source": source})


def _went_away(recording: RecordingTables, one: str, rows: _Rows) -> bool:
    last_ms = int(rows.wall_ms[-1])
    stops = (e for e in recording.manifest.events if e.kind == STOPPED and e.subject == one)
    return any(event.wall_ns // NS_PER_MS > last_ms for event in stops)


def _label(rows: _Rows) -> Labels:
    """Return the labels that the API tells; a tick without process stands for the time after the last row."""
    more = 1 if rows.went_away else 0
    labels = label_stages(
        np.append(rows.time_s, rows.time_s[-1:][:more] + 1.0),
        np.append(np.ones(rows.life.size, dtype=np.bool_), np.zeros(more, dtype=np.bool_)),
        np.append(rows.lag_ms, np.full(more, np.nan)),
        np.append(rows.life, rows.life[-1:][:more]).astype(np.int64),
    )
    return labels[: rows.life.size]


def _rows_of(nodeos: Table, counters: Table, chain: Table, one: str, at: NDArray[np.intp]) -> _Rows:
    process = counters.integers.get("start_ticks")
    start_ticks = process.values[at] if process is not None else np.zeros(at.size, dtype=np.int64)
    boot = nodeos.integers["boot"].values[at]
    another = (np.diff(start_ticks, prepend=start_ticks[:1]) != 0) | (np.diff(boot, prepend=boot[:1]) != 0)
    return _Rows(
        time_s=nodeos.integers["boottime_ns"].values[at] / NS_PER_S,
        wall_ms=nodeos.integers["wall_ns"].values[at] // NS_PER_MS,
        start_ticks=start_ticks,
        life=np.cumsum(another),
        lag_ms=_lag_ms(nodeos.integers["seq"].values[at], chain, one),
    )


def _lag_ms(seq: NDArray[np.int64], chain: Table, one: str) -> NDArray[np.float64]:
    """Return the head lag of the frames with these numbers, NaN where it was not read."""
    lag_ms = np.full(seq.size, np.nan)
    column = chain.integers.get("head_lag_ms")
    if column is None or "nodeos" not in chain.texts:
        return lag_ms
    known = column.present & (chain.texts["nodeos"] == one)
    _, here, there = np.intersect1d(seq, chain.integers["seq"].values[known], return_indices=True)
    lag_ms[here] = column.values[known][there]
    return lag_ms


def _log_lines(recording: RecordingTables, one: str) -> list[LifeLine]:
    """Return what the log of one nodeos told, in the order of time."""
    events = [e for e in recording.manifest.events if e.subject == one and e.kind.startswith(LOG_EVENT)]
    lines = []
    for event in sorted(events, key=lambda e: e.wall_ns):
        told = parse_event(event.detail)
        if isinstance(told, LifeLine):
            lines.append(replace(told, logged_ms=event.wall_ns // NS_PER_MS))
    return lines


def _told(
    rows: _Rows, counters: Table, at: NDArray[np.intp], known: Nodeos | None, lines: list[LifeLine]
) -> tuple[Labels, NDArray[np.uint8]]:
    """Return stage and source of the rows of one nodeos, each as a number."""
    has_answer = bool(np.isfinite(rows.lag_ms).any())
    labels = np.full(rows.life.size, NOT_TOLD, dtype=np.uint8)
    source = labels.copy()
    if has_answer:
        labels = _label(rows)
        source[:] = _API
        _put(labels, source, _from_command_line(rows, labels, known), _COMMAND_LINE)
        _put(labels, source, _from_memory(rows, labels, known, counters, at), _COUNTERS)
        _put(labels, source, _from_writes(rows, labels, counters, at), _COUNTERS)
    if lines:
        proved = _without_answered(rows, evidence_at(rows.wall_ms, stretches(lines), rows.life))
        _put(labels, source, proved, _LOG)
    return labels, source


def _put(labels: Labels, source: NDArray[np.uint8], found: Labels | None, number: int) -> None:
    """Take over the stages of a source where it knows one."""
    if found is None:
        return
    is_told = found != NOT_TOLD
    labels[is_told], source[is_told] = found[is_told], number


def _without_answered(rows: _Rows, proved: Labels) -> Labels:
    """Return evidence without start-up stages from the first answer of a process on: then it has started."""
    starting = np.flatnonzero(np.isin(proved, [CODES[stage] for stage in STARTUP_STAGES]))
    answered = np.flatnonzero(np.isfinite(rows.lag_ms))
    for life in np.unique(rows.life[starting]):
        own = answered[rows.life[answered] == life]
        if own.size:
            proved[starting[(rows.life[starting] == life) & (starting >= own[0])]] = NOT_TOLD
    return proved


def _from_command_line(rows: _Rows, labels: Labels, known: Nodeos | None) -> Labels | None:
    """Return what a process that was started from a snapshot, or to replay, does until its API answers."""
    stage = next((s for name, s in _OPTION_STAGES if known and name in known.options), None)
    if stage is None or known is None:
        return None
    found = np.full(labels.size, NOT_TOLD, dtype=np.uint8)
    found[(labels == CODES[STARTING]) & (rows.start_ticks == known.start_ticks)] = CODES[stage]
    return found


def _from_memory(
    rows: _Rows, labels: Labels, known: Nodeos | None, counters: Table, at: NDArray[np.intp]
) -> Labels | None:
    """Return preloading-state while a heap or locked nodeos fills its memory before its API answers."""
    anon = counters.integers.get("rss_anon_bytes")
    if known is None or known.map_mode not in _FILLED_MODES or anon is None or at.size < 2:
        return None
    grown = np.diff(anon.values[at], prepend=anon.values[at[:1]])
    elapsed = np.maximum(np.diff(rows.time_s, prepend=rows.time_s[:1] - 1.0), 1e-3)
    fills = (grown / elapsed >= FILLING_BYTES_PER_S) & anon.present[at]
    found = np.full(labels.size, NOT_TOLD, dtype=np.uint8)
    found[fills & (labels == CODES[STARTING])] = CODES[PRELOADING_STATE]
    return found


def _from_writes(rows: _Rows, labels: Labels, counters: Table, at: NDArray[np.intp]) -> Labels | None:
    """Return writing-state where a stop writes fast: a silence in which that happens is a stop."""
    is_silent = labels == CODES[SILENT]
    stopping = np.where(is_silent, np.uint8(CODES[STOPPING]), labels)
    if not (stopping == CODES[STOPPING]).any():
        return None
    written = with_writing(stopping, _rate(rows, counters.integers.get("io_write_bytes_total"), at))
    if not (written[is_silent] == CODES[WRITING_STATE]).any():
        written[is_silent] = CODES[SILENT]
    written[written == labels] = NOT_TOLD
    return written


def _rate(rows: _Rows, column: Column | None, at: NDArray[np.intp]) -> NDArray[np.float64]:
    if column is None:
        return np.full(at.size, np.nan)
    breaks = np.diff(rows.life, prepend=rows.life[:1]) != 0
    own = Column(values=column.values[at], present=column.present[at])
    return counter_rate(rows.time_s, own, breaks).value
