"""What the kernel says that a program has cost: CPU time and memory of it and of everything that it started.

CPU comes from a cpuacct or v2 cgroup made for the program where we are root (nanoseconds, with children that have
ended), else from /proc/PID/stat summed over the tree with the children waited for (ticks of 10 ms).
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

CPUACCT = Path("/sys/fs/cgroup/cpuacct")
UNIFIED = Path("/sys/fs/cgroup")
NS_PER_TICK = 10_000_000
NS_PER_US = 1000


def _parent_cgroup() -> Path | None:
    """Return a directory in which a cgroup that counts CPU time can be made, or None."""
    if os.geteuid() != 0:
        return None
    if (CPUACCT / "cpuacct.usage").exists():
        return CPUACCT
    return UNIFIED if (UNIFIED / "cgroup.procs").exists() else None


@dataclass(slots=True, kw_only=True)
class Account:
    """The CPU account of one program. Use with ``with``; start the program with ``start`` or ``adopt`` its pid.

    Attributes:
        name: of the program, for the cgroup.
        pids: of what was started.
    """

    name: str
    pids: list[int] = field(default_factory=list)
    _folder: Path | None = None

    def __enter__(self) -> "Account":
        """Make the cgroup."""
        parent = _parent_cgroup()
        if parent is not None:
            with contextlib.suppress(OSError):
                folder = parent / f"leapprof-bench-{os.getpid()}-{self.name}"
                folder.mkdir()
                self._folder = folder
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Remove the cgroup; its processes must have ended."""
        if self._folder is not None:
            with contextlib.suppress(OSError):
                for pid in (self._folder / "cgroup.procs").read_text().split():
                    _write(self._folder.parent / "cgroup.procs", pid)
                self._folder.rmdir()

    @property
    def is_exact(self) -> bool:
        """Return whether a cgroup counts, in nanoseconds."""
        return self._folder is not None

    def enter(self) -> None:
        """Move the calling process into the account: for a child between fork and exec."""
        if self._folder is not None:
            _write(self._folder / "cgroup.procs", "0")

    def start(self, words: Sequence[str], **options: object) -> "subprocess.Popen[bytes]":
        """Start a program in the account."""
        process = subprocess.Popen(words, preexec_fn=self.enter, **options)  # type: ignore[call-overload]
        self.pids.append(process.pid)
        return process

    def adopt(self, pid: int) -> None:
        """Take a running process, with what it starts from now on, into the account."""
        self.pids.append(pid)
        if self._folder is not None:
            for one in (pid, *descendants(pid)):
                with contextlib.suppress(OSError):
                    _write(self._folder / "cgroup.procs", str(one))

    def cpu_ns(self) -> int:
        """Return the CPU time so far."""
        if self._folder is None:
            return sum(tree_cpu_ns(pid) for pid in self.pids)
        usage = self._folder / "cpuacct.usage"
        if usage.exists():
            return int(usage.read_text())
        words = (self._folder / "cpu.stat").read_text().split()
        return int(words[words.index("usage_usec") + 1]) * NS_PER_US

    def rss_bytes(self) -> int:
        """Return the resident memory of all its processes now."""
        pids = {p for pid in self.pids for p in (pid, *descendants(pid))}
        if self._folder is not None:
            pids |= {int(word) for word in (self._folder / "cgroup.procs").read_text().split()}
        return sum(rss_bytes(pid) for pid in pids)


def _write(path: Path, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def descendants(pid: int) -> list[int]:
    """Return the pids of everything below a process."""
    found, todo = [], [pid]
    while todo:
        for child in _children(todo.pop()):
            found.append(child)
            todo.append(child)
    return found


def _children(pid: int) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for path in Path(f"/proc/{pid}/task").glob("*/children"):
            yield from (int(word) for word in path.read_text().split())


def tree_cpu_ns(pid: int) -> int:
    """Return the CPU time of a process, what is below it, and the children that each has waited for."""
    return sum(_stat_cpu_ns(one) for one in (pid, *descendants(pid)))


def _stat_cpu_ns(pid: int) -> int:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(int(word) for word in words[11:15]) * NS_PER_TICK
    return 0


def main_thread_ns(pid: int) -> int:
    """Return the time on CPU of a process's main thread (schedstat, Documentation/scheduler/sched-stats.rst)."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def rss_bytes(pid: int) -> int:
    """Return the resident memory of one process; 0 when it has ended."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0
