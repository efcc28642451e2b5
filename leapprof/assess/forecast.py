"""A recording → where its writes go, TB a year and lifetime per drive.

The device counter (/proc/diskstats, sectors of 512 bytes) is the truth; who wrote it is told by cgroup io.stat and
pswpout where they are there, and the rest is the rest. Two views of the same bytes are never added: logical devices
are listed beside their drives.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from leapprof.assess.carried import logical_writes, network_disks, roles_of, views_of
from leapprof.assess.drive_smart import DriveSmart, drive_smart, smart_writes
from leapprof.assess.lives import Drive, drive_lives
from leapprof.assess.material import warning
from leapprof.assess.restart_costs import restart_costs
from leapprof.assess.restart_writes import RestartRate, restart_rate, restart_writes, state_sizes
from leapprof.assess.restarts import RestartWindow, restart_windows
from leapprof.assess.samples import RecordingTables
from leapprof.assess.sides import CutSide
from leapprof.assess.steady import DEVICE_COUNTER, SteadyWrites, steady_side, steady_writes, whole_side
from leapprof.assess.unwritten import most_writes_per_year, with_upper_limit
from leapprof.assess.volumes import volume_load
from leapprof.assess.wear_findings import wear_findings
from leapprof.assess.writers import writers
from leapprof.endurance.lifetime import lifetime_mean_bytes_per_s, yearly_writes
from leapprof.endurance.ratings import Rating, find_rating
from leapprof.endurance.smart import SmartReading
from leapprof.errors import NotEnoughDataError
from leapprof.model import Device, DeviceKind, Topology
from leapprof.model.wear import DeviceForecast, RestartCost, VolumeLoad, WearForecast, Writer
from leapprof.units import TB

NOT_SETTLED = warning(
    "not-settled",
    "Nodeos was never live for long after warm-up: all of the recording is taken as it is.",
    "Record when nodeos has been at the head for some minutes.",
)
FROM_SMART = "no device counter was recorded: the rate is that of the drive's own count of host writes"
METHOD = {
    "year": "365 days = 31,536,000 s",
    "TB": "decimal, 10^12 bytes, as drives are rated",
    "rate": "device counter over time after warm-up, stops and starts left out; sectors of 512 bytes",
    "interval": "95 %, batch means, as in compare",
    "lifetime": "(rated TBW − written so far) / TB a year; the drive's own percentage used decides where it is worse",
    "nodes": "hosts that write this much and would use up the rating just within its warranty (5 years if not named)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastOptions:
    """What the operator says.

    Attributes:
        ratings: device → rating that overrides the table of drives.
        restarts_per_year: None: from the recording's history, or 12.
        smart: device → what the drive says of itself.
        volume: device → name of a cloud volume kind with limits.
        price: device → price of the drive, in any currency.
        more_ratings: rows that come before leapprof's own table.
    """

    ratings: Mapping[str, Rating] = field(default_factory=dict)
    restarts_per_year: float | None = None
    smart: Mapping[str, SmartReading] = field(default_factory=dict)
    volume: Mapping[str, str] = field(default_factory=dict)
    price: Mapping[str, float] = field(default_factory=dict)
    more_ratings: tuple[Rating, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Restarts:
    """Stops and starts: windows, what they cost, how often they come, sizes of the states."""

    windows: tuple[RestartWindow, ...]
    costs: tuple[RestartCost, ...]
    rate: RestartRate
    state_bytes: Mapping[str, float]


def forecast(recording: RecordingTables, options: ForecastOptions | None = None) -> WearForecast:
    """Return the wear forecast of a recording.

    Raises:
        NotEnoughDataError: no block device was sampled twice.
    """
    options = options or ForecastOptions()
    manifest = recording.manifest
    windows = restart_windows(recording)
    part = _part(recording, windows)
    side, known = part.side, part.rates
    costs = restart_costs(recording, windows, side) if part.holds_no_restart else ()
    covered_s = max(w.covered_s for w in known.values())
    restarts = _Restarts(
        windows=windows,
        costs=costs,
        rate=restart_rate(recording, options.restarts_per_year, _exits(windows)),
        state_bytes=state_sizes(recording),
    )
    smart = {
        name: drive_smart(recording, _device(manifest.topology, name), options.smart.get(name))
        for name in known
    }
    found = [
        _device_forecast(
            side,
            name,
            writes,
            _Told(recording=recording, options=options, restarts=restarts, smart=smart[name]),
        )
        for name, writes in known.items()
    ]
    devices = tuple(sorted(found, key=lambda d: (-d.bytes_per_s, d.device)))
    return WearForecast(
        recording=manifest,
        covered_s=covered_s,
        left_out_s=dict(side.side.window.left_out_s),
        devices=devices,
        logical=logical_writes(side),
        restarts=costs,
        restarts_per_year=restarts.rate.per_year,
        restarts_source=restarts.rate.source,
        findings=(
            *(() if part.is_settled else (NOT_SETTLED,)),
            *wear_findings(side, devices, costs, smart, covered_s),
        ),
        method=METHOD,
    )


def _exits(windows: Sequence[RestartWindow]) -> int:
    return sum(w.kind == "exit" for w in windows)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """The part of a recording that rates stand on.

    Attributes:
        is_settled: nodeos was live in it, after warm-up.
        holds_no_restart: stops and starts are left out, and so may be added for themselves.
    """

    side: CutSide
    rates: dict[str, SteadyWrites]
    is_settled: bool
    holds_no_restart: bool


def _part(recording: RecordingTables, windows: Sequence[RestartWindow]) -> _Part:
    """Return the settled part; where nodeos never settled the whole but stops and starts; else the whole.

    Raises:
        NotEnoughDataError: no drive was sampled twice.
    """
    try:
        side = steady_side(recording, windows)
        rates = {n: with_upper_limit(recording, windows, n, w) for n, w in _rates(recording, side).items()}
    except NotEnoughDataError:
        rates = {}
    if rates:
        return _Part(side=side, rates=rates, is_settled=True, holds_no_restart=True)
    for left_out in (windows, ()):
        side = whole_side(recording, left_out)
        rates = _rates(recording, side)
        if rates:
            return _Part(
                side=side, rates=rates, is_settled=False, holds_no_restart=bool(left_out) or not windows
            )
    raise NotEnoughDataError(
        "device.write_bytes_per_s", "no drive that was sampled twice", "two samples of a drive"
    )


def _rates(recording: RecordingTables, side: CutSide) -> dict[str, SteadyWrites]:
    """Return drive or network disk → what it takes, where it was sampled twice."""
    topology = side.tables.manifest.topology
    drives = (*topology.physical(), *network_disks(topology))
    side.tables.prepare("device", [{"device": d.name} for d in drives])
    rates = {
        d.name: steady_writes(side, where={"device": d.name}) or smart_writes(recording, d, side.span)
        for d in drives
    }
    return {name: writes for name, writes in rates.items() if writes is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What is known beside the rate of a drive."""

    recording: RecordingTables
    options: ForecastOptions
    restarts: _Restarts
    smart: DriveSmart


