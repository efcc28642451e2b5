"""Collects rows of one table, column by column.

An hour of a host with ten devices is 9 MB of integers, and a collector may follow a hundred hosts: every so many rows
are packed, as differences, into a tenth of that.
"""

import zlib
from array import array
from collections.abc import Mapping

import numpy as np

from leapprof.ingest.columns import TABLES, TIME_COLUMNS
from leapprof.model import Column, Table

BLOCK_ROWS = 512
_LEVEL = 1


class _ColumnRows:
    """Values of one column: those of the last rows open, those before packed."""

    __slots__ = ("blocks", "name", "present", "values")

    def __init__(self, name: str) -> None:
        self.name = name
        self.values, self.present = array("q"), bytearray()
        self.blocks: list[tuple[bytes, bytes]] = []

    def pack(self) -> None:
        steps = np.diff(np.array(self.values, dtype=np.int64), prepend=np.int64(0))
        self.blocks.append((zlib.compress(steps.tobytes(), _LEVEL), zlib.compress(self.present, _LEVEL)))
        del self.values[:], self.present[:]

    def column(self) -> Column:
        values = [np.cumsum(np.frombuffer(zlib.decompress(v), dtype=np.int64)) for v, _ in self.blocks]
        present = [zlib.decompress(p) for _, p in self.blocks]
        return Column(
            values=np.concatenate([*values, np.array(self.values, dtype=np.int64)]),
            present=np.array(np.frombuffer(b"".join([*present, self.present]), dtype=np.bool_)),
        )


class TableBuilder:
    """Rows of one table until they are taken as a Table."""

    def __init__(self, name: str) -> None:
        """Start without rows."""
        self.name = name
        self.rows = 0
        columns = TABLES[name]
        names = (*TIME_COLUMNS, *columns.integers)
        self._integers = tuple(_ColumnRows(column) for column in names)
        self._texts = tuple(_ColumnRows(column) for column in columns.texts)
        self._codes: dict[str | None, int] = {}

    def add(self, texts: Mapping[str, str | None], integers: Mapping[str, int | None]) -> None:
        """Append one row; what is not given, or None, is not present."""
        self.rows += 1
        get = integers.get
        for column in self._integers:
            value = get(column.name)
            column.values.append(0 if value is None else value)
            column.present.append(value is not None)
        for column in self._texts:
            column.values.append(self._codes.setdefault(texts.get(column.name), len(self._codes)))
            column.present.append(True)
        if self.rows % BLOCK_ROWS == 0:
            for column in (*self._integers, *self._texts):
                column.pack()

    def table(self) -> Table:
        """Return a copy of the rows so far."""
        known = np.array([*self._codes, None], dtype=np.object_)
        return Table(
            name=self.name,
            rows=self.rows,
            integers={column.name: column.column() for column in self._integers},
            texts={column.name: known[column.column().values] for column in self._texts},
        )
