"""A verdict on writes carries what the kernel did otherwise: nodeos is not credited with it."""

from dataclasses import replace

import numpy as np
import pytest

from leapprof.assess.compare import compare
from leapprof.model import Grade
from tests.support.recordings import DRIVE, MOUNT, PARTITION, level, noisy, pair

HOURS_2 = 7200
PAIR = {"write_bytes": noisy(HOURS_2, 4e6, seed=2)}
AFTER = {"write_bytes": noisy(HOURS_2, 1e6, seed=4)}


def writes(comparison):
    """Return the verdict on the writes of the drive."""
    return next(
        m
        for m in comparison.metrics
        if m.name == "device.write_bytes_per_s" and m.subject.device == "nvme0n1"
    )


def test_like_kernels_leave_the_verdict_alone():
    """Nothing else differs."""
    found = writes(compare(*pair(before=PAIR, after=AFTER)))
    assert found.grade is Grade.FULL
    assert "kernel" not in found.reason


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ({"facts": {"kernel": "6.18"}}, "kernel 6.1 and 6.18"),
        ({"facts": {"dirty_ratio": "5"}}, None),
        (
            {"devices": (DRIVE, replace(PARTITION, read_ahead_kb=8192))},
            "read-ahead of the state's device 128 kB and 8192 kB",
        ),
    ],
)
def test_what_the_kernel_does_otherwise_is_in_the_verdict(after, said):
    """Another kernel or read-ahead forbids a full verdict; a setting that one side does not know does not."""
    before = {**PAIR, "devices": (DRIVE, replace(PARTITION, read_ahead_kb=128))}
    rest = {"devices": before["devices"], **after}
    found = writes(compare(*pair(before=before, after={**AFTER, **rest})))
    assert (said in found.reason) if said else "kernel" not in found.reason
    assert (found.grade is Grade.PRELIMINARY) is bool(said)


def test_another_filesystem_is_in_the_verdict():
    """The same state on xfs."""
    before, after = pair(before=PAIR, after=AFTER)
    topology = replace(after.manifest.topology, mounts=(replace(MOUNT, filesystem="xfs"),))
    after = replace(after, manifest=replace(after.manifest, topology=topology))
    assert "filesystem of the state ext4 and xfs" in writes(compare(before, after)).reason


def test_large_folios_on_one_side_are_in_the_verdict():
    """The state lay in 2 MiB pieces before: the fall of writes is not nodeos's alone."""
    before, after = pair(before=PAIR, after=AFTER)
    before.tables["host"].integers["file_pmd_mapped_bytes"] = level(np.full(HOURS_2, 9e8))
    found = writes(compare(before, after))
    assert "2 MiB pieces" in found.reason
    assert found.grade is Grade.PRELIMINARY


def test_large_folios_on_both_sides_are_one_condition():
    """As much before as after: the difference is not theirs."""
    before, after = pair(before=PAIR, after=AFTER)
    for side, size in ((before, 9e8), (after, 8.5e8)):
        side.tables["host"].integers["file_pmd_mapped_bytes"] = level(np.full(HOURS_2, size))
    found = writes(compare(before, after))
    assert "2 MiB pieces" not in found.reason
    assert found.grade is Grade.FULL


def test_other_metrics_do_not_carry_it():
    """CPU has no part in write-back."""
    comparison = compare(*pair(before=PAIR, after={**AFTER, "facts": {"kernel": "6.18"}}))
    cpu = next(m for m in comparison.metrics if m.name == "nodeos.cpu_cores")
    assert "kernel" not in cpu.reason
