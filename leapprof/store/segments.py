"""``<table>-NNNN.parquet``: sealed tables.

Integers are DELTA_BINARY_PACKED (counters differ little from row to row), texts are words of a dictionary. zstd
packs what varies: the rest is some hundred bytes as it is, and read in half the time. Rows are ordered by subject
first, so that a column's neighbours belong to one device or process. A subject of many rows is a row group of its
own, with statistics of who it is: who reads one device decodes no other. A file carries the range of frames that
it was made from, so that a frame is never counted twice.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from leapprof.errors import StoreError
from leapprof.model import Column, Table
from leapprof.store.guard import translated
from leapprof.store.manifest import sync_directory
from leapprof.store.reading import open_parquet
from leapprof.store.sealer import in_sealing_thread

if TYPE_CHECKING:
    import pyarrow as pa

_ZSTD_LEVEL = 9
_SUFFIX = ".parquet"
_NAME_FORM = "{table}-{number:04d}" + _SUFFIX
_VARYING_TEXTS = frozenset({"stage", "histogram", "failures", "bounds_ns"})  # describe a row, are no subject
_GROUP_ROWS = 1024  # subjects of fewer share a row group: each costs some 2 kB of footer and of worse packing
_MAX_METADATA_INT_CHARS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRange:
    """What a segment covers: sequence numbers of its frames and the host's wall clock, both ends included."""

    first_seq: int
    last_seq: int
    first_wall_ns: int
    last_wall_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentFile:
    """One sealed file."""

    table: str
    number: int
    path: Path


def list_segments(directory: Path) -> tuple[SegmentFile, ...]:
    """Return the sealed files of a recording by number, then table; foreign names are left alone.

    Raises:
        StoreError: the directory cannot be listed.
    """
    with translated(directory):
        paths = [path for path in directory.iterdir() if path.name.endswith(_SUFFIX)]
    found = []
    for path in paths:
        table, _, number = path.name.removesuffix(_SUFFIX).rpartition("-")
        if table and number.isascii() and number.isdigit():
            found.append(SegmentFile(table=table, number=int(number), path=path))
    return tuple(sorted(found, key=lambda s: (s.number, s.table)))


def write_segment(directory: Path, number: int, tables: Iterable[Table], covered: SegmentRange) -> None:
    """Write one file a table, each: temporary file, fsync, rename; then fsync of the directory.

    Raises:
        StoreError: the disk refuses; files of this number may be left and do not count.
    """
    for table in tables:
        if table.rows:
            path = directory / _NAME_FORM.format(table=table.name, number=number)
            in_sealing_thread(partial(_write_table, path, table, covered))
    with translated(directory):
        sync_directory(directory)


def _write_table(path: Path, table: Table, covered: SegmentRange) -> None:
    temporary = path.with_name(path.name + ".tmp")
    with translated(path):
        try:
            with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                _write_parquet(out, table, covered)
                out.flush()
                os.fsync(out.fileno())
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise


def _write_parquet(out: BinaryIO, table: Table, covered: SegmentRange) -> None:
    import pyarrow.parquet as pq

    ordered, starts = _by_subject(table)
    data = to_arrow(ordered)
    varies = {name: _varies(column, len(starts)) for name, column in ordered.integers.items()}
    varies |= {name: name in _VARYING_TEXTS for name in table.texts}
    with pq.ParquetWriter(
        out,
        data.schema,
        compression={name: "zstd" if packed else "none" for name, packed in varies.items()},
        compression_level={name: _ZSTD_LEVEL for name, packed in varies.items() if packed},
        use_dictionary=list(table.texts),
        write_statistics=_subjects(table) if len(starts) > 1 else False,
        column_encoding=dict.fromkeys(table.integers, "DELTA_BINARY_PACKED"),
        store_schema=False,
    ) as writer:
        for start, end in pairwise((*starts, table.rows)):
            writer.write_table(data.slice(start, end - start))
        writer.add_key_value_metadata(
            {name: str(getattr(covered, name)) for name in SegmentRange.__dataclass_fields__}
        )


