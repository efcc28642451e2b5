"""Tables in text (CSV of any tool, ``atop -P``, ``pmrep -o csv``) with a mapping → readings."""

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from itertools import groupby
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
from numpy.typing import NDArray

from leapprof.errors import ConfigError, ParseError
from leapprof.importers.blocks import LATEST_S, Block, Imported, imported_rates, intervals, wall_ns_of
from leapprof.importers.devices import devices_of
from leapprof.importers.mapping import ColumnMap, Mapping, SectionMap, TimeMap
from leapprof.model import Host, Nodeos
from leapprof.units import NS_PER_S

PROBE = "csv"
MAX_CELL_CHARS = 200
_UNIX = {"unix": 1.0, "unix_ms": 1000.0}
_Subject = tuple[str, str | None, str | None]


@dataclass(slots=True, kw_only=True)
class _Column:
    """Cells of one mapped column of one subject, as they come."""

    spec: ColumnMap
    wall_ns: list[int] = field(default_factory=list)
    value: list[float] = field(default_factory=list)
    elapsed_s: list[float] = field(default_factory=list)


def parse_table(text: str, mapping: Mapping) -> Imported:
    """Return the readings of a table in text.

    Raises:
        ParseError: a mapped column is not there, a time is none, or nothing is left.
        ConfigError: the time zone is not known.
    """
    zone = _zone(mapping.time.zone)
    columns: dict[tuple[_Subject, str], _Column] = {}
    for section in mapping.sections:
        _read_section(text, section, mapping.time, zone, columns)
    blocks = [_block(subject, list(group)) for subject, group in _by_subject(columns)]
    blocks = [block for block in blocks if block.wall_ns.size]
    if not blocks:
        raise ParseError(PROBE, "at least one line with a time and a mapped value")
    devices = devices_of(tuple(sorted({d for b in blocks if (d := b.texts.get("device"))})))
    ids = sorted({n for b in blocks if (n := b.texts.get("nodeos"))})
    rates = any(c.spec.kind in {"rate", "amount"} for c in columns.values())
    times = np.unique(np.concatenate([b.wall_ns for b in blocks]))
    steps = np.diff(times)
    return Imported(
        host=Host(name=mapping.host, boot_id=""),
        source=f"table in text, {times.size} times",
        interval_s=float(np.median(steps)) / NS_PER_S if steps.size else 1.0,
        blocks=tuple(blocks),
        nodeos=tuple(Nodeos(id=name, pid=0, start_ticks=0) for name in ids),
        topology=devices.topology,
        findings=((imported_rates("The table"),) if rates else ()) + devices.findings,
    )


def _zone(name: str | None) -> tzinfo | None:
    if name is None or name.upper() in {"UTC", "Z"}:
        return UTC if name else None
    if name[0] in "+-":
        try:
            hours, _, minutes = name[1:].partition(":")
            offset = timedelta(hours=int(hours), minutes=int(minutes or 0))
            return timezone(-offset if name[0] == "-" else offset)
        except (ValueError, OverflowError) as error:
            raise ConfigError(f"{name!r} is no offset such as +01:00", key="time.zone") from error
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:  # a name is looked up as a path
        raise ConfigError(
            f"{name!r} is no time zone: UTC, +01:00 or Europe/Berlin", key="time.zone"
        ) from error


def _read_section(
    text: str,
    section: SectionMap,
    time: TimeMap,
    zone: tzinfo | None,
    columns: dict[tuple[_Subject, str], _Column],
) -> None:
    rows = _rows(text, section)
    header = list(section.header) or next(rows, [])
    places = {name: at for at, name in enumerate(header)}
    wanted = [time.column, *(c.column for c in section.columns)]
    wanted += [n for n in (section.device_column, section.nodeos_column, section.interval_column) if n]
    for name in wanted:
        if name not in places:
            raise ParseError(PROBE, f"a column named {name!r}", line=", ".join(header)[:MAX_CELL_CHARS])
    for number, row in enumerate(rows, start=1):
        if len(row) <= max(places[name] for name in wanted):
            continue  # a line cut short, or one of another form (atop's SEP and RESET)
        wall_ns = _moment_ns(row[places[time.column]], time.form, zone, number)
        elapsed = (
            _number(row[places[section.interval_column]], section) if section.interval_column else np.nan
        )
        for spec in section.columns:
            device = row[places[section.device_column]] if section.device_column else spec.device
            nodeos = row[places[section.nodeos_column]] if section.nodeos_column else spec.nodeos
            column = columns.setdefault(((spec.table, device, nodeos), spec.to), _Column(spec=spec))
            column.wall_ns.append(wall_ns)
            column.value.append(_number(row[places[spec.column]], section) * spec.scale)
            column.elapsed_s.append(elapsed)


