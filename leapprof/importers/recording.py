"""Imported readings become an ordinary recording: tables, clock, boots, gaps and manifest."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leapprof import __version__
from leapprof.assess.gaps import find_gaps
from leapprof.assess.samples import IDENTITY_COLUMNS
from leapprof.errors import NotEnoughDataError, StoreError
from leapprof.importers.blocks import Block, Imported
from leapprof.importers.naming import recording_name
from leapprof.model import Column, Event, Recording, SamplingCost, Table
from leapprof.store import RecordingWriter
from leapprof.store.segments import SegmentRange, concatenate
from leapprof.units import NS_PER_S

LARGEST = 2.0**62
FIRST_BOOTTIME_NS = NS_PER_S
"""Boot time of the first reading when the source does not know when the host was booted."""
_MOST_NAMES = 1000


def write_recording(found: Imported, out: Path, *, phase: str, command: str) -> Path:
    """Write one host's readings as a recording below a directory and return where.

    Args:
        found: the readings.
        out: directory for recordings; made when it does not exist.
        phase: before, after, a name, or empty.
        command: that made it, for the manifest.

    Raises:
        NotEnoughDataError: there is no reading.
        StoreError: the disk refuses.
    """
    tables = tables_of(found)
    host = tables["host"]
    wall_ns = host.integers["wall_ns"].values
    manifest = _manifest(found, host, phase, command)
    directory = _free(out, recording_name(found.host.name, phase, int(wall_ns[0])))
    with RecordingWriter.create(directory, manifest) as writer:
        writer.seal(tables, _covered(tables.values()))
    return directory


def tables_of(found: Imported) -> dict[str, Table]:
    """Return the tables of an import, by name; table ``host`` is always there, the recording's clock.

    Raises:
        NotEnoughDataError: there is no reading.
    """
    blocks = [block for block in found.blocks if block.wall_ns.size]
    if not blocks:
        raise NotEnoughDataError(found.host.name, "no readings", "at least one reading to import")
    if not any(block.table == "host" for block in blocks):
        times = np.unique(np.concatenate([block.wall_ns for block in blocks]))
        blocks.append(Block(table="host", texts={}, wall_ns=times, columns={}))
    first_ns = min(int(block.wall_ns[0]) for block in blocks)
    parts: dict[str, list[Table]] = {}
    for block in blocks:
        parts.setdefault(block.table, []).append(_table(block, found, first_ns))
    return {name: concatenate(name, tables) for name, tables in parts.items()}


def _table(block: Block, found: Imported, first_ns: int) -> Table:
    wall_ns = block.wall_ns
    boots = np.array(found.boots_wall_ns, dtype=np.int64)
    boot = np.zeros(wall_ns.size, dtype=np.int64)
    origin = np.full(wall_ns.size, first_ns - FIRST_BOOTTIME_NS, dtype=np.int64)
    if boots.size:
        boot = np.maximum(np.searchsorted(boots, wall_ns, side="right") - 1, 0).astype(np.int64)
        origin = np.minimum(boots[boot], first_ns - FIRST_BOOTTIME_NS) if boots.size == 1 else boots[boot]
    step_ns = max(found.interval_s, 1e-3) * NS_PER_S
    keys = {
        "seq": np.rint((wall_ns - first_ns) / step_ns).astype(np.int64) + 1,
        "boottime_ns": wall_ns - origin,
        "wall_ns": wall_ns,
        "boot": boot,
    }
    everywhere = np.ones(wall_ns.size, dtype=np.bool_)
    integers = {name: Column(values=values, present=everywhere) for name, values in keys.items()}
    integers |= {name: _column(values) for name, values in block.columns.items()}
    for name in IDENTITY_COLUMNS.get(block.table, ()):
        integers.setdefault(name, _column(np.full(wall_ns.size, np.nan)))
    texts = {name: np.full(wall_ns.size, text, dtype=object) for name, text in block.texts.items()}
    return Table(name=block.table, rows=int(wall_ns.size), integers=integers, texts=texts)


def _column(values: NDArray[np.float64]) -> Column:
    present = np.isfinite(values) & (np.abs(np.nan_to_num(values)) < LARGEST)
    return Column(values=np.rint(np.where(present, values, 0.0)).astype(np.int64), present=present)


def _covered(tables: Iterable[Table]) -> SegmentRange:
    rows = [(t.integers["seq"].values, t.integers["wall_ns"].values) for t in tables]
    return SegmentRange(
        first_seq=min(int(seq.min()) for seq, _ in rows),
        last_seq=max(int(seq.max()) for seq, _ in rows),
        first_wall_ns=min(int(wall.min()) for _, wall in rows),
        last_wall_ns=max(int(wall.max()) for _, wall in rows),
    )


def _manifest(found: Imported, host: Table, phase: str, command: str) -> Recording:
    wall_ns = host.integers["wall_ns"].values
    events = tuple(sorted((*found.events, *_reboots(host)), key=lambda e: (e.wall_ns, e.kind, e.subject)))
    nodeos = tuple(replace(n, options=dict(n.options)) for n in found.nodeos)
    return Recording(
        host=found.host,
        nodeos=nodeos,
        topology=found.topology,
        phase=phase,
        interval_s=found.interval_s,
        started_wall_ns=int(wall_ns[0]),
        ended_wall_ns=int(wall_ns[-1]),
        transport="import",
        cost=SamplingCost(agent="import", samples=host.rows, cpu_s=None, rss_bytes=None, wire_bytes=0),
        gaps=find_gaps(host, found.interval_s, events),
        events=events,
        findings=found.findings,
        absent=found.absent,
        commands=(command,) if command else (),
        notes={"leapprof": __version__, "import_source": found.source, **found.notes},
    )


def _reboots(host: Table) -> Sequence[Event]:
    boot = host.integers["boot"].values
    return [
        Event(
            boottime_ns=int(host.integers["boottime_ns"].values[row]),
            wall_ns=int(host.integers["wall_ns"].values[row]),
            kind="reboot",
            subject="",
            detail="the host was booted before this reading",
        )
        for row in (np.flatnonzero(np.diff(boot) != 0) + 1).tolist()
    ]


def _free(out: Path, name: str) -> Path:
    """Return a directory that does not exist yet: recordings are never overwritten."""
    for number in range(1, _MOST_NAMES):
        directory = out / (name if number == 1 else f"{name}-{number}")
        if not directory.exists():
            return directory
    raise StoreError(str(out), f"holds {_MOST_NAMES} recordings named {name} already; give another directory")
