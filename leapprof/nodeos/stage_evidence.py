"""What the log proves about the stage of a nodeos: lines in, stretches and labels of ticks out.

Sources: the order of lines in the logs of Leap 4.0.6 and 5.0.3 (controller.cpp, chain_plugin.cpp, main.cpp,
chainbase pinnable_mapped_file.cpp). Lines of chainbase have no time of their own: they take that of the line
before them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.nodeos.logs import LifeLine, LineKind
from leapprof.nodeos.stages import (
    CODES,
    LOADING_SNAPSHOT,
    NOT_TOLD,
    PRELOADING_STATE,
    REPLAYING,
    STARTING,
    STOPPING,
    WRITING_STATE,
    Labels,
)

MS_PER_S = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A stage from one moment to another, milliseconds since the epoch; end_ms None when the log ends in it."""

    stage: str
    start_ms: int
    end_ms: int | None


# A line that begins a stage, which lasts until the next line of this table.
_BEGINS: dict[LineKind, str | None] = {
    LineKind.INITIALIZING: STARTING,
    LineKind.PRELOADING: PRELOADING_STATE,
    LineKind.SNAPSHOT_BEGIN: LOADING_SNAPSHOT,
    LineKind.SNAPSHOT_PROGRESS: LOADING_SNAPSHOT,
    LineKind.SNAPSHOT_END: STARTING,
    LineKind.REPLAYED: STARTING,
    LineKind.CHAIN_STARTED: None,
    LineKind.SHUTDOWN: STOPPING,
    LineKind.WRITING: WRITING_STATE,
    LineKind.EXITED: None,
}
_AFTER = {(LineKind.PRELOADING, True): STARTING, (LineKind.WRITING, True): STOPPING}
"""What goes on when a file is loaded or written completely."""


def stretches(lines: Iterable[LifeLine]) -> tuple[Stretch, ...]:
    """Return the stages that lines of one log prove, in order; a stage without a time before it is left out."""
    found: list[Stretch] = []
    now_ms: int | None = None
    for line in lines:
        now_ms = line.logged_ms if line.logged_ms is not None else now_ms
        if now_ms is None or line.kind not in _BEGINS:
            continue
        if line.kind is LineKind.REPLAYED and line.seconds and line.blocks:
            _begin(found, REPLAYING, now_ms - round(line.seconds * MS_PER_S))
        _begin(found, _AFTER.get((line.kind, line.is_complete), _BEGINS[line.kind]), now_ms)
    return tuple(found)


STARTUP_STAGES = (STARTING, LOADING_SNAPSHOT, PRELOADING_STATE, REPLAYING)


def evidence_at(
    wall_ms: NDArray[np.int64], proved: Iterable[Stretch], life: NDArray[np.int64] | None = None
) -> Labels:
    """Return the proved stage of each tick for label_stages, NOT_TOLD where nothing is proved.

    Args:
        wall_ms: (n,) wall clock of the host at each tick, milliseconds since the epoch.
        proved: of stretches().
        life: (n,) number of the process; a stretch ends with the process in which it began.
    """
    labels = np.full(len(wall_ms), NOT_TOLD, dtype=np.uint8)
    for stretch in proved:
        inside = wall_ms >= stretch.start_ms
        if stretch.end_ms is not None:
            inside &= wall_ms < stretch.end_ms
        if life is not None and inside.any():
            inside &= life == life[np.argmax(wall_ms >= stretch.start_ms)]
        labels[inside] = CODES[stretch.stage]
    return labels


def _begin(found: list[Stretch], stage: str | None, start_ms: int) -> None:
    """End the open stretch, and begin another unless the stage is None or goes on."""
    if found and found[-1].end_ms is None:
        opened = found[-1]
        if opened.stage == stage:
            return
        found[-1] = Stretch(
            stage=opened.stage, start_ms=opened.start_ms, end_ms=max(start_ms, opened.start_ms)
        )
    if stage is not None:
        found.append(Stretch(stage=stage, start_ms=start_ms, end_ms=None))
