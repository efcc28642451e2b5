"""journal.sqlite: frames as they came from the wire, one table, one row a tick.

WAL with ``synchronous=NORMAL`` survives kill -9; a power loss may cost the last seconds
(https://www.sqlite.org/pragma.html#pragma_synchronous). Small pages keep what one tick writes
close to the size of its frame: WAL writes whole pages. ``PRAGMA user_version`` holds the number of sealed
segments; it changes in the transaction that deletes their frames, so that a crash between both cannot
happen.
"""

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from leapprof.errors import StoreError
from leapprof.store.guard import translated

JOURNAL_NAME = "journal.sqlite"
MAX_BODY_BYTES = 4 * 2**20  # a frame of hundreds of cores and devices is below 0.2 MiB
_PAGE_BYTES = 1024
_CHECKPOINT_PAGES = 2000
_CACHE_PAGES = 100  # rows are only added at the end; sqlite's usual 2 MB would be held for each of many hosts
_ROW_BYTES = 1024  # beside the body
_COLUMNS = {("seq", "INTEGER", 0), ("received_wall_ns", "INTEGER", 0), ("body", "BLOB", 0)}
_SCHEMA = """
CREATE TABLE IF NOT EXISTS frames (
    seq INTEGER PRIMARY KEY, received_wall_ns INTEGER NOT NULL, body BLOB NOT NULL
)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalFrame:
    """One row: sequence within the recording, collector's wall clock at its arrival, the frame's body."""

    seq: int
    received_wall_ns: int
    body: bytes


class Journal:
    """The journal of one recording, open for writing. Use with ``with``, in one thread."""

    def __init__(self, path: Path) -> None:
        """Open or create a journal, readable by its owner only (sqlite gives -wal and -shm the same mode)."""
        self._path = path
        with translated(path):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
            self._db = sqlite3.connect(path, isolation_level=None, timeout=30)
            for statement in (
                f"PRAGMA page_size={_PAGE_BYTES}",
                "PRAGMA journal_mode=WAL",
                "PRAGMA synchronous=NORMAL",
                f"PRAGMA wal_autocheckpoint={_CHECKPOINT_PAGES}",
                f"PRAGMA cache_size={_CACHE_PAGES}",
                _SCHEMA,
            ):
                self._db.execute(statement)

    def append(self, frame: JournalFrame) -> None:
        """Add one frame; when this returns it survives the end of the process.

        Raises:
            StoreError: the frame is too large or its sequence number is taken, the disk refuses.
        """
        if len(frame.body) > MAX_BODY_BYTES:
            raise StoreError(str(self._path), f"a frame of {len(frame.body)} bytes is too large")
        with translated(self._path):
            self._db.execute(
                "INSERT INTO frames VALUES (?, ?, ?)", (frame.seq, frame.received_wall_ns, frame.body)
            )

    def frames(self) -> Iterator[JournalFrame]:
        """Yield the frames that are not sealed, in order."""
        with translated(self._path):
            rows = self._db.execute("SELECT seq, received_wall_ns, body FROM frames ORDER BY seq")
            for seq, received_wall_ns, body in rows:
                yield JournalFrame(seq=seq, received_wall_ns=received_wall_ns, body=body)

    @property
    def sealed(self) -> int:
        """Number of the last sealed segment, 0 for none."""
        with translated(self._path):
            return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def mark_sealed(self, number: int, *, last_seq: int) -> None:
        """Delete the frames up to last_seq and count the segment that holds them, both or neither."""
        with translated(self._path):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.execute("DELETE FROM frames WHERE seq <= ?", (last_seq,))
                self._db.execute(f"PRAGMA user_version={int(number)}")
                self._db.execute("COMMIT")
            except sqlite3.Error:
                self._db.execute("ROLLBACK")
                raise

    def close(self) -> None:
        """Close; without frames left the journal's files are removed."""
        with translated(self._path):
            empty = self._db.execute("SELECT 1 FROM frames LIMIT 1").fetchone() is None
            self._db.close()
            if empty:
                for suffix in ("-wal", "-shm", ""):
                    Path(f"{self._path}{suffix}").unlink(missing_ok=True)

    def abandon(self) -> None:
        """Close without touching a byte more than sqlite has to, for a disk that is full."""
        self._db.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalContent:
    """What could be read of a journal.

    Attributes:
        frames: in order.
        sealed: number of the last segment that counts; None when the journal is absent or cannot say.
        damage: one sentence when only a part could be read.
    """

    frames: tuple[JournalFrame, ...] = ()
    sealed: int | None = None
    damage: str | None = None


