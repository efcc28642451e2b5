"""What stops and starts add to a drive in a year: how often, and how much each writes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from leapprof.assess.samples import RecordingTables, read_samples
from leapprof.endurance.exits import fit_exits
from leapprof.endurance.lifetime import DEFAULT_RESTARTS_PER_YEAR
from leapprof.model.wear import ExitGrowth, RestartCost
from leapprof.units import DAY_S, TICKS_PER_S, YEAR_S, format_duration

LEAST_HISTORY_S = 7 * DAY_S * 0.99


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartRate:
    """How often a year, and where that comes from."""

    per_year: float
    source: str


def restart_rate(recording: RecordingTables, said: float | None, stops: int) -> RestartRate:
    """Return restarts a year: as said, else from uptimes and stops seen in at least a week, else 12.

    Without a stop in that time one is assumed to come right after it, and no more than 12 a year.

    Args:
        recording: its nodeos have been up for some time when it begins.
        said: by the operator.
        stops: seen in it, of all its nodeos.
    """
    if said is not None:
        return RestartRate(per_year=said, source="as you say with --restarts-per-year")
    count = max(len(recording.manifest.nodeos), 1)
    history_s = _history_s(recording)
    if history_s >= LEAST_HISTORY_S and stops:
        per_year = stops / count / history_s * YEAR_S
        source = f"{stops} stop{'s' if stops > 1 else ''} in {format_duration(history_s)} of history"
        return RestartRate(per_year=per_year, source=source)
    if history_s >= LEAST_HISTORY_S and YEAR_S / history_s < DEFAULT_RESTARTS_PER_YEAR:
        return RestartRate(
            per_year=YEAR_S / history_s,
            source=f"no stop in {format_duration(history_s)} of uptime: one in that time is assumed",
        )
    return RestartRate(
        per_year=DEFAULT_RESTARTS_PER_YEAR, source="the default; say yours with --restarts-per-year"
    )


def _history_s(recording: RecordingTables) -> float:
    """Return the recording's time, and how long each nodeos had been up when it began, on average."""
    host = read_samples(recording, "host", ())
    if host is None:
        return 0.0
    first_s = float(host.time_s[0])
    ups = [
        max(first_s - n.start_ticks / TICKS_PER_S, 0.0)
        for n in recording.manifest.nodeos
        if n.start_ticks > 0
    ]
    return float(host.time_s[-1]) - first_s + (float(np.mean(ups)) if ups else 0.0)


def state_sizes(recording: RecordingTables) -> dict[str, float]:
    """Return nodeos → what an exit cannot pass: the size of its state database, where its API told; else memory.

    The dirty pages of an exit are anonymous memory: they lie in RAM and swap until then.
    """
    host = recording.manifest.host
    memory_bytes = host.number("mem_total_bytes")
    found = {}
    for nodeos in recording.manifest.nodeos:
        if memory_bytes is not None:
            found[nodeos.id] = float(memory_bytes + (host.number("swap_total_bytes") or 0))
        for column in ("state_size_bytes", "state_used_bytes"):
            chain = read_samples(recording, "chain", (column,), {"nodeos": nodeos.id})
            if chain is not None and chain.has(column):
                values = chain.columns[column]
                found[nodeos.id] = float(values.values[values.present].max())
                break
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartWrites:
    """Bytes that one restart of every nodeos writes to a drive.

    Attributes:
        measured: at least one exit or start was seen.
    """

    bytes_per_restart: float
    growth: tuple[ExitGrowth, ...]
    measured: bool


def restart_writes(
    costs: Sequence[RestartCost], device: str, per_year: float, state_bytes: Mapping[str, float]
) -> RestartWrites:
    """Return what one stop and start of each nodeos writes to a drive.

    With several stops of different uptimes the exit is what it grows to between two restarts.

    Args:
        costs: of the stops that were seen.
        device: the drive.
        per_year: restarts.
        state_bytes: nodeos → size of its state database, which no exit can pass.
    """
    total, growth, measured = 0.0, [], False
    for nodeos in sorted({c.nodeos for c in costs}):
        mine = [c for c in costs if c.nodeos == nodeos]
        exits = [c.exit_by_device[device] for c in mine if device in c.exit_by_device]
        starts = [c.start_by_device[device] for c in mine if device in c.start_by_device]
        grown = _growth(mine, device, per_year, state_bytes.get(nodeos))
        if grown is not None:
            growth.append(grown)
            total += grown.exit_bytes
        elif exits:
            total += float(np.mean(exits))
        total += float(np.mean(starts)) if starts else 0.0
        measured = measured or bool(exits or starts)
    return RestartWrites(bytes_per_restart=total, growth=tuple(growth), measured=measured)


def _growth(
    costs: Sequence[RestartCost], device: str, per_year: float, state_bytes: float | None
) -> ExitGrowth | None:
    stops = [
        (c.uptime_s, c.exit_by_device[device])
        for c in costs
        if c.uptime_s is not None and device in c.exit_by_device
    ]
    fit = fit_exits(stops)
    if fit is None or per_year <= 0:
        return None
    uptime_s = YEAR_S / per_year
    return ExitGrowth(
        nodeos=costs[0].nodeos,
        device=device,
        stops=len(stops),
        bytes_per_s=fit.bytes_per_s if np.isfinite(fit.bytes_per_s) else None,
        most_bytes=fit.most_bytes if np.isfinite(fit.most_bytes) else None,
        uptime_s=uptime_s,
        exit_bytes=min(fit.at(uptime_s), state_bytes or np.inf),
        longest_uptime_s=max(uptime for uptime, _ in stops),
    )
