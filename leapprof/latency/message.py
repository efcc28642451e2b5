"""What every subscription yields, whatever its protocol: messages that can be told apart, and when each came."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message.

    Attributes:
        number: of its block or slot.
        before: the number right before this one, so that a jump shows; None where the message does not tell.
        key: the same at every endpoint that has this message; None for one that tells only that its number came.
        stamp_ns: when it was made by the clock of who made it, nanoseconds since the epoch; None when it has none.
        told_ns: delay that the message itself tells; None when it tells none.
    """

    number: int
    before: int | None = None
    key: bytes | None
    stamp_ns: int | None = None
    told_ns: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """A message, and when it came: CLOCK_MONOTONIC and wall clock, nanoseconds."""

    message: Message
    monotonic_ns: int
    wall_ns: int


class Clock:
    """Reads both clocks at once."""

    def __init__(self) -> None:
        """Read them."""
        self.monotonic_ns, self.wall_ns = time.monotonic_ns(), time.time_ns()

    def arrival(self, message: Message) -> Arrival:
        """Return a message as having come at that moment."""
        return Arrival(message=message, monotonic_ns=self.monotonic_ns, wall_ns=self.wall_ns)


class Subscription(Protocol):
    """One endpoint that sends messages."""

    @property
    def name(self) -> str:
        """Return how it is called in tables and findings."""
        ...

    @property
    def can_end(self) -> bool:
        """Return whether its end is the end of the run for it, not a loss after which it is tried again."""
        ...

    def check(self, timeout_s: float) -> None:
        """Reach it once.

        Raises:
            ProbeError: it cannot be reached, or is something else.
        """
        ...

    def arrivals(self, after: int | None, timeout_s: float, stopped: threading.Event) -> Iterator[Arrival]:
        """Subscribe and yield messages as they come, until the run is stopped.

        Args:
            after: number of the last message of the connection before, to go on there; None at first.
            timeout_s: for the connection, and for each message.
            stopped: ends it.

        Raises:
            ProbeError: the connection was lost, or nothing came within the time-out.
        """
        ...

    def close(self) -> None:
        """Let go of what is open between connections."""
        ...
