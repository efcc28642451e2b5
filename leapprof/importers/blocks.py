"""What an importer hands over: readings of one subject on times of their own, and everything known beside them.

A recording holds raw counters. A source that prints rates is integrated back to counters: each value covers the
interval that ends at its time, and where intervals do not follow each other the counter begins again at 0, so that
what happened in between stays unknown and is never taken for nothing.
"""

from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from leapprof.model import Event, Finding, Host, Nodeos, Severity, Topology
from leapprof.units import NS_PER_S

LATEST_S = 2**33
"""Past the year 2242: no time that a file of today holds, and nanoseconds still fit 64 bits."""
JOIN_SHARE = 0.25
"""Two intervals follow each other when the space between them is at most this share of one."""


def wall_ns_of(moment: datetime) -> int | None:
    """Return a time that has its zone, nanoseconds since the epoch; None before that and after 2242."""
    seconds = moment.timestamp()
    return round(seconds * 1000) * (NS_PER_S // 1000) if 0 < seconds < LATEST_S else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """Readings of one subject.

    Attributes:
        table: of the recording.
        texts: text column → value, the same in all rows.
        wall_ns: (n,) int64, increasing.
        columns: integer column → (n,) float64 in the column's unit, NaN where missing.
    """

    table: str
    texts: dict[str, str | None]
    wall_ns: NDArray[np.int64]
    columns: dict[str, NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Imported:
    """One host of one source.

    Attributes:
        host, nodeos, topology: as far as the source says.
        source: where it comes from, in one sentence: the recording's ``import_source``.
        interval_s: usual time between readings.
        blocks: the readings.
        boots_wall_ns: when the host was booted, in order; empty when not known.
        notes: what else the manifest should say.
    """

    host: Host
    source: str
    interval_s: float
    blocks: tuple[Block, ...]
    nodeos: tuple[Nodeos, ...] = ()
    topology: Topology = field(default_factory=Topology)
    boots_wall_ns: tuple[int, ...] = ()
    findings: tuple[Finding, ...] = ()
    events: tuple[Event, ...] = ()
    absent: tuple[str, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Intervals:
    """Times of rates, with a start before each stretch: what counters are integrated on.

    Attributes:
        wall_ns: (m,) int64, starts of stretches and ends of intervals, increasing.
        row: (m,) index of the reading that each end belongs to; -1 at the start of a stretch.
        elapsed_s: (n,) seconds that each reading covers.
    """

    wall_ns: NDArray[np.int64]
    row: NDArray[np.intp]
    elapsed_s: NDArray[np.float64]

    def integrate(self, rate_per_s: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a counter from (n,) rates a second; it begins again at 0 with each stretch and after a hole."""
        amount = rate_per_s * self.elapsed_s
        counter = np.full(self.wall_ns.size, np.nan)
        total = np.nan
        if not np.isfinite(amount).any():
            return counter
        for place, row in enumerate(self.row.tolist()):
            step = 0.0 if row < 0 else float(amount[row])
            if row < 0:
                total = 0.0
            elif np.isfinite(total):
                total += step
            elif np.isfinite(step):
                counter[place - 1] = 0.0  # the reading before holds nothing: a new stretch starts at its time
                total = step
            counter[place] = total
        return counter

    def level(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (m,) readings of a level: nothing was read at the start of a stretch."""
        out = np.where(self.row < 0, np.nan, value[np.maximum(self.row, 0)])
        return np.asarray(out, dtype=np.float64)


def intervals(wall_ns: NDArray[np.int64], elapsed_s: NDArray[np.float64]) -> Intervals:
    """Return the times on which rates over intervals become counters.

    Args:
        wall_ns: (n,) end of each interval, increasing.
        elapsed_s: (n,) its length.
    """
    start_ns = wall_ns - np.rint(elapsed_s * NS_PER_S).astype(np.int64)
    times: list[int] = []
    rows: list[int] = []
    for row, (begin, end) in enumerate(zip(start_ns.tolist(), wall_ns.tolist(), strict=True)):
        slack = JOIN_SHARE * (end - begin)
        if not times or begin - times[-1] > slack:
            times.append(begin)
            rows.append(-1)
        times.append(end)
        rows.append(row)
    return Intervals(
        wall_ns=np.array(times, dtype=np.int64), row=np.array(rows, dtype=np.intp), elapsed_s=elapsed_s
    )


def imported_rates(what: str) -> Finding:
    """Return the finding of a source that has rates only."""
    return Finding(
        code="imported-rates",
        severity=Severity.INFO,
        message=f"{what} holds averages over intervals: counters of this recording were integrated from them.",
        hint="Means hold; bursts shorter than an interval are not seen, and rounding of the source stays.",
    )
