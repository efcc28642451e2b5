"""When the compared nodeos were live, and which of them were not: at the ticks of their host."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.batch import Span
from leapprof.assess.cached import CachedTables
from leapprof.assess.samples import RecordingTables, Samples, timeline_s
from leapprof.nodeos.stages import LIVE

NEAREST_S = 15.0
"""A head lag is asked every 10 s; further away than this it says nothing about a tick."""
NOT_LIVE = "not-live"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stretches:
    """Stretches of time that are not compared: (k,) starts and ends in seconds, in order, not overlapping."""

    start_s: NDArray[np.float64]
    end_s: NDArray[np.float64]

    @property
    def any(self) -> bool:
        """Return whether there is one."""
        return bool(self.start_s.size)

    def hold(self, time_s: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return (n,) whether each moment lies in one of them."""
        if not self.any:
            return np.zeros(time_s.size, dtype=bool)
        at = np.searchsorted(self.start_s, time_s, side="right") - 1
        return np.asarray((at >= 0) & (time_s <= self.end_s[np.maximum(at, 0)]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Liveness:
    """Which nodeos of a host were live at its ticks.

    Attributes:
        time_s: (n,) of the host.
        live: (n,) whether all of them were.
        by_nodeos: id → (n,) whether it was; of those whose stage was ever known.
    """

    time_s: NDArray[np.float64]
    live: NDArray[np.bool_]
    by_nodeos: Mapping[str, NDArray[np.bool_]]

    def not_live(self, span: Span) -> Stretches:
        """Return the stretches of a span in which one of them was not live."""
        inside = (self.time_s > span.start_s) & (self.time_s <= span.end_s)
        time_s, bad = self.time_s[inside], ~self.live[inside]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], bad, [False]]).astype(np.int8)))
        starts, ends = edges[::2], edges[1::2] - 1
        return Stretches(start_s=time_s[starts], end_s=time_s[ends])

    def not_live_s(self, span: Span) -> dict[str, float]:
        """Return why → seconds of a span that are not compared; of several nodeos the reason names who was not live."""
        inside = (self.time_s > span.start_s) & (self.time_s <= span.end_s)
        time_s = self.time_s[inside]
        elapsed = np.diff(time_s, prepend=span.start_s)
        down = np.stack([~live[inside] for live in self.by_nodeos.values()])
        found: dict[str, float] = {}
        for who in np.unique(down[:, down.any(axis=0)], axis=1).T:
            here = (down == who[:, None]).all(axis=0)
            found[self._reason(who)] = float(elapsed[here].sum())
        return found

    def _reason(self, who: NDArray[np.bool_]) -> str:
        if len(self.by_nodeos) == 1:
            return NOT_LIVE
        names = (name for name, is_down in zip(self.by_nodeos, who, strict=True) if is_down)
        return f"{NOT_LIVE} ({', '.join(names)})"


def liveness(tables: CachedTables, clock: Samples, whole: Span) -> Liveness | None:
    """Return when the compared nodeos were live; None when stages cannot be told."""
    subjects = [{"nodeos": nodeos.id} for nodeos in tables.manifest.nodeos]
    for name in ("chain", "nodeos"):
        tables.prepare(name, subjects)
    found = {nodeos.id: _live_of(tables, nodeos.id, clock) for nodeos in tables.manifest.nodeos}
    known = {name: live for name, live in found.items() if live is not None}
    if not known:
        return None
    live = np.logical_and.reduce(list(known.values()))
    inside = (clock.time_s > whole.start_s) & (clock.time_s <= whole.end_s)
    return Liveness(time_s=clock.time_s, live=live, by_nodeos=known) if live[inside].any() else None


def _live_of(tables: RecordingTables, nodeos: str, clock: Samples) -> NDArray[np.bool_] | None:
    """Return (n,) at the host's ticks whether a nodeos was live; None when its stage was never known."""
    table = tables.table(
        "nodeos", ("boottime_ns", "wall_ns", "boot", "start_ticks", "stage"), {"nodeos": nodeos}
    )
    stage = table.texts.get("stage") if table is not None and table.rows else None
    if stage is None or not stage.astype(bool).any():
        return None
    return _at(clock.time_s, timeline_s(table), stage == LIVE)


def _at(
    clock_s: NDArray[np.float64], time_s: NDArray[np.float64], flag: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return flags of rows at the host's ticks; False where no row is near (the process was down)."""
    place = np.clip(np.searchsorted(time_s, clock_s, side="right") - 1, 0, time_s.size - 1)
    near = np.abs(clock_s - time_s[place]) <= NEAREST_S
    return np.asarray(flag[place].astype(bool) & near)
