"""The samples of one subject on a timeline of seconds, read from a recording a few columns at a time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.rates import Timeline, timeline
from leapprof.model import Column, Recording, Table
from leapprof.units import NS_PER_S

IDENTITY_COLUMNS = {"nodeos": ("pid", "start_ticks")}


class RecordingTables(Protocol):
    """A recording with its tables, wherever they come from (see assess/load.py)."""

    @property
    def manifest(self) -> Recording:
        """Return the manifest."""
        ...

    def table(
        self, name: str, columns: Sequence[str] | None = None, where: Mapping[str, str] | None = None
    ) -> Table:
        """Return the rows of a table, of one subject if asked; no rows when it does not exist."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """Rows of one subject.

    Attributes:
        times: of the rows, and what all columns share.
        wall_ns: (n,) host's wall clock.
        breaks: (n,) True where another boot or another process begins.
        columns: name → Column of n values.
    """

    times: Timeline
    wall_ns: NDArray[np.int64]
    breaks: NDArray[np.bool_]
    columns: dict[str, Column] = field(default_factory=dict)

    @property
    def time_s(self) -> NDArray[np.float64]:
        """Return (n,) seconds on CLOCK_BOOTTIME of the first boot; later boots are put behind by wall clock."""
        return self.times.time_s

    def has(self, *names: str) -> bool:
        """Return whether each column holds at least one reading."""
        return all(name in self.columns and bool(self.columns[name].present.any()) for name in names)

    def sum_of(self, *names: str) -> Column | None:
        """Return the sum of columns where all are present; None when one of them was never read."""
        if not self.has(*names):
            return None
        first = self.columns[names[0]]
        values, present = first.values, first.present
        for name in names[1:]:
            values = values + self.columns[name].values
            present = present & self.columns[name].present
        return Column(values=values, present=present)


def read_samples(
    recording: RecordingTables,
    table: str,
    columns: Iterable[str],
    where: Mapping[str, str] | None = None,
) -> Samples | None:
    """Return the rows of one subject with these columns, in the order of time; None without rows."""
    identity = IDENTITY_COLUMNS.get(table, ())
    names = tuple(dict.fromkeys(("boottime_ns", "wall_ns", "boot", *identity, *columns)))
    found = recording.table(table, names, where)
    if found is None or not found.rows:
        return None
    return samples_of(found)


def samples_of(found: Table) -> Samples:
    """Return a table's rows on their timeline."""
    breaks = np.zeros(found.rows, dtype=bool)
    for name in ("boot", *IDENTITY_COLUMNS.get(found.name, ())):
        column = found.integers.get(name)
        if column is not None and column.present.all():
            breaks[1:] |= column.values[1:] != column.values[:-1]
    return Samples(
        times=timeline(timeline_s(found), breaks),
        wall_ns=found.integers["wall_ns"].values,
        breaks=breaks,
        columns=found.integers,
    )


def timeline_s(found: Table) -> NDArray[np.float64]:
    """Return (n,) seconds that go on over reboots: CLOCK_BOOTTIME, later boots shifted by wall clock."""
    boottime = found.integers["boottime_ns"].values
    boot = found.integers["boot"].values
    if found.rows == 0 or boot[0] == boot[-1]:
        return np.asarray(boottime / NS_PER_S, dtype=np.float64)
    wall = found.integers["wall_ns"].values
    shifted = boottime.copy()
    origin = wall[0] - boottime[0]
    for start in np.flatnonzero(np.diff(boot, prepend=boot[0])):
        later = boot == boot[start]
        shifted[later] = boottime[later] + (wall[start] - boottime[start]) - origin
    return np.asarray(shifted / NS_PER_S, dtype=np.float64)