def _varies(column: Column, groups: int) -> bool:
    """Return whether a column is more than a straight line in each row group, or has holes."""
    bends = np.count_nonzero(np.diff(column.values, n=2))
    return bool(bends > 2 * (groups - 1) or column.present.any() != column.present.all())


def load_writer() -> None:
    """Load all that writing needs now: a second that somebody who measures does not have later."""
    import pyarrow as pa
    import pyarrow.parquet

    pa.array(np.zeros(1, dtype=np.int64))  # loads pandas


def to_arrow(table: Table) -> "pa.Table":
    """Return a table as Arrow: int64 with nulls where not present, strings with nulls."""
    import pyarrow as pa

    columns = {name: pa.array(list(values), type=pa.string()) for name, values in table.texts.items()}
    for name, column in table.integers.items():
        columns[name] = pa.array(column.values, type=pa.int64(), mask=~column.present)
    return pa.table(columns)


def _subjects(table: Table) -> list[str]:
    return [name for name in sorted(table.texts) if name not in _VARYING_TEXTS]


def _by_subject(table: Table) -> tuple[Table, list[int]]:
    """Return a table in the order of subjects, and where its row groups start."""
    subjects = _subjects(table)
    if not subjects:
        return table, [0]
    keys = [np.array([text or "" for text in table.texts[name]], dtype=str) for name in subjects]
    order = np.lexsort(keys[::-1])
    changes = np.logical_or.reduce([key[order][1:] != key[order][:-1] for key in keys])
    return _take(table, order), _group_starts(np.flatnonzero(changes) + 1, table.rows)


def _group_starts(bounds: np.ndarray, rows: int) -> list[int]:
    """Return which bounds of subjects start a row group, that none be small."""
    starts = [0]
    for start in bounds.tolist():
        if min(start - starts[-1], rows - start) >= _GROUP_ROWS:
            starts.append(start)
    return starts


def _take(table: Table, order: np.ndarray) -> Table:
    integers = {
        n: Column(values=c.values[order], present=c.present[order]) for n, c in table.integers.items()
    }
    texts = {name: values[order] for name, values in table.texts.items()}
    first = next(iter(integers.values()), None)
    return Table(name=table.name, rows=len(first.values) if first else 0, integers=integers, texts=texts)


def read_range(segment: SegmentFile) -> SegmentRange:
    """Return what a segment covers.

    Raises:
        StoreError: the file is truncated, foreign or carries no range.
    """
    metadata = open_parquet(segment.path).metadata.metadata or {}
    numbers = {}
    for name in SegmentRange.__dataclass_fields__:
        text = metadata.get(name.encode(), b"").decode("ascii", "replace")
        if not text.removeprefix("-").isdigit() or len(text) > _MAX_METADATA_INT_CHARS:
            raise StoreError(str(segment.path), f"was not sealed by leapprof: it has no {name}")
        numbers[name] = int(text)
    return SegmentRange(**numbers)


def select(table: Table, where: Mapping[str, str]) -> Table:
    """Return the rows whose text columns have these values; none where a column is missing."""
    keep = np.ones(table.rows, dtype=np.bool_)
    for column, wanted in where.items():
        values = table.texts.get(column)
        keep &= values == wanted if values is not None else np.zeros(table.rows, dtype=np.bool_)
    return table if keep.all() else _take(table, keep)


def concatenate(name: str, tables: Sequence[Table]) -> Table:
    """Return tables below each other; a column that one of them lacks is not present there."""
    integers = {}
    for column in dict.fromkeys(c for table in tables for c in table.integers):
        parts = [t.integers.get(column) or _missing(t.rows) for t in tables]
        integers[column] = Column(
            values=np.concatenate([p.values for p in parts]),
            present=np.concatenate([p.present for p in parts]),
        )
    texts = {}
    for column in dict.fromkeys(c for table in tables for c in table.texts):
        empty = [t.texts.get(column, np.full(t.rows, None, dtype=object)) for t in tables]
        texts[column] = np.concatenate(empty)
    return Table(name=name, rows=sum(t.rows for t in tables), integers=integers, texts=texts)


def _missing(rows: int) -> Column:
    return Column(values=np.zeros(rows, dtype=np.int64), present=np.zeros(rows, dtype=np.bool_))
