"""A drive that took no write while nodeos ran steadily: what is known of it, by the rule of three, and what is not.

In a time without an event there are at most three in so long, with 95 % confidence (Hanley and Lippman-Hand 1983).
That bounds bytes only if the size of an event is known: the largest write that the recording saw before it settled.
"""

from collections.abc import Sequence
from dataclasses import replace

from leapprof.analysis.estimate import RULE_OF_THREE, zero_rate_interval
from leapprof.assess.restarts import RestartWindow
from leapprof.assess.samples import RecordingTables
from leapprof.assess.steady import DEVICE_COUNTER, SteadyWrites, steady_writes, whole_side
from leapprof.units import YEAR_S


def with_upper_limit(
    recording: RecordingTables, windows: Sequence[RestartWindow], device: str, writes: SteadyWrites
) -> SteadyWrites:
    """Return a rate of 0 with the upper limit that it has, if the size of a write is known; another rate as it is.

    Args:
        recording: all of it: what was written in warm-up tells how large a write of this drive may be.
        windows: its stops and starts, whose writes are counted for themselves and tell nothing of others.
        device: the drive.
        writes: its rate over the steady part.
    """
    if writes.bytes_per_s > 0 or writes.meter != DEVICE_COUNTER or writes.measured.estimate.ci95 is None:
        return writes
    whole = steady_writes(whole_side(recording, windows), where={"device": device})
    burst_bytes = whole.measured.largest_burst if whole is not None else 0.0
    if burst_bytes <= 0:
        return writes
    return replace(
        writes, ci95=zero_rate_interval(max(writes.covered_s, 1.0), burst_bytes), burst_bytes=burst_bytes
    )


def most_writes_per_year(writes: SteadyWrites) -> float | None:
    """Return how often a drive may write that was not seen to; None where it was, or where no counter tells."""
    if writes.bytes_per_s > 0 or writes.meter != DEVICE_COUNTER:
        return None
    return RULE_OF_THREE * YEAR_S / max(writes.covered_s, 1.0)
