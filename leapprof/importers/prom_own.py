"""leapprof's own metrics on a server (of ``export`` or ``record --metrics-listen``) → recordings again."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from leapprof.importers.blocks import Block, Imported
from leapprof.importers.prom_findings import server_findings
from leapprof.importers.prom_server import Server, ServerSeries, TooMuchError
from leapprof.importers.prom_targets import FetchRequest
from leapprof.ingest.columns import TABLES
from leapprof.ingest.exposition import DERIVED_TEXTS, INFO, PREFIX, columns_by_sample, labels_text
from leapprof.model import Device, DeviceKind, Event, Host, Nodeos, Topology
from leapprof.units import NS_PER_S

CHUNK_S = 3600
SHORTEST_S = 10
SLOWER = 1.4
_Subject = tuple[str, tuple[tuple[str, str], ...]]
_Samples = dict[int, float]


@dataclass(slots=True, kw_only=True)
class _Own:
    """One recording while it is read: what was said, and (table, texts) → column → time in ms → value."""

    columns: dict[_Subject, dict[str, _Samples]] = field(default_factory=dict)
    info: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)
    events: dict[tuple[int, str, str, str], None] = field(default_factory=dict)


def fetch_own(server: Server, request: FetchRequest) -> Iterator[Imported]:
    """Yield the recordings that leapprof once wrote to a server.

    Raises:
        SourceError: it cannot be asked.
    """
    match = "{" + ",".join(part for part in (f'__name__="{INFO}"', request.selector) if part) + "}"
    found = server.series([match], request.start_s, request.end_s)
    names = sorted({(labels.get("host", ""), labels.get("phase", "")) for labels in found})
    for host, phase in names:
        yield _recording(server, request, host, phase)


def _recording(server: Server, request: FetchRequest, host: str, phase: str) -> Imported:
    own = _Own()
    matchers = [request.selector, labels_text({"host": host})]
    matchers.append(labels_text({"phase": phase}) if phase else 'phase=""')
    more = ",".join(part for part in matchers if part)
    for table in TABLES:
        for series in _raw(
            server, f'{{__name__=~"{PREFIX}_{table}_.+",{more}}}', request.start_s, request.end_s
        ):
            _add(own, table, series)
    for series in _raw(
        server, f'{{__name__=~"{INFO}|{PREFIX}_event",{more}}}', request.start_s, request.end_s
    ):
        _add_manifest(own, series)
    about = next(iter(own.info.get(INFO, {}).values()), {})
    blocks = tuple(_block(subject, columns) for subject, columns in sorted(own.columns.items()))
    return Imported(
        host=Host(
            name=host,
            boot_id=about.get("boot_id", ""),
            machine_id=about.get("machine_id") or None,
            facts={
                row["name"]: row.get("value", "")
                for row in own.info.get(f"{PREFIX}_host_fact_info", {}).values()
            },
        ),
        source=f"leapprof's own metrics of {server.access.shown}",
        interval_s=_interval_s(blocks, about.get("interval_s", "")),
        blocks=blocks,
        nodeos=_nodeos(own),
        topology=Topology(
            devices=tuple(_device(row) for row in own.info.get(f"{PREFIX}_device_info", {}).values())
        ),
        findings=server_findings(server),
        events=tuple(
            Event(boottime_ns=0, wall_ns=ms * (NS_PER_S // 1000), kind=kind, subject=subject, detail=detail)
            for ms, kind, subject, detail in own.events
        ),
        notes={"phase": phase, "selector": request.selector},
    )


def _raw(server: Server, selector: str, start_s: int, end_s: int) -> Iterator[ServerSeries]:
    """Yield raw samples, as they were written, a stretch at a time."""
    first, length = start_s, CHUNK_S
    while first < end_s:
        last = min(first + length, end_s)
        try:
            answer = server.at(f"{selector}[{last - first + 1}s]", last)
        except TooMuchError:
            if length <= SHORTEST_S:
                raise
            server.halved += 1
            length //= 2
            continue
        yield from answer
        first = last


def _add(own: _Own, table: str, series: ServerSeries) -> None:
    column = columns_by_sample(table).get(series.labels.get("__name__", ""))
    if column is None:
        _add_manifest(own, series)
        return
    texts = tuple((t, series.labels.get(t, "")) for t in TABLES[table].texts if t not in DERIVED_TEXTS)
    cells = own.columns.setdefault((table, texts), {}).setdefault(column, {})
    cells.update(
        zip(np.rint(series.time_s * 1000).astype(np.int64).tolist(), series.value.tolist(), strict=True)
    )


def _add_manifest(own: _Own, series: ServerSeries) -> None:
    labels = dict(series.labels)
    name = labels.pop("__name__", "")
    if name == f"{PREFIX}_event":
        ms = round(float(series.time_s[0]) * 1000)
        own.events[ms, labels.get("kind", ""), labels.get("subject", ""), labels.get("detail", "")] = None
    else:
        own.info.setdefault(name, {})[labels_text(dict(sorted(labels.items())))] = labels


def _interval_s(blocks: tuple[Block, ...], stated: str) -> float:
    """Return the recording's tick; that of the scraper where it asked less often than leapprof sampled."""
    tick_s = float(stated) if stated.replace(".", "", 1).isdecimal() else 1.0
    times = next((block.wall_ns for block in blocks if block.table == "host"), np.empty(0))
    usual_s = float(np.median(np.diff(times))) / NS_PER_S if times.size > 1 else tick_s
    return usual_s if usual_s > SLOWER * tick_s else tick_s


def _block(subject: _Subject, columns: dict[str, _Samples]) -> Block:
    table, texts = subject
    times = np.array(sorted(set().union(*columns.values())), dtype=np.int64)
    return Block(
        table=table,
        texts={name: text or None for name, text in texts},
        wall_ns=times * (NS_PER_S // 1000),
        columns={
            column: np.array([cells.get(t, np.nan) for t in times.tolist()], dtype=float)
            for column, cells in columns.items()
        },
    )


def _nodeos(own: _Own) -> tuple[Nodeos, ...]:
    roles: dict[str, dict[str, tuple[str, ...]]] = {}
    for row in own.info.get(f"{PREFIX}_nodeos_role_info", {}).values():
        of_one = roles.setdefault(row.get("nodeos", ""), {})
        of_one[row.get("role", "")] = (*of_one.get(row.get("role", ""), ()), row.get("device", ""))
    return tuple(
        Nodeos(
            id=row.get("nodeos", ""),
            pid=int(row.get("pid", "0")),
            start_ticks=int(row.get("start_ticks", "0")),
            version=row.get("version") or None,
            map_mode=row.get("map_mode") or None,
            roles=roles.get(row.get("nodeos", ""), {}),
        )
        for row in own.info.get(f"{PREFIX}_nodeos_info", {}).values()
    )


def _device(row: dict[str, str]) -> Device:
    return Device(
        name=row.get("device", ""),
        major_minor=row.get("major_minor", ""),
        kind=DeviceKind(row.get("kind", "other")),
        parents=tuple(part for part in row.get("parents", "").split(",") if part),
        model=row.get("model") or None,
        serial=row.get("serial") or None,
        wwid=row.get("wwid") or None,
    )
