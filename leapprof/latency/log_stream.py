"""Block lines of nodeos's log as they are written: a file, also when it is rotated, or standard input.

Only blocks that were received count; those that the node produced itself tell only that their number is there.
"""

import os
import select
import stat
import threading
import time
from collections.abc import Iterator
from io import FileIO
from pathlib import Path
from typing import Protocol

from leapprof.errors import unreadable
from leapprof.latency.message import Arrival, Clock, Message
from leapprof.latency.wire import Failure, ProbeError
from leapprof.nodeos.logs import BlockLine, parse_event
from leapprof.units import NS_PER_MS

_READ_BYTES = 65_536
_MOST_LINE_BYTES = 65_536
_BACKLOG_BYTES = 256 * 2**10
_MOST_BACKLOG_READS = 256
_NAP_S = 0.002
"""Between looks at a file that has not grown: what the arrival of a line is late at most."""
_POLL_S = 0.25
_STDIN = 0


class _Tail(Protocol):
    def pending(self) -> bytes:
        """Return what was written already; nothing when there is none."""
        ...

    def read(self) -> bytes | None:
        """Return what was written; nothing when that is nothing for a moment, None at the end."""
        ...

    def close(self) -> None: ...


class _Pipe:
    """Standard input."""

    def pending(self) -> bytes:
        """Return what can be read at once."""
        return self._read(0) or b""

    def read(self) -> bytes | None:
        """Wait a moment for bytes."""
        return self._read(_POLL_S)

    def _read(self, wait_s: float) -> bytes | None:
        if not select.select([_STDIN], [], [], wait_s)[0]:
            return b""
        return os.read(_STDIN, _READ_BYTES) or None

    def close(self) -> None:
        """Standard input is not ours to close."""


class _File:
    """A file that grows; one that is renamed or truncated is followed by its name."""

    def __init__(self, path: Path) -> None:
        """Open it near its end."""
        self._path = path
        self._file = _opened(path)
        self._file.seek(max(os.fstat(self._file.fileno()).st_size - _BACKLOG_BYTES, 0))
        self._looked_s = time.monotonic()

    def pending(self) -> bytes:
        """Return what was written since."""
        return self._file.read(_READ_BYTES) or b""

    def read(self) -> bytes | None:
        """Return what was written since, or sleep for a moment."""
        data = self.pending()
        if not data:
            if time.monotonic() - self._looked_s > _POLL_S:
                self._look()
            time.sleep(_NAP_S)
        return data

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _look(self) -> None:
        """Go on with the file that has the name now, from its beginning."""
        self._looked_s = time.monotonic()
        own = os.fstat(self._file.fileno())
        try:
            found = self._path.stat()
            if (found.st_ino, found.st_dev) != (own.st_ino, own.st_dev):
                fresh = _opened(self._path)
                self._file.close()
                self._file = fresh
        except OSError:
            return  # between the renaming of the old one and the making of the next
        if os.fstat(self._file.fileno()).st_size < self._file.tell():
            self._file.seek(0)


def _opened(path: Path) -> FileIO:
    """Return a file that is one: opening a pipe would wait for its writer, and a device may never end.

    Raises:
        OSError: it cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is no file; pipe what it holds into --log -")
    return FileIO(descriptor)


class LogSubscription:
    """Block lines of one log; what a pause leaves unread is read after it."""

    def __init__(self, path: Path | None) -> None:
        """Keep where it is; None for standard input."""
        self._path = path
        self._tail: _Tail | None = None
        self._rest = b""
        self.can_end = path is None

    @property
    def name(self) -> str:
        """Return how it is called."""
        return "standard input" if self._path is None else str(self._path)

    def close(self) -> None:
        """Close the file."""
        if self._tail is not None:
            self._tail.close()

    def check(self, timeout_s: float) -> None:
        """Open it and look for a block line near its end, else wait for one.

        Raises:
            ConfigError: it cannot be read.
            ProbeError: it holds none.
        """
        try:
            self._tail = _Pipe() if self._path is None else _File(self._path)
        except OSError as error:
            raise unreadable(self.name, error) from error
        for _ in self._messages(timeout_s, threading.Event()):
            return
        raise ProbeError(Failure.CLOSED, "ended before a block line came")

    def arrivals(self, after: int | None, timeout_s: float, stopped: threading.Event) -> Iterator[Arrival]:
        """Yield blocks as their lines come; what stood there before the run does not count.

        Raises:
            ProbeError: no block line came within the time-out.
        """
        assert self._tail is not None
        if after is None:
            for _ in range(_MOST_BACKLOG_READS):
                if not self._lines(self._tail.pending()):
                    break
        yield from self._messages(timeout_s, stopped)

    def _messages(self, timeout_s: float, stopped: threading.Event) -> Iterator[Arrival]:
        assert self._tail is not None
        heard_s = time.monotonic()
        while not stopped.is_set() and (data := self._tail.read()) is not None:
            came = Clock()
            for line in self._lines(data):
                message = message_of(line)
                if message is not None:
                    heard_s = time.monotonic()
                    yield came.arrival(message)
            if time.monotonic() - heard_s > timeout_s:
                raise ProbeError(
                    Failure.TIMEOUT,
                    f"no block line within {timeout_s:g} s: is it the log of a node that receives blocks?",
                )

    def _lines(self, data: bytes) -> list[bytes]:
        """Return the lines that are complete; of one that does not end, the rest is kept as far as it can matter."""
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[:_MOST_LINE_BYTES]
        return lines


def message_of(line: bytes) -> Message | None:
    """Return the block that a line tells of; None for any other line."""
    event = parse_event(line.decode("utf-8", "replace"))
    if not isinstance(event, BlockLine):
        return None
    return Message(
        number=event.number,
        before=event.number - 1,
        key=None if event.is_produced else event.id.encode(),
        stamp_ns=event.time_ms * NS_PER_MS,
        told_ns=None if event.latency_ms is None else event.latency_ms * NS_PER_MS,
    )
