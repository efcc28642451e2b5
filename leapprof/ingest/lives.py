"""Starts, stops and restarts of nodeos processes, seen from tick to tick.

The identity of a process within one boot is its pid with its start time (pids are used again).
"""

from collections.abc import Mapping
from dataclasses import dataclass

Identity = tuple[int, int]
"""Pid and start time in clock ticks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeChange:
    """A nodeos-started, nodeos-stopped or nodeos-restarted of one id."""

    kind: str
    id: str
    detail: str


class LifeTracker:
    """Remembers which process each id was last. What the first tick shows has not just started."""

    def __init__(self) -> None:
        """Start before the first tick."""
        self._identity: dict[str, tuple[int, int]] = {}
        self._alive: frozenset[str] | None = None

    def add(self, alive: Mapping[str, tuple[int, int]]) -> list[LifeChange]:
        """Return what changed.

        Args:
            alive: id → (pid, start_ticks) of the processes of this tick.
        """
        before, self._alive = self._alive, frozenset(alive)
        changes = []
        for nodeos_id in sorted((before or frozenset()) - self._alive):
            pid = self._identity[nodeos_id][0]
            changes.append(LifeChange(kind="nodeos-stopped", id=nodeos_id, detail=f"pid {pid} is gone"))
        for nodeos_id, identity in sorted(alive.items()):
            last = self._identity.get(nodeos_id)
            self._identity[nodeos_id] = identity
            if last == identity or before is None:
                continue
            kind = "nodeos-started" if last is None else "nodeos-restarted"
            was = "" if last is None else f", was {last[0]}"
            changes.append(LifeChange(kind=kind, id=nodeos_id, detail=f"pid {identity[0]}{was}"))
        return changes
