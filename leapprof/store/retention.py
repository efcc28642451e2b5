"""How long an always-on recording reaches back. Pure: which segments go."""

from collections.abc import Sequence
from dataclasses import dataclass

from leapprof.units import NS_PER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What is kept: so many seconds, so many bytes of sealed files; None for no limit."""

    duration_s: float | None = None
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentSize:
    """One sealed segment, all its tables: number, end on the host's wall clock, bytes on disk."""

    number: int
    last_wall_ns: int
    size_bytes: int


def outdated(segments: Sequence[SegmentSize], retention: Retention, now_wall_ns: int) -> tuple[int, ...]:
    """Return the numbers of the segments to drop, oldest first.

    Args:
        segments: by number.
        retention: what to keep.
        now_wall_ns: the host's wall clock, as the last sample says.
    """
    kept = list(segments)
    dropped = []
    while kept and _exceeds(kept, retention, now_wall_ns):
        dropped.append(kept.pop(0).number)
    return tuple(dropped)


def _exceeds(kept: Sequence[SegmentSize], retention: Retention, now_wall_ns: int) -> bool:
    age_s = (now_wall_ns - kept[0].last_wall_ns) / NS_PER_S
    too_old = retention.duration_s is not None and age_s > retention.duration_s
    too_large = retention.size_bytes is not None and sum(s.size_bytes for s in kept) > retention.size_bytes
    return too_old or too_large
