"""Tests of the reading of sealed tables: what is read of many files at once is what each file says, row by row."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import StoreError
from leapprof.model import Column, Table
from leapprof.store.reading import Where, read_tables
from leapprof.store.segments import SegmentRange, list_segments, write_segment

KEYS = ("seq", "boottime_ns", "wall_ns", "boot")
COUNTERS = ("reads_total", "writes_total", "in_flight")
DEVICES, NODEOS = ("sda", "sdb", None), ("eos", "wax")
NUMBERS = st.none() | st.sampled_from((0, 1, -1, 2**53 + 1, 2**63 - 1, -(2**63)))
RANGE = SegmentRange(first_seq=1, last_seq=1, first_wall_ns=1, last_wall_ns=1)

Row = dict[str, int | str | None]


@st.composite
def segments(draw: st.DrawFn) -> list[Table]:
    """Return segments of one table: other columns, subjects and holes in each, some without rows of a subject."""
    return [draw(segment(first=1000 * number)) for number in range(draw(st.integers(1, 4)))]


@st.composite
def segment(draw: st.DrawFn, first: int) -> Table:
    """Return one segment."""
    rows = draw(st.integers(1, 12))
    integers = {key: [first + i for i in range(rows)] for key in KEYS}
    for name in draw(st.sets(st.sampled_from(COUNTERS))):
        integers[name] = draw(st.lists(NUMBERS, min_size=rows, max_size=rows))
    texts = {"device": draw(st.lists(st.sampled_from(DEVICES), min_size=rows, max_size=rows))}
    if draw(st.booleans()):
        texts["nodeos"] = draw(st.lists(st.sampled_from(NODEOS), min_size=rows, max_size=rows))
    return Table(
        name="device",
        rows=rows,
        integers={
            name: Column(
                values=np.array([v or 0 for v in values], dtype=np.int64),
                present=np.array([v is not None for v in values], dtype=np.bool_),
            )
            for name, values in integers.items()
        },
        texts={name: np.array(values, dtype=object) for name, values in texts.items()},
    )


def plainly(paths: Sequence[Path], columns: Sequence[str] | None, where: Where) -> list[Row]:
    """Return the rows as a plain reader of Parquet gives them; a column that a file lacks is None."""
    files = [pq.read_table(path) for path in paths]
    every = dict.fromkeys(
        field.name
        for file in files
        for field in file.schema
        if columns is None or field.name in (*columns, *KEYS) or pa.types.is_string(field.type)
    )
    rows = [row for file in files for row in file.to_pylist()]
    kept = [row for row in rows if all(row.get(name) == wanted for name, wanted in where.items())]
    return [{name: row.get(name) for name in every} for row in kept]


def rows_of(table: Table) -> list[Row]:
    """Return a table as rows."""
    for name, column in table.integers.items():
        assert not column.values[~column.present].any(), f"{name}: what is missing is 0, never to be used"
    integers = {
        name: [int(v) if p else None for v, p in zip(c.values, c.present, strict=True)]
        for name, c in table.integers.items()
    }
    columns = {**integers, **{name: values.tolist() for name, values in table.texts.items()}}
    return [{name: values[i] for name, values in columns.items()} for i in range(table.rows)]


@given(
    made=segments(),
    columns=st.none() | st.lists(st.sampled_from(COUNTERS), unique=True),
    wheres=st.lists(
        st.sampled_from(({}, {"device": "sda"}, {"device": "sdb"}, {"device": "sda", "nodeos": "eos"})),
        min_size=1,
        max_size=3,
    ),
)
def test_rows_are_those_of_the_files(
    made: list[Table], columns: list[str] | None, wheres: list[Where]
) -> None:
    """For any segments: every subject has the rows, holes and columns that a plain reader finds."""
    with tempfile.TemporaryDirectory() as directory:
        for number, table in enumerate(made, start=1):
            write_segment(Path(directory), number, [table], RANGE)
        paths = [file.path for file in list_segments(Path(directory))]
        found = read_tables(paths, "device", columns, wheres)
        expected = [plainly(paths, columns, where) for where in wheres]
    assert [rows_of(table) for table in found] == expected


def test_a_file_of_several_row_groups_and_narrow_integers_is_read(tmp_path: Path) -> None:
    """Files that another program wrote again: chunks are joined, 32 bits become 64."""
    data = pa.table({"seq": pa.array(range(10), pa.int32()), "device": ["sda"] * 5 + ["sdb"] * 5})
    pq.write_table(data, tmp_path / "device-0001.parquet", row_group_size=3)
    (table,) = read_tables([tmp_path / "device-0001.parquet"], "device", None, [{"device": "sdb"}])
    assert table.integers["seq"].values.tolist() == [5, 6, 7, 8, 9]
    assert table.integers["seq"].values.dtype == np.int64


def test_the_first_damaged_file_is_named(tmp_path: Path) -> None:
    """Also when files are read at once, and a file that went away meanwhile is an error of the disk."""
    paths = [tmp_path / f"host-000{number}.parquet" for number in (1, 2)]
    for path in paths:
        path.write_bytes(b"PAR1 no more")
    with pytest.raises(StoreError, match=r"host-0001\.parquet: is damaged"):
        read_tables(paths, "host", None, [{}])
    with pytest.raises(StoreError, match="No such file"):
        read_tables([tmp_path / "host-0003.parquet"], "host", None, [{}])
