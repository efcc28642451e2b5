"""Answers of a server become columns: every evaluation is put back to the scrape that it shows.

An instant vector at a moment shows each series' last sample, for up to five minutes after the last scrape. The
``timestamp`` of the target's anchor says which scrape that is: a moment that shows an old one holds nothing new and
is dropped, so gaps stay gaps and every value keeps the time at which it was read.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.importers.prom_names import SUMS, Wanted
from leapprof.importers.prom_server import Server, ServerSeries
from leapprof.importers.prom_targets import Grid, Target
from leapprof.units import NS_PER_S

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scrapes:
    """The scrapes of one target on a grid.

    Attributes:
        place: (n,) index on the grid of the first moment that shows each scrape.
        wall_ns: (n,) when it was scraped, on the server's clock.
    """

    grid: Grid
    place: NDArray[np.intp]
    wall_ns: NDArray[np.int64]


def read_scrapes(server: Server, target: Target, grid: Grid) -> Scrapes:
    """Return when a target was scraped."""
    shown = _dense(server, f"max(timestamp({target.select([target.anchor])}))", grid).get((), None)
    if shown is None:
        return Scrapes(grid=grid, place=np.empty(0, dtype=np.intp), wall_ns=np.empty(0, dtype=np.int64))
    known = np.flatnonzero(np.isfinite(shown))
    highest = np.maximum.accumulate(shown[known])
    new = np.diff(highest, prepend=-np.inf) > 0
    asked = (shown[known] >= grid.from_s) & (shown[known] <= grid.until_s)
    place = known[new & asked]
    return Scrapes(
        grid=grid, place=place, wall_ns=np.rint(shown[place] * 1000).astype(np.int64) * (NS_PER_S // 1000)
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Readings:
    """Series of one target on its scrapes: labels, sorted, with ``__name__`` → (n,) values."""

    series: dict[Labels, NDArray[np.float64]]

    def by_label(self, label: str) -> dict[str, "Readings"]:
        """Return the readings apart by the value of a label; those without it are left out."""
        return self.by(lambda labels: labels.get(label, ""))

    def by(self, key: Callable[[dict[str, str]], str]) -> dict[str, "Readings"]:
        """Return the readings apart by what their labels say; those of which they say nothing are left out."""
        parts: dict[str, dict[Labels, NDArray[np.float64]]] = {}
        for labels, values in self.series.items():
            value = key(dict(labels))
            if value:
                parts.setdefault(value, {})[labels] = values
        return {value: Readings(series=part) for value, part in sorted(parts.items())}

    def columns(self, wanted: Sequence[Wanted]) -> dict[str, NDArray[np.float64]]:
        """Return the columns that are there; a renamed metric goes on under its new name."""
        found: dict[str, NDArray[np.float64]] = {}
        for want in wanted:
            for values in self._matching(want):
                part = values * want.factor
                if want.column not in found:
                    found[want.column] = part
                elif want.column in SUMS:
                    found[want.column] = found[want.column] + part
                else:
                    found[want.column] = np.where(np.isnan(found[want.column]), part, found[want.column])
        return found

    def _matching(self, want: Wanted) -> Iterable[NDArray[np.float64]]:
        needed = {("__name__", want.name), *want.labels}
        return (values for labels, values in sorted(self.series.items()) if needed <= set(labels))


def read_query(server: Server, query: str, scrapes: Scrapes) -> Readings:
    """Return the series of a query on the scrapes of a target."""
    dense = _dense(server, query, scrapes.grid)
    return Readings(series={labels: values[scrapes.place] for labels, values in dense.items()})


def _dense(server: Server, query: str, grid: Grid) -> dict[Labels, NDArray[np.float64]]:
    found: dict[Labels, NDArray[np.float64]] = {}
    for answer in server.over(query, grid.start_s, grid.end_s, grid.step_s):
        for series in answer:
            _put(found, series, grid)
    return found


def _put(found: dict[Labels, NDArray[np.float64]], series: ServerSeries, grid: Grid) -> None:
    labels = tuple(sorted(series.labels.items()))
    values = found.setdefault(labels, np.full(grid.count, np.nan))
    place = np.rint((series.time_s - grid.start_s) / grid.step_s).astype(np.intp)
    inside = (place >= 0) & (place < grid.count)
    values[place[inside]] = series.value[inside]
