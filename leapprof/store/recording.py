"""A recording's directory: the one writer, and readers of live, killed and closed recordings."""

import fcntl
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from types import TracebackType

from leapprof.errors import StoreError
from leapprof.model import Recording, Table
from leapprof.store.guard import translated
from leapprof.store.journal import JOURNAL_NAME, Journal, JournalContent, JournalFrame, read_journal
from leapprof.store.manifest import read_manifest, write_manifest
from leapprof.store.named import check_named
from leapprof.store.reading import Where, read_tables
from leapprof.store.retention import Retention, SegmentSize, outdated
from leapprof.store.segments import (
    SegmentFile,
    SegmentRange,
    list_segments,
    read_range,
    write_segment,
)

_LOCK_NAME = ".lock"


class RecordingWriter:
    """The one process that writes a recording. Use with ``with``, in one thread."""

    def __init__(self, directory: Path, lock: int, journal: Journal, manifest: Recording) -> None:
        """Take over what ``create`` opened."""
        self.directory = directory
        self.manifest = manifest
        self._lock = lock
        self._journal = journal

    @classmethod
    def create(cls, directory: Path, manifest: Recording) -> "RecordingWriter":
        """Make a recording in a directory that does not exist yet or is empty.

        Raises:
            StoreError: the directory is in use, holds something else, or cannot be written.
        """
        with translated(directory):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = _take_lock(directory)
        try:
            _check_empty(directory)
            with translated(directory):
                directory.chmod(0o700)
            write_manifest(directory, manifest)
            return cls(directory, lock, Journal(directory / JOURNAL_NAME), manifest)
        except BaseException:
            os.close(lock)
            raise

    def append(self, frame_body: bytes, seq: int, received_wall_ns: int) -> None:
        """Keep one frame; when this returns it survives a kill.

        Raises:
            StoreError: the disk refuses (DiskFullError when it is full).
        """
        self._journal.append(JournalFrame(seq=seq, received_wall_ns=received_wall_ns, body=frame_body))

    def frames(self) -> Iterator[JournalFrame]:
        """Yield the frames that are not sealed yet, in order."""
        return self._journal.frames()

    def seal(self, tables: Mapping[str, Table], covered: SegmentRange | None = None) -> None:
        """Write what the frames said to Parquet, then drop the frames.

        Args:
            tables: by name, of all frames in the journal up to covered.last_seq.
            covered: the frames that the tables were made from; None to take it from the tables.

        Raises:
            StoreError: the disk refuses; the frames are kept.
        """
        covered = covered or _range_of(tables)
        if covered is None:
            return
        number = self._journal.sealed + 1
        write_segment(self.directory, number, tables.values(), covered)
        self._journal.mark_sealed(number, last_seq=covered.last_seq)

    def reseal(self, tables: Mapping[str, Table]) -> None:
        """Replace the last segment by tables that hold its rows and more; each file changes at once.

        Raises:
            StoreError: the disk refuses; what was sealed before is kept.
        """
        covered = _range_of(tables)
        if not self._journal.sealed:
            self.seal(tables, covered)
        elif covered is not None:
            write_segment(self.directory, self._journal.sealed, tables.values(), covered)

    def write_manifest(self, manifest: Recording) -> None:
        """Replace the manifest.

        Raises:
            StoreError: the disk refuses; the manifest is as it was.
        """
        write_manifest(self.directory, manifest)
        self.manifest = manifest

    def drop_outdated(self, retention: Retention, now_wall_ns: int) -> int:
        """Delete the oldest segments beyond the retention, say so in the manifest, return how many went.

        Raises:
            StoreError: the disk refuses.
        """
        groups = {
            n: tuple(files) for n, files in groupby(list_segments(self.directory), key=lambda s: s.number)
        }
        counted = {number: files for number, files in groups.items() if number <= self._journal.sealed}
        ranges = {number: read_range(files[0]) for number, files in counted.items()}
        sizes = [_size(number, files, ranges[number]) for number, files in counted.items()]
        dropped = outdated(sizes, retention, now_wall_ns)
        if not dropped:
            return 0
        before = int(self.manifest.notes.get("segments_dropped", "0"))
        notes = {**self.manifest.notes, "segments_dropped": str(before + len(dropped))}
        self.write_manifest(
            replace(self.manifest, notes=notes, started_wall_ns=ranges[dropped[-1]].last_wall_ns)
        )
        with translated(self.directory):
            for number in dropped:
                for file in counted[number]:
                    file.path.unlink(missing_ok=True)
        return len(dropped)

    def close(self) -> None:
        """Close; the journal goes if all its frames are sealed."""
        try:
            self._journal.close()
        finally:
            self._release()

    def abandon(self) -> None:
        """Close without writing, for a disk that is full: what is there stays."""
        self._journal.abandon()
        self._release()

    def _release(self) -> None:
        (self.directory / _LOCK_NAME).unlink(missing_ok=True)
        os.close(self._lock)

    def __enter__(self) -> "RecordingWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()


