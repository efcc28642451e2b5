"""Stops and starts of nodeos within a recording: when, and what they wrote.

A stop begins when nodeos says that it shuts down (its log, where it was read), else with the last answer of its API,
and is over 35 s after the process has gone: vm.dirty_expire_centisecs (30 s) and the flusher's 5 s bring what it left
in the page cache to the drive. A start lasts until the first answer. Moments are on the timeline of the samples,
which goes on over reboots.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.rates import counter_total
from leapprof.assess.samples import RecordingTables, Samples, read_samples
from leapprof.model import Event, Nodeos
from leapprof.model.wear import RestartCost
from leapprof.units import NS_PER_S, SECTOR_BYTES

WRITE_BACK_S = 35.0
LONGEST_STOP_S = 3600.0
STOPPED, STARTED, RESTARTED = "nodeos-stopped", "nodeos-started", "nodeos-restarted"
SAYS_STOPPING = ("log-shutdown", "log-writing")
TICKS_PER_S = 100
HTTP_OK = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartWindow:
    """One stop (``exit``) or start (``start``), seconds on the samples' timeline.

    Attributes:
        nodeos: its id.
        gone_s, gone_wall_ns: when the process was seen to be gone (exit) or there (start).
        start_s, end_s: what is taken as part of it.
        uptime_s: of the process that ended; None when its start is not known.
        known: whether API or log told when it began (exit) or ended (start).
    """

    nodeos: str
    kind: str
    start_s: float
    end_s: float
    gone_s: float
    gone_wall_ns: int
    uptime_s: float | None
    known: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Clock:
    """The host's samples: wall clock → timeline."""

    samples: Samples

    def at(self, wall_ns: int | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return moments of the wall clock on the timeline, beyond the samples too."""
        wall, time_s = self.samples.wall_ns, self.samples.time_s
        place = np.clip(np.searchsorted(wall, wall_ns, side="right") - 1, 0, wall.size - 1)
        return np.asarray(time_s[place] + (np.asarray(wall_ns) - wall[place]) / NS_PER_S)


def restart_windows(recording: RecordingTables) -> tuple[RestartWindow, ...]:
    """Return the stops and starts that a recording holds, in the order of time."""
    host = read_samples(recording, "host", ())
    if host is None:
        return ()
    clock = _Clock(samples=host)
    windows = []
    for nodeos in sorted({e.subject for e in recording.manifest.events if e.kind in _KINDS}):
        windows += _of_nodeos(recording, clock, nodeos)
    return tuple(sorted(windows, key=lambda w: (w.start_s, w.nodeos, w.kind)))


_KINDS = frozenset({STOPPED, STARTED, RESTARTED})


def _of_nodeos(recording: RecordingTables, clock: _Clock, nodeos: str) -> list[RestartWindow]:
    events = sorted((e for e in recording.manifest.events if e.subject == nodeos), key=lambda e: e.wall_ns)
    answers = _answers(recording, clock, nodeos)
    windows: list[RestartWindow] = []
    is_up = True
    for event in events:
        if event.kind == STOPPED or (event.kind == RESTARTED and is_up):
            windows.append(_exit(recording, clock, event, events, answers))
            is_up = False
        if event.kind in (STARTED, RESTARTED):
            windows.append(_start(clock, event, answers, windows[-1] if windows else None))
            is_up = True
    return windows


def _exit(
    recording: RecordingTables,
    clock: _Clock,
    event: Event,
    events: Sequence[Event],
    answers: NDArray[np.float64],
) -> RestartWindow:
    moment_s = float(clock.at(event.wall_ns))
    said = [float(clock.at(e.wall_ns)) for e in events if e.kind in SAYS_STOPPING]
    begun = [s for s in said if moment_s - LONGEST_STOP_S < s <= moment_s]
    before = answers[answers < moment_s]
    last = min(begun) if begun else (float(before[-1]) if before.size else None)
    return RestartWindow(
        nodeos=event.subject,
        kind="exit",
        gone_s=moment_s,
        gone_wall_ns=event.wall_ns,
        start_s=last if last is not None else moment_s,
        end_s=moment_s + WRITE_BACK_S,
        uptime_s=_uptime_s(recording, event),
        known=last is not None,
    )


def _start(
    clock: _Clock, event: Event, answers: NDArray[np.float64], stop: RestartWindow | None
) -> RestartWindow:
    """Return the window of a start; the write-back of the stop before it belongs to the stop."""
    moment_s = float(clock.at(event.wall_ns))
    after = answers[answers > moment_s]
    begins_s = max(moment_s, stop.end_s) if stop is not None else moment_s
    return RestartWindow(
        nodeos=event.subject,
        kind="start",
        gone_s=moment_s,
        gone_wall_ns=event.wall_ns,
        start_s=begins_s,
        end_s=max(float(after[0]), begins_s) if after.size else begins_s,
        uptime_s=None,
        known=bool(after.size),
    )


def _answers(recording: RecordingTables, clock: _Clock, nodeos: str) -> NDArray[np.float64]:
    """Return (n,) the moments at which get_info was answered."""
    chain = read_samples(recording, "chain", ("http_status",), {"nodeos": nodeos})
    if chain is None or not chain.has("http_status"):
        return np.empty(0)
    status = chain.columns["http_status"]
    return clock.at(chain.wall_ns[status.present & (status.values == HTTP_OK)])


def _uptime_s(recording: RecordingTables, event: Event) -> float | None:
    """Return how long the process that ended had been running; its start counts from the boot it ran in."""
    rows = read_samples(recording, "nodeos", ("start_ticks",), {"nodeos": event.subject})
    if rows is None or not rows.has("start_ticks"):
        return None
    start = rows.columns["start_ticks"]
    before = np.flatnonzero((rows.wall_ns < event.wall_ns) & start.present)
    if not before.size:
        return None
    uptime_s = event.boottime_ns / NS_PER_S - float(start.values[before[-1]]) / TICKS_PER_S
    return uptime_s if uptime_s > 0 else None


def restart_costs(
    recording: RecordingTables, windows: Sequence[RestartWindow], steady_per_s: Mapping[str, float]
) -> tuple[RestartCost, ...]:
    """Return what each stop wrote to the drives of the state, and the start after it.

    What the drives take anyway is taken off; nothing goes below 0.

    Args:
        recording: to read from.
        windows: its stops and starts.
        steady_per_s: device → bytes a second that it takes anyway.
    """
    known = {n.id: n for n in recording.manifest.nodeos}
    drives = {name: _state_drives(known[name], steady_per_s) for name in known}
    counters = {
        device: read_samples(recording, "device", ("write_sectors_total",), {"device": device})
        for device in sorted({d for some in drives.values() for d in some})
    }
    costs = []
    for window in windows:
        if window.kind != "exit":
            continue
        following = next(
            (
                w
                for w in windows
                if w.kind == "start" and w.nodeos == window.nodeos and w.gone_s >= window.gone_s
            ),
            None,
        )
        devices = drives.get(window.nodeos, ())
        exits = _extra(counters, devices, window, steady_per_s)
        starts = _extra(counters, devices, following, steady_per_s) if following else {}
        costs.append(
            RestartCost(
                nodeos=window.nodeos,
                stopped_wall_ns=window.gone_wall_ns,
                uptime_s=window.uptime_s,
                exit_s=window.gone_s - window.start_s if window.known else None,
                exit_bytes=sum(exits.values()) if exits else None,
                start_bytes=sum(starts.values()) if starts else None,
                exit_by_device=exits,
                start_by_device=starts,
            )
        )
    return tuple(costs)


def _state_drives(nodeos: Nodeos, steady_per_s: Mapping[str, float]) -> tuple[str, ...]:
    """Return the drives of a nodeos's state; the only drive there is when that is not known."""
    found = nodeos.roles.get("state", ())
    return found or (tuple(steady_per_s) if len(steady_per_s) == 1 else ())


def _extra(
    counters: Mapping[str, Samples | None],
    devices: Sequence[str],
    window: RestartWindow,
    steady_per_s: Mapping[str, float],
) -> dict[str, float]:
    """Return device → bytes written in a window beyond what it takes anyway, where that was sampled."""
    if not window.known:
        return {}
    found = {}
    for device in devices:
        samples = counters.get(device)
        written = _written(samples, window.start_s, window.end_s) if samples is not None else None
        if written is not None:
            amount, seconds = written
            found[device] = max(amount - steady_per_s.get(device, 0.0) * seconds, 0.0)
    return found


def _written(samples: Samples, start_s: float, end_s: float) -> tuple[float, float] | None:
    """Return bytes between the samples around two moments, and their seconds; None where samples do not reach."""
    time_s = samples.time_s
    first = max(int(np.searchsorted(time_s, start_s, side="right")) - 1, 0)
    last = min(int(np.searchsorted(time_s, end_s, side="left")), time_s.size - 1)
    if end_s <= start_s:
        return 0.0, 0.0
    # A stop that the recording ends with is told too, as far as it was seen.
    if last <= first or time_s[last] < end_s - WRITE_BACK_S:
        return None
    part = slice(first, last + 1)
    column = samples.columns["write_sectors_total"]
    cut = type(column)(values=column.values[part], present=column.present[part])
    found = counter_total(time_s[part], cut, samples.breaks[part])
    return (found.amount * SECTOR_BYTES, found.duration_s) if found is not None else None
