"""Time enters the recorder here, and nowhere else."""

import time
from typing import Protocol


class Clock(Protocol):
    """The collector's clocks."""

    def wall_ns(self) -> int:
        """Return the wall clock, nanoseconds since the epoch."""

    def monotonic_s(self) -> float:
        """Return a clock that never steps, seconds."""


class SystemClock:
    """The clocks of this machine."""

    def wall_ns(self) -> int:
        """Return the wall clock, nanoseconds since the epoch."""
        return time.time_ns()

    def monotonic_s(self) -> float:
        """Return a clock that never steps, seconds."""
        return time.monotonic()
