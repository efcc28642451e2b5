"""Findings about the wear of a host's drives: what limits the forecast, and what to try."""

from collections.abc import Iterator, Mapping, Sequence

from leapprof.analysis.verdict import TOO_SHORT_S
from leapprof.analysis.windows import hours_covered
from leapprof.assess.drive_smart import DRIVE, KERNEL, DriveSmart
from leapprof.assess.folios import large_folio_bytes
from leapprof.assess.limits import gaps_in_window
from leapprof.assess.material import info, warning
from leapprof.assess.sides import CutSide
from leapprof.model import Device, DeviceKind, Finding, Nodeos, Severity
from leapprof.model.wear import DeviceForecast, Meter, RestartCost
from leapprof.units import (
    DAY_S,
    TB,
    YEAR_S,
    format_bytes,
    format_duration,
    format_memory,
    format_tb_per_year,
    significant,
)

HOURS_OF_A_DAY = 24
METERS_AGREE = 0.1
EXAMPLE_BYTES = 1e6
"""A write whose yearly sum is told where none was seen."""
OF_THE_RECORDING = frozenset({"smart-not-read", "device-graph-unknown"})
"""Findings of recorder and importers that are about drives: no health log was printed, or no device graph is known."""
SPENT_PERCENT = 100
_CLOUD = ("Amazon", "Google", "PersistentDisk", "Msft", "Virtual Disk")
_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)
WRITES_AT_EXIT = frozenset({"mapped_private", "heap", "locked"})


def wear_findings(
    side: CutSide,
    devices: Sequence[DeviceForecast],
    costs: Sequence[RestartCost],
    smart: Mapping[str, DriveSmart],
    covered_s: float,
) -> tuple[Finding, ...]:
    """Return what limits a forecast and what to try, warnings first; it stands on so many seconds of counters."""
    found = [
        *_short(side, covered_s),
        *gaps_in_window(side),
        *_folios(side),
        *_restarts(side, costs),
        *_growth(devices),
        *_volumes(side, devices),
        *(f for f in side.tables.manifest.findings if f.code in OF_THE_RECORDING),
        *(f for d in devices for f in _drive(d, smart.get(d.device))),
    ]
    return tuple(sorted(dict.fromkeys(found), key=lambda f: _ORDER.index(f.severity)))


def _short(side: CutSide, seconds: float) -> Iterator[Finding]:
    """Yield what too little time means."""
    if side.side.window.compared_s < TOO_SHORT_S * 0.99:
        yield warning(
            "too-short-for-interval",
            f"{format_duration(seconds)} are left after warm-up: too little for an interval, only means are shown.",
            "Record at least 20 minutes after nodeos has settled; six hours or more for writes.",
        )
    hours = hours_covered(side.side.window.start_wall_ns, side.side.window.end_wall_ns)
    if seconds < DAY_S * 0.99 or len(hours) < HOURS_OF_A_DAY:
        yield warning(
            "daily-pattern-not-covered",
            f"These are {format_duration(seconds)}, {significant(seconds / YEAR_S * 100, 2)} % of a year, in "
            f"{len(hours)} of the day's 24 hours: TB a year holds if every hour looked like these.",
            "Record one whole day, better three, before you plan by this figure.",
        )


def _folios(side: CutSide) -> Iterator[Finding]:
    """Yield that the kernel, not nodeos, multiplies the writes of `mapped`."""
    largest = large_folio_bytes(side)
    if largest is None:
        return
    ahead = sorted({str(d.read_ahead_kb) for d in _state_devices(side) if d.read_ahead_kb})
    now = f" (read_ahead_kb is {', '.join(ahead)} now)" if ahead else ""
    yield warning(
        "large-folios",
        f"{format_memory(largest)} of file pages are mapped in 2 MiB pieces: in mapped mode one dirty byte then writes "
        "2 MiB. At a like load 17 times the writes of 4 KiB pages were measured. That is the kernel's work, not a "
        "property of this nodeos.",
        f"Try read_ahead_kb of 128 or less for the drive of the state{now}, or a filesystem without large folios, "
        "restart nodeos, and record again.",
    )


def _state_devices(side: CutSide) -> list[Device]:
    manifest = side.tables.manifest
    names = {name for n in manifest.nodeos for name in n.roles.get("state", ())}
    below = [manifest.topology.device_of(n.state_dir) for n in manifest.nodeos if n.state_dir]
    return [d for d in manifest.topology.devices if d.name in names or d in below]


def _restarts(side: CutSide, costs: Sequence[RestartCost]) -> Iterator[Finding]:
    """Yield that no stop was measured, with what is known of its size."""
    nodeos = side.tables.manifest.nodeos
    if not nodeos or any(c.exit_bytes is not None for c in costs):
        return
    seen = "The stops in this recording could not be measured" if costs else "No stop of nodeos was recorded"
    yield info(
        "restart-writes-not-measured",
        f"{seen}: restarts count 0 bytes here.{_at_exit(side, nodeos)}",
        "Keep recording over one clean stop and start, with nodeos's API readable.",
    )


def _at_exit(side: CutSide, nodeos: Sequence[Nodeos]) -> str:
    writing = [n for n in nodeos if n.map_mode in WRITES_AT_EXIT]
    if not writing:
        return ""
    used = []
    for one in writing:
        chain = side.tables.table("chain", ("state_used_bytes",), {"nodeos": one.id})
        column = chain.integers.get("state_used_bytes") if chain is not None and chain.rows else None
        if column is not None and column.present.any():
            used.append(int(column.values[column.present].max()))
    mode = writing[0].map_mode
    size = f", {format_bytes(sum(used))} in use now" if used else ""
    return f" In {mode} each exit writes the state{size}, and more than once that without soft-dirty support."


