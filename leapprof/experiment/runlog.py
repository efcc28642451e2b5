"""A run on disk: its directory, and the log to which every step is written before and after it is done.

``run.json`` holds the playbook as it was resolved, ``log.jsonl`` one JSON object a line, appended and fsynced:
``intent`` before a change, ``done`` after a step, ``failed`` and ``note``. A torn last line (a crash while writing) is
cut off at the next opening: what it would have said has not happened yet. One process at a time holds ``lock``.
"""

import fcntl
import json
import os
import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from leapprof.errors import ConfigError, FormatVersionError, StoreError, unreadable
from leapprof.recorder.clock import Clock

RUN_FORMAT = 1
"""1: the first."""
RUN_FILE, LOG_FILE, LOCK_FILE = "run.json", "log.jsonl", "lock"
RECORDINGS, REPORTS = "recordings", "report"
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")
_MOST_FOLDERS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the log."""

    wall_ns: int
    kind: str
    step: str
    data: Mapping[str, Any]


def new_run_directory(out: Path, playbook_file: Path, wall_ns: int) -> Path:
    """Make ``out/<playbook>-<start>`` with mode 0700 and return it.

    Raises:
        StoreError: it cannot be made.
    """
    start = datetime.fromtimestamp(wall_ns // 10**9, tz=UTC).strftime("%Y%m%dT%H%M%SZ")
    stem = _UNSAFE.sub("-", playbook_file.stem).strip(".-") or "run"
    for number in range(1, _MOST_FOLDERS):
        directory = out / (f"{stem}-{start}" + (f"-{number}" if number > 1 else ""))
        try:
            out.mkdir(parents=True, exist_ok=True)
            directory.mkdir(mode=0o700)
        except FileExistsError:
            continue
        except OSError as error:
            raise StoreError(str(directory), error.strerror or str(error)) from error
        return directory
    raise StoreError(str(out), "holds too many runs of this second")


def write_run_file(directory: Path, document: Mapping[str, Any]) -> None:
    """Write run.json, whole or not at all.

    Raises:
        StoreError: the disk refuses.
    """
    text = json.dumps({"format": RUN_FORMAT, **document}, indent=1, ensure_ascii=False) + "\n"
    partial = directory / (RUN_FILE + ".part")
    try:
        with partial.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(directory / RUN_FILE)
        _sync_directory(directory)
    except OSError as error:
        raise StoreError(str(directory), error.strerror or str(error)) from error


def read_run_file(directory: Path) -> dict[str, Any]:
    """Return what run.json says.

    Raises:
        ConfigError: it is not there, or cannot be opened.
        StoreError: it is damaged.
        FormatVersionError: a newer leapprof wrote it.
    """
    path = directory / RUN_FILE
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise StoreError(str(path), f"is not readable as a run: {error}") from error
    if not isinstance(found, dict) or not isinstance(found.get("format"), int):
        raise StoreError(str(path), "is no run")
    if found["format"] > RUN_FORMAT:
        raise FormatVersionError(str(path), found["format"], RUN_FORMAT)
    return found


def find_runs(out: Path, playbook_file: Path) -> tuple[Path, ...]:
    """Return the runs of a playbook below a directory, oldest first."""
    stem = _UNSAFE.sub("-", playbook_file.stem).strip(".-") or "run"
    pattern = re.compile(re.escape(stem) + r"-\d{8}T\d{6}Z(-\d+)?\Z")
    if not out.is_dir():
        return ()
    return tuple(sorted(p for p in out.iterdir() if pattern.match(p.name) and (p / RUN_FILE).is_file()))


def read_entries(directory: Path) -> tuple[Entry, ...]:
    """Return the lines of a log; a torn last one is left out.

    Raises:
        StoreError: a line before the last is damaged.
    """
    path = directory / LOG_FILE
    try:
        data = path.read_bytes() if path.exists() else b""
    except OSError as error:
        raise StoreError(str(path), error.strerror or str(error)) from error
    lines = data.split(b"\n")[:-1]
    return tuple(_entry(line, number, path) for number, line in enumerate(lines, 1))


def _entry(line: bytes, number: int, path: Path) -> Entry:
    try:
        found = json.loads(line)
        return Entry(
            wall_ns=int(found["wall_ns"]),
            kind=str(found["kind"]),
            step=str(found["step"]),
            data=dict(found["data"]),
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise StoreError(str(path), f"line {number} is damaged") from error


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class RunLog:
    """The log of one run, held by one process. Use with ``with``; its methods may be called from any thread."""

    def __init__(self, directory: Path, clock: Clock) -> None:
        """Remember; nothing is opened."""
        self.directory, self._clock = directory, clock
        self._entries: list[Entry] = []
        self._mutex = threading.Lock()
        self._file: int | None = None
        self._lock: int | None = None

    def __enter__(self) -> Self:
        """Take the lock and read what is there.

        Raises:
            ConfigError: another process runs it.
            StoreError: the disk refuses, or the log is damaged.
        """
        try:
            self._lock = os.open(self.directory / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._close()
            raise ConfigError(
                "another leapprof runs it now; see --status", path=str(self.directory)
            ) from error
        except OSError as error:
            raise StoreError(str(self.directory), error.strerror or str(error)) from error
        self._entries = list(read_entries(self.directory))
        self._open()
        return self

    def _open(self) -> None:
        path = self.directory / LOG_FILE
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            size = os.lseek(self._file, 0, os.SEEK_END)
            whole = os.pread(self._file, size, 0).rfind(b"\n") + 1
            os.ftruncate(self._file, whole)
            os.lseek(self._file, 0, os.SEEK_END)
            _sync_directory(self.directory)
        except OSError as error:
            raise StoreError(str(path), error.strerror or str(error)) from error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the lock back."""
        self._close()

    def _close(self) -> None:
        for descriptor in (self._file, self._lock):
            if descriptor is not None:
                os.close(descriptor)
        self._file = self._lock = None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Return all entries so far."""
        with self._mutex:
            return tuple(self._entries)

    def append(self, kind: str, step: str, **data: object) -> None:
        """Write one entry; it is on the disk when this returns.

        Raises:
            StoreError: the disk refuses: then nothing may be changed.
        """
        entry = Entry(wall_ns=self._clock.wall_ns(), kind=kind, step=step, data=data)
        row = {"wall_ns": entry.wall_ns, "kind": kind, "step": step, "data": data}
        line = (json.dumps(row, ensure_ascii=True) + "\n").encode()
        with self._mutex:
            assert self._file is not None
            try:
                os.write(self._file, line)
                os.fsync(self._file)
            except OSError as error:
                raise StoreError(str(self.directory / LOG_FILE), error.strerror or str(error)) from error
            self._entries.append(entry)

    def last(self, kind: str, step: str) -> Mapping[str, Any] | None:
        """Return the data of a step's last entry of a kind; None when there is none."""
        return next((e.data for e in reversed(self.entries) if e.kind == kind and e.step == step), None)

    def is_done(self, step: str) -> bool:
        """Return whether a step was done."""
        return self.last("done", step) is not None
