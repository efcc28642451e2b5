"""Wire bytes from a file or an iterable instead of a host: for tests and samples."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Self

from leapprof.errors import SourceError
from leapprof.sources.base import READ_BYTES, ChannelClosedError, CommandResult


def _file_chunks(name: str, path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            while chunk := file.read(READ_BYTES):
                yield chunk
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError(name, f"cannot replay {path}: {error}") from error


class ReplayChannel:
    """Gives one chunk a read, then closes."""

    stderr_tail = ""

    def __init__(self, name: str, chunks: Iterator[bytes], wait: Callable[[], None]) -> None:
        """Remember where the chunks come from."""
        self.name, self._chunks, self._wait = name, chunks, wait
        self.written = bytearray()
        self._closed = False

    def read(self, timeout_s: float) -> bytes:
        """Return the next chunk, however long the time-out is."""
        if not self._closed:
            self._wait()
            for chunk in self._chunks:
                return chunk
        raise ChannelClosedError(self.name, "the replay is at its end")

    def write(self, data: bytes) -> None:
        """Keep what was sent in ``written``; nobody reads it."""
        if self._closed:
            raise ChannelClosedError(self.name, "the channel is closed")
        self.written += data

    def close(self) -> None:
        """Give nothing more."""
        self._closed = True


class ReplaySource:
    """Replays what an agent once sent.

    Args:
        name: the host's name.
        wire: a file of wire bytes (``.gz``: compressed) or the chunks themselves.
        wait: called before each chunk; sleeps when the replay is to be paced. As fast as possible by default.
        results: answers of ``run`` by command; any other command ends with status 127.
    """

    transport = "replay"

    def __init__(
        self,
        name: str,
        wire: Path | Iterable[bytes],
        *,
        wait: Callable[[], None] = lambda: None,
        results: dict[str, CommandResult] | None = None,
    ) -> None:
        """Open nothing yet."""
        self.name, self._wire, self._wait, self._results = name, wire, wait, results or {}

    def open(self, command: str) -> ReplayChannel:
        """Start the replay from its beginning; the command is not looked at."""
        wire = self._wire
        chunks = _file_chunks(self.name, wire) if isinstance(wire, Path) else iter(wire)
        return ReplayChannel(self.name, chunks, self._wait)

    def run(self, command: str, timeout_s: float) -> CommandResult:
        """Return the answer that was prepared for the command."""
        missing = CommandResult(exit_status=127, stdout=b"", stderr=b"not part of the replay")
        return self._results.get(command, missing)

    def close(self) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close."""
