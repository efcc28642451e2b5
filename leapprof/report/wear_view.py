"""A wear forecast as sentences, facts and small tables, for the renderers; nothing is computed here."""

from collections.abc import Iterator
from dataclasses import dataclass

from leapprof.model import Interval
from leapprof.model.wear import DeviceForecast, RatedYears, Smart, WearForecast, WhatIf
from leapprof.report.text import ABSENT, clean, interval_text
from leapprof.report.wear_tables import (
    MUCH_YEARS,
    SmallTable,
    common_ratings,
    format_years,
    host_tables,
    meters_table,
    plain_number,
    writers_table,
)
from leapprof.units import (
    DAY_S,
    format_bytes,
    format_bytes_per_s,
    format_duration,
    format_tb_per_year,
    significant,
)

QUIET_BYTES_PER_S = 1000.0
SATURATED_PERCENT = 255
"""A byte holds no more (NVMe base specification, SMART / Health log, percentage used)."""
UNKNOWN = "not known"
FOOTER = "TB is decimal (10^12 bytes), a year has 365 days; intervals are 95 %."


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveView:
    """One drive: title, facts (label, text), tables, notes."""

    title: str
    facts: tuple[tuple[str, str], ...]
    tables: tuple[SmallTable, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WearView:
    """Everything that is printed, in order."""

    title: str
    reconstructed: str | None
    headline: tuple[str, ...]
    drives: tuple[DriveView, ...]
    tables: tuple[SmallTable, ...]
    findings: tuple[tuple[str, str, str, str], ...]
    footer: str


def wear_view(forecast: WearForecast) -> WearView:
    """Return what is to be printed of a forecast."""
    shown = [d for d in forecast.devices if d.roles or d.bytes_per_s >= QUIET_BYTES_PER_S]
    shown = shown or list(forecast.devices[:1])
    quiet = [d for d in forecast.devices if d not in shown]
    return WearView(
        title=_title(forecast),
        reconstructed=clean(forecast.recording.reconstructed) if forecast.recording.reconstructed else None,
        headline=tuple(_headline(forecast, shown, quiet)),
        drives=tuple(_drive(d, forecast) for d in shown),
        tables=tuple(host_tables(forecast)),
        findings=tuple((str(f.severity), f.code, clean(f.message), clean(f.hint)) for f in forecast.findings),
        footer=FOOTER,
    )


def _title(forecast: WearForecast) -> str:
    left_out = sum(forecast.left_out_s.values())
    less = f", {format_duration(left_out)} left out ({', '.join(forecast.left_out_s)})" if left_out else ""
    host = clean(forecast.recording.host.name)
    return f"Wear of {host}: {format_duration(forecast.covered_s)} of counters{less}"


def _headline(
    forecast: WearForecast, shown: list[DeviceForecast], quiet: list[DeviceForecast]
) -> Iterator[str]:
    stand_ins = [clean(n.id) for n in forecast.recording.nodeos if n.stand_in]
    if stand_ins:
        verb = "are" if len(stand_ins) > 1 else "is"
        yield f"{' and '.join(stand_ins)} {verb} leapprof's stand-in and no nodeos: an illustration."
    for device in shown:
        if device.is_unknown:
            yield _unknown(device, forecast)
            continue
        life = _life_words(device.years) if device.rating is not None else ""
        yield f"{clean(device.device)} takes {_yearly(device)}{_as_if(forecast)}{life}."
        if device.what_if is not None:
            change = device.what_if
            life = _life_words(change.years) if device.rating is not None else ""
            yield f"After the change: {_changed(change)}{life}."
    if quiet:
        names = ", ".join(clean(d.device) for d in quiet)
        yield f"Next to nothing is written to {names} (under 1 kB/s each)."


def _unknown(device: DeviceForecast, forecast: WearForecast) -> str:
    """Return what is said of a drive of which nothing is known but its stops and starts."""
    restarts = device.restart_tb_per_year
    but = f" but for stops and starts, {significant(restarts)} TB a year" if restarts else ""
    name, time = clean(device.device), format_duration(forecast.covered_s)
    return f"{name} took no write in {time}{but}: how much it takes in a year is not known."


def _as_if(forecast: WearForecast) -> str:
    """Return what a yearly figure from less than a day takes for granted."""
    if forecast.covered_s >= DAY_S * 0.99:
        return ""
    return f" if all hours are like these {format_duration(forecast.covered_s)}"


def _between(interval: Interval | None, unit: str = "") -> str:
    if interval is None:
        return ""
    return f" ({significant(interval.low)} to {significant(interval.high)}{unit})"


def _yearly(device: DeviceForecast) -> str:
    if device.is_unknown:
        restarts = device.restart_tb_per_year
        return f"{UNKNOWN}; its stops and starts {significant(restarts)} TB" if restarts else UNKNOWN
    limit = device.total_ci95
    if device.bytes_per_s == 0 and limit is not None and not device.restart_tb_per_year:
        return f"at most {significant(limit.high)} TB a year"
    least = "at least " if device.lower_bound else ""
    return f"{least}{significant(device.total_tb_per_year)} TB a year{_between(limit, ' TB')}"


def _changed(change: WhatIf) -> str:
    """Return the yearly amount after a change."""
    most = change.ci95.high if change.ci95 else None
    return f"{format_tb_per_year(change.tb_per_year, most)}{_between(change.ci95, ' TB')}"


def _life_words(years: tuple[RatedYears, ...]) -> str:
    """Return how long a rating lasts, as the end of a sentence."""
    if not years:
        return ""
    life = years[0]
    if life.years == 0:
        return f": its rating of {plain_number(life.rated_tbw)} TBW is used up"
    return f": its rating of {plain_number(life.rated_tbw)} TBW lasts {_years_text(life)}"


def _years_text(life: RatedYears) -> str:
    if life.years > MUCH_YEARS and life.low is not None and life.low <= MUCH_YEARS:
        return f"at least {format_years(life.low)}"
    text = format_years(life.years)
    if life.low is not None and life.years <= MUCH_YEARS:
        low, high = format_years(life.low), format_years(life.high)
        same = low.rpartition(" ")[2] == high.rpartition(" ")[2] and not high.startswith("over")
        text += f" ({low.rpartition(' ')[0] if same else low} to {high})"
    return text


def _drive(device: DeviceForecast, forecast: WearForecast) -> DriveView:
    size = format_bytes(device.capacity_bytes) if device.capacity_bytes is not None else "size not known"
    model = f", {clean(device.model)}" if device.model else ""
    tables = [writers_table(device)]
    if device.rating is None and device.years and not device.is_unknown:
        tables.append(common_ratings(device))
    if device.meters:
        tables.append(meters_table(device))
    return DriveView(
        title=f"{clean(device.device)}: {device.kind}, {size}{model}",
        facts=tuple(_facts(device, forecast)),
        tables=tuple(tables),
        notes=tuple(clean(n) for n in (*device.notes, *(device.what_if.notes if device.what_if else ()))),
    )


def _facts(device: DeviceForecast, forecast: WearForecast) -> Iterator[tuple[str, str]]:
    yield "carries", ", ".join(device.roles) or "nothing of nodeos"
    if device.views:
        yield "holds", f"{', '.join(clean(v) for v in device.views)}: views of this drive, counted here once"
    rate = device.ci95
    between = f" ({interval_text(rate, 'bytes_per_s')})".replace("\u00a0", " ") if rate else ", no interval"
    least = "at least " if device.lower_bound else ""
    yield "writes", f"{least}{format_bytes_per_s(device.bytes_per_s)}{between}"
    yield "a year", _yearly(device)
    if forecast.recording.nodeos or forecast.restarts:
        yield "of it restarts", _restart_text(device, forecast)
    yield from _growth_facts(device)
    if device.rating is not None and device.years:
        yield from _rating_facts(device, device.years[0])
    yield from _drive_facts(device)
    if device.volume is not None:
        yield "of its limits", _volume_text(device)
    if device.what_if is not None and not device.is_unknown:
        yield from _change_facts(device.what_if)


def _drive_facts(device: DeviceForecast) -> Iterator[tuple[str, str]]:
    """Yield what the drive itself says."""
    if device.written_tb is not None:
        yield "written so far", f"{significant(device.written_tb)} TB by the host"
    if device.smart is not None:
        yield "the drive says", _smart_text(device.smart)
    if device.waf is not None:
        yield "flash writes", f"{significant(device.waf)} bytes for each byte of the host, over its life"
    if device.lifetime_mean_bytes_per_s is not None:
        mean = device.lifetime_mean_bytes_per_s
        times = f": now × {significant(device.bytes_per_s / mean)}" if mean > 0 else ""
        yield "over its life", f"{format_bytes_per_s(mean)} on average so far{times}"


def _restart_text(device: DeviceForecast, forecast: WearForecast) -> str:
    often = f"{plain_number(forecast.restarts_per_year)} a year: {clean(forecast.restarts_source)}"
    seen = any(device.device in {**c.exit_by_device, **c.start_by_device} for c in forecast.restarts)
    amount = f"{significant(device.restart_tb_per_year)} TB" if seen else "not measured, 0 TB counted"
    return f"{amount} ({often})"


def _growth_facts(device: DeviceForecast) -> Iterator[tuple[str, str]]:
    for growth in device.growth:
        shape = "the same after any uptime"
        if growth.bytes_per_s is not None:
            shape = f"{format_bytes(growth.bytes_per_s * 3600)} for each hour of uptime"
            if growth.most_bytes is not None:
                shape += f", up to {format_bytes(growth.most_bytes)}"
        yield (
            "an exit writes",
            (
                f"{shape} (fit of {growth.stops} stops of {clean(growth.nodeos)}); {format_bytes(growth.exit_bytes)} "
                f"after {format_duration(growth.uptime_s)}"
            ),
        )


def _rating_facts(device: DeviceForecast, life: RatedYears) -> Iterator[tuple[str, str]]:
    yield "rated", f"{plain_number(life.rated_tbw)} TBW: {clean(device.rating_source or '')}"
    left = " from now" if device.written_tb is not None or device.percent_used is not None else " from new"
    if device.is_unknown and life.years > 0:
        yield "lasts", UNKNOWN
        return
    yield "lasts", "used up" if life.years == 0 else _years_text(life) + left
    if life.nodes is not None:
        fits = (
            f"{life.nodes:,} such hosts would use" if life.nodes else "less than one: a host like this uses"
        )
        yield "fits", f"{fits} the rating up within the warranty"
    if life.price_per_year is not None:
        yield "costs", f"{significant(life.price_per_year)} a year of the drive's price"


def _smart_text(said: Smart) -> str:
    parts = []
    if said.percent_used is not None:
        least = " or more" if said.percent_used >= SATURATED_PERCENT else ""
        parts.append(f"{said.percent_used} %{least} of its life used")
    if said.spare_percent is not None:
        parts.append(f"{said.spare_percent} % spare")
    if said.power_on_hours is not None:
        parts.append(f"{said.power_on_hours:,} h powered on")
    if said.media_errors is not None:
        parts.append(f"{said.media_errors} media errors")
    if said.temperature_celsius is not None:
        parts.append(f"{said.temperature_celsius} °C")
    if said.warning:
        parts.append(f"warning: {clean(said.warning)}")
    return ", ".join(parts) or "nothing that leapprof reads"


def _volume_text(device: DeviceForecast) -> str:
    assert device.volume is not None
    shares = (("operations", device.volume.iops_share), ("bytes", device.volume.bytes_share))
    told = [
        f"{share:.1%} of {what}" if share is not None else f"{ABSENT} of {what}" for what, share in shares
    ]
    return f"{' and '.join(told)} a second that {clean(device.volume.volume)} allows (95th percentile)"


def _change_facts(change: WhatIf) -> Iterator[tuple[str, str]]:
    interval = change.ratio_ci95
    yield "after the change", _changed(change)
    yield "from", f"{clean(change.source)}: writes × {significant(change.ratio)}{_between(interval)}"
