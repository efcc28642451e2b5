"""Sealed tables as numpy arrays: files are decoded one after the other, each into its place in the whole.

What a file holds of other subjects is not decoded, where it has row groups of its own; a mask is not made for a column
that has no missing value.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leapprof.errors import StoreError
from leapprof.model import Table
from leapprof.store.growing import GrowingTable, Part
from leapprof.store.guard import translated
from leapprof.store.heap import share_heap

if TYPE_CHECKING:
    import pyarrow as pa

Where = Mapping[str, str]
"""Text column → value that rows must have."""

MAX_VALUES = 2**28  # in one reading of one file, 2 GiB: a month of 50 devices has fewer; a bomb has more
MAX_TEXT_BYTES = 2**29  # in the texts of one file, as its footer says
_KEY_COLUMNS = frozenset({"seq", "boottime_ns", "wall_ns", "boot"})


def open_parquet(
    path: Path, texts: Sequence[str] = (), metadata: "pa.parquet.FileMetaData | None" = None
) -> "pa.parquet.ParquetFile":
    """Return a sealed file, opened.

    Args:
        path: of the file.
        texts: columns that are read as words of a dictionary: each is kept once, however often it stands there.
        metadata: of the file, where it is known.

    Raises:
        StoreError: it is truncated or foreign.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _refused(path):  # read ahead by other threads, what is some kilobytes takes longer
        source = pa.OSFile(str(path))
        return pq.ParquetFile(source, metadata=metadata, read_dictionary=list(texts), pre_buffer=False)


@contextmanager
def _refused(path: Path) -> Iterator[None]:
    """Turn what pyarrow says of a file into StoreError; names and texts that are no UTF-8 it finds late."""
    import pyarrow as pa

    with translated(path):
        try:
            yield
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise StoreError(str(path), _damaged(error)) from error


def _damaged(error: Exception) -> str:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return f"is damaged or no Parquet file ({text}); restore it from a copy, or move it away to read the rest"


def read_tables(
    paths: Sequence[Path], name: str, columns: Sequence[str] | None, wheres: Sequence[Where]
) -> tuple[Table, ...]:
    """Return the rows of some subjects, from one reading of the files.

    Args:
        paths: of the sealed files, in their order; one at least.
        name: of the table.
        columns: those wanted; None for all. Key columns and texts are always there.
        wheres: one a subject; an empty one for all rows.

    Raises:
        StoreError: a file is truncated or foreign.
    """
    share_heap()
    subjects = [GrowingTable(name, len(paths)) for _ in wheres]
    form: _Form | None = None
    for path in paths:
        with _refused(path):
            file, form = _opened(path, form, columns)
            data = _ours(_decoded(path, file, form, wheres), form)
            for where, found in zip(wheres, subjects, strict=True):
                _add(found, data, where, path)
    return tuple(found.table() for found in subjects)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """What the footer of a file says of its columns; the files of a table differ only where one was added.

    Attributes:
        schema: of the file, its texts as words.
        texts: names of the texts.
        text_numbers: which columns these are.
        wanted: the names that are read, in their order.
        ours: all of them are texts or integers of 64 bits, each of a name of its own.
    """

    schema: "pa.Schema"
    texts: tuple[str, ...]
    text_numbers: tuple[int, ...]
    wanted: tuple[str, ...]
    ours: bool


def _opened(
    path: Path, usual: _Form | None, columns: Sequence[str] | None
) -> "tuple[pa.parquet.ParquetFile, _Form]":
    """Return a file whose texts are read as words.

    Args:
        path: of the file.
        usual: the form of the file before: where this one has another, it is opened twice, for only its footer tells.
        columns: integer columns that are wanted; None for all.
    """
    try:
        file = open_parquet(path, usual.texts if usual else ())
    except KeyError:  # it has no text of such a name
        return _opened(path, None, columns)
    schema = file.schema_arrow
    if usual is not None and schema.equals(usual.schema):
        return file, usual
    kinds = tuple(zip(schema.names, schema.types, strict=True))
    texts = tuple(name for name, kind in kinds if kind in (_text(), _word()))
    if texts != (usual.texts if usual else ()):
        file = open_parquet(path, texts, file.metadata)
    return file, _form_of(file, texts, columns)


def _form_of(file: "pa.parquet.ParquetFile", texts: tuple[str, ...], columns: Sequence[str] | None) -> _Form:
    schema, stored = file.schema_arrow, file.schema
    names = schema.names
    wanted = _KEY_COLUMNS.union(texts, names if columns is None else columns)
    kinds = [kind for name, kind in zip(names, schema.types, strict=True) if name in wanted]
    return _Form(
        schema=schema,
        texts=texts,
        text_numbers=tuple(n for n in range(len(stored)) if stored.column(n).physical_type == "BYTE_ARRAY"),
        wanted=tuple(dict.fromkeys(name for name in names if name in wanted)),
        ours=len(set(names)) == len(names) and all(kind in (_number(), _word()) for kind in kinds),
    )


@cache
def _number() -> "pa.DataType":
    import pyarrow as pa

    return pa.int64()


@cache
def _text() -> "pa.DataType":
    import pyarrow as pa

    return pa.string()


@cache
def _word() -> "pa.DataType":
    import pyarrow as pa

    return pa.dictionary(pa.int32(), pa.string())


