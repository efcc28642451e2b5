"""The one place where errors of the disk and of sqlite become ours."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leapprof.errors import StoreError

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
        full = getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        raise _disk_full(path) if full else StoreError(str(path), f"sqlite says: {error}") from error
    except OSError as error:
        full = error.errno in _FULL
        raise _disk_full(path) if full else StoreError(str(path), error.strerror or str(error)) from error


def _disk_full(path: Path) -> DiskFullError:
    return DiskFullError(
        str(path), "the disk is full; what was recorded before is kept, free some space and record again"
    )
