"""Sealed tables as numpy arrays: files are decoded two at a time, and each column is joined once.

pyarrow decodes without the interpreter's lock, so two threads use two cores. What a file holds of other subjects
is not kept (nor decoded, where it has row groups of its own), nor is a mask for a column that has no missing value.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from leapprof.errors import StoreError
from leapprof.model import Column, Table
from leapprof.store.guard import translated

if TYPE_CHECKING:
    import pyarrow as pa

Where = Mapping[str, str]
"""Text column → value that rows must have."""

MAX_VALUES = 2**28  # in one reading of one file, 2 GiB: a month of 50 devices has fewer; a bomb has more
MAX_TEXT_BYTES = 2**29  # in the texts of one file, as its footer says
_KEY_COLUMNS = frozenset({"seq", "boottime_ns", "wall_ns", "boot"})
_READERS = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Numbers:
    """Integers of some rows; present is None where all are."""

    values: NDArray[np.int64]
    present: NDArray[np.bool_] | None

    def at(self, rows: "_Rows") -> "_Numbers":
        """Return those of some rows, as a copy: a view would keep the whole file in memory."""
        if isinstance(rows, slice) and rows == slice(0, self.values.size):
            return self
        present = None if self.present is None else self.present[rows].copy()
        return _Numbers(values=self.values[rows].copy(), present=present)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Words:
    """Texts of some rows: which of the known ones each is."""

    codes: NDArray[np.int32]
    known: NDArray[np.object_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """Rows of one subject in one file."""

    rows: int
    integers: dict[str, _Numbers] = field(default_factory=dict)
    texts: dict[str, NDArray[np.object_]] = field(default_factory=dict)


_Rows = slice | NDArray[np.intp]


def open_parquet(path: Path, coded: Sequence[str] = ()) -> "pa.parquet.ParquetFile":
    """Return a sealed file, opened.

    Args:
        path: of the file.
        coded: text columns that stay as they are stored: numbers of the words of a dictionary.

    Raises:
        StoreError: it is truncated or foreign.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _refused(path):
        return pq.ParquetFile(pa.OSFile(str(path)), read_dictionary=list(coded))


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
    paths: Iterable[Path], name: str, columns: Sequence[str] | None, wheres: Sequence[Where]
) -> tuple[Table, ...]:
    """Return the rows of some subjects, from one reading of the files.

    Args:
        paths: of the sealed files, in their order.
        name: of the table.
        columns: those wanted; None for all. Key columns and texts are always there.
        wheres: one a subject; an empty one for all rows.

    Raises:
        StoreError: a file is truncated or foreign.
    """
    with ThreadPoolExecutor(_READERS) as pool:
        files = list(pool.map(partial(_read_file, columns=columns, wheres=wheres), paths))
    return tuple(_joined(name, [parts[i] for parts in files]) for i in range(len(wheres)))


def _read_file(path: Path, columns: Sequence[str] | None, wheres: Sequence[Where]) -> list[_Part]:
    with _refused(path):
        data = _decoded(path, columns, wheres)
        numbers, words = _from_arrow(data)
    return [_part(numbers, words, _rows_of(words, where, data.num_rows)) for where in wheres]


def _decoded(path: Path, columns: Sequence[str] | None, wheres: Sequence[Where]) -> "pa.Table":
    """Return the row groups of a file that may hold rows of the subjects."""
    file = open_parquet(path)
    wanted = None if columns is None else frozenset(columns)
    names = [f.name for f in file.schema_arrow if wanted is None or f.name in wanted or _always(f)]
    groups = [list(_text_chunks(file.metadata.row_group(n))) for n in range(file.metadata.num_row_groups)]
    text_chunks = list(chain.from_iterable(groups))
    _check_size(path, file.metadata.num_rows, len(names), text_chunks)
    # Ours have no dictionary: one word of it could be repeated without end.
    coded = sorted({chunk.path_in_schema for chunk in text_chunks if chunk.has_dictionary_page})
    some = [n for n, chunks in enumerate(groups) if _may_hold(chunks, wheres)]
    opened = open_parquet(path, coded) if coded else file
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


