"""/proc/PID/io: bytes that a process caused to be read and dirtied (proc(5)).

write_bytes is charged when a page is dirtied, not when it reaches a drive, and is 0 for private mappings;
cancelled_write_bytes is what a truncation took back. Readable by the same user and root only.
"""

from dataclasses import dataclass

from leapprof.probes.text import keyed_integers

_KEYS = {
    "read_bytes:": "io_read_bytes_total",
    "write_bytes:": "io_write_bytes_total",
    "cancelled_write_bytes:": "io_cancelled_write_bytes_total",
}
KEEP = tuple(_KEYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PidIo:
    """Counters of one process since it started, bytes."""

    io_read_bytes_total: int | None = None
    io_write_bytes_total: int | None = None
    io_cancelled_write_bytes_total: int | None = None


def parse_pid_io(text: str) -> PidIo:
    """Return the storage counters of /proc/PID/io.

    Raises:
        ParseError: a known counter without an integer.
    """
    return PidIo(**keyed_integers(text, _KEYS, "pid_io"))
