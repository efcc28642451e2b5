"""The files of a report: all opened before the work starts, all put in place at its end.

A directory that cannot be written or a disk that is full is known before a chart is drawn, not after.
Each file is written beside its place and renamed into it, so that no reader sees half a file; a report
that is there already is never overwritten.
"""

import contextlib
import errno
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from leapprof.errors import StoreError

_MODE = 0o644


class ReportFiles:
    """Temporary files for every file of a report, renamed into place by `commit`; use with ``with``."""

    def __init__(self, directory: Path, sizes: Mapping[str, int]) -> None:
        """Create the directory and open all files.

        Args:
            directory: made when it is not there.
            sizes: relative path → bytes to reserve on the disk while the work is done.

        Raises:
            StoreError: the directory cannot be written, the disk is full, or a file is there already.
        """
        self._directory = directory
        self._open: dict[str, int] = {}
        try:
            for name, size_bytes in sizes.items():
                self._reserve(name, size_bytes)
        except OSError as error:
            self._remove_all()
            raise StoreError(str(error.filename or directory), error.strerror or str(error)) from error
        except StoreError:
            self._remove_all()
            raise

    def _temporary(self, name: str) -> Path:
        target = self._directory / name
        return target.with_name(f".{target.name}.part")

    def _reserve(self, name: str, size_bytes: int) -> None:
        target = self._directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists():
            raise StoreError(
                str(target), "is there already; reports are never overwritten, name another directory"
            )
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(self._temporary(name), flags, _MODE)
        self._open[name] = handle
        if size_bytes and hasattr(os, "posix_fallocate"):
            self._allocate(handle, size_bytes)

    @staticmethod
    def _allocate(handle: int, size_bytes: int) -> None:
        """Take the space, where the filesystem can; EOPNOTSUPP and EINVAL say that it cannot."""
        try:
            os.posix_fallocate(handle, 0, size_bytes)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise

    def write(self, name: str, content: bytes) -> None:
        """Write one file, still beside its place.

        Raises:
            StoreError: the disk is full or fails.
        """
        handle = self._open[name]
        try:
            os.ftruncate(handle, 0)
            view = memoryview(content)
            while view:
                view = view[os.write(handle, view) :]
            os.fsync(handle)
        except OSError as error:
            raise StoreError(str(self._directory / name), error.strerror or str(error)) from error

    def commit(self) -> tuple[Path, ...]:
        """Put all files in place and return their paths, in the order in which they were opened.

        Raises:
            StoreError: a file cannot be renamed.
        """
        placed = []
        for name in list(self._open):
            target = self._directory / name
            os.close(self._open.pop(name))
            try:
                self._temporary(name).replace(target)
            except OSError as error:
                raise StoreError(str(target), error.strerror or str(error)) from error
            placed.append(target)
        return tuple(placed)

    def _remove_all(self) -> None:
        for name, handle in self._open.items():
            os.close(handle)
            with contextlib.suppress(OSError):
                self._temporary(name).unlink()
        self._open.clear()

    def __enter__(self) -> Self:
        """Return the open files."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove whatever was not put in place."""
        self._remove_all()