def _add(found: GrowingTable, data: "pa.Table", where: Where, path: Path) -> None:
    """Take over the rows of a file that have these texts.

    Raises:
        StoreError: what is a number in this file was a text in another.
    """
    names = data.column_names
    texts = {name for name, kind in zip(names, data.schema.types, strict=True) if kind == _word()}
    parts: dict[str, list[Part]] = {name: [] for name in names}
    rows = 0
    for batch in data.to_batches() if where.keys() <= parts.keys() else ():
        columns = dict(zip(names, batch.columns, strict=True))
        kept = _kept(columns, where)
        if kept is False:
            continue
        for name, column in columns.items():
            part = _words(column) if name in texts else _integers(column)
            parts[name].append(part if kept is True else part.of(kept))
        rows += batch.num_rows if kept is True else int(np.count_nonzero(kept))
    try:
        found.add(rows, parts, texts)
    except TypeError as error:
        raise StoreError(str(path), _damaged(error)) from error


def _decoded(path: Path, file: "pa.parquet.ParquetFile", form: _Form, wheres: Sequence[Where]) -> "pa.Table":
    """Return the row groups of a file that may hold rows of the subjects."""
    groups = list(_text_chunks(file, form))
    _check_size(path, file.metadata.num_rows, len(form.wanted), list(chain.from_iterable(groups)))
    some = [n for n, chunks in enumerate(groups) if _may_hold(chunks, wheres)]
    return file.read_row_groups(some, columns=list(form.wanted), use_threads=False)


def _may_hold(chunks: "Sequence[pa.parquet.ColumnChunkMetaData]", wheres: Sequence[Where]) -> bool:
    """Return whether the statistics of a row group leave room for rows of a subject; without any they do."""
    told = {chunk.path_in_schema: chunk.statistics for chunk in chunks if chunk.is_stats_set}
    # As bytes, which is how they are ordered: what a forger wrote need not be UTF-8.
    bounds = {name: (found.min_raw, found.max_raw) for name, found in told.items() if found.has_min_max}
    return any(all(_within(bounds.get(name), wanted) for name, wanted in where.items()) for where in wheres)


def _within(bounds: tuple[bytes, bytes] | None, wanted: str) -> bool:
    return bounds is None or bounds[0] <= wanted.encode(errors="surrogatepass") <= bounds[1]


def _check_size(
    path: Path, rows: int, columns: int, text_chunks: "Sequence[pa.parquet.ColumnChunkMetaData]"
) -> None:
    """Refuse what a small file may unpack to.

    Raises:
        StoreError: it says that it holds more than any segment of leapprof does.
    """
    text_bytes = sum(chunk.total_uncompressed_size for chunk in text_chunks)
    much = f"{rows:,} rows" if rows * columns > MAX_VALUES else ""
    much = f"{text_bytes:,} bytes of text" if text_bytes > MAX_TEXT_BYTES else much
    if much:
        problem = (
            f"says that it holds {much}, which no segment of leapprof does; move it away to read the rest"
        )
        raise StoreError(str(path), problem)


def _text_chunks(
    file: "pa.parquet.ParquetFile", form: _Form
) -> "Iterator[list[pa.parquet.ColumnChunkMetaData]]":
    """Yield the parts of each row group that hold texts."""
    metadata = file.metadata
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        yield [group.column(n) for n in form.text_numbers]


def _ours(data: "pa.Table", form: _Form) -> "pa.Table":
    """Return the columns that are integers or words, all integers of 64 bits."""
    import pyarrow as pa

    if form.ours:
        return data
    named = zip(data.column_names, data.columns, strict=True)
    found = {name: c.cast(_number()) if pa.types.is_integer(c.type) else c for name, c in named}
    return pa.table({name: c for name, c in found.items() if c.type in (_number(), _word())})


def _kept(columns: "Mapping[str, pa.Array]", where: Where) -> bool | NDArray[np.bool_]:
    """Return which rows have these texts; of our own files all of a row group have them, or none."""
    kept: bool | NDArray[np.bool_] = True
    for name, wanted in where.items():
        kept = _is(columns[name], wanted) & kept
        if kept is False:
            return False
    return kept


def _is(words: "pa.DictionaryArray", wanted: str) -> bool | NDArray[np.bool_]:
    known = words.dictionary.to_pylist()
    if wanted not in known:
        return False
    codes, present = _buffer(words.indices, np.int32), _present(words.indices)
    if len(known) == 1 and present is None:
        return True
    matches = np.array([word == wanted for word in known], dtype=np.bool_)
    return matches[codes] if present is None else matches[np.where(present, codes, 0)] & present


# to_numpy(), fill_null() and every other call that takes a value of Python's make pyarrow import pandas, which
# costs half a second: the buffers are read as they are (Arrow columnar format, "Fixed-size primitive layout").


def _buffer(values: "pa.Array", kind: type[np.integer[Any]]) -> NDArray[Any]:
    """Return integers; where a value is null, whatever stands there."""
    buffer = values.buffers()[1]
    if buffer is None or not len(values):
        return np.zeros(len(values), dtype=kind)
    start = values.offset * np.dtype(kind).itemsize
    return np.frombuffer(buffer, dtype=kind, count=len(values), offset=start)


def _present(values: "pa.Array") -> NDArray[np.bool_] | None:
    """Return where a value is not null: one bit each, the lowest first; None: everywhere."""
    buffer = values.buffers()[0]
    if buffer is None or not values.null_count:
        return None
    bits = np.unpackbits(np.frombuffer(buffer, dtype=np.uint8), bitorder="little")
    return bits[values.offset : values.offset + len(values)].astype(np.bool_)


def _integers(values: "pa.Array") -> Part:
    return Part(_buffer(values, np.int64), _present(values) if values.null_count else None)


def _words(values: "pa.DictionaryArray") -> Part:
    """Return texts; those that are no UTF-8 are found here."""
    codes = values.indices
    return Part(_buffer(codes, np.int32), _present(codes), values.dictionary.to_pylist())