def _device(topology: Topology, name: str) -> Device:
    found = topology.device(name)
    assert found is not None
    return found


def _device_forecast(side: CutSide, name: str, writes: SteadyWrites, told: _Told) -> DeviceForecast:
    """Return one drive's forecast."""
    device = _device(side.tables.manifest.topology, name)
    options, per_year = told.options, told.restarts.rate.per_year
    restart = restart_writes(told.restarts.costs, name, per_year, told.restarts.state_bytes)
    yearly = yearly_writes(
        writes.bytes_per_s,
        writes.ci95,
        bytes_per_restart=restart.bytes_per_restart,
        restarts_per_year=per_year,
    )
    reading = told.smart.reading
    written = reading.host_written_bytes if reading else None
    rating = _rating(device, options, reading)
    hours = reading.power_on_hours if reading else None
    return DeviceForecast(
        device=name,
        model=(reading.model if reading else None) or device.model,
        capacity_bytes=device.size_bytes or (reading.capacity_bytes if reading else None),
        kind={DeviceKind.VIRTUAL: "virtual disk"}.get(device.kind, str(device.kind)),
        roles=roles_of(side.tables.manifest).get(name, ()),
        views=views_of(side.tables.manifest.topology, name),
        bytes_per_s=writes.bytes_per_s,
        ci95=writes.ci95,
        lower_bound=writes.lower_bound,
        most_writes_per_year=most_writes_per_year(writes),
        burst_bytes=writes.burst_bytes,
        writers=_writers(side, name, writes),
        steady_tb_per_year=yearly.steady,
        steady_ci95=yearly.steady_ci95,
        restart_tb_per_year=yearly.restarts,
        rating=rating.rated_tbw if rating else None,
        rating_source=source_of(rating) if rating else None,
        written_tb=written / TB if written is not None else None,
        percent_used=reading.percent_used if reading else None,
        years=()
        if device.kind is DeviceKind.NETWORK or (_is_hard_disk(device) and rating is None)
        else drive_lives(
            yearly,
            Drive(
                rated_tbw=rating.rated_tbw if rating else None,
                warranty_years=rating.warranty_years if rating else None,
                written_bytes=written,
                percent_used=reading.percent_used if reading else None,
                price=options.price.get(name),
            ),
        ),
        warranty_years=rating.warranty_years if rating else None,
        price=options.price.get(name),
        waf=reading.waf if reading else None,
        lifetime_mean_bytes_per_s=lifetime_mean_bytes_per_s(written, hours) if written and hours else None,
        meters=told.smart.meters,
        smart=told.smart.smart,
        growth=restart.growth,
        volume=_volume(told.recording, name, options),
        notes=(*_notes(device, rating), *(() if writes.meter == DEVICE_COUNTER else (FROM_SMART,))),
    )


