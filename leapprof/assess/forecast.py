"""A recording → where its writes go, TB a year and lifetime per drive.

The device counter (/proc/diskstats, sectors of 512 bytes) is the truth; who wrote it is told by cgroup io.stat and
pswpout where they are there, and the rest is the rest. Two views of the same bytes are never added: logical devices
are listed beside their drives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from leapprof.assess.device_writes import covered_s as covered
from leapprof.assess.device_writes import device_writes, interval_bytes
from leapprof.assess.load import LoadedRecording
from leapprof.assess.restarts import RestartWindow, restart_costs, restart_windows
from leapprof.assess.volumes import volume_load
from leapprof.assess.writers import writers
from leapprof.endurance.lifetime import (
    COMMON_RATINGS_TBW,
    DEFAULT_RESTARTS_PER_YEAR,
    Lifetime,
    lifetime,
    lifetime_mean_bytes_per_s,
    nodes_per_drive,
    yearly_writes,
)
from leapprof.endurance.ratings import Rating, find_rating
from leapprof.endurance.smart import SmartReading
from leapprof.errors import NotEnoughDataError
from leapprof.model import Device, DeviceKind, Finding, Severity
from leapprof.model.wear import (
    DeviceForecast,
    LogicalWrites,
    RatedYears,
    RestartCost,
    VolumeLoad,
    WearForecast,
)
from leapprof.units import DAY_S, TB, YEAR_S, format_duration

DEFAULT_WARRANTY_YEARS = 5.0
LEAST_UPTIME_HISTORY_S = 7 * DAY_S
SHORT_S = 1200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastOptions:
    """What the operator says.

    Attributes:
        ratings: device → rating that overrides the table of drives.
        restarts_per_year: None: from the recording's history, or 12.
        smart: device → what the drive says of itself.
        volume: device → name of a cloud volume kind with limits.
        more_ratings: rows that come before leapprof's own table.
    """

    ratings: Mapping[str, Rating] = field(default_factory=dict)
    restarts_per_year: float | None = None
    smart: Mapping[str, SmartReading] = field(default_factory=dict)
    volume: Mapping[str, str] = field(default_factory=dict)
    more_ratings: tuple[Rating, ...] = ()


def _roles(recording: LoadedRecording) -> dict[str, tuple[str, ...]]:
    """Return drive → the roles that it carries, of all nodeos of the host."""
    found: dict[str, set[str]] = {}
    for nodeos in recording.manifest.nodeos:
        for role, drives in nodeos.roles.items():
            for drive in drives:
                found.setdefault(drive, set()).add(role)
    topology = recording.manifest.topology
    for drive in topology.drive_of("/"):
        found.setdefault(drive, set()).add("os")
    return {drive: tuple(sorted(roles)) for drive, roles in found.items()}


def _views(recording: LoadedRecording, drive: str) -> tuple[str, ...]:
    topology = recording.manifest.topology
    kinds = {DeviceKind.PARTITION}
    return tuple(
        d.name
        for d in topology.devices
        if d.parents and d.kind not in kinds and drive in topology.leaves_of(d.name)
    )


def _rating(device: Device, options: ForecastOptions, smart: SmartReading | None) -> Rating | None:
    if device.name in options.ratings:
        return options.ratings[device.name]
    model = (smart.model if smart else None) or device.model
    capacity = (smart.capacity_bytes if smart else None) or device.size_bytes
    return (
        find_rating(model, capacity, options.more_ratings) if options.more_ratings else None
    ) or find_rating(model, capacity)


def _notes(device: Device, rating: Rating | None) -> tuple[str, ...]:
    notes = []
    if device.kind is DeviceKind.VIRTUAL and rating is None:
        notes.append(
            "a virtual disk: which drive lies below is not visible from the guest; name it with --drive or "
            "--rated-tbw, or record the hypervisor"
        )
    if device.kind is DeviceKind.NETWORK:
        notes.append(
            "a network device: it wears elsewhere; its limits are throughput and operations a second"
        )
    if rating is not None and rating.grade == "B":
        notes.append(f"the rating is from a secondary source ({rating.source})")
    if device.rotational:
        notes.append("a rotating disk: it has no write rating")
    return tuple(notes)


def _rated(life: Lifetime, rated_tbw: float) -> RatedYears:
    return RatedYears(rated_tbw=rated_tbw, years=life.years, low=life.ci95_low, high=life.ci95_high)


def _device_forecast(
    recording: LoadedRecording,
    device: Device,
    options: ForecastOptions,
    restarts: Sequence[RestartWindow],
    per_restart: tuple[float, float],
) -> DeviceForecast | None:
    """Return one drive's forecast; per_restart is bytes a restart (of drives with state) and restarts a year."""
    writes = device_writes(recording, device.name, restarts)
    if writes is None:
        return None
    roles = _roles(recording).get(device.name, ())
    smart = options.smart.get(device.name)
    rating = _rating(device, options, smart)
    ci95 = interval_bytes(writes)
    yearly = yearly_writes(
        writes.bytes_per_s,
        ci95,
        bytes_per_restart=per_restart[0] if "state" in roles else 0.0,
        restarts_per_year=per_restart[1],
    )
    written = smart.host_written_bytes if smart else None
    used = smart.percent_used if smart else None
    rated = (rating.rated_tbw,) if rating else COMMON_RATINGS_TBW
    lives = [lifetime(tbw, yearly, written_bytes=written, percent_used=used) for tbw in rated]
    warranty = (rating.warranty_years if rating else None) or DEFAULT_WARRANTY_YEARS
    hours = smart.power_on_hours if smart else None
    return DeviceForecast(
        device=device.name,
        model=(smart.model if smart else None) or device.model,
        capacity_bytes=device.size_bytes,
        kind={DeviceKind.VIRTUAL: "virtual disk"}.get(device.kind, str(device.kind)),
        roles=roles,
        views=_views(recording, device.name),
        bytes_per_s=writes.bytes_per_s,
        ci95=ci95,
        lower_bound=writes.lower_bound,
        writers=writers(recording, device.name, writes.bytes_per_s),
        steady_tb_per_year=yearly.steady,
        steady_ci95=yearly.steady_ci95,
        restart_tb_per_year=yearly.restarts,
        rating=rating.rated_tbw if rating else None,
        rating_source=f"{rating.vendor} {rating.product}, {rating.source}".strip() if rating else None,
        written_tb=written / TB if written is not None else None,
        percent_used=used,
        years=tuple(_rated(life, tbw) for life, tbw in zip(lives, rated, strict=True)),
        nodes_per_rating=nodes_per_drive(rating.rated_tbw, warranty, yearly.total) if rating else None,
        waf=smart.waf if smart else None,
        lifetime_mean_bytes_per_s=lifetime_mean_bytes_per_s(written, hours) if written and hours else None,
        volume=_volume(recording, device.name, options),
        notes=_notes(device, rating),
    )


