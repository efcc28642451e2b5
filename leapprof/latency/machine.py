"""The machine that probes: its facts, its clocks, and how busy its CPUs are while it probes."""

import dataclasses
import threading
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leapprof.errors import ParseError
from leapprof.ingest.facts import read_host
from leapprof.model import Column, Host, Table
from leapprof.probes.stat import Stat, parse_stat
from leapprof.units import NS_PER_S

SAMPLE_S = 1.0
_STAT = Path("/proc/stat")
_FACT_FILES = (
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/random/boot_id",
    "/etc/machine-id",
    "/etc/os-release",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices/system/cpu/online",
)
_MOST_FACT_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Moment:
    """One instant on this machine's clocks, nanoseconds: CLOCK_MONOTONIC, CLOCK_BOOTTIME and the wall clock."""

    monotonic_ns: int
    boottime_ns: int
    wall_ns: int

    def at(self, monotonic_ns: int) -> "Moment":
        """Return another instant as this one places it: no clock is read."""
        later = monotonic_ns - self.monotonic_ns
        return Moment(monotonic_ns, self.boottime_ns + later, self.wall_ns + later)


def now() -> Moment:
    """Read the clocks."""
    return Moment(time.monotonic_ns(), time.clock_gettime_ns(time.CLOCK_BOOTTIME), time.time_ns())


def this_host(name: str) -> Host:
    """Return what this machine says of itself."""
    texts = {}
    for path in _FACT_FILES:
        try:
            with Path(path).open("rb") as file:
                texts[path] = file.read(_MOST_FACT_BYTES).decode("utf-8", "replace")
        except OSError:
            continue
    return read_host(texts, name, ())


class CpuSampler:
    """Reads /proc/stat once a second in a thread of its own, so that a busy prober is seen. Use with ``with``."""

    def __init__(self) -> None:
        """Sample once, then go on in a thread."""
        self._rows: list[tuple[Moment, Stat]] = []
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._sample()
        self._thread = threading.Thread(target=self._run, name="cpu", daemon=True)
        self._thread.start()

    def __enter__(self) -> "CpuSampler":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the last sample and end the thread; harmless when repeated."""
        if not self._ended.is_set():
            self._ended.set()
            self._thread.join()
            self._sample()

    def _run(self) -> None:
        while not self._ended.wait(SAMPLE_S):
            self._sample()

    def _sample(self) -> None:
        try:
            stat = parse_stat(_STAT.read_text(encoding="ascii", errors="replace"))
        except (OSError, ParseError):
            stat = Stat()
        with self._lock:
            self._rows.append((now(), stat))

    def take(self, first_seq: int) -> Table:
        """Return the rows since the last call as a table ``host``, numbered from first_seq."""
        with self._lock:
            rows, self._rows = self._rows, []
        moments = [moment for moment, _ in rows]
        names = [field.name for field in dataclasses.fields(Stat)]
        integers = {
            "seq": filled(range(first_seq, first_seq + len(rows))),
            **time_columns(moments),
            **{name: column([getattr(stat, name) for _, stat in rows]) for name in names},
        }
        return Table(name="host", rows=len(rows), integers=integers, texts={})


def time_columns(moments: list[Moment]) -> dict[str, Column]:
    """Return the columns that say when, of one boot."""
    return {
        "boottime_ns": filled([m.boottime_ns for m in moments]),
        "wall_ns": filled([m.wall_ns for m in moments]),
        "boot": filled([0] * len(moments)),
    }


def filled(values: "range | list[int]") -> Column:
    """Return a column without holes."""
    array = np.array(list(values), dtype=np.int64)
    return Column(values=array, present=np.ones(array.size, dtype=np.bool_))


def column(values: list[int | None]) -> Column:
    """Return a column; None is not present."""
    present = np.array([v is not None for v in values], dtype=np.bool_)
    return Column(values=np.array([v or 0 for v in values], dtype=np.int64), present=present)


def busy_shares(host: Table, block_s: float) -> list[float]:
    """Return the busy share of all CPUs in each stretch of a ``host`` table, [0, 1].

    Busy is user, nice, system, irq and softirq; idle, iowait and steal are not (assess/compute.py says why).
    """
    busy = _sum(host, ("user", "nice", "system", "irq", "softirq"))
    whole = _sum(host, ("user", "nice", "system", "irq", "softirq", "idle", "iowait", "steal"))
    if busy is None or whole is None:
        return []
    time_ns = host.integers["boottime_ns"].values
    marks = np.arange(time_ns[0], time_ns[-1] + 1, int(block_s * NS_PER_S))
    at = np.unique(np.searchsorted(time_ns, marks, side="left"))
    steps = [(busy[j] - busy[i], whole[j] - whole[i]) for i, j in pairwise(at)]
    return [float(b / w) for b, w in steps if w > 0 and b >= 0]


def _sum(host: Table, fields: tuple[str, ...]) -> "NDArray[np.int64] | None":
    columns = [host.integers.get(f"cpu_{name}_ticks_total") for name in fields]
    known = [c for c in columns if c is not None and bool(c.present.all()) and c.values.size]
    if not known or columns[0] is None or not known[0].values.size:
        return None
    return np.asarray(np.sum([c.values for c in known], axis=0), dtype=np.int64)
