"""Starts the stand-in as a program of its own and ends it: for the demo and for tests.

The program gets a session of its own, so that Ctrl-C on a terminal reaches the caller alone, who then ends
it in order and removes its state.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from leapprof.errors import SourceError
from leapprof.standin.state import FILE_NAME

START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 120.0
_POLL_S = 0.1
_TAIL_CHARS = 300
_FILES = (f"state/{FILE_NAME}", "blocks/blocks.log")


class Running:
    """A running stand-in; leaving the context ends it."""

    def __init__(self, data_dir: Path, arguments: Sequence[str], log: Path) -> None:
        """Start it; its log is appended to a file."""
        command = [sys.executable, "-m", "leapprof.standin", "--data-dir", str(data_dir), *arguments]
        command.append("--end-with-parent")
        self._log = log
        with log.open("ab") as file:
            self._from = file.tell()
            self._process = subprocess.Popen(  # noqa: S603 - our own program, no shell
                command, stderr=file, stdin=subprocess.DEVNULL, start_new_session=True
            )
        self.pid = self._process.pid

    def wait_until_ready(self, timeout_s: float = START_TIMEOUT_S) -> None:
        """Return when blocks are being applied.

        Raises:
            SourceError: it ended, or did not get so far in time.
        """
        until = time.monotonic() + timeout_s
        while "Received block" not in self._text():
            if self._process.poll() is not None:
                tail = self._text().strip()[-_TAIL_CHARS:]
                raise SourceError("stand-in", f"ended with status {self._process.returncode}: {tail}")
            if time.monotonic() > until:
                raise SourceError("stand-in", f"applied no block within {timeout_s:g} s; see {self._log}")
            time.sleep(_POLL_S)

    def stop(self, timeout_s: float = STOP_TIMEOUT_S) -> float:
        """End it as an operator would, and return how long that took, seconds.

        Raises:
            SourceError: it did not end cleanly.
        """
        began = time.monotonic()
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            status = self._process.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        if status != 0:
            raise SourceError("stand-in", f"ended with status {status}; see {self._log}")
        return time.monotonic() - began

    def _text(self) -> str:
        with self._log.open("rb") as file:
            file.seek(self._from)
            return file.read().decode("utf-8", "replace")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.stop()
            return
        if self._process.poll() is None:
            self._process.kill()  # after an error nobody needs the state
        self._process.wait()


def remove_state(data_dir: Path) -> None:
    """Remove what a stand-in left below its data directory, and nothing else."""
    for name in _FILES:
        (data_dir / name).unlink(missing_ok=True)
    for directory in (data_dir / "state", data_dir / "blocks", data_dir):
        if directory.is_dir() and not any(directory.iterdir()):
            directory.rmdir()


def settle(data_dir: Path) -> None:
    """Write every dirty page of a stand-in's files to the disk, so that none lands in the next phase."""
    for name in _FILES:
        path = data_dir / name
        if path.exists():
            fd = os.open(path, os.O_RDONLY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)


def free_address() -> str:
    """Return an address of this machine on which nothing listens at the moment."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"
