"""The part of a recording that its steady writes are told from: as `compare` cuts it, without stops and starts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from leapprof.assess.liveness import Stretches
from leapprof.assess.measure import MeasuredSide, measure, reading_of, went_back
from leapprof.assess.metrics import spec_of
from leapprof.assess.restarts import RestartWindow
from leapprof.assess.samples import RecordingTables, read_samples
from leapprof.assess.sides import CutSide, WindowChoice, cut_side
from leapprof.model import Interval

DEVICE_COUNTER = "device counter"
WRITES = "device.write_bytes_per_s"
NODEOS_WRITES = "nodeos.device_write_bytes_per_s"
SWAP_WRITES = "host.swap_out_bytes_per_s"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SteadyWrites:
    """A rate of writing while nothing stops or starts, bytes a second.

    Attributes:
        bytes_per_s, ci95: mean and interval; no interval when it is too short for one, or when nothing was written:
            how much a write would have been is not known then.
        covered_s: seconds that it stands on.
        lower_bound: the counter went back within a boot; a reboot loses no rate.
        measured: what it came from.
        meter: what counted.
        burst_bytes: where nothing was written, the largest write that was seen before, on which ci95 stands.
    """

    bytes_per_s: float
    ci95: Interval | None
    covered_s: float
    lower_bound: bool
    measured: MeasuredSide
    meter: str = DEVICE_COUNTER
    burst_bytes: float | None = None


def steady_side(recording: RecordingTables, windows: Sequence[RestartWindow] = ()) -> CutSide:
    """Return a recording cut to its steady part.

    Args:
        recording: of a node, or of a hypervisor: without nodeos there is no warm-up to cut.
        windows: its stops and starts, which are counted for themselves.

    Raises:
        NotEnoughDataError: there are no samples.
    """
    choice = None if recording.manifest.nodeos else WindowChoice()
    return _without(cut_side(recording, "recording", choice), windows)


def whole_side(recording: RecordingTables, windows: Sequence[RestartWindow] = ()) -> CutSide:
    """Return a whole recording but these stops and starts, for one in which nodeos never settled."""
    side = cut_side(recording, "recording", WindowChoice())
    window = replace(side.side.window, left_out_s={}, left_out_inside_s=0.0)
    none = Stretches(start_s=np.empty(0), end_s=np.empty(0))
    return _without(replace(side, side=replace(side.side, window=window), left_out=none), windows)


def _without(side: CutSide, windows: Sequence[RestartWindow]) -> CutSide:
    """Return a side without stops and starts."""
    inside = [w for w in windows if w.end_s > side.span.start_s and w.start_s < side.span.end_s]
    if not inside:
        return side
    return replace(side, left_out=_united(side.left_out, inside))


def _united(left_out: Stretches, windows: Sequence[RestartWindow]) -> Stretches:
    """Return stretches that hold both, in order and not overlapping."""
    pairs = sorted(
        [
            *zip(left_out.start_s.tolist(), left_out.end_s.tolist(), strict=True),
            *((w.start_s, w.end_s) for w in windows),
        ]
    )
    merged: list[list[float]] = []
    for start, end in pairs:
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return Stretches(start_s=np.array([m[0] for m in merged]), end_s=np.array([m[1] for m in merged]))


def steady_writes(
    side: CutSide, metric: str = WRITES, where: Mapping[str, str] | None = None
) -> SteadyWrites | None:
    """Return a rate of writing over the steady part; None when it was not sampled twice there.

    Args:
        side: see steady_side.
        metric: one of the metrics of bytes written.
        where: which device, or which nodeos and device.
    """
    spec = spec_of(metric)
    samples = read_samples(side.tables, spec.table, spec.columns, where)
    if samples is None or not samples.has(*spec.columns):
        return None
    found = measure(spec, reading_of(side, samples))
    if found is None:
        return None
    return SteadyWrites(
        bytes_per_s=found.estimate.mean,
        ci95=found.estimate.ci95 if found.estimate.mean > 0 else None,
        covered_s=found.estimate.covered_seconds,
        lower_bound=any(went_back(samples, samples.columns[name]) for name in spec.columns),
        measured=found,
    )
