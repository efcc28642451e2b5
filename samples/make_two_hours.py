"""Make samples/standin-two-hours of the recordings of a real run: smaller, and without what is not theirs.

    python -m samples.make_two_hours RECORDINGS [--out samples/standin-two-hours]

RECORDINGS is what ``leapprof record node-host --phase before`` and ``--phase after`` left, an hour each at 1 Hz over
SSH: two stand-ins on one machine, each with its data on a loop device of its own with read-ahead off; ``a`` was
changed from mapped to mapped_private between the phases, ``b`` was left alone. Every sample is kept, of the columns
that leapprof reads today and of the devices that carry the stand-ins' data; mounts, devices and ids of other programs
of the machine are left out.
"""

import sys
from pathlib import Path

from samples.smaller import Kept, make_smaller

OUT = Path(__file__).parent / "standin-two-hours"
BACKING_FILES = {"loop0": "/srv/disk-a.img", "loop2": "/srv/disk-b.img", "vda": None}
MOUNTS = ("/", "/srv/node-a", "/srv/node-b")
NOTES = {
    "made by": "samples/make_two_hours.py",
    "what ran": "two of leapprof's stand-ins, no nodeos, each on an ext4 loop device of its own with read-ahead off, "
    "600 MB of state in use, 13 transactions a second",
    "what was changed": "a: database-map-mode from mapped to mapped_private, after a clean stop; b: nothing",
    "noise": "other programs used the CPUs and the disk below the loop devices at the same time",
}


KEPT = {
    phase: (
        f"node-host-{phase}-*",
        Kept(
            backing_files=BACKING_FILES,
            mounts=MOUNTS,
            command=f"leapprof record node-host --phase {phase} --duration 60m --out recordings",
            notes=NOTES,
        ),
    )
    for phase in ("before", "after")
}

if __name__ == "__main__":
    sys.exit(make_smaller("make samples/standin-two-hours of the recordings of a run", OUT, KEPT))
