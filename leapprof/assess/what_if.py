"""What a planned change would make of a host's wear, from a measured pair and never from a constant."""

from dataclasses import dataclass, replace

from leapprof.analysis.compare import ratio
from leapprof.assess.lives import drive_lives, drive_of
from leapprof.assess.restart_costs import restart_costs
from leapprof.assess.restart_writes import restart_writes, state_sizes
from leapprof.assess.restarts import restart_windows
from leapprof.assess.samples import RecordingTables
from leapprof.assess.steady import SteadyWrites, steady_side, steady_writes
from leapprof.assess.write_back import apart
from leapprof.endurance.lifetime import YearlyWrites
from leapprof.errors import NotEnoughDataError
from leapprof.model import Effect, Interval
from leapprof.model.wear import DeviceForecast, WearForecast, WhatIf
from leapprof.units import TB, format_bytes

RATE = "device.write_bytes_per_s[state]"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPair:
    """What a pair of recordings says of a change.

    Attributes:
        source: which pair, in words.
        effect: of the writes to the device of the state, after over before.
        restart_bytes: one stop and start after the change; None when the pair holds none.
    """

    source: str
    effect: Effect
    restart_bytes: float | None


def with_what_if(
    forecast: WearForecast,
    before: RecordingTables,
    after: RecordingTables,
    named: str = "",
    stops: RecordingTables | None = None,
) -> WearForecast:
    """Return the forecast with the projection on each drive that carries state.

    The interval multiplies the ends of both intervals: wider than needed, never too narrow.

    Args:
        forecast: of this host as it is.
        before: recording before the change.
        after: recording after it.
        named: what to call the pair; empty: by its hosts and phases.
        stops: recording of the same node's stops and starts after the change; None: those in ``after``.

    Raises:
        NotEnoughDataError: the pair does not hold writes of the state's device on both sides, was not measured, or
            no drive of this host carries state.
    """
    for one in (before.manifest, after.manifest):
        if one.reconstructed:
            raise NotEnoughDataError(
                RATE, f"a pair that was RECONSTRUCTED from {one.reconstructed}", "a measured pair"
            )
    pair = _measured(before, after, named, stops or after)
    if not any("state" in d.roles for d in forecast.devices):
        raise NotEnoughDataError(
            RATE, "no drive of this host that carries state", "a recording with nodeos in it"
        )
    differing = apart(before.manifest, forecast.recording)
    notes = (f"write-back is another here than in the pair: {', '.join(differing)}",) if differing else ()
    return replace(
        forecast,
        devices=tuple(
            replace(d, what_if=_applied(d, pair, forecast, notes)) if "state" in d.roles else d
            for d in forecast.devices
        ),
    )


def _measured(
    before: RecordingTables, after: RecordingTables, named: str, stops: RecordingTables
) -> MeasuredPair:
    sides = [_state_writes(recording) for recording in (before, after)]
    effect = ratio(sides[0].measured.estimate, sides[1].measured.estimate)
    if effect is None:
        raise NotEnoughDataError(RATE, "a side without writes", "writes on both sides")
    return MeasuredPair(
        source=_describe(before, after, named), effect=effect, restart_bytes=_restart_bytes(stops)
    )


def _state_device(recording: RecordingTables) -> str | None:
    """Return the device that the state's filesystem lies on, else its drive."""
    for nodeos in recording.manifest.nodeos:
        device = recording.manifest.topology.device_of(nodeos.state_dir) if nodeos.state_dir else None
        if device is not None:
            return device.name
        if nodeos.roles.get("state"):
            return nodeos.roles["state"][0]
    return None


def _state_writes(recording: RecordingTables) -> SteadyWrites:
    device = _state_device(recording)
    side = steady_side(recording, restart_windows(recording))
    writes = steady_writes(side, where={"device": device}) if device else None
    if writes is None:
        phase = recording.manifest.phase or recording.manifest.host.name
        raise NotEnoughDataError(
            RATE,
            f"no device of the state in {phase!r}",
            "a pair of recordings that know the drive of the state",
        )
    return writes


def _restart_bytes(recording: RecordingTables) -> float | None:
    """Return what one stop and start wrote in a recording; None when it holds none."""
    drives = sorted({d for n in recording.manifest.nodeos for d in n.roles.get("state", ())})
    windows = restart_windows(recording)
    costs = restart_costs(recording, windows, steady_side(recording, windows))
    found = [restart_writes(costs, drive, 0.0, state_sizes(recording)) for drive in drives]
    seen = [f.bytes_per_restart for f in found if f.measured]
    return max(seen) if seen else None


def _describe(before: RecordingTables, after: RecordingTables, named: str) -> str:
    first, second = before.manifest, after.manifest
    what = "measured"
    if any(n.stand_in for n in (*first.nodeos, *second.nodeos)):
        what = "the stand-in's"
    modes = [next((n.map_mode for n in m.nodeos if n.map_mode), None) for m in (first, second)]
    change = f", {modes[0]} → {modes[1]}" if modes[0] and modes[1] and modes[0] != modes[1] else ""
    name = named or f"{first.host.name} {first.phase or 'before'} → {second.phase or 'after'}"
    return f"{what} pair {name}{change}"


def _applied(
    device: DeviceForecast, pair: MeasuredPair, forecast: WearForecast, conditions: tuple[str, ...]
) -> WhatIf:
    """Return the projection: the ratio on what nodeos writes, where that is known, else on all of the drive."""
    effect = pair.effect
    ids = {n.id for n in forecast.recording.nodeos}
    shares = [w.bytes_per_s for w in device.writers if w.who in ids]
    known = [s for s in shares if s is not None]
    notes = list(conditions)
    share = 1.0
    if known and len(known) == len(shares) and 0 < sum(known) <= device.bytes_per_s:
        share = sum(known) / device.bytes_per_s
        notes.append(f"the ratio is applied to the {share:.0%} that nodeos writes; the rest stays as it is")
    else:
        notes.append("the ratio is applied to all writes of the drive: nodeos's share is not known")
    restart_tb = device.restart_tb_per_year
    if pair.restart_bytes is not None:
        restart_tb = pair.restart_bytes * forecast.restarts_per_year / TB
        notes.append(f"a restart after the change wrote {format_bytes(pair.restart_bytes)} in that pair")
    else:
        notes.append("the pair holds no restart after the change: restarts count as today")

    def projected(tb_per_year: float, factor: float) -> float:
        return tb_per_year * (1 - share + share * factor) + restart_tb

    ci95 = None
    if effect.ci95 is not None and device.steady_ci95 is not None:
        ci95 = Interval(
            low=projected(device.steady_ci95.low, effect.ci95.low),
            high=projected(device.steady_ci95.high, effect.ci95.high),
        )
    after_tb = projected(device.steady_tb_per_year, effect.value)
    yearly = YearlyWrites(steady=after_tb, steady_ci95=ci95, restarts=0.0, restarts_per_year=0.0)
    return WhatIf(
        source=pair.source,
        ratio=effect.value,
        ratio_ci95=effect.ci95,
        tb_per_year=after_tb,
        ci95=ci95,
        years=drive_lives(yearly, drive_of(device)),
        notes=tuple(notes),
    )
