"""What stops and starts of nodeos wrote to the drives of its state, beyond what is written there anyway."""

from collections.abc import Mapping, Sequence

import numpy as np

from leapprof.analysis.rates import counter_total
from leapprof.assess.own_devices import own_devices
from leapprof.assess.restarts import WRITE_BACK_S, RestartWindow
from leapprof.assess.samples import RecordingTables, Samples, read_samples
from leapprof.assess.sides import CutSide
from leapprof.assess.steady import steady_writes
from leapprof.model import Nodeos, Recording
from leapprof.model.wear import RestartCost
from leapprof.units import SECTOR_BYTES


def restart_costs(
    recording: RecordingTables, windows: Sequence[RestartWindow], side: CutSide
) -> tuple[RestartCost, ...]:
    """Return what each stop wrote to the drives of the state, and the start after it.

    Where the data of a nodeos has a partition or volume of its own, that counter is read: others' writes are not in
    it. What is written there anyway is taken off; nothing goes below 0.

    Args:
        recording: to read from.
        windows: its stops and starts.
        side: the part without them, which tells what is written anyway.
    """
    known = {n.id: n for n in recording.manifest.nodeos}
    meters = _Meters(recording, side)
    costs = []
    for window in windows:
        if window.kind != "exit":
            continue
        drives = _drives(recording.manifest, known.get(window.nodeos))
        following = next(
            (
                w
                for w in windows
                if w.kind == "start" and w.nodeos == window.nodeos and w.gone_s >= window.gone_s
            ),
            None,
        )
        exits = meters.beyond(drives, window)
        starts = meters.beyond(drives, following) if following else {}
        costs.append(
            RestartCost(
                nodeos=window.nodeos,
                stopped_wall_ns=window.gone_wall_ns,
                uptime_s=window.uptime_s,
                exit_s=window.gone_s - window.start_s if window.known and window.timed else None,
                exit_bytes=sum(exits.values()) if exits else None,
                start_bytes=sum(starts.values()) if starts else None,
                exit_by_device=exits,
                start_by_device=starts,
            )
        )
    return tuple(costs)


def _drives(manifest: Recording, nodeos: Nodeos | None) -> dict[str, tuple[str, ...]]:
    """Return each drive of a nodeos's state → the devices whose counters tell what it writes there."""
    if nodeos is None:
        return {}
    physical = [d.name for d in manifest.topology.physical()]
    drives = nodeos.roles.get("state", ()) or (tuple(physical) if len(physical) == 1 else ())
    return {drive: own_devices(manifest, nodeos, drive) or (drive,) for drive in drives}


class _Meters:
    """Counters of devices and what is written to each anyway, each read once."""

    def __init__(self, recording: RecordingTables, side: CutSide) -> None:
        self._recording = recording
        self._side = side
        self._known: dict[str, tuple[Samples | None, float]] = {}

    def beyond(self, drives: Mapping[str, Sequence[str]], window: RestartWindow) -> dict[str, float]:
        """Return drive → bytes written in a window beyond what is written anyway, where that was sampled."""
        if not window.known:
            return {}
        found = {}
        for drive, devices in drives.items():
            amounts = [self._of_device(device, window) for device in devices]
            known = [a for a in amounts if a is not None]
            if known and len(known) == len(amounts):
                found[drive] = sum(known)
        return found

    def _of_device(self, device: str, window: RestartWindow) -> float | None:
        if device not in self._known:
            samples = read_samples(self._recording, "device", ("write_sectors_total",), {"device": device})
            steady = steady_writes(self._side, where={"device": device})
            self._known[device] = samples, steady.bytes_per_s if steady is not None else 0.0
        samples, per_s = self._known[device]
        written = _written(samples, window.start_s, window.end_s) if samples is not None else None
        return max(written[0] - per_s * written[1], 0.0) if written is not None else None


def _written(samples: Samples, start_s: float, end_s: float) -> tuple[float, float] | None:
    """Return bytes between the samples around two moments, and their seconds; None where samples do not reach."""
    time_s = samples.time_s
    first = max(int(np.searchsorted(time_s, start_s, side="right")) - 1, 0)
    last = min(int(np.searchsorted(time_s, end_s, side="left")), time_s.size - 1)
    if end_s <= start_s:
        return 0.0, 0.0
    # What lies in a gap is not of the stop alone; one that the recording ends with is told as far as it was seen.
    if time_s[last] > end_s + WRITE_BACK_S:
        last -= 1
    if last <= first or time_s[last] < end_s - WRITE_BACK_S:
        return None
    part = slice(first, last + 1)
    column = samples.columns["write_sectors_total"]
    cut = type(column)(values=column.values[part], present=column.present[part])
    found = counter_total(time_s[part], cut, samples.breaks[part])
    return (found.amount * SECTOR_BYTES, found.duration_s) if found is not None else None
