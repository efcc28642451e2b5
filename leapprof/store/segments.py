"""``<table>-NNNN.parquet``: sealed tables.

Integers are DELTA_BINARY_PACKED (counters differ little from row to row), nothing has a dictionary, all is
zstd. Rows are ordered by subject first, so that a column's neighbours belong to one device or process. A
file carries the range of frames that it was made from, so that a frame is never counted twice.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from leapprof.errors import StoreError
from leapprof.model import Column, Table
from leapprof.store.guard import translated
from leapprof.store.manifest import sync_directory

if TYPE_CHECKING:
    import pyarrow as pa

_ZSTD_LEVEL = 9
_NAME_FORM = "{table}-{number:04d}.parquet"
_VARYING_TEXTS = frozenset({"stage", "histogram", "failures", "bounds_ns"})  # describe a row, are no subject
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
    """Return the sealed files of a recording by number, then table; foreign names are left alone."""
    found = []
    for path in directory.glob("*.parquet"):
        table, _, number = path.stem.rpartition("-")
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
            _write_table(directory / _NAME_FORM.format(table=table.name, number=number), table, covered)
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

    data = to_arrow(_by_subject(table))
    with pq.ParquetWriter(
        out,
        data.schema,
        compression="zstd",
        compression_level=_ZSTD_LEVEL,
        use_dictionary=False,
        write_statistics=False,
        column_encoding=dict.fromkeys(table.integers, "DELTA_BINARY_PACKED"),
        store_schema=False,
    ) as writer:
        writer.write_table(data)
        writer.add_key_value_metadata(
            {name: str(getattr(covered, name)) for name in SegmentRange.__dataclass_fields__}
        )


def to_arrow(table: Table) -> "pa.Table":
    """Return a table as Arrow: int64 with nulls where not present, strings with nulls."""
    import pyarrow as pa

    columns = {name: pa.array(list(values), type=pa.string()) for name, values in table.texts.items()}
    for name, column in table.integers.items():
        columns[name] = pa.array(column.values, type=pa.int64(), mask=~column.present)
    return pa.table(columns)


def _by_subject(table: Table) -> Table:
    subjects = [name for name in sorted(table.texts) if name not in _VARYING_TEXTS]
    if not subjects:
        return table
    keys = [np.array([text or "" for text in table.texts[name]], dtype=str) for name in subjects]
    return _take(table, np.lexsort(keys[::-1]))


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
    metadata = _open(segment.path).metadata.metadata or {}
    numbers = {}
    for name in SegmentRange.__dataclass_fields__:
        text = metadata.get(name.encode(), b"").decode("ascii", "replace")
        if not text.lstrip("-").isdigit() or len(text) > _MAX_METADATA_INT_CHARS:
            raise StoreError(str(segment.path), f"was not sealed by leapprof: it has no {name}")
        numbers[name] = int(text)
    return SegmentRange(**numbers)


def _open(path: Path) -> "pa.parquet.ParquetFile":
    import pyarrow as pa
    import pyarrow.parquet as pq

    with translated(path):
        try:
            return pq.ParquetFile(path)
        except pa.ArrowException as error:
            raise StoreError(str(path), _damaged(error)) from error


def _damaged(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return f"is damaged or no Parquet file ({text}); restore it from a copy, or move it away to read the rest"


def read_segment(
    path: Path, name: str, columns: Sequence[str] | None, where: Mapping[str, str] | None
) -> Table:
    """Return the rows of one sealed file.

    Args:
        path: the file.
        name: of the table.
        columns: those wanted; None for all. Key columns and texts are always there.
        where: text column → value that the rows must have.

    Raises:
        StoreError: the file is truncated or foreign.
    """
    import pyarrow as pa

    file = _open(path)
    names = [f.name for f in file.schema_arrow if columns is None or f.name in columns or _always(f)]
    rows = file.metadata.num_rows
    if rows * len(names) > MAX_VALUES:
        problem = f"says that it holds {rows:,} rows, which no segment of leapprof does; move it away to read the rest"
        raise StoreError(str(path), problem)
    with translated(path):
        try:
            data = file.read(columns=names)
        except pa.ArrowException as error:
            raise StoreError(str(path), _damaged(error)) from error
    return _from_arrow(name, _filtered(data, where or {}))


def _filtered(data: "pa.Table", where: Mapping[str, str]) -> "pa.Table":
    """Return the rows that have these texts; filtered before they become numpy arrays, which is dearer."""
    for column, wanted in where.items():
        if column not in data.column_names:
            return data.slice(0, 0)
        data = _with_text(data, column, wanted)
    return data


def _with_text(data: "pa.Table", column: str, wanted: str) -> "pa.Table":
    """Return the rows that have a text: one stretch in our own files, which are ordered by subject."""
    at = np.flatnonzero(_texts(data.column(column).combine_chunks()) == wanted)
    if not at.size:
        return data.slice(0, 0)
    if at[-1] - at[0] + 1 == at.size:
        return data.slice(int(at[0]), at.size)
    return data.take(at)


MAX_VALUES = 2**28  # in one reading of one file, 2 GiB: a month of 50 devices has fewer; a bomb has more
_KEY_COLUMNS = frozenset({"seq", "boottime_ns", "wall_ns", "boot"})


def _always(field: "pa.Field") -> bool:
    import pyarrow as pa

    return field.name in _KEY_COLUMNS or pa.types.is_string(field.type)


def _from_arrow(name: str, data: "pa.Table") -> Table:
    import pyarrow as pa

    integers, texts = {}, {}
    for column in data.column_names:
        values = data.column(column).combine_chunks()
        if pa.types.is_integer(values.type):
            present, filled = _present(values), _numbers(values.cast(pa.int64()), np.int64)
            filled = filled if present.all() else np.where(present, filled, 0)
            integers[column] = Column(values=filled, present=present)
        elif pa.types.is_string(values.type):
            texts[column] = _texts(values)
    return Table(name=name, rows=data.num_rows, integers=integers, texts=texts)


# to_numpy(), fill_null() and every other call that takes a value of Python's make pyarrow import pandas, which
# costs half a second: the buffers are read as they are (Arrow columnar format, "Fixed-size primitive layout").


def _numbers(values: "pa.Array", kind: type[np.integer[Any]]) -> NDArray[Any]:
    """Return integers; where a value is null, whatever stands there."""
    buffer = values.buffers()[1]
    if buffer is None or not len(values):
        return np.zeros(len(values), dtype=kind)
    start = values.offset * np.dtype(kind).itemsize
    return np.frombuffer(buffer, dtype=kind, count=len(values), offset=start)


def _present(values: "pa.Array") -> NDArray[np.bool_]:
    """Return where a value is not null: one bit each, the lowest first."""
    buffer = values.buffers()[0]
    if buffer is None or not values.null_count:
        return np.ones(len(values), dtype=np.bool_)
    bits = np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), bitorder="little")
    return bits[values.offset : values.offset + len(values)].astype(np.bool_)


def _texts(values: "pa.StringArray") -> NDArray[np.object_]:
    """Return an object array in which equal texts are one object."""
    encoded = values.dictionary_encode()
    known = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)
    present = _present(encoded.indices)
    indices = np.where(present, _numbers(encoded.indices, np.int32), len(known) - 1)
    return np.asarray(known[indices], dtype=object)


def select(table: Table, where: Mapping[str, str]) -> Table:
    """Return the rows whose text columns have these values; none where a column is missing."""
    keep = np.ones(table.rows, dtype=np.bool_)
    for column, wanted in where.items():
        values = table.texts.get(column)
        keep &= values == wanted if values is not None else np.zeros(table.rows, dtype=np.bool_)
    return _take(table, keep)


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
