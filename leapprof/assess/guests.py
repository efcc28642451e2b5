"""Guests and the drive below them: paired with a recording of the hypervisor, or added up on one drive."""

from collections.abc import Sequence
from dataclasses import replace

from leapprof.assess.lives import Drive, drive_lives, drive_of
from leapprof.assess.material import info, warning
from leapprof.endurance.lifetime import YearlyWrites
from leapprof.errors import ConfigError
from leapprof.model import Finding, Interval, Severity
from leapprof.model.wear import DeviceForecast, RatedYears, WearForecast, Writer
from leapprof.units import format_bytes_per_s

VIRTUAL = "virtual disk"
SHARED = "shared drive"
MORE_THAN_HOST = 1.1
_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def with_guests(host: WearForecast, drive: str, guests: Sequence[WearForecast]) -> WearForecast:
    """Return the forecast of a hypervisor with the guests of one drive as its writers.

    The drive's own counter stays the truth; guests say whose it is, and add their restarts where they are known.

    Args:
        host: forecast of the hypervisor.
        drive: its drive that the guests' disks lie on.
        guests: forecasts of the guests.
    """
    mine = [(guest, _disks(guest)) for guest in guests]
    known = [sum(d.bytes_per_s for d in disks) for _, disks in mine]
    devices = tuple(_with_writers(d, mine, known) if d.device == drive else d for d in host.devices)
    counted = next(d.bytes_per_s for d in host.devices if d.device == drive)
    found = [*host.findings, *_apart(host, guests)]
    if sum(known) > MORE_THAN_HOST * counted:
        found.append(
            warning(
                "guests-write-more",
                f"The guests' disks take {format_bytes_per_s(sum(known))}, {drive} of {host.recording.host.name} "
                f"{format_bytes_per_s(counted)}: they do not all lie there, or the times differ.",
                "Record guests and hypervisor at the same time, and see on which drive the guests' images lie.",
                subject=drive,
            )
        )
    return replace(
        host,
        devices=devices,
        restarts=(*host.restarts, *(c for g in guests for c in g.restarts)),
        findings=tuple(sorted(dict.fromkeys(found), key=lambda f: _ORDER.index(f.severity))),
    )


def on_one_drive(guests: Sequence[WearForecast], drive: Drive, source: str | None) -> WearForecast:
    """Return the forecast of one drive that all virtual disks of these guests lie on: their sum.

    Args:
        guests: forecasts of the guests.
        drive: what is known of the drive.
        source: where its rating comes from.
    """
    disks = [(guest, _disks(guest)) for guest in guests]
    every = [d for _, some in disks for d in some]
    steady = sum(d.steady_tb_per_year for d in every)
    intervals = [d.steady_ci95 for d in every if d.steady_ci95 is not None]
    # Ends are added: busy hours of several guests of one chain come together.
    ci95 = _sum(intervals) if len(intervals) == len(every) else None
    rates = [d.ci95 for d in every if d.ci95 is not None]
    restarts = sum(d.restart_tb_per_year for d in every)
    names = [g.recording.host.name for g in guests]
    shared = DeviceForecast(
        device=SHARED,
        model=None,
        capacity_bytes=None,
        kind="below all these guests",
        roles=_roles(disks),
        views=(),
        bytes_per_s=sum(d.bytes_per_s for d in every),
        ci95=_sum(rates) if len(rates) == len(every) else None,
        lower_bound=any(d.lower_bound for d in every),
        writers=_writers(disks),
        steady_tb_per_year=steady,
        steady_ci95=ci95,
        restart_tb_per_year=restarts,
        rating=drive.rated_tbw,
        rating_source=source,
        written_tb=None,
        percent_used=None,
        years=_lives(steady, ci95, restarts, drive),
        warranty_years=drive.warranty_years,
        price=drive.price,
        notes=("the sum of the guests' own counters: what the hypervisor itself adds or saves is not in it",),
    )
    first = guests[0]
    recording = replace(first.recording, host=replace(first.recording.host, name=" + ".join(names)))
    found = [f for g in guests for f in g.findings if f.code != "cloud-volume"]
    return replace(
        first,
        recording=recording,
        covered_s=min(g.covered_s for g in guests),
        devices=(shared,),
        logical=(),
        restarts=tuple(c for g in guests for c in g.restarts),
        findings=tuple(sorted(dict.fromkeys(found), key=lambda f: _ORDER.index(f.severity))),
    )