def _growth(devices: Sequence[DeviceForecast]) -> Iterator[Finding]:
    """Yield where the bytes of an exit are extrapolated beyond the uptimes that were seen."""
    for growth in (g for d in devices for g in d.growth):
        if growth.most_bytes is None and growth.uptime_s > growth.longest_uptime_s:
            yield warning(
                "exit-extrapolated",
                f"The exits of {growth.nodeos} grew with uptime in {growth.stops} stops, the longest after "
                f"{format_duration(growth.longest_uptime_s)}; for {format_duration(growth.uptime_s)} that is "
                f"{format_bytes(growth.exit_bytes)}, extrapolated.",
                "See one stop after a usual uptime, or say how often you restart with --restarts-per-year.",
                subject=growth.nodeos,
            )


def _volumes(side: CutSide, devices: Sequence[DeviceForecast]) -> Iterator[Finding]:
    """Yield which drives look like cloud volumes."""
    topology = side.tables.manifest.topology
    for forecast in devices:
        device = topology.device(forecast.device)
        model = (device.model or "") if device else ""
        is_cloud = (
            device is not None and device.kind is DeviceKind.VIRTUAL and any(c in model for c in _CLOUD)
        )
        if is_cloud and forecast.volume is None:
            yield info(
                "cloud-volume",
                f"{forecast.device} looks like a cloud volume ({model}): no TBW that you could see, but limits.",
                f"Say which with --volume {forecast.device}=gp3 or =IOPS:MB/s to see how near its limits are.",
                subject=forecast.device,
            )


def _drive(device: DeviceForecast, smart: DriveSmart | None) -> Iterator[Finding]:
    """Yield what a drive's counters and SMART say."""
    name = device.device
    if device.lower_bound:
        yield warning(
            "counter-reset",
            f"The write counter of {name} went back: its writes are a lower bound.",
            "A replugged drive or a new driver does that; record without one.",
            subject=name,
        )
    if device.bytes_per_s == 0 and device.roles:
        yield _no_writes(device)
    yield from _health(device)
    if smart is not None and smart.implausible is not None:
        yield warning(
            "smart-implausible",
            f"{name} claims {format_bytes(smart.implausible)} of host writes, more than its link could carry in its "
            "power-on time: not used.",
            "Its attribute has another unit than its name says; look at the drive's data sheet.",
            subject=name,
        )
    yield from _disagreement(name, device.meters)


def _no_writes(device: DeviceForecast) -> Finding:
    """Return what is known of a drive that wrote nothing: how often it may write, and how much, where that was seen."""
    often, name = device.most_writes_per_year, device.device
    seldom = (
        f", so less often than once in {format_duration(YEAR_S / often)} (95 %, rule of three)"
        if often
        else ""
    )
    if not device.is_unknown:
        return info(
            "no-writes-seen",
            f"{name} took no write meanwhile{seldom}; what a year may be at most stands on its largest write before, "
            f"{format_bytes(device.burst_bytes or 0)}.",
            "Record until some writes were seen, better a whole day.",
            subject=name,
        )
    example = ""
    if often:
        of_example = format_tb_per_year(often * EXAMPLE_BYTES / TB)
        example = f"; if each took {format_bytes(EXAMPLE_BYTES)}, a year would be up to {of_example}"
    return warning(
        "no-writes-seen",
        f"{name} took no write meanwhile{seldom}: how much it takes when it does is not known, so a year has no upper "
        "limit and is no 0 TB.",
        f"Record until some writes were seen, better a whole day{example}.",
        subject=name,
    )


def _health(device: DeviceForecast) -> Iterator[Finding]:
    said, name = device.smart, device.device
    if said is None:
        return
    if said.percent_used is not None and said.percent_used >= SPENT_PERCENT:
        yield warning(
            "rating-used-up",
            f"{name} says that {said.percent_used} % of its rated life is used: the warranty on writes is over; the "
            "drive has not failed by that.",
            "Plan its replacement, and watch spare and media errors.",
            subject=name,
        )
    threshold = said.spare_threshold_percent
    if said.spare_percent is not None and threshold is not None and said.spare_percent < threshold:
        yield warning(
            "spare-below-threshold",
            f"{name} has {said.spare_percent} % of its spare blocks left, its threshold is {threshold} %.",
            "Replace it.",
            subject=name,
        )
    if said.warning or said.media_errors:
        errors = f"{said.media_errors} media errors" if said.media_errors else ""
        yield warning(
            "drive-warns",
            f"{name} reports {', '.join(t for t in (said.warning, errors) if t)}.",
            "Look at the whole of smartctl -x, and have a backup.",
            subject=name,
        )


def _disagreement(name: str, meters: Sequence[Meter]) -> Iterator[Finding]:
    """Yield where kernel and drive count different bytes for the same time, beyond the drive's own steps."""
    kernel = next((m for m in meters if m.name == KERNEL), None)
    drive = next((m for m in meters if m.name == DRIVE), None)
    if not (kernel and drive and kernel.written_bytes and drive.written_bytes is not None):
        return
    off = abs(drive.written_bytes - kernel.written_bytes) - 2 * (drive.resolution_bytes or 0)
    if off > METERS_AGREE * kernel.written_bytes:
        yield warning(
            "meters-disagree",
            f"{name}: the kernel counted {format_bytes(kernel.written_bytes)}, the drive "
            f"{format_bytes(drive.written_bytes)} of host writes in the same time "
            f"(× {significant(drive.written_bytes / kernel.written_bytes)}).",
            "Another path to the drive (a second namespace, a guest, another host) or another unit of its attribute.",
            subject=name,
        )
