"""Bytes of a cgroup by device: io.stat (v2), blkio.throttle.* (v1).

Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/blkio-controller.rst. Version 1 does not charge
buffered writes to the cgroup that made them. Devices are ``major:minor``.
"""

import re
from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.probes.text import integer

_DEVICE = re.compile(r"[0-9]{1,7}:[0-9]{1,7}", re.ASCII)
_V2_KEYS = {
    "rbytes": "cgroup_read_bytes_total",
    "wbytes": "cgroup_write_bytes_total",
    "wios": "cgroup_writes_total",
}
_V1_FIELDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupIo:
    """Counters of one cgroup on one device: bytes and write operations."""

    cgroup_read_bytes_total: int | None = None
    cgroup_write_bytes_total: int | None = None
    cgroup_writes_total: int | None = None


def parse_io_stat(text: str) -> dict[str, CgroupIo]:
    """Return the counters of io.stat by device.

    Some kernels print devices without counters in front of the next one on the same line; the counters
    are those of the last one named.

    Raises:
        ParseError: a line that does not begin with a device, or a counter that is no integer.
    """
    found: dict[str, CgroupIo] = {}
    for line in text.split("\n"):
        words = line.split()
        if not words:
            continue
        device = ""
        values: dict[str, int | None] = {}
        for word in words:
            if _DEVICE.fullmatch(word):
                device, values = word, {}
                continue
            key, equals, value = word.partition("=")
            if equals and key in _V2_KEYS:
                values[_V2_KEYS[key]] = integer(value, "io_stat", line)
        if not device:
            raise ParseError("io_stat", "'major:minor key=value …'", line=line)
        if values:
            found[device] = CgroupIo(**values)
    return found


def _v1_operations(text: str, probe: str) -> dict[str, dict[str, int | None]]:
    """Return device → {Read: …, Write: …} of a blkio.throttle file."""
    found: dict[str, dict[str, int | None]] = {}
    for line in text.split("\n"):
        words = line.split()
        if not words or words[0] == "Total":
            continue
        if len(words) != _V1_FIELDS or not _DEVICE.fullmatch(words[0]):
            raise ParseError(probe, "'major:minor operation value'", line=line)
        found.setdefault(words[0], {})[words[1]] = integer(words[2], probe, line)
    return found


def parse_blkio_service_bytes(text: str) -> dict[str, CgroupIo]:
    """Return the bytes of blkio.throttle.io_service_bytes by device.

    Raises:
        ParseError: a line of another form.
    """
    operations = _v1_operations(text, "blkio_service_bytes")
    return {
        device: CgroupIo(
            cgroup_read_bytes_total=values.get("Read"), cgroup_write_bytes_total=values.get("Write")
        )
        for device, values in operations.items()
    }


def parse_blkio_serviced(text: str) -> dict[str, CgroupIo]:
    """Return the write operations of blkio.throttle.io_serviced by device.

    Raises:
        ParseError: a line of another form.
    """
    operations = _v1_operations(text, "blkio_serviced")
    return {
        device: CgroupIo(cgroup_writes_total=values.get("Write")) for device, values in operations.items()
    }