def _rows(text: str, section: SectionMap) -> Iterator[list[str]]:
    lines = (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
    if section.starts_with:
        kept = _without_since_boot(lines)
        lines = (line for line in kept if line.startswith(section.starts_with))
    if section.delimiter == " ":
        return (line.split() for line in lines)
    return ([cell.strip() for cell in row] for row in csv.reader(lines, delimiter=section.delimiter))


def _without_since_boot(lines: Iterable[str]) -> Iterator[str]:
    """Leave out what atop counted since boot: from a line RESET to the next SEP (atop(1), parseable output)."""
    since_boot = False
    for line in lines:
        since_boot = line.startswith("RESET") or (since_boot and not line.startswith("SEP"))
        if not since_boot:
            yield line


def _number(cell: str, section: SectionMap) -> float:
    """Return a cell's number; NaN where it holds none: missing, not 0."""
    if section.decimal == ",":
        cell = cell.replace(".", "").replace(",", ".")
    try:
        value = float(cell)
    except ValueError:
        return float("nan")
    return value if np.isfinite(value) else float("nan")


def _moment_ns(cell: str, form: str, zone: tzinfo | None, line_no: int) -> int:
    """Return when a line was taken.

    Raises:
        ParseError: it is no time of this form, or one without a zone.
    """
    if form in _UNIX:
        seconds = _unix_s(cell, _UNIX[form])
        if seconds is None:
            raise ParseError(PROBE, f"a time of the form {form}", line=cell, line_no=line_no)
        return round(seconds * 1000) * (NS_PER_S // 1000)
    try:
        moment = datetime.fromisoformat(cell) if form == "iso" else datetime.strptime(cell, form)  # noqa: DTZ007
    except ValueError as error:
        raise ParseError(PROBE, f"a time of the form {form}", line=cell, line_no=line_no) from error
    if moment.tzinfo is None and zone is None:
        raise ParseError(
            PROBE, "a time with its zone; else say time.zone in the mapping", line=cell, line_no=line_no
        )
    wall_ns = wall_ns_of(moment if moment.tzinfo else moment.replace(tzinfo=zone))
    if wall_ns is None:
        raise ParseError(PROBE, "a time since 1970", line=cell, line_no=line_no)
    return wall_ns


def _unix_s(cell: str, factor: float) -> float | None:
    try:
        seconds = float(cell) / factor
    except ValueError:
        return None
    return seconds if 0 < seconds < LATEST_S else None


def _by_subject(
    columns: dict[tuple[_Subject, str], _Column],
) -> Iterator[tuple[_Subject, Iterator[_Column]]]:
    def key(item: tuple[tuple[_Subject, str], _Column]) -> tuple[str, str, str]:
        table, device, nodeos = item[0][0]
        return table, device or "", nodeos or ""

    for _, group in groupby(sorted(columns.items(), key=key), key=key):
        items = list(group)
        yield items[0][0][0], (column for _, column in items)


def _block(subject: _Subject, columns: Sequence[_Column]) -> Block:
    """Return one subject's columns on the times of all of them."""
    made = {column.spec.to: _readings(column) for column in columns}
    times = np.unique(np.concatenate([wall for wall, _ in made.values()]))
    values = {}
    for name, (wall, value) in made.items():
        values[name] = np.full(times.size, np.nan)
        values[name][np.searchsorted(times, wall)] = value
    table, device, nodeos = subject
    texts = {"device": device} if device else {}
    texts |= {"nodeos": nodeos} if nodeos else {}
    return Block(table=table, texts=dict(texts), wall_ns=times, columns=values)


def _readings(column: _Column) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return times and values of one column, rates integrated to a counter."""
    wall, first = np.unique(np.array(column.wall_ns, dtype=np.int64), return_index=True)
    value = np.array(column.value, dtype=float)[first]
    if column.spec.kind in {"counter", "level"}:
        return wall, value
    elapsed = np.array(column.elapsed_s, dtype=float)[first]
    if not np.isfinite(elapsed).all():
        steps = np.diff(wall) / NS_PER_S
        usual = float(np.median(steps)) if steps.size else 1.0
        elapsed = np.concatenate([[usual], np.minimum(steps, 3 * usual)])
    times = intervals(wall, elapsed)
    rate = value if column.spec.kind == "rate" else value / np.maximum(elapsed, 1e-9)
    return times.wall_ns, times.integrate(rate)
