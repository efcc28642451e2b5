"""What a line of the live view holds, from the last two frames of a host. Pure."""

from dataclasses import dataclass, field

from leapprof.errors import ParseError
from leapprof.ingest.rows import FrameIngest
from leapprof.model import Column, Frame, Table
from leapprof.units import NS_PER_S, SECTOR_BYTES

_CPU_BUSY = ("user", "nice", "system", "irq", "softirq")
_CPU_ALL = (*_CPU_BUSY, "idle", "iowait", "steal")
_PERCENT = 100.0
_MS_PER_S = 1000.0
_QUIET_PREFIXES = ("loop", "ram", "zram", "sr", "fd")


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveLine:
    """One host at one moment; None where it is not known.

    Attributes:
        host: its name.
        cpu_percent: busy share of all CPUs.
        rss_anon_bytes, rss_file_bytes, rss_shmem_bytes: of all nodeos processes.
        swap_used_bytes: of the host.
        write_bytes_per_s: device → rate, whole disks that write most first.
        head_lag_s: of the nodeos furthest behind.
        gaps: so far.
        samples: so far.
        state: ``sampling``, or what is the trouble.
    """

    host: str
    cpu_percent: float | None = None
    rss_anon_bytes: int | None = None
    rss_file_bytes: int | None = None
    rss_shmem_bytes: int | None = None
    swap_used_bytes: int | None = None
    write_bytes_per_s: dict[str, float] = field(default_factory=dict)
    head_lag_s: float | None = None
    gaps: int = 0
    samples: int = 0
    state: str = "waiting"


@dataclass(slots=True, kw_only=True)
class LiveHost:
    """Remembers what a line needs of one host's frames."""

    host: str
    gaps: int = 0
    samples: int = 0
    state: str = "waiting"
    _frames: tuple[Frame, ...] = ()
    _answered: Frame | None = None

    def add(self, frame: Frame) -> None:
        """Take the next frame."""
        self._frames = (*self._frames[-1:], frame)
        if any(section.name.startswith("http/") for section in frame.sections):
            self._answered = frame  # nodeos is asked every ten seconds, and a line may be wanted in between
        self.samples += 1
        self.state = "sampling"

    def line(self) -> LiveLine:
        """Return the line of this moment."""
        ingest = FrameIngest()
        for frame in self._frames:
            try:
                ingest.add(frame)
            except ParseError as error:  # a foreign frame: the line says so, sampling goes on
                return LiveLine(host=self.host, gaps=self.gaps, samples=self.samples, state=str(error))
        tables = ingest.tables()
        host, nodeos = tables.get("host"), tables.get("nodeos")
        return LiveLine(
            host=self.host,
            cpu_percent=_cpu_percent(host),
            rss_anon_bytes=_sum_last(nodeos, "rss_anon_bytes"),
            rss_file_bytes=_sum_last(nodeos, "rss_file_bytes"),
            rss_shmem_bytes=_sum_last(nodeos, "rss_shmem_bytes"),
            swap_used_bytes=_swap_used(host),
            write_bytes_per_s=_write_rates(tables.get("device")),
            head_lag_s=_head_lag_s(self._answered),
            gaps=self.gaps,
            samples=self.samples,
            state=self.state,
        )


def _last(column: Column | None) -> int | None:
    if column is None or not column.present.size or not column.present[-1]:
        return None
    return int(column.values[-1])


def _step(column: Column | None) -> int | None:
    """Return the growth between the last two rows; None after a reset."""
    if column is None or column.present.size < 2 or not column.present[-2:].all():
        return None
    step = int(column.values[-1]) - int(column.values[-2])
    return step if step >= 0 else None


def _cpu_percent(host: Table | None) -> float | None:
    if host is None:
        return None
    steps = {n: _step(host.integers.get(f"cpu_{n}_ticks_total")) for n in _CPU_ALL}
    known = {name: step for name, step in steps.items() if step is not None}
    total = sum(known.values())
    if total <= 0 or steps["idle"] is None:
        return None
    return _PERCENT * sum(known.get(name, 0) for name in _CPU_BUSY) / total


def _swap_used(host: Table | None) -> int | None:
    if host is None:
        return None
    total, free = _last(host.integers.get("swap_total_bytes")), _last(host.integers.get("swap_free_bytes"))
    return None if total is None or free is None else total - free


def _sum_last(table: Table | None, name: str) -> int | None:
    """Return the sum over the rows of the last frame; None when none of them knows."""
    if table is None:
        return None
    column, last = table.integers[name], table.integers["seq"].values == table.integers["seq"].values[-1]
    known = column.present & last
    return int(column.values[known].sum()) if known.any() else None


def _write_rates(device: Table | None) -> dict[str, float]:
    if device is None:
        return {}
    rates = {}
    for name in sorted({n for n in device.texts["device"] if n and not n.startswith(_QUIET_PREFIXES)}):
        rows = device.texts["device"] == name
        sectors = device.integers["write_sectors_total"]
        step = _step(Column(values=sectors.values[rows], present=sectors.present[rows]))
        times_ns = device.integers["boottime_ns"].values[rows]
        if step is not None and times_ns[-1] > times_ns[-2]:
            rates[name] = step * SECTOR_BYTES * NS_PER_S / float(times_ns[-1] - times_ns[-2])
    return dict(sorted(rates.items(), key=lambda item: (-item[1], item[0])))


def _head_lag_s(answered: Frame | None) -> float | None:
    """Return the lag that nodeos last told; None before it told any."""
    if answered is None:
        return None
    ingest = FrameIngest()
    try:
        ingest.add(answered)
    except ParseError:
        return None
    column = ingest.tables()["chain"].integers["head_lag_ms"]
    return float(column.values[column.present].max()) / _MS_PER_S if column.present.any() else None
