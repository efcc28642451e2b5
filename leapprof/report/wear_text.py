"""A wear forecast as lines for a terminal of 80 columns; nothing is computed here."""

from collections.abc import Iterator

from leapprof.model import Interval
from leapprof.model.wear import DeviceForecast, RatedYears, WearForecast, WhatIf
from leapprof.report.text import clean
from leapprof.units import (
    format_bytes,
    format_bytes_per_s,
    format_duration,
    format_tb_per_year,
    significant,
)

MUCH_YEARS = 100.0


def _range(interval: Interval | None) -> str:
    if interval is None:
        return "too short for an interval"
    return f"95 %: {significant(interval.low)} to {significant(interval.high)} TB/year"


def format_years(years: float | None) -> str:
    """Return a lifetime as a person says it; beyond a century the number means nothing."""
    if years is None:
        return "–"
    return "over 100 years" if years > MUCH_YEARS else f"{significant(years, 2)} years"


def _years_line(rated: RatedYears) -> str:
    line = f"{significant(rated.rated_tbw)} TBW: {format_years(rated.years)}"
    if rated.low is not None and rated.years <= MUCH_YEARS:
        line += f" (95 %: {format_years(rated.low)} to {format_years(rated.high)})"
    return line


def _device_title(device: DeviceForecast) -> str:
    size = format_bytes(device.capacity_bytes) if device.capacity_bytes is not None else "size not known"
    roles = ", ".join(device.roles) or "nothing of nodeos"
    return f"{clean(device.device)} · {clean(device.model or device.kind)}, {size} · carries {roles}"


def _writer_lines(device: DeviceForecast) -> Iterator[str]:
    for writer in device.writers:
        rate = format_bytes_per_s(writer.bytes_per_s) if writer.bytes_per_s is not None else "not known"
        yield f"    by {clean(writer.who):<18} {rate:>12}   {writer.meter}"


def _lifetime_lines(device: DeviceForecast) -> Iterator[str]:
    if device.written_tb is not None:
        yield f"  written so far     {significant(device.written_tb)} TB by the host"
    if device.percent_used is not None:
        yield f"  by the drive       {device.percent_used} % of its rated life used"
    if device.waf is not None:
        yield f"  flash per host     {significant(device.waf)} bytes written to flash for each byte of the host"
    if device.lifetime_mean_bytes_per_s is not None:
        yield f"  over its life      {format_bytes_per_s(device.lifetime_mean_bytes_per_s)} on average so far"
    if device.rating is None:
        yield "  lifetime           rating not known; at common ratings from new:"
        for rated in device.years:
            yield f"                     {_years_line(rated)}"
        return
    yield f"  lifetime           {_years_line(device.years[0])}"
    yield f"                     {clean(device.rating_source or '')}"
    if device.nodes_per_rating is not None:
        yield f"  nodes per rating   {device.nodes_per_rating} such nodes use it up within the warranty"


def _what_if_lines(what_if: WhatIf) -> Iterator[str]:
    yield f"  after the change   {format_tb_per_year(what_if.tb_per_year)} ({_range(what_if.ci95)})"
    yield f"                     from {clean(what_if.source)}: × {significant(what_if.ratio)}"


def _volume_lines(device: DeviceForecast) -> Iterator[str]:
    if device.volume is None:
        return
    for what, share in (("operations", device.volume.iops_share), ("bytes", device.volume.bytes_share)):
        shown = f"{share:.1%}" if share is not None else "–"
        yield f"  {what + ' p95':<18} {shown} of what {clean(device.volume.volume)} allows a second"


def _device_lines(device: DeviceForecast) -> Iterator[str]:
    yield _device_title(device)
    bound = " at least (the counter was reset)" if device.lower_bound else ""
    yield f"  writes             {format_bytes_per_s(device.bytes_per_s)}{bound}"
    yield from _writer_lines(device)
    yield f"  a year, running    {format_tb_per_year(device.steady_tb_per_year)} ({_range(device.steady_ci95)})"
    yield f"  a year, restarts   {format_tb_per_year(device.restart_tb_per_year)}"
    yield from _lifetime_lines(device)
    if device.what_if is not None:
        yield from _what_if_lines(device.what_if)
    yield from _volume_lines(device)
    if device.views:
        yield f"  holds also         {', '.join(clean(v) for v in device.views)} (views of this drive, counted once)"
    for note in device.notes:
        yield f"  note               {clean(note)}"
    yield ""


def wear_lines(forecast: WearForecast) -> tuple[str, ...]:
    """Return the forecast as lines of text."""
    host = clean(forecast.recording.host.name)
    lines = [f"Wear of {host}, from {format_duration(forecast.covered_s)} of device counters", ""]
    if forecast.recording.reconstructed:
        lines += [f"RECONSTRUCTED: {clean(forecast.recording.reconstructed)}", ""]
    for device in forecast.devices:
        lines += _device_lines(device)
    for view in forecast.logical:
        drives = ", ".join(clean(d) for d in view.drives) or "no drive that is known"
        lines.append(
            f"{clean(view.device)} · {', '.join(view.roles)} · {format_bytes_per_s(view.bytes_per_s)}: a view of "
            f"{drives}, counted there"
        )
    for cost in forecast.restarts:
        shown = format_bytes(cost.exit_bytes) if cost.exit_bytes is not None else "not known"
        took = f" in {format_duration(cost.exit_s)}" if cost.exit_s is not None else ""
        lines.append(f"stop of {clean(cost.nodeos)}: exit wrote {shown}{took}")
    lines.append(
        f"restarts a year: {significant(forecast.restarts_per_year)} ({forecast.restarts_source}); "
        "TB decimal, year of 365 days"
    )
    for finding in forecast.findings:
        lines += ["", f"{finding.severity}: {clean(finding.message)}", f"  → {clean(finding.hint)}"]
    return tuple(lines)
