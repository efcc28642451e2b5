"""The block devices of an import: a source has names and counters, not the device graph.

Partitions lie on disks that are counted themselves and are left out. Device-mapper, md and bcache devices lie on
drives that are counted too: with one drive it is the one below them; with several nobody knows, so they are kept in
the tables and left out of the topology. NVMe paths (nvme0c0n1) count only where their head is silent (as in atop).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.importers.naming import STACKED, is_partition, kind_of
from leapprof.model import Device, DeviceKind, Finding, Severity, Topology
from leapprof.units import SECTOR_BYTES

WEARLESS = frozenset({DeviceKind.LOOP, DeviceKind.ZRAM, DeviceKind.RAM, DeviceKind.OTHER, DeviceKind.ZVOL})
Columns = dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFacts:
    """What a source says of a device beside its counters; None where it does not."""

    model: str | None = None
    serial: str | None = None
    wwid: str | None = None
    major_minor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ImportedDevices:
    """Devices worth keeping, the graph as far as it is known, and what to say about it."""

    kept: tuple[str, ...]
    topology: Topology
    findings: tuple[Finding, ...]


def devices_of(names: tuple[str, ...], facts: Mapping[str, DeviceFacts] | None = None) -> ImportedDevices:
    """Return which devices are kept, and which of them are drives.

    Args:
        names: kernel names that the source has counters of.
        facts: what it says of them.
    """
    facts = facts or {}
    kept = tuple(sorted(n for n in names if not is_partition(n, names)))
    kinds = {name: kind_of(name) for name in kept}
    drives = [
        n for n in kept if kinds[n] not in STACKED | WEARLESS and kinds[n] is not DeviceKind.MULTIPATH_PATH
    ]
    stacked = [n for n in kept if kinds[n] in STACKED]
    below = (drives[0],) if len(drives) == 1 else ()
    shown = [n for n in kept if n not in stacked or below or not drives]
    devices = tuple(_device(n, kinds[n], below if n in stacked else (), facts.get(n)) for n in shown)
    findings = (_unknown_stack(stacked, drives),) if stacked and len(drives) != 1 else ()
    return ImportedDevices(kept=kept, topology=Topology(devices=devices), findings=findings)


def _device(name: str, kind: DeviceKind, parents: tuple[str, ...], facts: DeviceFacts | None) -> Device:
    facts = facts or DeviceFacts()
    return Device(
        name=name,
        major_minor=facts.major_minor or f"?:{name}",
        kind=kind,
        parents=parents,
        model=facts.model,
        serial=facts.serial,
        wwid=facts.wwid,
    )


def _unknown_stack(stacked: list[str], drives: list[str]) -> Finding:
    what = "are counted" if drives else "are compared, since no drive below them was found"
    return Finding(
        code="device-graph-unknown",
        severity=Severity.INFO,
        message=f"The source does not say which drives {', '.join(stacked)} lie on: the "
        f"{'drives' if drives else 'logical devices'} {what}, so that nothing is counted twice.",
        hint="Record over SSH to see volumes and their drives together.",
    )


def join_paths(devices: dict[str, Columns]) -> tuple[str, ...]:
    """Put the sum of NVMe paths into a head that is silent, in place; return such heads.

    Args:
        devices: name → columns on the same times.
    """
    joined = []
    for head in sorted(devices):
        if kind_of(head) is DeviceKind.MULTIPATH_PATH:
            continue
        paths = [n for n in devices if kind_of(n) is DeviceKind.MULTIPATH_PATH and _head_of(n) == head]
        if not paths or _counts(devices[head]):
            continue
        for column in list(devices[head]):
            parts = [devices[path][column] for path in paths if column in devices[path]]
            if parts:
                devices[head][column] = np.sum(parts, axis=0)
        joined.append(head)
    return tuple(joined)


def _head_of(path: str) -> str:
    """Return nvme0n1 for nvme0c3n1."""
    controller, _, rest = path.partition("c")
    return controller + "n" + rest.partition("n")[2]


def _counts(columns: Columns) -> bool:
    return any(np.nansum(np.abs(values)) > 0 for values in columns.values() if np.isfinite(values).any())


def bytes_to_sectors(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 512-byte sectors of a count of bytes."""
    return values / SECTOR_BYTES
