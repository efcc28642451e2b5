"""When a process of its own is made for a part of the work on recordings."""

from collections.abc import Callable
from typing import TypeVar

from leapprof.assess.apart import Apart, can_fork
from leapprof.assess.cached import from_disk
from leapprof.assess.samples import RecordingTables

WORTH_A_PROCESS_BYTES = 2**22
"""Sealed files of a recording from which on a process is made: half a day at 1 Hz."""

T = TypeVar("T")


def apart_if_worth_it(recording: RecordingTables, make: Callable[[], T]) -> Apart[T] | None:
    """Return a process that works on a recording; None where it is not worth one, or none can be made."""
    stored = from_disk(recording)
    if stored is None or stored.stored.size_bytes() < WORTH_A_PROCESS_BYTES:
        return None
    try:
        return Apart(make) if can_fork() else None
    except OSError:  # no process, no memory, no file descriptors
        return None
