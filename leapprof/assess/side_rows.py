"""Every metric of some subjects on one side, measured and drawn: what two sides do at once, before they are paired."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.hist import Held, held
from leapprof.analysis.thin import thin
from leapprof.assess.measure import MeasuredSide, Reading, measure, reading_of
from leapprof.assess.metrics import METRICS, MetricSpec, SubjectKind, columns_of
from leapprof.assess.samples import read_samples
from leapprof.assess.sides import CutSide
from leapprof.model import Nodeos, Series

_JUMPS = "nodeos.cpu_cores"
"""Its series are asked for again: findings name where its level jumps."""
_LOAD_TABLE = "chain"
"""Its series are asked for again: they are the load that other metrics are held against."""
_NONE = np.empty(0)
_NO_SERIES = Series(time_s=_NONE, value=_NONE, weight_s=_NONE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideRow:
    """One metric of one subject on one side.

    Attributes:
        measured: its series is empty once it is drawn, but for those that are asked for again: a week's series of
            every metric would fill the memory.
        time_s, value: (p,) thinned, to be drawn; seconds from the start of the window.
        held: how long its values were held.
    """

    measured: MeasuredSide
    time_s: NDArray[np.float64]
    value: NDArray[np.float64]
    held: Held


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """A subject of a side: what selects its rows (None: all), and its process."""

    where: Mapping[str, str] | None = None
    nodeos: Nodeos | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is measured of one table on one side; None stands for a subject that is not there."""

    table: str
    kind: SubjectKind
    subjects: tuple[Who | None, ...]

    @property
    def specs(self) -> tuple[MetricSpec, ...]:
        """Return the metrics of such subjects, in the order of the metric table."""
        return tuple(s for s in METRICS if s.table == self.table and s.subject is self.kind)


Measured = tuple[tuple[SideRow | None, ...], ...]
"""Of each subject each metric; None where the recording does not hold it."""


def side_rows(side: CutSide, asked: Sequence[Asked]) -> tuple[Measured, ...]:
    """Return what was asked of one side, table by table."""
    return tuple(tuple(_of_table(side, one)) for one in asked)


def drawn(spec: MetricSpec, measured: MeasuredSide, side: CutSide) -> SideRow:
    """Return a metric with what is drawn of it, and without its series if nobody asks for it again."""
    time_s, value = thin(measured.series)
    shares = held(measured.series)
    kept = spec.table == _LOAD_TABLE or spec.name == _JUMPS
    return SideRow(
        measured=measured if kept else replace(measured, series=_NO_SERIES),
        time_s=time_s - side.span.start_s,
        value=value,
        held=shares,
    )


def _of_table(side: CutSide, asked: Asked) -> Iterator[tuple[SideRow | None, ...]]:
    side.tables.prepare(asked.table, [who.where for who in asked.subjects if who and who.where])
    for who in asked.subjects:
        read = None if who is None else _read(asked.table, side, who)
        yield tuple(None if read is None else _row(spec, read) for spec in asked.specs)


def _read(table: str, side: CutSide, who: Who) -> Reading | None:
    """Return one subject's columns, which are not asked for again."""
    samples = read_samples(side.tables, table, columns_of(table), who.where)
    side.tables.release(table, who.where)
    return None if samples is None else reading_of(side, samples, who.nodeos)


def _row(spec: MetricSpec, read: Reading) -> SideRow | None:
    measured = measure(spec, read)
    return None if measured is None else drawn(spec, measured, read.side)
