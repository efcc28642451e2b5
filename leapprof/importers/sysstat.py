"""sysstat: the output of ``sadf -j FILE -- -A`` (sysstat 11 to 12.7) → readings.

sar prints averages over intervals, with two decimals; the kernel's counters are gone. ``%usr`` of the long form
leaves out guest time, which the kernel counts within user (sar(1)). A locale with decimal commas makes sadf print no
valid JSON: ``51,01`` is read as 51.01.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leapprof.errors import ParseError
from leapprof.importers.blocks import Block, Imported, Intervals, imported_rates, intervals, wall_ns_of
from leapprof.importers.devices import devices_of
from leapprof.model import Host
from leapprof.units import KIB, TICKS_PER_S, YEAR_S

PROBE = "sadf -j"
US_PER_S = 1_000_000.0
PERCENT = 100.0
LARGEST = 1e18
LONGEST_S = 10 * YEAR_S
_COMMA = re.compile(r'"(?:[^"\\]|\\.)*"|(\d),(\d)')
_FORMS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H-%M-%S", "%m/%d/%y %H:%M:%S")
Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rate:
    """A column that is integrated from ``group.key`` times a factor."""

    column: str
    group: str
    keys: tuple[str, ...]
    factor: float = 1.0


_CPU = tuple(
    _Rate(column=f"cpu_{column}_ticks_total", group="cpu", keys=keys, factor=TICKS_PER_S / PERCENT)
    for column, keys in {
        "user": ("user", "usr+guest"),
        "nice": ("nice+gnice", "nice"),
        "system": ("system", "sys"),
        "iowait": ("iowait",),
        "steal": ("steal",),
        "irq": ("irq",),
        "softirq": ("soft",),
        "guest": ("guest",),
        "idle": ("idle",),
    }.items()
)
_RATES = (
    _Rate(column="context_switches_total", group="process-and-context-switch", keys=("cswch",)),
    _Rate(column="forks_total", group="process-and-context-switch", keys=("proc",)),
    _Rate(column="swap_in_pages_total", group="swap-pages", keys=("pswpin",)),
    _Rate(column="swap_out_pages_total", group="swap-pages", keys=("pswpout",)),
    _Rate(column="major_faults_total", group="paging", keys=("majflt",)),
)
_LEVELS = {
    "mem_free_bytes": ("memory", "memfree", KIB),
    "mem_available_bytes": ("memory", "avail", KIB),
    "buffers_bytes": ("memory", "buffers", KIB),
    "cached_bytes": ("memory", "cached", KIB),
    "dirty_bytes": ("memory", "dirty", KIB),
    "anon_pages_bytes": ("memory", "anonpg", KIB),
    "committed_as_bytes": ("memory", "commit", KIB),
    "swap_free_bytes": ("memory", "swpfree", KIB),
    "procs_running": ("queue", "runq-sz", 1),
    "procs_blocked": ("queue", "blocked", 1),
}
_DISK = {
    "read_sectors_total": (("rd_sec", "rkB"), 1.0),
    "write_sectors_total": (("wr_sec", "wkB"), 1.0),
    "discard_sectors_total": (("dc_sec", "dkB"), 1.0),
}
_SECTORS_PER_KB = 2.0


def parse_sadf(text: str) -> tuple[Imported, ...]:
    """Return the hosts of an output of ``sadf -j``.

    Raises:
        ParseError: it is none, or its times are local times of an unknown zone.
    """
    document = _document(text)
    hosts = document.get("sysstat", {}).get("hosts") if isinstance(document.get("sysstat"), dict) else None
    if not isinstance(hosts, list) or not hosts:
        raise ParseError(PROBE, "an object with sysstat.hosts", line=text[:80])
    return tuple(_host(host) for host in hosts if isinstance(host, dict))


def _document(text: str) -> Json:
    def point(found: re.Match[str]) -> str:
        return found[0] if found[1] is None else f"{found[1]}.{found[2]}"

    for candidate in (text, _COMMA.sub(point, text)):
        try:
            document = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            return document
    raise ParseError(PROBE, "JSON as `sadf -j FILE -- -A` prints it", line=text[:80])


def _host(host: Json) -> Imported:
    samples = sorted(_samples(host), key=lambda s: s[0])
    if not samples:
        raise ParseError(PROBE, "at least one record with a timestamp")
    samples = [s for i, s in enumerate(samples) if i == 0 or s[0] > samples[i - 1][0]]
    rows = [row for _, _, row in samples]
    times = intervals(
        np.array([t for t, _, _ in samples], dtype=np.int64),
        np.array([e for _, e, _ in samples], dtype=float),
    )
    disks = _disks(rows, times)
    found = devices_of(tuple(disks))
    name = str(host.get("nodename") or "host")
    cpus = _number(host.get("number-of-cpus"))
    facts = {"kernel": str(host.get("release", "")), "machine": str(host.get("machine", ""))}
    return Imported(
        host=Host(name=name, boot_id="", facts={k: v for k, v in facts.items() if v} | _cores(cpus)),
        source=f"sysstat, host {name}, {len(rows)} records",
        interval_s=float(np.median(times.elapsed_s)),
        blocks=(
            Block(table="host", texts={}, wall_ns=times.wall_ns, columns=_host_columns(rows, times, cpus)),
            *(
                Block(table="device", texts={"device": device}, wall_ns=times.wall_ns, columns=disks[device])
                for device in found.kept
            ),
        ),
        topology=found.topology,
        boots_wall_ns=_boots(host),
        findings=(imported_rates("sysstat"), *found.findings),
        absent=("nodeos processes: sysstat does not keep them",),
    )


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _cores(cpus: float | None) -> dict[str, str]:
    return {"cores": f"{cpus:.0f}"} if cpus else {}


def _samples(host: Json) -> list[tuple[int, float, Json]]:
    found = []
    for record in _list(host.get("statistics")):
        stamp = record.get("timestamp") if isinstance(record, dict) else None
        if not isinstance(stamp, dict):
            continue
        elapsed = _number(stamp.get("interval"))
        wall_ns = _moment_ns(stamp)
        if elapsed and 0 < elapsed < LONGEST_S:
            found.append((wall_ns, elapsed, record))
    return found


def _moment_ns(stamp: Json) -> int:
    """Return when a record was taken.

    Raises:
        ParseError: it is no time, or a local one.
    """
    text = f"{stamp.get('date', '')} {stamp.get('time', '')}"
    if _number(stamp.get("utc")) == 0:
        raise ParseError(
            PROBE,
            "times in UTC: run sadf without -T and -t, which print local times of an unknown zone",
            line=text,
        )
    for form in _FORMS:
        try:
            moment = datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        wall_ns = wall_ns_of(moment)
        if wall_ns is not None:
            return wall_ns
    raise ParseError(PROBE, "a date and a time", line=text)


def _boots(host: Json) -> tuple[int, ...]:
    """Return when the host was booted within the file; the first boot is before it and not known."""
    moments = []
    for entry in _list(host.get("restarts")):
        boot = entry.get("boot") if isinstance(entry, dict) else None
        if isinstance(boot, dict):
            moments.append(_moment_ns(boot))
    return (0, *sorted(moments)) if moments else ()


def _host_columns(rows: list[Json], times: Intervals, cpus: float | None) -> dict[str, NDArray[np.float64]]:
    per_cpu = cpus or 1.0
    columns: dict[str, NDArray[np.float64]] = {}
    groups = [_groups(row) for row in rows]
    for rate in (*_CPU, *_RATES):
        factor = rate.factor * (per_cpu if rate.group == "cpu" else 1.0)
        values = _values(groups, partial(_read_rate, rate))
        _keep(columns, rate.column, times.integrate(values * factor))
    for column, (group, key, factor) in _LEVELS.items():
        level = _values(groups, partial(_read_level, group, key))
        _keep(columns, column, times.level(level * factor))
    total = _values(groups, lambda g: _sum(g.get("memory"), "swpfree", "swpused"))
    _keep(columns, "swap_total_bytes", times.level(total * KIB))
    for resource in ("cpu", "memory", "io"):
        values = _values(groups, partial(_pressure, resource))
        _keep(columns, f"{resource}_pressure_some_us_total", times.integrate(values * US_PER_S / PERCENT))
    if cpus:
        _keep(columns, "cpus_online", times.level(np.full(len(rows), cpus)))
    return columns


def _groups(row: Json) -> dict[str, Json]:
    """Return the groups of a record that are objects, with the line of all CPUs as ``cpu``."""
    groups = {name: value for name, value in row.items() if isinstance(value, dict)}
    for name in ("cpu-load-all", "cpu-load"):
        cpus = row.get(name)
        if isinstance(cpus, list):
            for cpu in cpus:
                if isinstance(cpu, dict) and cpu.get("cpu") == "all":
                    groups.setdefault("cpu", cpu)
    return groups


def _read_rate(rate: _Rate, groups: Mapping[str, Json]) -> float | None:
    return _first(groups.get(rate.group), rate.keys)


def _read_level(group: str, key: str, groups: Mapping[str, Json]) -> float | None:
    return _first(groups.get(group), (key,))


def _pressure(resource: str, groups: Mapping[str, Json]) -> float | None:
    """Return the share of the interval in which some task waited, in percent (sysstat 12.3 and newer)."""
    part = groups.get("psi", {}).get("psi-mem" if resource == "memory" else f"psi-{resource}")
    return _first(part, ("some_avg",)) if isinstance(part, dict) else None


def _disks(rows: list[Json], times: Intervals) -> dict[str, dict[str, NDArray[np.float64]]]:
    by_row = []
    for row in rows:
        entries = _list(row.get("disk"))
        by_row.append({str(d.get("disk-device")): d for d in entries if isinstance(d, dict)})
    names = sorted({name for row in by_row for name in row})
    disks = {}
    for name in names:
        columns: dict[str, NDArray[np.float64]] = {}
        for column, (keys, factor) in _DISK.items():
            values = _values(by_row, partial(_sectors, name, keys))
            _keep(columns, column, times.integrate(values * factor))
        disks[name] = columns
    return disks


def _sectors(name: str, keys: tuple[str, ...], disks: Mapping[str, Json]) -> float | None:
    for key in keys:
        value = _number(disks.get(name, {}).get(key))
        if value is not None:
            return value * (_SECTORS_PER_KB if key.endswith("kB") else 1.0)
    return None


def _values(
    groups: list[dict[str, Json]], read: Callable[[dict[str, Json]], float | None]
) -> NDArray[np.float64]:
    return np.array([np.nan if (value := read(group)) is None else value for group in groups], dtype=float)


def _first(group: Mapping[str, object] | None, keys: tuple[str, ...]) -> float | None:
    """Return the first key that is there; ``a+b`` is the sum of both."""
    for key in keys:
        value = _sum(group, *key.split("+"))
        if value is not None:
            return value
    return None


def _sum(group: Mapping[str, object] | None, *keys: str) -> float | None:
    values = [_number((group or {}).get(key)) for key in keys]
    return None if None in values else sum(v for v in values if v is not None)


def _number(value: object) -> float | None:
    if isinstance(value, str):
        try:
            value = float(value.replace(",", "."))
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if -LARGEST < value < LARGEST else None


def _keep(columns: dict[str, NDArray[np.float64]], name: str, values: NDArray[np.float64]) -> None:
    if np.isfinite(values).any():
        columns[name] = values
