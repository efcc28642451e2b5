"""Stretches without samples, found in the samples' own times. Pure.

A tick that came late is no gap; one and a half intervals without a sample is. Times of two boots have no
distance on CLOCK_BOOTTIME: across a reboot the wall clock says how long the host was away.
"""

from dataclasses import dataclass

import numpy as np

from leapprof.model import Event, Gap, Table
from leapprof.model.recording import REBOOTED
from leapprof.units import NS_PER_S

GAP_INTERVALS = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where and when one sample was taken.

    Attributes:
        seq: of the frame.
        boottime_ns, wall_ns: host's clocks.
        boot: counts boots.
        dropped: frames that the agent had dropped by then; None where not known.
    """

    seq: int
    boottime_ns: int
    wall_ns: int
    boot: int
    dropped: int | None = None


def gap_between(before: Mark, after: Mark, interval_s: float, reason: str | None = None) -> Gap | None:
    """Return the gap between two neighbouring samples, or None when there is none.

    Args:
        before: the earlier sample.
        after: the later sample.
        interval_s: the tick.
        reason: why, when it is known (``connection-lost``, ``collector-stopped``).
    """
    rebooted = after.boot != before.boot
    elapsed_ns = after.boottime_ns - before.boottime_ns
    if not rebooted and elapsed_ns <= GAP_INTERVALS * interval_s * NS_PER_S:
        return None
    return Gap(
        start_ns=before.boottime_ns,
        end_ns=after.boottime_ns,
        start_wall_ns=before.wall_ns,
        end_wall_ns=after.wall_ns,
        reason=REBOOTED if rebooted else reason or _reason(before, after),
    )


def _reason(before: Mark, after: Mark) -> str:
    if before.dropped is not None and after.dropped is not None and after.dropped > before.dropped:
        return "frames-dropped"
    return "frames-lost" if after.seq != before.seq + 1 else "agent-late"


def find_gaps(host: Table, interval_s: float, events: tuple[Event, ...] = ()) -> tuple[Gap, ...]:
    """Return the gaps of a recording.

    Args:
        host: table ``host``, in the order of time.
        interval_s: the tick.
        events: what is known of the recording; a connection that was lost explains the gap around it.
    """
    if host.rows < 2:
        return ()
    boottime_ns, boot = host.integers["boottime_ns"].values, host.integers["boot"].values
    limit_ns = GAP_INTERVALS * interval_s * NS_PER_S
    suspects = np.flatnonzero((np.diff(boottime_ns) > limit_ns) | (np.diff(boot) != 0))
    lost = [e for e in events if e.kind == "connection-lost"]
    gaps = []
    for index in suspects.tolist():
        before, after = _mark(host, index), _mark(host, index + 1)
        known = any(before.wall_ns <= e.wall_ns <= after.wall_ns for e in lost)
        gap = gap_between(before, after, interval_s, "connection-lost" if known else None)
        if gap is not None:
            gaps.append(gap)
    return tuple(gaps)


def _mark(host: Table, row: int) -> Mark:
    dropped = host.integers.get("frames_dropped_total")
    return Mark(
        seq=int(host.integers["seq"].values[row]),
        boottime_ns=int(host.integers["boottime_ns"].values[row]),
        wall_ns=int(host.integers["wall_ns"].values[row]),
        boot=int(host.integers["boot"].values[row]),
        dropped=int(dropped.values[row]) if dropped is not None and dropped.present[row] else None,
    )