def _volume(recording: LoadedRecording, device: str, options: ForecastOptions) -> VolumeLoad | None:
    name = options.volume.get(device)
    return volume_load(recording, device, name) if name else None


def _logical(recording: LoadedRecording, restarts: Sequence[RestartWindow]) -> tuple[LogicalWrites, ...]:
    topology = recording.manifest.topology
    roles: dict[str, set[str]] = {}
    for nodeos in recording.manifest.nodeos:
        for role, path in (("state", nodeos.state_dir), ("blocks", nodeos.blocks_dir)):
            device = topology.device_of(path) if path else None
            if device is not None and device.parents:
                roles.setdefault(device.name, set()).add(role)
    found = []
    for name, carried in sorted(roles.items()):
        writes = device_writes(recording, name, restarts)
        if writes is not None:
            found.append(
                LogicalWrites(
                    device=name,
                    roles=tuple(sorted(carried)),
                    drives=topology.leaves_of(name),
                    bytes_per_s=writes.bytes_per_s,
                )
            )
    return tuple(found)


def _restarts_per_year(
    options: ForecastOptions, covered_s: float, costs: Sequence[RestartCost]
) -> tuple[float, str]:
    if options.restarts_per_year is not None:
        return options.restarts_per_year, "as you said (--restarts-per-year)"
    if covered_s >= LEAST_UPTIME_HISTORY_S:
        rate = len(costs) / covered_s * YEAR_S
        return rate, f"{len(costs)} stops seen in {format_duration(covered_s)} of recording"
    return DEFAULT_RESTARTS_PER_YEAR, "the default; change it with --restarts-per-year"


