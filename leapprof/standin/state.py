"""The state file: sparse, mapped as chainbase maps it, with a dirty flag.

After chainbase's src/pinnable_mapped_file.cpp (AntelopeIO/chainbase, as of Leap 5.0.1). ``mapped`` is
MAP_SHARED: the kernel writes dirty pages back while the program runs, and the exit is an msync.
``mapped_private`` is MAP_PRIVATE: touched pages become anonymous memory, nothing reaches the file before
the exit, which copies pages back. The dirty flag is byte 8, set on disk while the file is open, so that
a killed run is found at the next start. The file's id is our own: nodeos would refuse it.
"""

import fcntl
import mmap
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from leapprof.standin.options import Advice, MapMode, WriteBack

FILE_NAME = "shared_memory.bin"
FILE_ID = b"LEAPPROF"
PAGE_BYTES = 4096
STEP_BYTES = 2**30  # chainbase copies back in steps of 1 GiB
_COPY_BYTES = 2**20
_MIB = 2**20
_HEADER = struct.Struct("<8sB7xQQQ")  # id, dirty, used bytes, head block, transactions
_FILL = bytes(range(1, 256)) * 17


class StateError(Exception):
    """The state cannot be used; exit_code is nodeos's (2 dirty, 254 anything else)."""

    def __init__(self, message: str, exit_code: int) -> None:
        """Keep the exit code beside the message."""
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(slots=True)
class Counts:
    """What a state remembers over a restart."""

    used_bytes: int
    head_block: int
    transactions: int


def filesystem_type(path: Path, mountinfo: Path = Path("/proc/self/mountinfo")) -> str:
    """Return the type of the filesystem that a path lies on (``ext4``, ``tmpfs``), or ``unknown``."""
    target = str(path.resolve())
    best, kind = "", "unknown"
    for line in mountinfo.read_text(encoding="utf-8", errors="replace").splitlines():
        fields, _, rest = line.partition(" - ")
        point = fields.split(" ")[4].rstrip("/") if fields.count(" ") >= 4 and rest else None
        if point is not None and (target + "/").startswith(point + "/") and len(point) >= len(best):
            best, kind = point, rest.split(" ")[0]
    return kind


class State:
    """An open state file; ``close`` writes it back and clears the dirty flag."""

    def __init__(self, mode: MapMode, memory: mmap.mmap, fd: int, counts: Counts) -> None:
        """Keep an open mapping; use ``open_state``."""
        self._mode, self._memory, self._fd, self.counts = mode, memory, fd, counts
        self.size_bytes = len(memory)

    def touch(self, page: int, stamp: bytes) -> None:
        """Write a few bytes into a used page (counted from 1; page 0 is the header)."""
        start = page * PAGE_BYTES + 64
        self._memory[start : start + len(stamp)] = stamp

    @property
    def used_pages(self) -> int:
        """Number of pages that hold state, beside the header."""
        return self.counts.used_bytes // PAGE_BYTES

    def fill(self, used_bytes: int) -> None:
        """Extend the used part to that size by writing each new page in full."""
        used_bytes = min(used_bytes, self.size_bytes - PAGE_BYTES) // PAGE_BYTES * PAGE_BYTES
        page = _FILL[:PAGE_BYTES]
        for start in range(self.counts.used_bytes + PAGE_BYTES, used_bytes + PAGE_BYTES, PAGE_BYTES):
            self._memory[start : start + PAGE_BYTES] = page
        self.counts.used_bytes = max(self.counts.used_bytes, used_bytes)

    def close(self, write_back: WriteBack, progress: Callable[[int], None]) -> None:
        """Write the state back, then clear the dirty flag.

        Args:
            write_back: what ``mapped_private`` writes.
            progress: told the percentage done.
        """
        try:
            if self._mode is MapMode.MAPPED:
                self._memory.flush()
            else:
                self._copy_back(write_back, progress)
            os.pwrite(self._fd, _header(self.counts, dirty=False), 0)
            os.fsync(self._fd)
        finally:
            self._memory.close()
            os.close(self._fd)

    def _copy_back(self, write_back: WriteBack, progress: Callable[[int], None]) -> None:
        end = self.counts.used_bytes + PAGE_BYTES
        if write_back is WriteBack.STEPS:
            end = min(-(-end // STEP_BYTES) * STEP_BYTES, self.size_bytes)
        shown = -1
        with memoryview(self._memory) as view:
            for start in range(PAGE_BYTES, end, _COPY_BYTES):
                stop = min(start + _COPY_BYTES, end)
                with view[start:stop] as piece:
                    os.pwrite(self._fd, piece, start)
                if stop * 10 // end != shown:
                    shown = stop * 10 // end
                    progress(shown * 10)
        os.fsync(self._fd)


def _header(counts: Counts, *, dirty: bool) -> bytes:
    return _HEADER.pack(FILE_ID, int(dirty), counts.used_bytes, counts.head_block, counts.transactions)


def _read_counts(fd: int) -> Counts:
    raw = os.pread(fd, _HEADER.size, 0)
    if len(raw) < _HEADER.size:
        raise StateError("Failed to read DB header", 254)
    file_id, dirty, used_bytes, head_block, transactions = _HEADER.unpack(raw)
    if file_id != FILE_ID:
        raise StateError("Database format not compatible with this version of chainbase", 254)
    if dirty:
        raise StateError("Database dirty flag set", 2)
    return Counts(used_bytes=used_bytes, head_block=head_block, transactions=transactions)


def open_state(directory: Path, mode: MapMode, size_mb: int, advice: Advice, *, fresh: bool) -> State:
    """Open or create a state file, set its dirty flag on disk, and map it.

    Args:
        directory: made if it does not exist.
        mode: how to map.
        size_mb: MiB; a larger file is not shrunk.
        advice: what the kernel is told about read-ahead.
        fresh: discard what is there.

    Raises:
        StateError: another process has it, it is dirty or damaged, lies on tmpfs in ``mapped_private``,
            or the kernel refuses the mapping.
    """
    directory.mkdir(parents=True, exist_ok=True)
    if mode is MapMode.MAPPED_PRIVATE and filesystem_type(directory) == "tmpfs":
        raise StateError(
            "We recommend storing the state db file on tmpfs only when database-map-mode=mapped", 254
        )
    path = directory / FILE_NAME
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        return _open_locked(fd, mode, size_mb, advice, fresh=fresh)
    except BaseException:
        os.close(fd)
        raise


def _open_locked(fd: int, mode: MapMode, size_mb: int, advice: Advice, *, fresh: bool) -> State:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise StateError("Could not gain write access to the shared memory file", 254) from error
    if fresh:
        os.ftruncate(fd, 0)
    size = os.fstat(fd).st_size
    counts = _read_counts(fd) if size else Counts(used_bytes=0, head_block=0, transactions=0)
    size = max(size, size_mb * _MIB)
    os.ftruncate(fd, size)
    flags = mmap.MAP_SHARED if mode is MapMode.MAPPED else mmap.MAP_PRIVATE
    try:
        memory = mmap.mmap(fd, size, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    except OSError as error:
        raise StateError(f"Failed to map database state: {error.strerror}", 254) from error
    if advice is Advice.RANDOM:
        memory.madvise(mmap.MADV_RANDOM)
    os.pwrite(fd, _header(counts, dirty=True), 0)
    os.fsync(fd)
    return State(mode, memory, fd, counts)
