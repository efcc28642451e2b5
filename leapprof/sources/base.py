"""The seam between leapprof and its hosts: one long-lived program each, and now and then a short command."""

from dataclasses import dataclass
from typing import Protocol, Self

from leapprof.errors import SourceError

STDERR_TAIL_BYTES = 4096
RUN_OUTPUT_BYTES = 1024 * 1024
READ_BYTES = 256 * 1024
WRITE_TIMEOUT_S = 30.0


class ChannelClosedError(SourceError):
    """The program on the host, or the connection to it, has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeouts:
    """How long each step of a connection may take, seconds, for each hop."""

    connect_s: float = 10.0
    banner_s: float = 10.0
    auth_s: float = 20.0
    channel_s: float = 10.0
    keepalive_s: float = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandResult:
    """What a short command left behind; output is cut at RUN_OUTPUT_BYTES (``truncated`` says so)."""

    exit_status: int
    stdout: bytes
    stderr: bytes
    truncated: bool = False


class Channel(Protocol):
    """One long-lived program on a host."""

    @property
    def stderr_tail(self) -> str:
        """The last bytes that the program wrote to its standard error, decoded."""

    def read(self, timeout_s: float) -> bytes:
        """Return what has arrived; ``b""`` when nothing did within the time-out.

        Raises:
            ChannelClosedError: the program or the connection has ended and all its output was read.
        """

    def write(self, data: bytes) -> None:
        """Send all of data to the program's standard input.

        Raises:
            ChannelClosedError: the program or the connection has ended.
            SourceTimeoutError: the program does not take it.
        """

    def close(self) -> None:
        """End the program; closing twice is fine."""


class Source(Protocol):
    """One host."""

    @property
    def name(self) -> str:
        """The host's name as the operator called it."""

    @property
    def transport(self) -> str:
        """``ssh``, ``openssh``, ``local`` or ``replay``."""

    def open(self, command: str) -> Channel:
        """Start a long-lived program; connects first where needed."""

    def run(self, command: str, timeout_s: float) -> CommandResult:
        """Run a short command to its end; a status other than 0 is a result, not an error.

        Raises:
            SourceTimeoutError: it did not end in time (and was ended by us).
        """

    def close(self) -> None:
        """Close the connection and everything opened through it; closing twice is fine."""

    def __enter__(self) -> Self:
        """Return itself; nothing is connected yet."""

    def __exit__(self, *exc_info: object) -> None:
        """Close."""
