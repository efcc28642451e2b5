"""/proc/diskstats: counters of every block device (Documentation/admin-guide/iostats.rst).

Lines have 14 fields, 18 since Linux 4.18 (discards), 20 since 5.5 (flushes); partitions had 7 before
2.6.25; lxcfs has printed 15 and 17. Fields are taken by position, a group that is not whole is missing,
more than 20 are tolerated. A sector is 512 bytes whatever the drive's block size. The millisecond
fields wrap at 2^32 even on 64-bit kernels.
"""

from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.probes.text import bounded_name, integer

_BASE_FIELDS = 14
_DISCARD_FIELDS = 18
_FLUSH_FIELDS = 20
_OLD_PARTITION_FIELDS = 7
_BASE = {
    3: "reads_total",
    5: "read_sectors_total",
    6: "read_ms_total",
    7: "writes_total",
    9: "write_sectors_total",
    10: "write_ms_total",
    11: "in_flight",
    12: "io_ms_total",
}
_DISCARDS = _BASE | {14: "discards_total", 16: "discard_sectors_total"}
_FLUSHES = _DISCARDS | {18: "flushes_total"}
_OLD_PARTITION = {3: "reads_total", 4: "read_sectors_total", 5: "writes_total", 6: "write_sectors_total"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiskCounters:
    """Counters of one block device since it appeared; ``major:minor`` names it in cgroup files.

    Attributes:
        discards_total, discard_sectors_total: apart from writes; before Linux 4.18 they are inside
            writes and None here.
    """

    major_minor: str
    reads_total: int | None = None
    read_sectors_total: int | None = None
    writes_total: int | None = None
    write_sectors_total: int | None = None
    discards_total: int | None = None
    discard_sectors_total: int | None = None
    flushes_total: int | None = None
    io_ms_total: int | None = None
    read_ms_total: int | None = None
    write_ms_total: int | None = None
    in_flight: int | None = None


def _layout(fields: int, line: str) -> dict[int, str]:
    if fields >= _FLUSH_FIELDS:
        return _FLUSHES
    if fields >= _DISCARD_FIELDS:
        return _DISCARDS
    if fields >= _BASE_FIELDS:
        return _BASE
    if fields == _OLD_PARTITION_FIELDS:
        return _OLD_PARTITION
    raise ParseError("diskstats", "7, 14, 18 or 20 fields", line=line)


def parse_diskstats(text: str) -> dict[str, DiskCounters]:
    """Return the counters of every device, keyed by kernel name, in the order of the text.

    Raises:
        ParseError: a line with too few fields, a value that is no integer, or an overlong name.
    """
    found: dict[str, DiskCounters] = {}
    for line in text.split("\n"):
        words = line.split()
        if not words:
            continue
        layout = _layout(len(words), line)
        major = integer(words[0], "diskstats", line)
        minor = integer(words[1], "diskstats", line)
        values = {name: integer(words[position], "diskstats", line) for position, name in layout.items()}
        name = bounded_name(words[2], "diskstats")
        found[name] = DiskCounters(major_minor=f"{major}:{minor}", **values)
    return found
