"""What a planned change would make of a host's wear, from a measured pair and never from a constant."""

from dataclasses import replace

from leapprof.analysis.compare import ratio
from leapprof.assess.device_writes import device_writes
from leapprof.assess.load import LoadedRecording
from leapprof.assess.restarts import restart_windows
from leapprof.errors import NotEnoughDataError
from leapprof.model import Effect, Interval
from leapprof.model.wear import DeviceForecast, WearForecast, WhatIf


def _state_device(recording: LoadedRecording) -> str | None:
    """Return the device that the state's filesystem lies on, else its only drive."""
    for nodeos in recording.manifest.nodeos:
        device = recording.manifest.topology.device_of(nodeos.state_dir) if nodeos.state_dir else None
        if device is not None:
            return device.name
        if nodeos.roles.get("state"):
            return nodeos.roles["state"][0]
    return None


def _pair_ratio(before: LoadedRecording, after: LoadedRecording) -> Effect:
    sides = []
    for recording in (before, after):
        device = _state_device(recording)
        writes = device_writes(recording, device, restart_windows(recording)) if device else None
        if writes is None or writes.estimate is None:
            raise NotEnoughDataError(
                "device.write_bytes_per_s[state]", f"no device of the state in {recording.manifest.phase!r}",
                "a pair of recordings that know the drive of the state",
            )  # fmt: skip
        sides.append(writes.estimate)
    found = ratio(sides[0], sides[1])
    if found is None:
        raise NotEnoughDataError(
            "device.write_bytes_per_s[state]", "a side without writes", "writes on both sides"
        )
    return found


def _describe(before: LoadedRecording, after: LoadedRecording) -> str:
    first, second = before.manifest, after.manifest
    what = "reconstructed" if first.reconstructed or second.reconstructed else "measured"
    if any(n.stand_in for n in (*first.nodeos, *second.nodeos)):
        what = "the stand-in's"
    return f"{what} pair {first.host.name} {first.phase or 'before'} → {second.phase or 'after'}"


def _applied(device: DeviceForecast, effect: Effect, source: str) -> DeviceForecast:
    total = device.steady_tb_per_year
    ci95 = None
    if effect.ci95 is not None and device.steady_ci95 is not None:
        ci95 = Interval(
            low=device.steady_ci95.low * effect.ci95.low, high=device.steady_ci95.high * effect.ci95.high
        )
    return replace(
        device,
        what_if=WhatIf(
            source=source,
            ratio=effect.value,
            ratio_ci95=effect.ci95,
            tb_per_year=total * effect.value,
            ci95=ci95,
        ),
    )


def with_what_if(forecast: WearForecast, before: LoadedRecording, after: LoadedRecording) -> WearForecast:
    """Return the forecast with the projection on each drive that carries state.

    The interval multiplies the ends of both intervals: wider than needed, never too narrow.

    Raises:
        NotEnoughDataError: the pair does not hold writes of the state's device on both sides.
    """
    effect = _pair_ratio(before, after)
    source = _describe(before, after)
    return replace(
        forecast,
        devices=tuple(_applied(d, effect, source) if "state" in d.roles else d for d in forecast.devices),
    )
