"""Sealed tables as numpy arrays: files are decoded one after the other, and each column is joined once.

Whoever reads two recordings reads them in two threads, which is what two cores can do: pyarrow decodes without the
interpreter's lock. What a file holds of other subjects is not decoded, where it has row groups of its own; a mask is
not made for a column that has no missing value.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leapprof.errors import StoreError
from leapprof.model import Column, Table
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
    files = [_read_file(path, columns, wheres) for path in paths]
    with _refused(paths[0].with_name(f"{name}-*.parquet")):  # what is a number in one and a text in another
        subjects = [list(parts) for parts in zip(*files, strict=True)]
        del files
        return tuple(_joined(name, parts) for parts in subjects)


def _read_file(path: Path, columns: Sequence[str] | None, wheres: Sequence[Where]) -> "list[pa.Table]":
    with _refused(path):
        data = _ours(_decoded(path, columns, wheres))
        return [data if not where else _rows_of(data, where) for where in wheres]


def _decoded(path: Path, columns: Sequence[str] | None, wheres: Sequence[Where]) -> "pa.Table":
    """Return the row groups of a file that may hold rows of the subjects."""
    import pyarrow as pa

    file = open_parquet(path)
    kinds = dict(zip(file.schema_arrow.names, file.schema_arrow.types, strict=True))
    texts = [name for name, kind in kinds.items() if kind == pa.string()]
    wanted = _KEY_COLUMNS.union(texts, kinds if columns is None else columns)
    names = [name for name in kinds if name in wanted]
    groups = list(_text_chunks(file))
    _check_size(path, file.metadata.num_rows, len(names), list(chain.from_iterable(groups)))
    some = [n for n, chunks in enumerate(groups) if _may_hold(chunks, wheres)]
    opened = open_parquet(path, texts, file.metadata) if texts else file
    return opened.read_row_groups(some, columns=names, use_threads=False)


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


def _text_chunks(file: "pa.parquet.ParquetFile") -> "Iterator[list[pa.parquet.ColumnChunkMetaData]]":
    """Yield the parts of each row group that hold texts."""
    schema, metadata = file.schema, file.metadata
    texts = [n for n in range(len(schema)) if schema.column(n).physical_type == "BYTE_ARRAY"]
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        yield [group.column(n) for n in texts]


def _ours(data: "pa.Table") -> "pa.Table":
    """Return the columns that are integers or words, all integers of 64 bits."""
    import pyarrow as pa

    number, word = pa.int64(), pa.dictionary(pa.int32(), pa.string())
    names, kinds = data.column_names, data.schema.types
    if len(set(names)) != len(names) or any(kind not in (number, word) for kind in kinds):
        named = zip(names, data.columns, strict=True)
        found = {name: c.cast(number) if pa.types.is_integer(c.type) else c for name, c in named}
        return _ours(pa.table({name: c for name, c in found.items() if c.type in (number, word)}))
    for name in (name for name, kind in zip(names, kinds, strict=True) if kind == word):
        for words in data.column(name).chunks:
            words.dictionary.to_pylist()  # else what is no UTF-8 would be found late
    return data


def _rows_of(data: "pa.Table", where: Where) -> "pa.Table":
    """Return the rows that have these texts: one stretch in our own files, which are ordered by subject."""
    if not data.num_rows or any(column not in data.column_names for column in where):
        return data.slice(0, 0)
    keep = np.ones(data.num_rows, dtype=np.bool_)
    for column, wanted in where.items():
        keep &= np.concatenate([_is(words, wanted) for words in data.column(column).chunks])
    at = np.flatnonzero(keep)
    if not at.size:
        return data.slice(0, 0)
    stretch = at[-1] - at[0] + 1 == at.size
    return data.slice(at[0], at.size) if stretch else data.take(_arrow(at))


def _is(words: "pa.DictionaryArray", wanted: str) -> NDArray[np.bool_]:
    codes, known = _codes(words)
    matches: NDArray[np.bool_] = known == wanted
    return matches[codes]


def _codes(words: "pa.DictionaryArray") -> tuple[NDArray[np.int32], NDArray[np.object_]]:
    """Return which of the known words each row has; None is the last of them."""
    known = np.array([*words.dictionary.to_pylist(), None], dtype=object)
    codes, present = _buffer(words.indices, np.int32), _present(words.indices)
    return codes if present is None else np.where(present, codes, known.size - 1), known


# to_numpy(), fill_null() and every other call that takes a value of Python's make pyarrow import pandas, which
# costs half a second: the buffers are read as they are (Arrow columnar format, "Fixed-size primitive layout").


def _arrow(rows: NDArray[np.int64]) -> "pa.Array":
    import pyarrow as pa

    return pa.Array.from_buffers(pa.int64(), rows.size, [None, pa.py_buffer(rows)])


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


def _joined(name: str, parts: "list[pa.Table]") -> Table:
    """Return parts below each other; a column that one of them lacks is not present there.

    The list is emptied, and what was read is forgotten column by column: a week is never in memory twice.
    """
    import pyarrow as pa

    data = pa.concat_tables(parts, promote_options="default")
    parts.clear()
    full = np.ones(data.num_rows, dtype=np.bool_)
    full.flags.writeable = False  # one for all columns
    integers, texts = {}, {}
    for column in data.column_names:
        values = data.column(column).unify_dictionaries().combine_chunks()
        data = data.drop_columns([column])
        if pa.types.is_integer(values.type):
            integers[column] = _column(values, full)
        else:
            codes, known = _codes(values)
            texts[column] = known[codes]
    return Table(name=name, rows=full.size, integers=integers, texts=texts)


def _column(values: "pa.Array", full: NDArray[np.bool_]) -> Column:
    found, present = _buffer(values, np.int64), _present(values)
    if present is None:
        return Column(values=found, present=full)
    return Column(values=np.where(present, found, 0), present=present)
