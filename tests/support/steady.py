"""Real-time scheduling for a test of delays: on a busy machine the planted delay is to be measured, not the machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_PRIORITY = 5


@contextmanager
def steady() -> Iterator[None]:
    """Schedule the calling thread, and those that it starts, before all others; without the right to it as it is."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    try:
        yield
    finally:
        with suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