def _writers(side: CutSide, device: str, writes: SteadyWrites) -> tuple[Writer, ...]:
    if writes.meter == DEVICE_COUNTER:
        return writers(side, device, writes.bytes_per_s)
    return (Writer(who="all writers", bytes_per_s=writes.bytes_per_s, meter=writes.meter),)


def source_of(rating: Rating) -> str:
    """Return what a rating is and where it comes from, in a line."""
    return f"{rating.vendor} {rating.product}".strip() + f" ({rating.source})"


def _rating(device: Device, options: ForecastOptions, smart: SmartReading | None) -> Rating | None:
    if device.name in options.ratings:
        return options.ratings[device.name]
    model = (smart.model if smart else None) or device.model
    capacity = (smart.capacity_bytes if smart else None) or device.size_bytes
    own = find_rating(model, capacity, options.more_ratings) if options.more_ratings else None
    return own or find_rating(model, capacity)


def _is_hard_disk(device: Device) -> bool:
    """Return whether it rotates; virtual disks say so without doing it."""
    return bool(device.rotational) and device.kind is DeviceKind.DISK


def _notes(device: Device, rating: Rating | None) -> tuple[str, ...]:
    notes = []
    if device.kind is DeviceKind.VIRTUAL and rating is None:
        notes.append(
            "a virtual disk: the drive below it is not visible from here. Name it with --drive or --rated-tbw, or "
            "give a recording of the hypervisor with --hypervisor; of a cloud volume see its limits with --volume"
        )
    if device.kind is DeviceKind.NETWORK:
        notes.append("a network disk: it wears elsewhere; see its limits with --volume")
    if rating is not None and rating.grade == "B":
        notes.append("the rating is from a secondary source: check the data sheet of your drive")
    if _is_hard_disk(device):
        notes.append("a rotating disk: it has no write rating")
    return tuple(notes)


def _volume(recording: RecordingTables, device: str, options: ForecastOptions) -> VolumeLoad | None:
    name = options.volume.get(device)
    return volume_load(recording, device, name) if name else None
