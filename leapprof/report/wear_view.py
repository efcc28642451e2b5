"""A wear forecast as sentences, facts and small tables, for the renderers; nothing is computed here."""

from collections.abc import Iterator
from dataclasses import dataclass

from leapprof.model import Interval
from leapprof.model.wear import DeviceForecast, RatedYears, RestartCost, Smart, WearForecast, WhatIf
from leapprof.report.text import ABSENT, clean, interval_text
from leapprof.units import (
    DAY_S,
    format_bytes,
    format_bytes_per_s,
    format_duration,
    format_tb_per_year,
    significant,
)

MUCH_YEARS = 100.0
QUIET_BYTES_PER_S = 1000.0
FOOTER = "TB is decimal (10^12 bytes), a year has 365 days; intervals are 95 %."


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallTable:
    """A table: its caption, head and rows; columns from ``right`` on are numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()


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


def format_years(years: float | None) -> str:
    """Return a lifetime as a person says it; beyond a century the number means nothing."""
    if years is None or years > MUCH_YEARS:
        return "over 100 years"
    return f"{significant(years, 2)} years" if years >= 1 else f"{significant(years * 12, 2)} months"


def _plain(value: float) -> str:
    """Return a number as a person wrote it: 12, 0.5, 2,000."""
    return f"{value:,.0f}" if value == round(value) else significant(value)


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
        tables=tuple(_tables(forecast)),
        findings=tuple((str(f.severity), f.code, clean(f.message), clean(f.hint)) for f in forecast.findings),
        footer=FOOTER,
    )


def _title(forecast: WearForecast) -> str:
    left_out = sum(forecast.left_out_s.values())
    less = f", {format_duration(left_out)} left out ({', '.join(forecast.left_out_s)})" if left_out else ""
    host = clean(forecast.recording.host.name)
    return f"Wear of {host}: {format_duration(forecast.covered_s)} of device counters{less}"


def _headline(
    forecast: WearForecast, shown: list[DeviceForecast], quiet: list[DeviceForecast]
) -> Iterator[str]:
    for nodeos in forecast.recording.nodeos:
        if nodeos.stand_in:
            yield f"{clean(nodeos.id)} is leapprof's stand-in and no nodeos: an illustration."
    for device in shown:
        yield f"{clean(device.device)} takes {_yearly(device)}{_as_if(forecast)}{_life_words(device)}."
        if device.what_if is not None:
            change = device.what_if
            yield f"After the change: {format_tb_per_year(change.tb_per_year)}{_between(change.ci95, ' TB')}."
    if quiet:
        names = ", ".join(clean(d.device) for d in quiet)
        yield f"Next to nothing is written to {names} (under 1 kB/s each)."


def _as_if(forecast: WearForecast) -> str:
    """Return what a yearly figure from less than a day takes for granted."""
    if forecast.covered_s >= DAY_S * 0.99:
        return ""
    return f" if all hours are like these {format_duration(forecast.covered_s)}"


def total_tb(device: DeviceForecast) -> float:
    """Return steady writes and restarts together, TB a year."""
    return device.steady_tb_per_year + device.restart_tb_per_year


def total_ci95(device: DeviceForecast) -> Interval | None:
    """Return the interval of the total."""
    found = device.steady_ci95
    if found is None:
        return None
    return Interval(low=found.low + device.restart_tb_per_year, high=found.high + device.restart_tb_per_year)


def _between(interval: Interval | None, unit: str = "") -> str:
    if interval is None:
        return ""
    return f" ({significant(interval.low)} to {significant(interval.high)}{unit})"


def _yearly(device: DeviceForecast) -> str:
    least = "at least " if device.lower_bound else ""
    return f"{least}{significant(total_tb(device))} TB a year{_between(total_ci95(device), ' TB')}"


def _life_words(device: DeviceForecast) -> str:
    if device.rating is None or not device.years:
        return ""
    life = device.years[0]
    if life.years == 0:
        return f": its rating of {_plain(life.rated_tbw)} TBW is used up"
    return f": its rating of {_plain(life.rated_tbw)} TBW lasts {_years_text(life)}"


def _years_text(life: RatedYears) -> str:
    text = format_years(life.years)
    if life.low is not None and life.years <= MUCH_YEARS:
        low, high = format_years(life.low), format_years(life.high)
        same = low.rpartition(" ")[2] == high.rpartition(" ")[2] and not high.startswith("over")
        text += f" ({low.rpartition(' ')[0] if same else low} to {high})"
    return text


def _drive(device: DeviceForecast, forecast: WearForecast) -> DriveView:
    size = format_bytes(device.capacity_bytes) if device.capacity_bytes is not None else "size not known"
    model = f", {clean(device.model)}" if device.model else ""
    tables = [_writers(device)]
    if device.rating is None and device.years:
        tables.append(_common(device))
    if device.meters:
        tables.append(_meters(device))
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
    yield "of it restarts", _restart_text(device, forecast)
    yield from _growth_facts(device)
    if device.rating is not None and device.years:
        yield from _rating_facts(device, device.years[0])
    yield from _drive_facts(device)
    if device.volume is not None:
        yield "of its limits", _volume_text(device)
    if device.what_if is not None:
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
    often = f"{_plain(forecast.restarts_per_year)} a year: {clean(forecast.restarts_source)}"
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
    yield "rated", f"{_plain(life.rated_tbw)} TBW: {clean(device.rating_source or '')}"
    left = " from now" if device.written_tb is not None or device.percent_used is not None else " from new"
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
        parts.append(f"{said.percent_used} % of its life used")
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
    yield "after the change", f"{format_tb_per_year(change.tb_per_year)}{_between(change.ci95, ' TB')}"
    yield "from", f"{clean(change.source)}: writes × {significant(change.ratio)}{_between(interval)}"


def _writers(device: DeviceForecast) -> SmallTable:
    rows = tuple(
        (
            clean(w.who),
            format_bytes_per_s(w.bytes_per_s) if w.bytes_per_s is not None else ABSENT,
            clean(w.meter),
        )
        for w in device.writers
    )
    return SmallTable(
        caption="who writes", head=("who", "rate", "told by"), rows=rows, numbers=frozenset({1})
    )


def _common(device: DeviceForecast) -> SmallTable:
    rows = tuple(
        (
            _plain(life.rated_tbw),
            format_years(life.years),
            f"{format_years(life.low)} to {format_years(life.high)}" if life.low is not None else ABSENT,
            ABSENT if life.nodes is None else f"{life.nodes:,}" if life.nodes else "under 1",
            *((significant(life.price_per_year),) if life.price_per_year is not None else ()),
        )
        for life in device.years
    )
    head = (
        "TBW",
        "lasts",
        "95 %",
        "hosts a drive",
        *(("cost a year",) if device.years[0].price_per_year else ()),
    )
    since = "from now" if device.written_tb is not None or device.percent_used is not None else "new"
    return SmallTable(
        caption=f"drive's rating not known; at common ratings, {since}",
        head=head,
        rows=rows,
        numbers=frozenset({0, 3, 4}),
    )


def _meters(device: DeviceForecast) -> SmallTable:
    rows = tuple(
        (
            m.name,
            format_bytes(m.written_bytes) if m.written_bytes is not None else ABSENT,
            format_bytes(m.life_bytes) if m.life_bytes is not None else ABSENT,
            clean(m.note),
        )
        for m in device.meters
    )
    return SmallTable(
        caption="meters of the same time",
        head=("meter", "recorded", "over its life", "note"),
        rows=rows,
        numbers=frozenset({1, 2}),
    )


def _tables(forecast: WearForecast) -> Iterator[SmallTable]:
    if forecast.logical:
        yield SmallTable(
            caption="stacked devices: views of drives above, never added to them",
            head=("device", "carries", "rate", "lies on"),
            rows=tuple(
                (
                    clean(view.device),
                    ", ".join(view.roles),
                    format_bytes_per_s(view.bytes_per_s),
                    ", ".join(clean(d) for d in view.drives) or "no drive that is known",
                )
                for view in forecast.logical
            ),
            numbers=frozenset({2}),
        )
    if forecast.restarts:
        yield SmallTable(
            caption="stops and starts seen",
            head=("nodeos", "up for", "stop took", "exit wrote", "start wrote"),
            rows=tuple(_restart_row(cost) for cost in forecast.restarts),
            numbers=frozenset({1, 2, 3, 4}),
        )


def _restart_row(cost: RestartCost) -> tuple[str, ...]:
    return (
        clean(cost.nodeos),
        *(format_duration(s) if s is not None else ABSENT for s in (cost.uptime_s, cost.exit_s)),
        *(format_bytes(b) if b is not None else ABSENT for b in (cost.exit_bytes, cost.start_bytes)),
    )