def _bytes_per_restart(costs: Sequence[RestartCost]) -> float:
    """Return the mean of what stops and starts wrote; 0 when none was seen (a finding says so)."""
    exits = [c.exit_bytes for c in costs if c.exit_bytes is not None]
    starts = [c.start_bytes for c in costs if c.start_bytes is not None]
    return float(np.mean(exits) if exits else 0.0) + float(np.mean(starts) if starts else 0.0)


def _findings(
    covered_s: float, costs: Sequence[RestartCost], devices: Sequence[DeviceForecast]
) -> tuple[Finding, ...]:
    found = []
    if covered_s < DAY_S:
        share = covered_s / YEAR_S
        found.append(
            Finding(
                code="daily-pattern-not-covered",
                severity=Severity.WARNING,
                message=f"These are {format_duration(covered_s)}, {share:.4%} of a year: TB a year is what it would "
                "be if every hour looked like these.",
                hint="Record at least one whole day, better three, before you plan by this figure.",
            )
        )
    if covered_s < SHORT_S:
        found.append(
            Finding(
                code="too-short-for-interval",
                severity=Severity.WARNING,
                message=f"{format_duration(covered_s)} are too little for an interval; only the mean is shown.",
                hint="Record at least 20 minutes after the node has settled.",
            )
        )
    if not any(c.exit_bytes is not None for c in costs):
        found.append(
            Finding(
                code="restart-writes-not-measured",
                severity=Severity.INFO,
                message="No stop of nodeos lies in this recording: restarts are counted with 0 bytes.",
                hint="Record through one clean stop and start: in mapped_private, heap and locked the exit "
                "writes the state.",
            )
        )
    for device in devices:
        if device.lower_bound:
            found.append(
                Finding(
                    code="counter-reset",
                    severity=Severity.WARNING,
                    subject=device.device,
                    message=f"The write counter of {device.device} went back: its writes are a lower bound.",
                    hint="A reboot or a replugged drive does that; record without one.",
                )
            )
    return tuple(found)


def forecast(recording: LoadedRecording, options: ForecastOptions) -> WearForecast:
    """Return the wear forecast of a recording.

    Raises:
        NotEnoughDataError: no block device was sampled twice.
    """
    windows = restart_windows(recording)
    costs = restart_costs(recording, windows)
    probe = recording.table("device", ("write_sectors_total",))
    covered_s = covered(probe)
    per_year, source = _restarts_per_year(options, covered_s, costs)
    per_restart = (_bytes_per_restart(costs), per_year)
    found = [
        _device_forecast(recording, device, options, windows, per_restart)
        for device in recording.manifest.topology.physical()
    ]
    devices = tuple(sorted((d for d in found if d is not None), key=lambda d: (-d.bytes_per_s, d.device)))
    if not devices:
        raise NotEnoughDataError(
            "device.write_bytes_per_s", "no block device sampled twice", "two samples of one"
        )
    return WearForecast(
        recording=recording.manifest,
        covered_s=covered_s,
        devices=devices,
        logical=_logical(recording, windows),
        restarts=costs,
        restarts_per_year=per_year,
        restarts_source=source,
        findings=_findings(covered_s, costs, devices),
        method={
            "year": "365 days = 31,536,000 s",
            "TB": "decimal, 10^12 bytes, as drives are rated",
            "rate": "device counter over time, stops and starts left out; sectors of 512 bytes",
            "lifetime": "(rated TBW − written so far) / TB a year; the drive's own percentage used "
            "decides where it is worse",
        },
    )