def _text_chunks(group: "pa.parquet.RowGroupMetaData") -> "Iterator[pa.parquet.ColumnChunkMetaData]":
    chunks = (group.column(number) for number in range(group.num_columns))
    return (chunk for chunk in chunks if chunk.physical_type == "BYTE_ARRAY")


def _always(wanted: "pa.Field") -> bool:
    import pyarrow as pa

    return wanted.name in _KEY_COLUMNS or pa.types.is_string(wanted.type)


def _from_arrow(data: "pa.Table") -> tuple[dict[str, _Numbers], dict[str, _Words]]:
    import pyarrow as pa

    numbers, words = {}, {}
    for column in data.column_names:
        chunks = data.column(column).unify_dictionaries()
        values = chunks.chunk(0) if chunks.num_chunks == 1 else chunks.combine_chunks()
        if pa.types.is_integer(values.type):
            numbers[column] = _numbers(values if values.type == pa.int64() else values.cast(pa.int64()))
        elif pa.types.is_string(values.type):
            words[column] = _words(values.dictionary_encode())
        elif pa.types.is_dictionary(values.type):
            words[column] = _words(values)
    return numbers, words


# to_numpy(), fill_null() and every other call that takes a value of Python's make pyarrow import pandas, which
# costs half a second: the buffers are read as they are (Arrow columnar format, "Fixed-size primitive layout").


def _numbers(values: "pa.Array") -> _Numbers:
    found, present = _buffer(values, np.int64), _present(values)
    return _Numbers(values=found if present is None else np.where(present, found, 0), present=present)


def _words(encoded: "pa.DictionaryArray") -> _Words:
    known = np.array([*encoded.dictionary.to_pylist(), None], dtype=object)
    codes, present = _buffer(encoded.indices, np.int32), _present(encoded.indices)
    return _Words(codes=codes if present is None else np.where(present, codes, known.size - 1), known=known)


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


def _rows_of(words: Mapping[str, _Words], where: Where, rows: int) -> _Rows:
    """Return which rows have these texts: one stretch in our own files, which are ordered by subject."""
    if not where:
        return slice(0, rows)
    if any(column not in words for column in where):
        return slice(0, 0)
    keep = [(words[column].known == wanted)[words[column].codes] for column, wanted in where.items()]
    at = np.flatnonzero(np.logical_and.reduce(keep))
    if not at.size:
        return slice(0, 0)
    return slice(int(at[0]), int(at[-1]) + 1) if at[-1] - at[0] + 1 == at.size else at


def _part(numbers: Mapping[str, _Numbers], words: Mapping[str, _Words], rows: _Rows) -> _Part:
    return _Part(
        rows=rows.stop - rows.start if isinstance(rows, slice) else rows.size,
        integers={name: found.at(rows) for name, found in numbers.items()},
        texts={name: found.known[found.codes[rows]] for name, found in words.items()},
    )


def _joined(name: str, parts: Sequence[_Part]) -> Table:
    """Return parts below each other; a column that one of them lacks is not present there."""
    full = np.ones(sum(part.rows for part in parts), dtype=np.bool_)
    full.flags.writeable = False  # one for all columns
    integers = {}
    for column in dict.fromkeys(c for part in parts for c in part.integers):
        found = [
            part.integers.pop(column) if column in part.integers else _missing(part.rows) for part in parts
        ]
        whole = all(one.present is None for one in found)
        integers[column] = Column(
            values=np.concatenate([one.values for one in found]),
            present=full if whole else np.concatenate([_mask(one) for one in found]),
        )
    texts = {}
    for column in dict.fromkeys(c for part in parts for c in part.texts):
        nothing = (np.full(part.rows, None, dtype=object) for part in parts)
        texts[column] = np.concatenate(
            [part.texts.pop(column, none) for part, none in zip(parts, nothing, strict=True)]
        )
    return Table(name=name, rows=full.size, integers=integers, texts=texts)


def _missing(rows: int) -> _Numbers:
    return _Numbers(values=np.zeros(rows, dtype=np.int64), present=np.zeros(rows, dtype=np.bool_))


def _mask(found: _Numbers) -> NDArray[np.bool_]:
    return np.ones(found.values.size, dtype=np.bool_) if found.present is None else found.present
