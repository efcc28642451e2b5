"""The one place where errors of the disk and of sqlite become ours."""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from leapprof.errors import StoreError

_NO_ROOM_BYTES = 65_536
_PRIMARY = 0xFF  # extended result codes of sqlite carry the primary one in their lowest byte
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class DiskFullError(StoreError):
    """The disk of a recording is full; what was written before is kept."""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn OSError and sqlite3.Error into StoreError about a path.

    Raises:
        DiskFullError: no space is left, or a quota is used up.
        StoreError: anything else that the disk or sqlite refused.
    """
    try:
        yield
    except sqlite3.Error as error:
        full = _says_full(error, path)
        raise _disk_full(path) if full else StoreError(str(path), f"sqlite says: {error}") from error
    except OSError as error:
        full = error.errno in _FULL
        raise _disk_full(path) if full else StoreError(str(path), error.strerror or str(error)) from error


def _says_full(error: sqlite3.Error, path: Path) -> bool:
    """Return whether sqlite means a full disk, which its shared memory reports as an I/O error."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    if code & _PRIMARY == sqlite3.SQLITE_IOERR:
        with suppress(OSError):
            room = os.statvfs(path.parent)
            return room.f_bavail * room.f_frsize < _NO_ROOM_BYTES
    return bool(code == sqlite3.SQLITE_FULL)


def _disk_full(path: Path) -> DiskFullError:
    return DiskFullError(
        str(path), "the disk is full; what was written before is kept, free some space and try again"
    )
