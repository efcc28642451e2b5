"""Make samples/standin-two-hours of the recordings of a real run: smaller, and without what is not theirs.

    python -m samples.make_two_hours RECORDINGS [--out samples/standin-two-hours]

RECORDINGS is what ``leapprof record node-host --phase before`` and ``--phase after`` left, an hour each at 1 Hz over
SSH: two stand-ins on one machine, each with its data on a loop device of its own with read-ahead off; ``a`` was
changed from mapped to mapped_private between the phases, ``b`` was left alone. Every sample is kept, of the columns
that leapprof reads today and of the devices that carry the stand-ins' data; mounts, devices and ids of other programs
of the machine are left out.
"""

import argparse
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from leapprof.assess.load import LoadedRecording, load
from leapprof.assess.metrics import METRICS
from leapprof.model import Recording, Table, Topology
from leapprof.store import RecordingWriter

OUT = Path(__file__).parent / "standin-two-hours"
DEVICES = ("loop0", "loop2", "vda")
BACKING_FILES = {"loop0": "/srv/disk-a.img", "loop2": "/srv/disk-b.img"}
MOUNTS = ("/", "/srv/node-a", "/srv/node-b")
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
NOTES = {
    "made by": "samples/make_two_hours.py",
    "what ran": "two of leapprof's stand-ins, no nodeos, each on an ext4 loop device of its own with read-ahead off, "
    "600 MB of state in use, 13 transactions a second",
    "what was changed": "a: database-map-mode from mapped to mapped_private, after a clean stop; b: nothing",
    "noise": "other programs used the CPUs and the disk below the loop devices at the same time",
}


def manifest_of(found: Recording) -> Recording:
    """Return a manifest without what belongs to other programs of the machine."""
    topology = found.topology
    devices = tuple(
        replace(d, backing_file=BACKING_FILES.get(d.name)) for d in topology.devices if d.name in DEVICES
    )
    mounts = tuple(m for m in topology.mounts if m.point in MOUNTS)
    return replace(
        found,
        host=replace(found.host, machine_id=None),
        nodeos=tuple(replace(n, cgroup=None) for n in found.nodeos),
        topology=Topology(devices=devices, mounts=mounts, swaps=topology.swaps),
        commands=(f"leapprof record node-host --phase {found.phase} --duration 60m --out recordings",),
        notes=NOTES,
    )


def table_of(found: Table) -> Table:
    """Return a table with the devices and columns that are kept."""
    wanted = {c for spec in METRICS if spec.table == found.name for c in spec.columns} | KEYS
    keep = np.ones(found.rows, dtype=bool)
    if "device" in found.texts:
        keep = np.isin(found.texts["device"].astype(str), DEVICES)
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


def make(recording: LoadedRecording, directory: Path) -> Path:
    """Write one phase in place of what the directory holds; return the directory."""
    if directory.exists():
        shutil.rmtree(directory)
    with RecordingWriter.create(directory, manifest_of(recording.manifest)) as writer:
        writer.seal({name: table_of(recording.table(name)) for name in recording.table_names})
    return directory


def main() -> int:
    """Make both phases."""
    parser = argparse.ArgumentParser(description="make samples/standin-two-hours of the recordings of a run")
    parser.add_argument("recordings", type=Path)
    parser.add_argument("--out", type=Path, default=OUT)
    arguments = parser.parse_args()
    for phase in ("before", "after"):
        (found,) = arguments.recordings.glob(f"node-host-{phase}-*")
        print(make(load(found), arguments.out / phase))
    return 0


if __name__ == "__main__":
    sys.exit(main())
