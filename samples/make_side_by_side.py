"""Make samples/standin-side-by-side of the recordings of a real run: smaller, and without what is not theirs.

    python -m samples.make_side_by_side RECORDINGS [--out samples/standin-side-by-side]

RECORDINGS is what ``leapprof record node-a``, ``node-b`` and ``node-c`` left, more than two hours each at 1 Hz over
SSH and all at the same time: three stand-ins on one machine, each with its data on a loop device of its own with
read-ahead off; ``a`` in mapped, ``b`` and ``c`` in mapped_private. What differs between ``a`` and ``b`` is the map
mode; between ``b`` and ``c`` nothing does. Every sample is kept, of the columns that leapprof reads today and of the
devices that carry the stand-in's data.
"""

import sys
from pathlib import Path

from samples.smaller import Kept, make_smaller

OUT = Path(__file__).parent / "standin-side-by-side"
NODES = {"a": ("mapped", "loop0"), "b": ("mapped_private", "loop1"), "c": ("mapped_private-again", "loop2")}
"""Node → name of its recording, device of its data."""
NOTES = {
    "made by": "samples/make_side_by_side.py",
    "what ran": "three of leapprof's stand-ins at the same time, no nodeos, each on an ext4 loop device of its own "
    "with read-ahead off, 600 MB of state in use, 13 transactions a second",
    "what differs": "a: database-map-mode mapped; b and c: mapped_private, and alike",
    "noise": "other programs used the CPUs and the disk below the loop devices at the same time",
}


KEPT = {
    name: (
        f"node-{node}-*",
        Kept(
            backing_files={device: f"/srv/disk-{node}.img", "vda": None},
            mounts=("/", f"/srv/node-{node}"),
            command=f"leapprof record node-{node} --duration 132m --out recordings",
            notes=NOTES,
        ),
    )
    for node, (name, device) in NODES.items()
}

if __name__ == "__main__":
    sys.exit(make_smaller("make samples/standin-side-by-side of the recordings of a run", OUT, KEPT))
