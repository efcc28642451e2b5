"""The small tables of a wear forecast; nothing is computed here."""

from collections.abc import Iterator
from dataclasses import dataclass

from leapprof.model.wear import DeviceForecast, RestartCost, WearForecast
from leapprof.report.text import ABSENT, clean
from leapprof.units import format_bytes, format_bytes_per_s, format_duration, format_value, significant

MUCH_YEARS = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallTable:
    """A table: its caption, head and rows; columns from ``right`` on are numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()


def format_years(years: float | None) -> str:
    """Return a lifetime as a person says it; beyond a century the number means nothing."""
    if years is None or years > MUCH_YEARS:
        return "over 100 years"
    return f"{significant(years, 2)} years" if years >= 1 else f"{significant(years * 12, 2)} months"


def plain_number(value: float) -> str:
    """Return a number as a person wrote it: 12, 0.5, 2,000."""
    return f"{value:,.0f}" if value == round(value) else significant(value)


def writers_table(device: DeviceForecast) -> SmallTable:
    """Return who writes to a drive."""
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


def common_ratings(device: DeviceForecast) -> SmallTable:
    """Return years at common ratings, where the drive's own is not known."""
    after = device.what_if.years if device.what_if is not None else ()
    has_price = device.years[0].price_per_year is not None
    rows = []
    for number, life in enumerate(device.years):
        row = [
            plain_number(life.rated_tbw),
            format_years(life.years),
            f"{format_years(life.low)} to {format_years(life.high)}" if life.low is not None else ABSENT,
            ABSENT if life.nodes is None else f"{life.nodes:,}" if life.nodes else "under 1",
        ]
        row += [format_years(after[number].years)] if after else []
        row += [significant(life.price_per_year)] if has_price and life.price_per_year is not None else []
        rows.append(tuple(row))
    head = ["TBW", "lasts", "95 %", "hosts a drive"]
    head += ["after change"] if after else []
    head += ["cost a year"] if has_price else []
    since = "from now" if device.written_tb is not None or device.percent_used is not None else "new"
    return SmallTable(
        caption=f"drive's rating not known; at common ratings, {since}",
        head=tuple(head),
        rows=tuple(rows),
        numbers=frozenset({0, 3}),
    )


def meters_table(device: DeviceForecast) -> SmallTable:
    """Return the meters of the same time beside each other."""
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


def host_tables(forecast: WearForecast) -> Iterator[SmallTable]:
    """Yield the tables of the host: stacked devices, stops and starts."""
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
        format_duration(cost.uptime_s) if cost.uptime_s is not None else ABSENT,
        format_value(cost.exit_s, "s"),
        *(format_bytes(b) if b is not None else ABSENT for b in (cost.exit_bytes, cost.start_bytes)),
    )
