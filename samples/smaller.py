"""Real recordings made small enough to keep: without the columns that nobody reads and what is not their host's own."""

import argparse
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from leapprof.assess.load import LoadedRecording, load
from leapprof.assess.metrics import METRICS
from leapprof.model import Recording, Table, Topology
from leapprof.store import RecordingWriter

KEYS = frozenset(
    {
        "seq",
        "boottime_ns",
        "wall_ns",
        "boot",
        "pid",
        "start_ticks",
        "http_status",
        "http_elapsed_us",
        "http_errors",
    }
)
"""What tells rows, processes and answers apart, beside the columns that metrics are made of."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What stays in a manifest.

    Attributes:
        backing_files: device → file below it, as it is to be named; None for a drive.
        mounts: points.
        command: that recorded it, as an operator would have written it.
        notes: how it came about.
    """

    backing_files: Mapping[str, str | None]
    mounts: tuple[str, ...]
    command: str
    notes: Mapping[str, str]


def make_smaller(what: str, out: Path, kept: Mapping[str, tuple[str, Kept]]) -> int:
    """Run a program that makes a sample: RECORDINGS [--out DIRECTORY].

    Args:
        what: the program does.
        out: directory of the sample.
        kept: directory of a recording below it → pattern of its name among RECORDINGS, and what stays of it.
    """
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument("recordings", type=Path)
    parser.add_argument("--out", type=Path, default=out)
    arguments = parser.parse_args()
    for name, (pattern, stays) in kept.items():
        (found,) = arguments.recordings.glob(pattern)
        print(write_smaller(load(found), stays, arguments.out / name))
    return 0


def write_smaller(recording: LoadedRecording, kept: Kept, directory: Path) -> Path:
    """Write a recording in place of what the directory holds; return the directory."""
    if directory.exists():
        shutil.rmtree(directory)
    names = recording.table_names
    with RecordingWriter.create(directory, _manifest_of(recording.manifest, kept)) as writer:
        writer.seal({name: _table_of(recording.table(name), kept) for name in names})
    return directory


def _manifest_of(found: Recording, kept: Kept) -> Recording:
    """Return a manifest without what belongs to other programs of the machine."""
    topology = found.topology
    devices = tuple(
        replace(d, backing_file=kept.backing_files[d.name])
        for d in topology.devices
        if d.name in kept.backing_files
    )
    mounts = tuple(m for m in topology.mounts if m.point in kept.mounts)
    return replace(
        found,
        host=replace(found.host, machine_id=None),
        nodeos=tuple(replace(n, cgroup=None) for n in found.nodeos),
        topology=Topology(devices=devices, mounts=mounts, swaps=topology.swaps),
        commands=(kept.command,),
        notes=dict(kept.notes),
    )


def _table_of(found: Table, kept: Kept) -> Table:
    """Return a table with the devices and columns that are kept."""
    wanted = {c for spec in METRICS if spec.table == found.name for c in spec.columns} | KEYS
    keep = np.ones(found.rows, dtype=bool)
    if "device" in found.texts:
        keep = np.isin(found.texts["device"].astype(str), list(kept.backing_files))
    return Table(
        name=found.name,
        rows=int(keep.sum()),
        integers={
            name: replace(column, values=column.values[keep], present=column.present[keep])
            for name, column in found.integers.items()
            if name in wanted
        },
        texts={
            name: text[keep] for name, text in found.texts.items() if name not in {"stage", "stage_source"}
        },
    )
