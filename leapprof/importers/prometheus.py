"""A Prometheus-compatible server's history of a host → readings: raw counters at the times of their scrapes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from leapprof.errors import NotEnoughDataError
from leapprof.importers import prom_names as names
from leapprof.importers.blocks import Block, Imported
from leapprof.importers.devices import Columns, DeviceFacts, devices_of, join_paths
from leapprof.importers.prom_findings import coarser, four_kn, map_mode_unknown, paths_joined, server_findings
from leapprof.importers.prom_names import Exporter
from leapprof.importers.prom_own import fetch_own
from leapprof.importers.prom_read import Scrapes, read_query, read_scrapes
from leapprof.importers.prom_server import Server
from leapprof.importers.prom_targets import FetchRequest, Target, check_request, find_targets, grid_of
from leapprof.model import Event, Finding, Host, Nodeos, Topology
from leapprof.units import NS_PER_S, TICKS_PER_S

BOOT_JITTER_S = 30.0
FOUR_KN_FACTOR = 8
FOUR_KN_BYTES = 32_768
FEWEST_FOR_4KN = 20


@dataclass(slots=True, kw_only=True)
class _Parts:
    """One host while its targets are read."""

    blocks: list[Block] = field(default_factory=list)
    boots_s: list[float] = field(default_factory=list)
    facts: dict[str, str] = field(default_factory=dict)
    topology: Topology = field(default_factory=Topology)
    nodeos: dict[str, Nodeos] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    interval_s: float = 0.0
    scrape_s: float = 0.0


def fetch(server: Server, request: FetchRequest) -> Iterator[Imported]:
    """Yield the readings of each host that the request selects, one after the other.

    Raises:
        NotEnoughDataError: the server has none.
        SourceError: it cannot be asked.
    """
    request = check_request(request)
    found = False
    for own in fetch_own(server, request):
        found = True
        yield own
    try:
        hosts = find_targets(server, request)
    except NotEnoughDataError:
        if found:
            return
        raise
    for host, targets in hosts.items():
        yield _host(server, host, targets, request)


def _host(server: Server, host: str, targets: tuple[Target, ...], request: FetchRequest) -> Imported:
    parts = _Parts()
    order = {Exporter.NODE: 0, Exporter.PROCESS: 1, Exporter.CADVISOR: 1, Exporter.NODEOS: 2}
    for target in sorted(targets, key=lambda t: order[t.exporter]):
        step_s = round(parts.interval_s) or None
        grid = grid_of(server, target, request, step_s)
        scrapes = read_scrapes(server, target, grid)
        if not scrapes.place.size:
            continue
        parts.interval_s = parts.interval_s or float(grid.step_s)
        parts.scrape_s = parts.scrape_s or grid.scrape_s
        _READERS[target.exporter](server, target, scrapes, parts)
    if not parts.blocks:
        raise NotEnoughDataError(host, "no readings in that time", "a time for which the server has data")
    if any(block.table == "nodeos" for block in parts.blocks):
        parts.findings.append(map_mode_unknown())
    if parts.interval_s > 1.5 * parts.scrape_s:
        parts.findings.append(coarser(parts.scrape_s, parts.interval_s))
    return Imported(
        host=Host(name=host, boot_id="", facts=parts.facts),
        source=f"Prometheus API of {server.access.shown}, {', '.join(sorted({t.exporter for t in targets}))}",
        interval_s=parts.interval_s,
        blocks=tuple(parts.blocks),
        nodeos=tuple(parts.nodeos.values()),
        topology=parts.topology,
        boots_wall_ns=tuple(round(boot * NS_PER_S) for boot in parts.boots_s),
        findings=(*parts.findings, *server_findings(server)),
        events=tuple(parts.events),
        absent=("nodeos config: exporters do not carry it",),
        notes={"selector": request.selector, "scrape_interval_s": f"{parts.scrape_s:g}"},
    )


def _read_node(server: Server, target: Target, scrapes: Scrapes, parts: _Parts) -> None:
    wanted = target.select([*(w.name for w in names.HOST), *names.ANCHORS[Exporter.NODE]])
    readings = read_query(server, wanted, scrapes)
    columns = readings.columns(names.HOST) | _cpu(server, target, scrapes)
    parts.blocks.append(Block(table="host", texts={}, wall_ns=scrapes.wall_ns, columns=columns))
    boot = [
        v for labels, v in readings.series.items() if dict(labels)["__name__"] in names.ANCHORS[Exporter.NODE]
    ]
    if boot:
        parts.boots_s = _boots(boot[0])
    parts.facts |= _facts(server, target, scrapes, columns)
    _read_disks(server, target, scrapes, parts)


def _cpu(server: Server, target: Target, scrapes: Scrapes) -> Columns:
    """Return the sums over CPUs, made by the server: hundreds of series become eight.

    Two servers that scrape one host (a pair for availability) leave each series twice: each CPU counts once.
    """
    columns: Columns = {}
    for metrics, modes in (
        (names.CPU_NAMES, names.CPU_MODES | {"guest": "cpu_guest_ticks_total"}),
        ((names.GUEST_NAME,), names.GUEST_MODES),
    ):
        answer = read_query(server, f"sum by (mode) (max by (cpu, mode) ({target.select(metrics)}))", scrapes)
        for labels, values in answer.series.items():
            column = modes.get(dict(labels).get("mode", ""))
            if column:
                columns[column] = values * TICKS_PER_S
    cpus = target.select(names.CPU_NAMES, 'mode="idle"')
    for values in read_query(server, f"count(count by (cpu) ({cpus}))", scrapes).series.values():
        columns["cpus_online"] = values
    return columns


def _boots(values: NDArray[np.float64]) -> list[float]:
    """Return boot times, once each: a clock that is set moves them a little."""
    boots: list[float] = []
    for value in values[np.isfinite(values)].tolist():
        if not boots or value - boots[-1] > BOOT_JITTER_S:
            boots.append(value)
    return boots


def _facts(server: Server, target: Target, scrapes: Scrapes, columns: Columns) -> dict[str, str]:
    facts: dict[str, str] = {}
    for labels in _info(server, target, "node_uname_info", scrapes):
        facts |= {"kernel": labels.get("release", ""), "hostname": labels.get("nodename", "")}
    for column, fact in (("cpus_online", "cores"), ("mem_total_bytes", "mem_total_bytes")):
        values = columns.get(column)
        if values is not None and np.isfinite(values).any():
            facts[fact] = f"{np.nanmedian(values):.0f}"
    return {name: text for name, text in facts.items() if text}


def _info(server: Server, target: Target, name: str, scrapes: Scrapes) -> list[dict[str, str]]:
    """Return the labels of an info metric at the last scrape."""
    moment = int(scrapes.wall_ns[-1]) / NS_PER_S + 1
    return [series.labels for series in server.at(target.select([name]), moment)]


def _read_disks(server: Server, target: Target, scrapes: Scrapes, parts: _Parts) -> None:
    readings = read_query(server, target.select(w.name for w in names.DISK), scrapes)
    disks = {device: part.columns(names.DISK) for device, part in readings.by_label("device").items()}
    facts = {
        labels["device"]: DeviceFacts(
            model=labels.get("model") or None,
            serial=labels.get("serial") or None,
            wwid=labels.get("wwn") or None,
            major_minor=f"{labels.get('major', '?')}:{labels.get('minor', '?')}",
        )
        for labels in _info(server, target, names.DISK_FACTS, scrapes)
        if "device" in labels
    }
    versions = [
        labels.get("version", "") for labels in _info(server, target, "node_exporter_build_info", scrapes)
    ]
    enlarged = [device for device in disks if _is_4kn(disks[device], versions)]
    for device in enlarged:
        for column in set(names.BYTE_COLUMNS) & set(disks[device]):
            disks[device][column] = disks[device][column] / FOUR_KN_FACTOR
    if enlarged:
        parts.findings.append(four_kn(enlarged))
    joined = join_paths(disks)
    if joined:
        parts.findings.append(paths_joined(joined))
    found = devices_of(tuple(disks), facts)
    parts.topology = found.topology
    parts.findings += found.findings
    parts.blocks += [
        Block(table="device", texts={"device": name}, wall_ns=scrapes.wall_ns, columns=disks[name])
        for name in found.kept
    ]


def _is_4kn(columns: Mapping[str, NDArray[np.float64]], versions: list[str]) -> bool:
    """Return whether bytes were counted with the drive's own sector: node_exporter before 1.4.

    On a 4Kn drive a sector of diskstats was taken for 4096 bytes, and such a drive moves 8 of them at a time: all
    counts are multiples of 32 KiB, which no drive of 512-byte sectors keeps up.
    """
    if not any(version.startswith(("1.0.", "1.1.", "1.2.", "1.3.")) for version in versions):
        return False
    values = np.concatenate([columns[c] * 512.0 for c in names.BYTE_COLUMNS if c in columns] or [np.empty(0)])
    distinct = np.unique(values[np.isfinite(values) & (values > 0)])
    return distinct.size >= FEWEST_FOR_4KN and bool((distinct % FOUR_KN_BYTES == 0).all())


def _read_groups(server: Server, target: Target, scrapes: Scrapes, parts: _Parts) -> None:
    """Read process groups of process-exporter, or containers of cAdvisor."""
    wanted = names.PROCESS if target.exporter is Exporter.PROCESS else names.CADVISOR
    readings = read_query(server, target.select(w.name for w in wanted), scrapes)
    for group, part in readings.by(lambda labels: names.group_of(labels)[0]).items():
        if group in target.groups and group not in parts.nodeos:
            _add_nodeos(group, part.columns(wanted), scrapes, parts)


def _add_nodeos(name: str, columns: Columns, scrapes: Scrapes, parts: _Parts) -> None:
    started_s = columns.pop("start_ticks", None)
    if started_s is not None and parts.boots_s:
        boots = np.array(parts.boots_s)
        at = np.maximum(np.searchsorted(boots, scrapes.wall_ns / NS_PER_S, side="right") - 1, 0)
        columns["start_ticks"] = (np.where(started_s > 0, started_s, np.nan) - boots[at]) * TICKS_PER_S
        parts.events += _restarts(name, columns["start_ticks"], scrapes)
    io_columns = [c for c in ("io_read_bytes_total", "io_write_bytes_total") if c in columns]
    if io_columns and not any(np.nansum(columns[c]) > 0 for c in io_columns):
        for column in io_columns:  # process-exporter shows 0 where /proc/PID/io is refused
            del columns[column]
    parts.nodeos[name] = Nodeos(id=name, pid=0, start_ticks=0)
    parts.blocks.append(
        Block(table="nodeos", texts={"nodeos": name}, wall_ns=scrapes.wall_ns, columns=columns)
    )


def _restarts(name: str, start_ticks: NDArray[np.float64], scrapes: Scrapes) -> list[Event]:
    known = np.flatnonzero(np.isfinite(start_ticks))
    moved = known[1:][np.abs(np.diff(start_ticks[known])) > TICKS_PER_S]
    return [
        Event(
            boottime_ns=0,
            wall_ns=int(scrapes.wall_ns[row]),
            kind="nodeos-restarted",
            subject=name,
            detail="its start time changed before this scrape",
        )
        for row in moved.tolist()
    ]


def _read_nodeos(server: Server, target: Target, scrapes: Scrapes, parts: _Parts) -> None:
    readings = read_query(server, target.select(w.name for w in names.NODEOS), scrapes)
    columns = readings.columns(names.NODEOS)
    info = _info(server, target, names.NODEOS_FACTS, scrapes)
    version = next((labels.get("server_version_string") for labels in info), None)
    taken = {block.texts["nodeos"] for block in parts.blocks if block.table == "chain"}
    free = [name for name in parts.nodeos if name not in taken]
    name = free[0] if free else f"nodeos-{len(taken) + 1}" if taken else "nodeos"
    parts.nodeos[name] = Nodeos(id=name, pid=0, start_ticks=0, version=version)
    parts.blocks.append(
        Block(table="chain", texts={"nodeos": name}, wall_ns=scrapes.wall_ns, columns=columns)
    )


_READERS = {
    Exporter.NODE: _read_node,
    Exporter.PROCESS: _read_groups,
    Exporter.CADVISOR: _read_groups,
    Exporter.NODEOS: _read_nodeos,
}
