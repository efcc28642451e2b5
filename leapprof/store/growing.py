"""Columns that grow file by file: what is decoded is copied at once to where it stays, and its memory used again."""

from collections.abc import Container, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leapprof.model import Column, Table

_SLACK = 1.02
"""Segments of equal time differ by some rows: that much more room is asked for, of which nothing is touched."""


class Part(NamedTuple):
    """A piece of a column.

    Attributes:
        values: (n,) int64, or of a text int32: which of its words each row has.
        present: (n,) bool; None: everywhere.
        words: of a text; None of an integer.
    """

    values: NDArray[Any]
    present: NDArray[np.bool_] | None = None
    words: list[str] | None = None

    def of(self, rows: NDArray[np.bool_]) -> "Part":
        """Return some of its rows."""
        present = None if self.present is None else self.present[rows]
        return Part(self.values[rows], present, self.words)


class GrowingTable:
    """Rows of one subject of several files below each other; a column that a file lacks is not present there."""

    def __init__(self, name: str, files: int) -> None:
        """Say how many files there will be at most."""
        self._name, self._files = name, files
        self._added = self._rows = self._room = 0
        self._columns: dict[str, _Integers | _Words] = {}

    def add(self, rows: int, columns: Mapping[str, list[Part]], texts: Container[str]) -> None:
        """Take over what one file holds.

        Args:
            rows: how many.
            columns: name → its pieces, in their order.
            texts: which of them are texts.

        Raises:
            TypeError: what is a number in one file is a text in another.
        """
        self._added += 1
        end = self._rows + rows
        if end > self._room:
            left = max(self._files - self._added, 0)
            self._room = round(_SLACK * end / self._added * (self._added + left)) + 1
            for column in self._columns.values():
                column.grow(self._room, self._rows)
        for name, parts in columns.items():
            self._put(name, parts, _Words if name in texts else _Integers)
        for name, column in self._columns.items():
            if name not in columns:
                column.leave_out(self._rows, end)
        self._rows = end

    def _put(self, name: str, parts: list[Part], kind: "type[_Integers | _Words]") -> None:
        column = self._columns.get(name)
        if column is None:
            column = self._columns[name] = kind(self._room)
            column.leave_out(0, self._rows)
        if not isinstance(column, kind):
            raise TypeError(f"{name} is a text in one file and a number in another")
        at = self._rows
        for part in parts:
            column.put(at, part)
            at += part.values.size

    def table(self) -> Table:
        """Return all rows."""
        full = np.ones(self._rows, dtype=np.bool_)
        full.flags.writeable = False  # one for all columns
        columns = self._columns.items()
        return Table(
            name=self._name,
            rows=self._rows,
            integers={n: c.column(self._rows, full) for n, c in columns if isinstance(c, _Integers)},
            texts={n: c.texts(self._rows) for n, c in columns if isinstance(c, _Words)},
        )


class _Integers:
    """A column of integers; what is not present is 0."""

    def __init__(self, room: int) -> None:
        self._values: NDArray[np.int64] = np.empty(room, dtype=np.int64)
        self._present: NDArray[np.bool_] | None = None  # until something is missing

    def grow(self, room: int, rows: int) -> None:
        """Make room for so many rows."""
        self._values = _larger(self._values, room, rows)
        if self._present is not None:
            self._present = _larger(self._present, room, rows)

    def put(self, at: int, part: Part) -> None:
        """Keep some rows from there on."""
        end = at + part.values.size
        if part.present is None:
            self._values[at:end] = part.values
            if self._present is not None:
                self._present[at:end] = True
            return
        np.multiply(part.values, part.present, out=self._values[at:end])
        self._mask(at)[at:end] = part.present

    def leave_out(self, start: int, end: int) -> None:
        """Let some rows be not present."""
        if end > start:
            self._values[start:end] = 0
            self._mask(start)[start:end] = False

    def _mask(self, rows: int) -> NDArray[np.bool_]:
        if self._present is None:
            self._present = np.empty(self._values.size, dtype=np.bool_)
            self._present[:rows] = True
        return self._present

    def column(self, rows: int, full: NDArray[np.bool_]) -> Column:
        """Return the rows."""
        present = full if self._present is None else self._present[:rows]
        return Column(values=self._values[:rows], present=present)


class _Words:
    """A column of texts, each kept once."""

    def __init__(self, room: int) -> None:
        self._codes: NDArray[np.int32] = np.empty(room, dtype=np.int32)
        self._numbers: dict[str | None, int] = {}

    def grow(self, room: int, rows: int) -> None:
        """Make room for so many rows."""
        self._codes = _larger(self._codes, room, rows)

    def put(self, at: int, part: Part) -> None:
        """Keep some rows from there on."""
        numbers = np.array([self._number(word) for word in (*(part.words or ()), None)], dtype=np.int32)
        own = part.values if part.present is None else np.where(part.present, part.values, numbers.size - 1)
        self._codes[at : at + own.size] = numbers[own]

    def leave_out(self, start: int, end: int) -> None:
        """Let some rows have no text."""
        self._codes[start:end] = self._number(None)

    def _number(self, word: str | None) -> int:
        return self._numbers.setdefault(word, len(self._numbers))

    def texts(self, rows: int) -> NDArray[np.object_]:
        """Return the rows; None where there is no text."""
        known = np.array([*self._numbers, None], dtype=np.object_)
        found: NDArray[np.object_] = known[self._codes[:rows]]
        return found


def _larger(values: NDArray[Any], room: int, rows: int) -> NDArray[Any]:
    larger = np.empty(room, dtype=values.dtype)
    larger[:rows] = values[:rows]
    return larger
