"""The rows of one process among those of its nodeos, and the curve of its first minutes."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.rates import counter_rate
from leapprof.analysis.thin import thin
from leapprof.assess.samples import Samples
from leapprof.model import Column, Series
from leapprof.model.start import StartCurve
from leapprof.units import NS_PER_S

USER_HZ = 100
CURVE_S = 300.0
CURVE_POINTS = 120
LONGEST_GAP_S = 5.0

LIFE_COLUMNS = (
    "utime_ticks_total",
    "stime_ticks_total",
    "io_read_bytes_total",
    "io_write_bytes_total",
    "rss_bytes",
    "rss_anon_bytes",
    "rss_file_bytes",
    "rss_shmem_bytes",
    "swap_bytes",
)
_LEVELS = ("rss_anon_bytes", "rss_file_bytes", "rss_shmem_bytes", "swap_bytes")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Life:
    """Rows of one process.

    Attributes:
        rows: of its nodeos, whole.
        at: which of them are its own.
        began_s: when it began, on the samples' timeline.
        began_wall_ns: the same on the host's wall clock.
        t_s: (k,) seconds since then.
    """

    rows: Samples
    at: slice
    pid: int
    start_ticks: int
    began_s: float
    began_wall_ns: int
    t_s: NDArray[np.float64]

    @property
    def last_wall_ns(self) -> int:
        """Return the host's wall clock at its last row."""
        return int(self.rows.wall_ns[self.at][-1])

    def column(self, name: str) -> Column | None:
        """Return (k,) a column; None when it was never read."""
        whole = self.rows.columns.get(name)
        if whole is None or not whole.present[self.at].any():
            return None
        return Column(values=whole.values[self.at], present=whole.present[self.at])

    def highest(self, name: str, from_s: float | None, to_s: float | None) -> int | None:
        """Return the highest level between two moments since its start; None when one of them is not known."""
        column = self.column(name)
        if column is None or from_s is None or to_s is None:
            return None
        inside = column.present & (self.t_s >= from_s) & (self.t_s <= to_s)
        return int(column.values[inside].max()) if inside.any() else None


def lives_of(rows: Samples) -> Iterator[Life]:
    """Yield the processes among the rows of one nodeos."""
    starts = np.flatnonzero(np.concatenate(([True], rows.breaks[1:])))
    ends = np.append(starts[1:], rows.breaks.size)
    boottime = rows.columns["boottime_ns"].values
    for first, end in zip(starts.tolist(), ends.tolist(), strict=True):
        pid, start = rows.columns["pid"], rows.columns["start_ticks"]
        if not (pid.present[first] and start.present[first]):
            continue
        age_s = float(boottime[first] / NS_PER_S - start.values[first] / USER_HZ)
        began_s = float(rows.time_s[first]) - age_s
        yield Life(
            rows=rows,
            at=slice(first, end),
            pid=int(pid.values[first]),
            start_ticks=int(start.values[first]),
            began_s=began_s,
            began_wall_ns=int(rows.wall_ns[first]) - round(age_s * NS_PER_S),
            t_s=rows.time_s[first:end] - began_s,
        )


def curve_of(life: Life, until_s: float, stop_from_s: float | None = None) -> StartCurve:
    """Return the first minutes of a process on one axis, thinned by taking every nth sample and each peak."""
    span_s = min(
        max(CURVE_S, 2 * until_s), 10 * CURVE_S, float("inf") if stop_from_s is None else stop_from_s
    )
    inside = slice(int(np.searchsorted(life.t_s, span_s, side="right")))
    series = {name: _thinned(life, life.column(name), inside, is_rate=False) for name in _LEVELS}
    ticks = _sum(life.column("utime_ticks_total"), life.column("stime_ticks_total"))
    series["cpu"] = _thinned(life, ticks, inside, is_rate=True)
    series["read"] = _thinned(life, life.column("io_read_bytes_total"), inside, is_rate=True)
    t_s = life.t_s[inside]
    chosen = t_s[np.unique(np.linspace(0, t_s.size - 1, min(t_s.size, CURVE_POINTS)).astype(np.intp))]

    def on_axis(name: str, scale: float = 1.0) -> tuple[float | None, ...]:
        return tuple(_near(series[name], float(t), scale) for t in chosen)

    return StartCurve(
        t_s=tuple(round(float(t), 3) for t in chosen),
        cpu_cores=on_axis("cpu", 1 / USER_HZ),
        read_bytes_per_s=on_axis("read"),
        rss_anon_bytes=on_axis("rss_anon_bytes"),
        rss_file_bytes=on_axis("rss_file_bytes"),
        rss_shmem_bytes=on_axis("rss_shmem_bytes"),
        swap_bytes=on_axis("swap_bytes"),
    )


_Points = tuple[NDArray[np.float64], NDArray[np.float64]]


def _thinned(life: Life, column: Column | None, inside: slice, *, is_rate: bool) -> _Points:
    """Return times and values of a column, peaks kept."""
    empty = np.empty(0), np.empty(0)
    if column is None:
        return empty
    t_s = life.t_s[inside]
    own = Column(values=column.values[inside], present=column.present[inside])
    if is_rate:
        series = counter_rate(t_s, own)
    else:
        value = np.where(own.present, own.values.astype(np.float64), np.nan)
        series = Series(time_s=t_s, value=value, weight_s=np.ones(t_s.size))
    return thin(series, CURVE_POINTS)


def _near(points: _Points, t_s: float, scale: float) -> float | None:
    """Return the value of the point nearest to a moment; None where there is none within a gap."""
    time_s, value = points
    if not time_s.size:
        return None
    at = int(np.argmin(np.abs(time_s - t_s)))
    is_near = abs(float(time_s[at]) - t_s) <= LONGEST_GAP_S and bool(np.isfinite(value[at]))
    return float(f"{float(value[at]) * scale:.6g}") if is_near else None


def _sum(first: Column | None, second: Column | None) -> Column | None:
    if first is None or second is None:
        return None
    return Column(values=first.values + second.values, present=first.present & second.present)
