"""Collects rows of one table, column by column."""

from array import array
from collections.abc import Mapping

import numpy as np

from leapprof.ingest.columns import TABLES, TIME_COLUMNS
from leapprof.model import Column, Table


class TableBuilder:
    """Rows of one table until they are taken as a Table."""

    def __init__(self, name: str) -> None:
        """Start without rows."""
        self.name = name
        self.rows = 0
        columns = TABLES[name]
        names = (*TIME_COLUMNS, *columns.integers)
        self._integers = tuple((column, array("q"), bytearray()) for column in names)
        self._texts: dict[str, list[str | None]] = {column: [] for column in columns.texts}

    def add(self, texts: Mapping[str, str | None], integers: Mapping[str, int | None]) -> None:
        """Append one row; what is not given, or None, is not present."""
        self.rows += 1
        get = integers.get
        for column, values, present in self._integers:
            value = get(column)
            if value is None:
                values.append(0)
                present.append(0)
            else:
                values.append(value)
                present.append(1)
        for column, items in self._texts.items():
            items.append(texts.get(column))

    def table(self) -> Table:
        """Return a copy of the rows so far."""
        return Table(
            name=self.name,
            rows=self.rows,
            integers={
                column: Column(
                    values=np.array(values, dtype=np.int64),
                    present=np.array(np.frombuffer(bytes(present), dtype=np.bool_)),
                )
                for column, values, present in self._integers
            },
            texts={column: _objects(items) for column, items in self._texts.items()},
        )


def _objects(items: list[str | None]) -> np.ndarray[tuple[int], np.dtype[np.object_]]:
    found = np.empty(len(items), dtype=np.object_)
    found[:] = items
    return found
