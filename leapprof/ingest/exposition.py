"""Readings in the text of OpenMetrics and Prometheus, and the names that they have there.

A column ``write_sectors_total`` of table device is the counter ``leapprof_device_write_sectors`` (samples end in
``_total``, as OpenMetrics 1.0 wants), every other column a gauge of its own name. Labels are host, phase and the text
columns. ``seq``, ``boottime_ns`` and ``boot`` are gauges of each table, so that a recording can be put together again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.ingest.columns import TABLES
from leapprof.model import Nodeos, Recording, Table
from leapprof.units import NS_PER_MS

PREFIX = "leapprof"
KEY_GAUGES = ("seq", "boottime_ns", "boot")
DERIVED_TEXTS = frozenset({"stage"})
"""Text columns that are worked out on reading and are no labels."""
INFO = f"{PREFIX}_recording_info"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})
Labels = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Name:
    """A column's names.

    Attributes:
        family: of OpenMetrics' TYPE line.
        sample: of its samples.
        kind: counter or gauge.
    """

    family: str
    sample: str
    kind: str


def name_of(table: str, column: str) -> Name:
    """Return the names of a column."""
    sample = f"{PREFIX}_{table}_{column}"
    if column.endswith("_total"):
        return Name(family=sample.removesuffix("_total"), sample=sample, kind="counter")
    return Name(family=sample, sample=sample, kind="gauge")


def columns_by_sample(table: str) -> dict[str, str]:
    """Return the sample name of every column of a table → the column."""
    return {name_of(table, column).sample: column for column in (*TABLES[table].integers, *KEY_GAUGES)}


def labels_text(labels: Labels) -> str:
    """Return labels as ``a="x",b="y"``, escaped; empty ones are left out, as they mean nothing there."""
    return ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items() if value)


def subjects_of(table: Table) -> list[tuple[dict[str, str], NDArray[np.intp]]]:
    """Return the text columns' values of each subject and its rows."""
    texts = [name for name in sorted(table.texts) if name not in DERIVED_TEXTS]
    if not texts:
        return [({}, np.arange(table.rows))]
    rows: dict[tuple[str, ...], list[int]] = {}
    for row, values in enumerate(zip(*(table.texts[name] for name in texts), strict=True)):
        rows.setdefault(tuple(value or "" for value in values), []).append(row)
    return [(dict(zip(texts, values, strict=True)), np.array(at)) for values, at in sorted(rows.items())]


def table_lines(table: Table, labels: Labels) -> Iterator[str]:
    """Yield the text of a table, some lines at a time: one family a column, times in seconds.

    Args:
        table: of a recording.
        labels: that every sample has: host and phase.
    """
    subjects = subjects_of(table)
    for column in sorted({*table.integers} - {"wall_ns"}):
        name, cells = name_of(table.name, column), table.integers[column]
        if not cells.present.any():
            continue
        yield f"# TYPE {name.family} {name.kind}\n"
        for texts, rows in subjects:
            at = rows[cells.present[rows]]
            head = f"{name.sample}{{{labels_text({**labels, **texts})}}}"
            times_ms = table.integers["wall_ns"].values[at] // NS_PER_MS
            yield "".join(
                f"{head} {value} {ms // 1000}.{ms % 1000:03d}\n"
                for value, ms in zip(cells.values[at].tolist(), times_ms.tolist(), strict=True)
            )


def manifest_lines(manifest: Recording, labels: Labels) -> Iterator[str]:
    """Yield what a manifest says, as info metrics at the recording's first and last sample, and its events."""
    ends = [ns for ns in (manifest.started_wall_ns, manifest.ended_wall_ns) if ns is not None]
    for family, rows in info_rows(manifest).items():
        yield f"# TYPE {family} gauge\n"
        for row in rows:
            for wall_ns in dict.fromkeys(ends):
                yield f"{family}{{{labels_text({**labels, **row})}}} 1 {_seconds(wall_ns)}\n"
    if manifest.events:
        yield f"# TYPE {PREFIX}_event gauge\n"
        for event in manifest.events:
            text = {"kind": event.kind, "subject": event.subject, "detail": event.detail}
            yield f"{PREFIX}_event{{{labels_text({**labels, **text})}}} 1 {_seconds(event.wall_ns)}\n"


def info_rows(manifest: Recording) -> dict[str, list[dict[str, str]]]:
    """Return what is known of host, nodeos and devices, as labels of info metrics."""
    interval = {"interval_s": f"{manifest.interval_s:g}", "transport": manifest.transport}
    rows = {
        INFO: [interval | {"boot_id": manifest.host.boot_id, "machine_id": manifest.host.machine_id or ""}],
        f"{PREFIX}_host_fact_info": [{"name": n, "value": v} for n, v in sorted(manifest.host.facts.items())],
        f"{PREFIX}_nodeos_info": [_nodeos(n) for n in manifest.nodeos],
        f"{PREFIX}_nodeos_role_info": [
            {"nodeos": n.id, "role": role, "device": device}
            for n in manifest.nodeos
            for role, devices in sorted(n.roles.items())
            for device in devices
        ],
        f"{PREFIX}_device_info": [
            {
                "device": d.name,
                "kind": d.kind.value,
                "major_minor": d.major_minor,
                "parents": ",".join(d.parents),
                "model": d.model or "",
                "serial": d.serial or "",
                "wwid": d.wwid or "",
            }
            for d in manifest.topology.devices
        ],
    }
    return {family: found for family, found in rows.items() if found}


def _nodeos(nodeos: Nodeos) -> dict[str, str]:
    return {
        "nodeos": nodeos.id,
        "pid": str(nodeos.pid),
        "start_ticks": str(nodeos.start_ticks),
        "version": nodeos.version or "",
        "map_mode": nodeos.map_mode or "",
    }


def _seconds(wall_ns: int) -> str:
    ms = wall_ns // NS_PER_MS
    return f"{ms // 1000}.{ms % 1000:03d}"
