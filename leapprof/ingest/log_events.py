"""Events from the log of each nodeos: what it said of starting, loading, writing and stopping, at its own time.

An event's detail is the message, so that nodeos/logs.py reads it again when stages are told.
"""

from collections.abc import Mapping

from leapprof.ingest.lives import Identity
from leapprof.model import Event, Frame
from leapprof.nodeos.logs import LineKind
from leapprof.nodeos.told import ToldLine, parse_told
from leapprof.units import NS_PER_MS

LOG_EVENT = "log-"
MAX_EVENTS_PER_NODEOS = 500
NS_PER_TICK = 10_000_000
_DONE = {LineKind.WRITING: "written", LineKind.PRELOADING: "preloaded"}


def event_kind(line: ToldLine) -> str:
    """Return the kind of a line's event, e.g. ``log-writing`` and, when that is complete, ``log-written``."""
    done = _DONE.get(line.life.kind) if line.life.is_complete else None
    return LOG_EVENT + (done or line.life.kind.value)


class LogTracker:
    """Remembers what each log has told: after a lost connection an agent reads the end of it again."""

    def __init__(self) -> None:
        """Start before the first frame."""
        self._told: dict[str, set[tuple[str, int]]] = {}
        self._last_id: str | None = None
        self._since_ns: dict[str, int] = {}

    def add(
        self, frame: Frame, logs: Mapping[tuple[str, int], str], alive: Mapping[str, Identity]
    ) -> list[Event]:
        """Return the events of one frame's log lines that are of processes of this recording.

        Args:
            frame: for its clocks.
            logs: (nodeos id, start time of the process in ticks) → lines; an empty id is the only nodeos there is,
                and a start time of 0 that of its first process here.
            alive: id → (pid, start_ticks) of the processes of this tick.
        """
        offset_ns = frame.wall_ns - frame.boottime_ns
        for nodeos_id, (_, start_ticks) in alive.items():
            started_ns = offset_ns + start_ticks * NS_PER_TICK - NS_PER_MS * 1000
            self._since_ns.setdefault(nodeos_id, started_ns)
        if len(alive) == 1:
            self._last_id = next(iter(alive))
        events = []
        for (nodeos_id, start_ticks), text in sorted(logs.items()):
            chosen = nodeos_id or self._last_id
            if text and chosen is not None:
                since_ns = offset_ns + start_ticks * NS_PER_TICK - NS_PER_MS * 1000
                events += self._of_one(
                    frame, chosen, text, since_ns if start_ticks else self._since_ns.get(chosen, 0)
                )
        return events

    def _of_one(self, frame: Frame, nodeos_id: str, text: str, since_ns: int) -> list[Event]:
        told = self._told.setdefault(nodeos_id, set())
        events = []
        for line in parse_told(text):
            kind = event_kind(line)
            wall_ns = frame.wall_ns if line.logged_ms is None else line.logged_ms * NS_PER_MS
            key = (kind, wall_ns)
            is_old = wall_ns < since_ns or wall_ns > frame.wall_ns + 60_000 * NS_PER_MS
            if is_old or key in told or len(told) >= MAX_EVENTS_PER_NODEOS:
                continue
            told.add(key)
            events.append(
                Event(
                    boottime_ns=max(wall_ns - (frame.wall_ns - frame.boottime_ns), 0),
                    wall_ns=wall_ns,
                    kind=kind,
                    subject=nodeos_id,
                    detail=line.message,
                )
            )
        return events
