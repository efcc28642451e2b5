"""Log lines in nodeos's form, and the block log.

Line form: libfc's console_appender.cpp (Spring v1.2.2, the same in Leap):
``[<6>]info  2026-01-31T12:00:00.000 nodeos    file.cpp:12          method               ] message``.
Block lines: producer_plugin.cpp of Leap 5.0. Lines of chainbase are bare text (pinnable_mapped_file.cpp).
"""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

_SYSLOG_LEVELS = {"error": 3, "warn": 4, "info": 6}
_THREAD = "standin"


def iso_time(wall_ns: int) -> str:
    """Return a UTC time as nodeos prints it: milliseconds, no zone."""
    moment = datetime.fromtimestamp(wall_ns // 1_000_000_000, tz=UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{wall_ns // 1_000_000 % 1000:03d}"


def format_line(level: str, wall_ns: int, where: str, method: str, message: str) -> str:
    """Return one line in the form of nodeos's console appender, without the systemd prefix."""
    return f"{level:<5} {iso_time(wall_ns)} {_THREAD:<9} {where:<29}{method[:20]:<21}] {message}"


class Log:
    """Writes lines to one stream; a closed stream is no reason to end."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Write to a stream, standard error by default."""
        self._stream = stream if stream is not None else sys.stderr
        self._prefixed = "JOURNAL_STREAM" in os.environ

    def line(self, level: str, wall_ns: int, where: str, method: str, message: str) -> None:
        """Write one line in nodeos's form."""
        prefix = f"<{_SYSLOG_LEVELS.get(level, 7)}>" if self._prefixed else ""
        self._write(prefix + format_line(level, wall_ns, where, method, message))

    def chainbase(self, message: str) -> None:
        """Write a bare line as chainbase does."""
        self._write(f"CHAINBASE: {message}")

    def _write(self, text: str) -> None:
        try:
            print(text, file=self._stream, flush=True)
        except (OSError, ValueError):  # a pipe whose reader went away
            return


class BlockLog:
    """blocks.log: appended through a buffer and flushed for each block, never fsynced, as nodeos does."""

    def __init__(self, directory: Path) -> None:
        """Open the log for appending; the directory is made."""
        directory.mkdir(parents=True, exist_ok=True)
        self._file = (directory / "blocks.log").open("ab")

    def append(self, body: bytes) -> None:
        """Append one block."""
        self._file.write(body)
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
