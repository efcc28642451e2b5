"""What a device's write counter says of its steady writes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.batch import Span, batch_length_s, batch_means
from leapprof.analysis.estimate import estimate
from leapprof.analysis.rates import counter_rate, counter_total
from leapprof.assess.load import LoadedRecording
from leapprof.assess.restarts import RestartWindow
from leapprof.model import Column, Estimate, Interval, Table
from leapprof.units import NS_PER_S, SECTOR_BYTES


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceWrites:
    """The write counter of one device: seconds, counter, boots' borders, and what came of it."""

    time_s: NDArray[np.float64]
    sectors: Column
    breaks: NDArray[np.bool_]
    bytes_per_s: float
    covered_s: float
    lower_bound: bool
    estimate: Estimate | None


def time_s_of(table: Table) -> NDArray[np.float64]:
    """Return the rows' CLOCK_BOOTTIME, (n,) seconds."""
    return table.integers["boottime_ns"].values / NS_PER_S


def boot_breaks(table: Table) -> NDArray[np.bool_]:
    """Return (n,) where another boot begins: counters start anew there."""
    boot = table.integers["boot"].values
    return np.diff(boot, prepend=boot[:1]) != 0


def device_writes(
    recording: LoadedRecording, device: str, restarts: Sequence[RestartWindow]
) -> DeviceWrites | None:
    """Return what a device's counter says of its steady writes; None when it was not sampled twice.

    Args:
        recording: to read from.
        device: kernel name.
        restarts: windows of stops and starts, left out of the steady rate.
    """
    table = recording.table("device", ("write_sectors_total",), where={"device": device})
    if table is None or table.rows < 2:
        return None
    time_s, sectors, breaks = time_s_of(table), table.integers["write_sectors_total"], boot_breaks(table)
    steady = sectors
    for window in restarts:
        inside = (time_s > window.start_s) & (time_s < window.end_s)
        steady = Column(values=steady.values, present=steady.present & ~inside)
        breaks = breaks | _first_after(time_s, window.end_s)
    total = counter_total(time_s, steady, breaks)
    if total is None or total.per_s is None:
        return None
    series = counter_rate(time_s, steady, breaks)
    span = Span(start_s=float(time_s[0]), end_s=float(time_s[-1]))
    length_s = batch_length_s(span.duration_s)
    batches = batch_means(series, span, length_s) if length_s else None
    found = estimate(batches, series, total_per_s=total.per_s)
    resets = int(np.count_nonzero(np.diff(sectors.values[sectors.present]) < 0))
    return DeviceWrites(
        time_s=time_s,
        sectors=sectors,
        breaks=breaks,
        bytes_per_s=total.per_s * SECTOR_BYTES,
        covered_s=total.duration_s,
        lower_bound=resets > 0,
        estimate=found,
    )


def _first_after(time_s: NDArray[np.float64], moment_s: float) -> NDArray[np.bool_]:
    """Return a mask with the first sample at or after a moment: no difference is taken across the window."""
    mask = np.zeros(time_s.size, dtype=bool)
    index = int(np.searchsorted(time_s, moment_s))
    if index < time_s.size:
        mask[index] = True
    return mask


def interval_bytes(writes: DeviceWrites) -> Interval | None:
    """Return the interval of the rate, bytes a second; None when too short."""
    ci95 = writes.estimate.ci95 if writes.estimate else None
    return Interval(low=ci95.low * SECTOR_BYTES, high=ci95.high * SECTOR_BYTES) if ci95 else None


def covered_s(table: Table | None) -> float:
    """Return the seconds from first to last sample, summed over boots."""
    if table is None or table.rows < 2:
        return 0.0
    total = 0.0
    boot, time_s = table.integers["boot"].values, time_s_of(table)
    for number in np.unique(boot):
        part = time_s[boot == number]
        total += float(part.max() - part.min())
    return total
