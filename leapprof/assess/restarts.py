"""Stops and starts of nodeos within a recording: when, and what they wrote.

A stop begins with the last answer of the API (or, where the API was not asked, with the last sample of the process)
and is over 35 s after the process has gone: vm.dirty_expire_centisecs (30 s) and the flusher's 5 s bring what it left
in the page cache to the drive. A start lasts until the first answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.rates import counter_total
from leapprof.assess.load import LoadedRecording
from leapprof.model import Column, Table
from leapprof.model.wear import RestartCost
from leapprof.units import NS_PER_S, SECTOR_BYTES

WRITE_BACK_S = 35.0
STOP_KINDS = ("nodeos-stopped", "nodeos-restarted")
TICKS_PER_S = 100
HTTP_OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartWindow:
    """One stop (``exit``) or start (``start``) on the host's CLOCK_BOOTTIME, seconds.

    Attributes:
        gone_s: when the process was seen to be gone (exit) or there (start).
        known: whether the API told when it began (exit) or ended (start).
    """

    nodeos: str
    kind: str
    start_s: float
    end_s: float
    gone_s: float
    gone_wall_ns: int
    uptime_s: float | None
    known: bool


def _answers(recording: LoadedRecording, nodeos: str) -> NDArray[np.float64]:
    """Return the times at which get_info was answered, seconds."""
    table = recording.table("chain", ("http_status",), where={"nodeos": nodeos})
    if table is None or not table.rows:
        return np.empty(0)
    status = table.integers["http_status"]
    good = status.present & (status.values == HTTP_OK)
    return table.integers["boottime_ns"].values[good] / NS_PER_S


def _uptime_s(table: Table | None, moment_s: float) -> float | None:
    """Return how long the process that ran just before a moment had been running."""
    if table is None:
        return None
    time_s = table.integers["boottime_ns"].values / NS_PER_S
    start = table.integers["start_ticks"]
    before = np.flatnonzero((time_s <= moment_s) & start.present)
    return moment_s - float(start.values[before[-1]]) / TICKS_PER_S if before.size else None


def restart_windows(recording: LoadedRecording) -> tuple[RestartWindow, ...]:
    """Return the stops and starts that a recording holds, in the order of time."""
    windows = []
    for event in recording.manifest.events:
        moment_s = event.boottime_ns / NS_PER_S
        answers = _answers(recording, event.subject)
        table = recording.table("nodeos", ("start_ticks",), where={"nodeos": event.subject})
        if event.kind in STOP_KINDS:
            last = answers[answers < moment_s]
            windows.append(
                RestartWindow(
                    nodeos=event.subject,
                    kind="exit",
                    gone_s=moment_s,
                    gone_wall_ns=event.wall_ns,
                    start_s=float(last[-1]) if last.size else moment_s,
                    end_s=moment_s + WRITE_BACK_S,
                    uptime_s=_uptime_s(table, moment_s - 1.0),
                    known=bool(last.size),
                )
            )
        if event.kind in ("nodeos-started", "nodeos-restarted"):
            first = answers[answers > moment_s]
            windows.append(
                RestartWindow(
                    nodeos=event.subject,
                    kind="start",
                    gone_s=moment_s,
                    gone_wall_ns=event.wall_ns,
                    start_s=moment_s,
                    end_s=float(first[0]) if first.size else moment_s,
                    uptime_s=None,
                    known=bool(first.size),
                )
            )
    return tuple(windows)


def _written(
    recording: LoadedRecording, devices: Sequence[str], start_s: float, end_s: float
) -> float | None:
    """Return the bytes that devices took between two moments; None where the samples do not reach."""
    total = 0.0
    for device in devices:
        table = recording.table("device", ("write_sectors_total",), where={"device": device})
        if table is None:
            return None
        time_s = table.integers["boottime_ns"].values / NS_PER_S
        sectors = table.integers["write_sectors_total"]
        inside = (time_s >= start_s - 1.5) & (time_s <= end_s + 1.5)
        found = counter_total(time_s, Column(values=sectors.values, present=sectors.present & inside))
        if found is None or float(time_s.max()) < end_s - WRITE_BACK_S:
            return None
        total += found.amount * SECTOR_BYTES
    return total


def _steady_per_s(recording: LoadedRecording, devices: Sequence[str], before_s: float) -> float:
    """Return the rate of devices in the recording before a moment, bytes a second."""
    total = 0.0
    for device in devices:
        table = recording.table("device", ("write_sectors_total",), where={"device": device})
        if table is None:
            continue
        time_s = table.integers["boottime_ns"].values / NS_PER_S
        sectors = table.integers["write_sectors_total"]
        found = counter_total(
            time_s, Column(values=sectors.values, present=sectors.present & (time_s <= before_s))
        )
        total += (found.per_s or 0.0) * SECTOR_BYTES if found else 0.0
    return total


def restart_costs(recording: LoadedRecording, windows: Sequence[RestartWindow]) -> tuple[RestartCost, ...]:
    """Return what each stop wrote to the drives of the state, and the start after it.

    What the drives take anyway (their rate before the stop) is taken off; nothing goes below 0.
    """
    costs = []
    for window in windows:
        if window.kind != "exit":
            continue
        nodeos = next((n for n in recording.manifest.nodeos if n.id == window.nodeos), None)
        drives = nodeos.roles.get("state", ()) if nodeos else ()
        next_start = next((w for w in windows if w.kind == "start" and w.gone_s >= window.gone_s), None)
        steady = _steady_per_s(recording, drives, window.start_s)
        costs.append(
            RestartCost(
                nodeos=window.nodeos,
                stopped_wall_ns=window.gone_wall_ns,
                uptime_s=window.uptime_s,
                exit_s=window.gone_s - window.start_s if window.known else None,
                exit_bytes=_extra(recording, drives, window, steady),
                start_bytes=_extra(recording, drives, next_start, steady) if next_start else None,
            )
        )
    return tuple(costs)


def _extra(
    recording: LoadedRecording, drives: Sequence[str], window: RestartWindow, steady_per_s: float
) -> float | None:
    if not window.known or not drives:
        return None
    written = _written(recording, drives, window.start_s, window.end_s)
    return max(written - steady_per_s * (window.end_s - window.start_s), 0.0) if written is not None else None