def _take_lock(directory: Path) -> int:
    lock = os.open(directory / _LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise StoreError(
            str(directory), "another leapprof is recording here; stop it or choose another directory"
        ) from error
    return lock


def _check_empty(directory: Path) -> None:
    if any(entry.name != _LOCK_NAME for entry in directory.iterdir()):
        raise StoreError(str(directory), "holds something already; record into another directory")


def _range_of(tables: Mapping[str, Table]) -> SegmentRange | None:
    seqs = [t.integers["seq"].values for t in tables.values() if t.rows]
    walls = [t.integers["wall_ns"].values for t in tables.values() if t.rows]
    if not seqs:
        return None
    return SegmentRange(
        first_seq=min(int(s.min()) for s in seqs),
        last_seq=max(int(s.max()) for s in seqs),
        first_wall_ns=min(int(w.min()) for w in walls),
        last_wall_ns=max(int(w.max()) for w in walls),
    )


def _size(number: int, files: Sequence[SegmentFile], covered: SegmentRange) -> SegmentSize:
    size_bytes = sum(file.path.stat().st_size for file in files)
    return SegmentSize(number=number, last_wall_ns=covered.last_wall_ns, size_bytes=size_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRecording:
    """A recording as one reader sees it: a snapshot, also of a recording that goes on.

    Attributes:
        path: of the directory.
        manifest: as last written.
        journal: unsealed frames and what is damaged of them.
        segments: the sealed files that count.
    """

    path: Path
    manifest: Recording
    journal: JournalContent
    segments: tuple[SegmentFile, ...]

    def frames(self) -> Iterator[bytes]:
        """Yield the bodies of the frames that no segment holds, in order."""
        unsure = self.journal.sealed is None and self.journal.frames  # else no segment has to be opened
        sealed_seq = self._sealed_seq() if unsure else 0
        return (frame.body for frame in self.journal.frames if frame.seq > sealed_seq)

    def _sealed_seq(self) -> int:
        return max((read_range(segment).last_seq for segment in self.segments), default=0)

    @property
    def table_names(self) -> tuple[str, ...]:
        """Names of the tables that have sealed rows."""
        return tuple(sorted({segment.table for segment in self.segments}))

    def size_bytes(self) -> int:
        """Return the size of the sealed files."""
        with translated(self.path):
            return sum(s.path.stat().st_size for s in self.segments if s.path.exists())

    def read(
        self, table: str, columns: Sequence[str] | None = None, *, where: Where | None = None
    ) -> Table | None:
        """Return the sealed rows of a table, those of one subject by time; None for none.

        Args:
            table: its name.
            columns: integer columns wanted besides seq, boottime_ns, wall_ns and boot; None for all.
            where: text column → value that rows must have.

        Raises:
            StoreError: a file is truncated or foreign.
        """
        found = self.read_each(table, columns, (where or {},))
        return found[0] if found else None

    def read_each(
        self, table: str, columns: Sequence[str] | None, wheres: Sequence[Where]
    ) -> tuple[Table, ...]:
        """Return what ``read`` does for each of some subjects, from one reading; empty for no sealed rows."""
        paths = [s.path for s in self.segments if s.table == table and s.path.exists()]
        return read_tables(paths, table, columns, wheres) if paths else ()


def open_recording(path: Path) -> StoredRecording:
    """Return a recording for reading: live, killed or closed.

    Raises:
        NoRecordingError: the path is no recording.
        StoreError: its manifest is damaged.
    """
    check_named(path)
    manifest = read_manifest(path)
    with translated(path):
        journal = read_journal(path)
    segments = list_segments(path)
    if journal.sealed is not None:
        segments = tuple(s for s in segments if s.number <= journal.sealed)
    return StoredRecording(path=path, manifest=manifest, journal=journal, segments=segments)
