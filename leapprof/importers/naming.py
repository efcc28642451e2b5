"""Names: of an imported recording's directory, and what a block device's name alone says."""

import re
from collections.abc import Collection
from datetime import UTC, datetime

from leapprof.model import DeviceKind
from leapprof.units import NS_PER_S

MAX_PART_CHARS = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_PARTITION = re.compile(r"(?P<disk>.*?[^\d])(?P<number>\d+)|(?P<numbered>.*\d)p(?P<part>\d+)")
_KINDS = (
    (re.compile(r"dm-\d+|dev25[34]-\d+"), DeviceKind.DEVICE_MAPPER),
    (re.compile(r"md\d+|md_.*"), DeviceKind.MD),
    (re.compile(r"bcache\d+"), DeviceKind.BCACHE),
    (re.compile(r"loop\d+"), DeviceKind.LOOP),
    (re.compile(r"zram\d+"), DeviceKind.ZRAM),
    (re.compile(r"ram\d+"), DeviceKind.RAM),
    (re.compile(r"(nbd|rbd|drbd)\d+"), DeviceKind.NETWORK),
    (re.compile(r"zd\d+"), DeviceKind.ZVOL),
    (re.compile(r"nvme\d+c\d+n\d+"), DeviceKind.MULTIPATH_PATH),
    (re.compile(r"(vd|xvd)[a-z]+"), DeviceKind.VIRTUAL),
    (re.compile(r"(sr|fd)\d+"), DeviceKind.OTHER),
)
STACKED = frozenset({DeviceKind.DEVICE_MAPPER, DeviceKind.MD, DeviceKind.BCACHE})


def recording_name(host: str, phase: str, started_wall_ns: int) -> str:
    """Return ``<host>-<phase>-<start>`` without anything that is not fit for a file name."""
    start = datetime.fromtimestamp(started_wall_ns // NS_PER_S, UTC).strftime("%Y%m%dT%H%M%SZ")
    return "-".join(part for part in (safe_name(host) or "host", safe_name(phase), start) if part)


def safe_name(text: str) -> str:
    """Return text fit for a part of a file name; may be empty."""
    return _UNSAFE.sub("-", text)[:MAX_PART_CHARS].strip(".-")


def kind_of(name: str) -> DeviceKind:
    """Return what a kernel name says of a device; DISK when it says nothing."""
    return next((kind for form, kind in _KINDS if form.fullmatch(name)), DeviceKind.DISK)


def is_partition(name: str, names: Collection[str]) -> bool:
    """Return whether a device is a partition of another one that is there: sda1 of sda, nvme0n1p1 of nvme0n1."""
    found = _PARTITION.fullmatch(name)
    disk = (found["disk"] or found["numbered"]) if found else None
    return disk is not None and disk in names