def read_journal(directory: Path) -> JournalContent:
    """Return what a journal holds, of a live, killed or closed recording; up to the damage of a damaged one.

    A read-only directory without the journal's -shm file cannot be read in place by sqlite; then a copy is.
    """
    path = directory / JOURNAL_NAME
    if not path.is_file():
        return JournalContent()
    try:
        return _read(path)
    except sqlite3.OperationalError:
        return _read_copy(path)
    except sqlite3.DatabaseError as error:
        return _damaged(path, (), None, error)


def _read_copy(path: Path) -> JournalContent:
    with tempfile.TemporaryDirectory(prefix="leapprof-") as folder, translated(path):
        for suffix in ("", "-wal"):
            if Path(f"{path}{suffix}").is_file():
                shutil.copyfile(f"{path}{suffix}", Path(folder) / (JOURNAL_NAME + suffix))
        try:
            return _read(Path(folder) / JOURNAL_NAME, writable=True)
        except sqlite3.Error as error:
            return _damaged(path, (), None, error)


def _read(path: Path, *, writable: bool = False) -> JournalContent:
    uri = path.absolute().as_uri() + ("?mode=rw" if writable else "?mode=ro")
    db = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=30)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BODY_BYTES + _ROW_BYTES)
    frames: list[JournalFrame] = []
    sealed: int | None = None
    try:
        db.execute("BEGIN")  # one snapshot for all questions while the recorder goes on
        sealed = int(db.execute("PRAGMA user_version").fetchone()[0])
        if _has_frames(db):
            for row in db.execute("SELECT seq, received_wall_ns, body FROM frames ORDER BY seq"):
                frames.append(_frame(row))
    except sqlite3.OperationalError:
        raise
    except (
        sqlite3.DatabaseError,
        UnicodeDecodeError,
    ) as error:  # a name in it, or in a message about it, is no text
        return _damaged(path, tuple(frames), sealed, error)
    finally:
        db.close()
    return JournalContent(frames=tuple(frames), sealed=sealed)


def _has_frames(db: sqlite3.Connection) -> bool:
    """Return whether there is a table of frames; none is where the recorder was killed before it made one.

    Raises:
        sqlite3.DatabaseError: something else bears its name: a view or a computed column may go on without end.
    """
    kinds = [kind for (kind,) in db.execute("SELECT type FROM sqlite_master WHERE name = 'frames'")]
    columns = {
        (name, type_, hidden) for _, name, type_, *_, hidden in db.execute("PRAGMA table_xinfo(frames)")
    }
    if kinds and (kinds != ["table"] or columns != _COLUMNS):
        raise sqlite3.DatabaseError("its frames are no table of leapprof's")
    return bool(kinds)


def _frame(row: tuple[object, ...]) -> JournalFrame:
    seq, received_wall_ns, body = row
    if not (isinstance(seq, int) and isinstance(received_wall_ns, int) and isinstance(body, bytes)):
        raise sqlite3.DatabaseError("a row of another form")
    return JournalFrame(seq=seq, received_wall_ns=received_wall_ns, body=body)


def _damaged(
    path: Path, frames: tuple[JournalFrame, ...], sealed: int | None, error: Exception
) -> JournalContent:
    return JournalContent(
        frames=frames,
        sealed=sealed,
        damage=f"{path.name} is damaged ({error}); {len(frames)} frames before the damage were read",
    )
