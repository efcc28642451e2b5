"""Stops and starts of nodeos within a recording: when, and what they wrote.

A stop begins when nodeos says that it shuts down (its log, where it was read), else with the last answer of its API,
and is over 35 s after the process has gone: vm.dirty_expire_centisecs (30 s) and the flusher's 5 s bring what it left
in the page cache to the drive. A start lasts until the first answer. Moments are on the timeline of the samples,
which goes on over reboots.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.assess.samples import RecordingTables, Samples, read_samples
from leapprof.model import Event
from leapprof.units import NS_PER_S, TICKS_PER_S

WRITE_BACK_S = 35.0
LONGEST_STOP_S = 3600.0
STOPPED, STARTED, RESTARTED = "nodeos-stopped", "nodeos-started", "nodeos-restarted"
SAYS_STOPPING = ("log-shutdown", "log-writing")
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
        timed: whether the moment of gone_s is one: of an exit in a gap of the samples only the log knows it.
    """

    nodeos: str
    kind: str
    start_s: float
    end_s: float
    gone_s: float
    gone_wall_ns: int
    uptime_s: float | None
    known: bool
    timed: bool = True


SAYS_GONE = "log-exited"
LONGEST_GAP_S = 5.0
GAP_INTERVALS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Clock:
    """The host's samples: wall clock → timeline."""

    samples: Samples

    def at(self, wall_ns: int | NDArray[np.int64]) -> NDArray[np.float64]:
        """Return moments of the wall clock on the timeline, beyond the samples too."""
        wall, time_s = self.samples.wall_ns, self.samples.time_s
        place = np.clip(np.searchsorted(wall, wall_ns, side="right") - 1, 0, wall.size - 1)
        return np.asarray(time_s[place] + (np.asarray(wall_ns) - wall[place]) / NS_PER_S)

    def saw(self, moment_s: float) -> bool:
        """Return whether there was a sample right before a moment."""
        time_s, usual_s = self.samples.time_s, self.samples.times.usual_s
        before = time_s[time_s < moment_s - 1e-6]
        longest_s = max(LONGEST_GAP_S, GAP_INTERVALS * usual_s)
        return bool(before.size and moment_s - before[-1] <= longest_s)


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
    rows = read_samples(recording, "nodeos", ("start_ticks",), {"nodeos": nodeos})
    windows: list[RestartWindow] = []
    is_up = True
    for event in events:
        if event.kind == STOPPED or (event.kind == RESTARTED and is_up):
            windows.append(_exit(clock, event, events, answers, _uptime_s(rows, event)))
            is_up = False
        if event.kind in (STARTED, RESTARTED):
            windows.append(_start(clock, event, answers, windows[-1] if windows else None))
            is_up = True
    return windows


def _exit(
    clock: _Clock,
    event: Event,
    events: Sequence[Event],
    answers: NDArray[np.float64],
    uptime_s: float | None,
) -> RestartWindow:
    moment_s = float(clock.at(event.wall_ns))
    # What an earlier process said is its own: only after the last start before this stop.
    started = [e.wall_ns for e in events if e.kind in (STARTED, RESTARTED) and e.wall_ns < event.wall_ns]
    said = [e for e in events if e.kind in SAYS_STOPPING and e.wall_ns > max(started, default=0)]
    begun = [
        s for s in (float(clock.at(e.wall_ns)) for e in said) if moment_s - LONGEST_STOP_S < s <= moment_s
    ]
    before = answers[answers < moment_s]
    last = min(begun) if begun else (float(before[-1]) if before.size else None)
    return RestartWindow(
        nodeos=event.subject,
        kind="exit",
        gone_s=moment_s,
        gone_wall_ns=event.wall_ns,
        start_s=last if last is not None else moment_s,
        end_s=moment_s + WRITE_BACK_S,
        uptime_s=uptime_s,
        known=last is not None,
        timed=clock.saw(moment_s)
        or any(e.kind == SAYS_GONE and max(started, default=0) < e.wall_ns for e in events),
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


def _uptime_s(rows: Samples | None, event: Event) -> float | None:
    """Return how long the process that ended had been running; its start counts from the boot it ran in."""
    if rows is None or not rows.has("start_ticks"):
        return None
    start = rows.columns["start_ticks"]
    before = np.flatnonzero((rows.wall_ns < event.wall_ns) & start.present)
    if not before.size:
        return None
    uptime_s = event.boottime_ns / NS_PER_S - float(start.values[before[-1]]) / TICKS_PER_S
    return uptime_s if uptime_s > 0 else None
