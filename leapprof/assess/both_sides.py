"""Both sides of a comparison, cut and measured at once: the one after the change in a process of its own.

Recordings of an hour are not worth a process, and a program with threads of its own cannot be forked: both sides
share this process then, in two threads. What is computed is the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from leapprof.analysis.batch import Span
from leapprof.analysis.estimate import t_quantile
from leapprof.assess.apart import Apart
from leapprof.assess.beside import apart_if_worth_it
from leapprof.assess.cached import SideTables
from leapprof.assess.liveness import Stretches
from leapprof.assess.samples import RecordingTables
from leapprof.assess.side_rows import Asked, Measured, side_rows
from leapprof.assess.sides import CutSide, WindowChoice, cut_side
from leapprof.model import Recording, Side, Table

R = TypeVar("R")
A = TypeVar("A")
_Where = Mapping[str, str]


class TablesApart(SideTables):
    """The tables of a side that another process has read."""

    def __init__(self, apart: Apart[CutSide], manifest: Recording) -> None:
        """Keep whom to ask."""
        self.apart = apart
        self._manifest = manifest

    @property
    def manifest(self) -> Recording:
        """Return the manifest."""
        return self._manifest

    def table(self, name: str, columns: Sequence[str] | None = None, where: _Where | None = None) -> Table:
        """Return the rows of a table of one subject; see RecordingTables."""
        self.apart.ask(_table, name, columns, where)
        found: Table = self.apart.answer()
        return found

    def prepare(self, name: str, wheres: Iterable[_Where]) -> None:
        """Have a table read for some subjects at once."""
        self.apart.ask(_prepare, name, list(wheres))
        self.apart.answer()

    def release(self, name: str, where: _Where | None = None) -> None:
        """Have forgotten what was read of a table, or of one subject of it, but what is asked for again."""
        self.apart.ask(_release, name, where)
        self.apart.answer()


def _table(side: CutSide, name: str, columns: Sequence[str] | None, where: _Where | None) -> Table:
    return side.tables.table(name, columns, where)


def _prepare(side: CutSide, name: str, wheres: list[_Where]) -> None:
    side.tables.prepare(name, wheres)


def _release(side: CutSide, name: str, where: _Where | None) -> None:
    side.tables.release(name, where)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BothSides:
    """Both sides with what was measured of each, table by table."""

    sides: tuple[CutSide, CutSide]
    measured: tuple[tuple[Measured, ...], tuple[Measured, ...]]


@contextmanager
def both_measured(
    recordings: tuple[RecordingTables, RecordingTables],
    within: tuple[Span | None, Span | None],
    window: WindowChoice | None,
    asked: tuple[Sequence[Asked], Sequence[Asked]],
) -> Iterator[BothSides]:
    """Give both sides with their windows and rows, for as long as they are compared.

    Raises:
        NotEnoughDataError: a recording is empty.
        LeapprofError: the process of the other side was ended.
    """
    t_quantile(0.5, 1.0)  # loads scipy, once for both
    cut = [
        partial(cut_side, recording, label, window, span)
        for recording, label, span in zip(recordings, ("before", "after"), within, strict=True)
    ]
    apart = apart_if_worth_it(recordings[1], cut[1])
    if apart is None:
        with ThreadPoolExecutor(max_workers=2) as pool:
            before, after = pool.map(lambda make: make(), cut)
        yield BothSides(sides=(before, after), measured=on_each(side_rows, (before, after), asked))
        return
    with apart:
        apart.ask(_told, asked[1])
        before = cut[0]()
        first = side_rows(before, asked[0])
        side, span, left_out, known, second = apart.answer()
        tables = TablesApart(apart, side.recording)
        after = CutSide(tables=tables, side=side, span=span, left_out=left_out, stages_known=known)
        yield BothSides(sides=(before, after), measured=(first, second))


def _told(side: CutSide, asked: Sequence[Asked]) -> tuple[Side, Span, Stretches, bool, tuple[Measured, ...]]:
    """Return what is told of a side, and its rows: neither waits for the other side between the two."""
    return side.side, side.span, side.left_out, side.stages_known, side_rows(side, asked)


def on_each(
    function: Callable[[CutSide, A], R], sides: tuple[CutSide, CutSide], asked: tuple[A, A]
) -> tuple[R, R]:
    """Return what a function of a module returns for each side, called for both at once."""
    before, after = sides
    if isinstance(after.tables, TablesApart):
        after.tables.apart.ask(function, asked[1])
        first = function(before, asked[0])
        second: R = after.tables.apart.answer()
        return first, second
    with ThreadPoolExecutor(max_workers=2) as pool:
        first, second = pool.map(function, sides, asked)
    return first, second