def _disks(guest: WearForecast) -> list[DeviceForecast]:
    """Return the virtual disks of a guest.

    Raises:
        ConfigError: it has none.
    """
    found = [d for d in guest.devices if d.kind == VIRTUAL]
    if not found:
        raise ConfigError(
            f"{guest.recording.host.name} has no virtual disk: it is no guest, its drives are its own"
        )
    return found


def _roles(disks: Sequence[tuple[WearForecast, list[DeviceForecast]]]) -> tuple[str, ...]:
    """Return each guest with what it keeps there."""
    found = []
    for guest, some in disks:
        roles = sorted({role for d in some for role in d.roles})
        found.append(f"guest {guest.recording.host.name} ({', '.join(roles) or 'nothing of nodeos'})")
    return tuple(found)


def _writers(disks: Sequence[tuple[WearForecast, list[DeviceForecast]]]) -> tuple[Writer, ...]:
    return tuple(
        Writer(
            who=f"guest {g.recording.host.name}",
            bytes_per_s=sum(d.bytes_per_s for d in some),
            meter=f"its own counter of {' and '.join(d.device for d in some)}",
        )
        for g, some in disks
    )


def _with_writers(
    device: DeviceForecast, mine: Sequence[tuple[WearForecast, list[DeviceForecast]]], known: Sequence[float]
) -> DeviceForecast:
    rest = Writer(
        who="the rest",
        bytes_per_s=max(device.bytes_per_s - sum(known), 0.0),
        meter="device counter less the guests: the hypervisor's own, and what its storage adds",
    )
    restarts = device.restart_tb_per_year + sum(d.restart_tb_per_year for _, some in mine for d in some)
    drive = drive_of(device)
    return replace(
        device,
        roles=tuple(dict.fromkeys((*device.roles, *_roles(mine)))),
        writers=(*_writers(mine), rest),
        restart_tb_per_year=restarts,
        years=_lives(device.steady_tb_per_year, device.steady_ci95, restarts, drive),
    )


def _lives(steady: float, ci95: Interval | None, restarts: float, drive: Drive) -> tuple[RatedYears, ...]:
    yearly = YearlyWrites(steady=steady, steady_ci95=ci95, restarts=restarts, restarts_per_year=0.0)
    return drive_lives(yearly, drive)


def _sum(intervals: Sequence[Interval]) -> Interval:
    return Interval(low=sum(i.low for i in intervals), high=sum(i.high for i in intervals))


def _apart(host: WearForecast, guests: Sequence[WearForecast]) -> list[Finding]:
    """Return a finding for each guest that was not recorded at the hypervisor's time."""
    found = []
    for guest in guests:
        one, other = guest.recording, host.recording
        if None in (one.started_wall_ns, one.ended_wall_ns, other.started_wall_ns, other.ended_wall_ns):
            continue
        assert one.started_wall_ns is not None
        assert one.ended_wall_ns is not None
        assert other.started_wall_ns is not None
        assert other.ended_wall_ns is not None
        if one.ended_wall_ns <= other.started_wall_ns or one.started_wall_ns >= other.ended_wall_ns:
            found.append(
                info(
                    "guest-at-another-time",
                    f"Guest {one.host.name} and hypervisor {other.host.name} were recorded at different times: shares "
                    "are of like hours at best.",
                    "Record both at the same time.",
                )
            )
    return found
