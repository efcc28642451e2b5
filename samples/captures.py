"""Turns captures of a real nodeos (raw copies of /proc once a second) into frames, as the agent would have sent them.

A capture is a folder with ``samples.gz``: ``=== <unix time> <path>`` and then the text, over and over. Paths are
``/proc/...`` files, those of the process below ``/proc/<pid>/``, its threads below ``/proc/<pid>/task/`` and
``http <url path>`` for answers of its API. The captures have no uptime in the older runs; CLOCK_BOOTTIME is taken as
wall clock minus ``btime`` of /proc/stat everywhere, so that all runs of that machine lie on one axis.
"""

import gzip
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from leapprof.model import Frame, ReadStatus, Section

HEADER = re.compile(rb"^=== (\d+\.\d+) (.+?) *$")
NS_PER_S = 1_000_000_000
SKIPPED = ("/proc/loadavg",)
SKIPPED_ENDINGS = ("/smaps_rollup",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One pass of the capturing loop: seconds since the epoch, and path → text."""

    wall_s: float
    texts: dict[str, bytes]


def read_ticks(path: Path) -> Iterator[Tick]:
    """Yield the passes of a capture; a pass ends where its first path comes again."""
    wall_s, first, texts = 0.0, "", dict[str, bytes]()
    name, lines, at = "", list[bytes](), 0.0
    with gzip.open(path, "rb") as file:
        content = file.read()
    for line in content.splitlines(keepends=True):
        header = HEADER.match(line)
        if header is None:
            lines.append(line)
            continue
        if name:
            texts[name] = b"".join(lines)
        at, name, lines = float(header[1]), header[2].decode(), []
        if not first:
            first, wall_s = name, at
        elif name == first:
            yield Tick(wall_s=wall_s, texts=texts)
            wall_s, texts = at, {}
    if name and texts:
        texts[name] = b"".join(lines)
        yield Tick(wall_s=wall_s, texts=texts)


def _threads(texts: dict[str, bytes], task_prefix: str) -> bytes | None:
    """Return the agent's `threads` text: CPU ticks summed by thread name."""
    sums: dict[bytes, list[int]] = {}
    for path, text in texts.items():
        if not path.startswith(task_prefix) or not path.endswith("/stat"):
            continue
        name = text[text.index(b"(") + 1 : text.rindex(b")")].replace(b" ", b"_")
        fields = text[text.rindex(b")") + 2 :].split()
        row = sums.setdefault(name, [0, 0, 0])
        row[0] += int(fields[11])
        row[1] += int(fields[12])
        row[2] += 1
    if not sums:
        return None
    return b"".join(b"%s %d %d %d\n" % (name, *row) for name, row in sorted(sums.items()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """The nodeos of a capture: its id in the recording and its identity on the host."""

    id: str
    pid: int
    start_ticks: int

    def section(self, file: str) -> str:
        """Return the section name of one of its files."""
        return f"nodeos/{self.id}/{self.pid}/{self.start_ticks}/{file}"


def find_process(path: Path, nodeos_id: str) -> Process:
    """Return the identity of the process that a capture follows."""
    for tick in read_ticks(path):
        for name, text in tick.texts.items():
            found = re.fullmatch(r"/proc/(\d+)/stat", name)
            if found and text.strip():
                start = int(text[text.rindex(b")") + 2 :].split()[19])
                return Process(id=nodeos_id, pid=int(found[1]), start_ticks=start)
    raise SystemExit(f"{path}: no process in this capture")


def boot_wall_s(path: Path) -> int:
    """Return btime of /proc/stat: the wall clock at boot, whole seconds."""
    for tick in read_ticks(path):
        for line in tick.texts.get("/proc/stat", b"").splitlines():
            if line.startswith(b"btime "):
                return int(line.split()[1])
    raise SystemExit(f"{path}: no btime in this capture")


def _sections(tick: Tick, process: Process) -> Iterator[Section]:
    own, tasks = f"/proc/{process.pid}/", f"/proc/{process.pid}/task/"
    for path, text in tick.texts.items():
        if path in SKIPPED or path.endswith(SKIPPED_ENDINGS) or path.startswith(tasks):
            continue
        name = path
        if path.startswith("http "):
            status = b"200 0 nodeos\n" if text.strip() else b"0 0 -\n"
            name, text = f"http/{process.id}{path[5:]}", status + text
        elif path.startswith(own):
            name = process.section(path[len(own) :])
        found = ReadStatus.OK if text.strip() else ReadStatus.ABSENT
        yield Section(name=name, status=found, text=text if found is ReadStatus.OK else b"")
    threads = _threads(tick.texts, tasks)
    if threads is not None:
        yield Section(name=process.section("threads"), status=ReadStatus.OK, text=threads)


def frames(path: Path, process: Process, *, first_sections: tuple[Section, ...] = ()) -> Iterator[Frame]:
    """Yield a capture's passes as frames; `first_sections` (the survey) lead the first one."""
    boot_s = boot_wall_s(path)
    for seq, tick in enumerate(read_ticks(path), 1):
        wall_ns = round(tick.wall_s * NS_PER_S)
        boottime_ns = wall_ns - boot_s * NS_PER_S
        sections = tuple(_sections(tick, process))
        yield Frame(
            seq=seq,
            boottime_ns=boottime_ns,
            wall_ns=wall_ns,
            deadline_ns=boottime_ns,
            agent_cpu_ns=None,
            agent_rss_bytes=None,
            dropped=0,
            sections=(*first_sections, *sections) if seq == 1 else sections,
        )
