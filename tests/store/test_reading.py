"""Tests of the reading of sealed tables: what is read of many files at once is what each file says, row by row."""

import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import StoreError
from leapprof.model import Column, Table
from leapprof.store import segments as segments_module
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
    return table_of(integers, texts)


def table_of(
    integers: Mapping[str, Sequence[int | None]], texts: Mapping[str, Sequence[str | None]]
) -> Table:
    """Return a table of devices; None is not present."""
    return Table(
        name="device",
        rows=len(integers["seq"]),
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
        st.sampled_from(
            ({}, {"device": "sda"}, {"device": "sdb"}, {"device": "sda", "nodeos": "eos"}, {"nodeos": "wax"})
        ),
        min_size=1,
        max_size=3,
    ),
    group_rows=st.integers(1, 4),
)
def test_rows_are_those_of_the_files(
    made: list[Table], columns: list[str] | None, wheres: list[Where], group_rows: int
) -> None:
    """For any segments: every subject has the rows, holes and columns that a plain reader finds.

    They are the same, in the same order, in files of one row group (all that older ones are) as of one a subject.
    """
    with tempfile.TemporaryDirectory() as directory:
        mixed, grouped = (written(Path(directory) / str(rows), made, rows) for rows in (10**9, group_rows))
        assert all(pq.ParquetFile(path).num_row_groups == 1 for path in mixed)
        expected = [plainly(mixed, columns, where) for where in wheres]
        for paths in (mixed, grouped):
            assert [rows_of(table) for table in read_tables(paths, "device", columns, wheres)] == expected


def written(directory: Path, tables: Sequence[Table], group_rows: int) -> list[Path]:
    """Write segments whose row groups have so many rows at least."""
    directory.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments_module, "_GROUP_ROWS", group_rows)
        for number, table in enumerate(tables, start=1):
            write_segment(directory, number, [table], RANGE)
    return [file.path for file in list_segments(directory)]


def devices(directory: Path, rows: int) -> Path:
    """Write one segment of three devices."""
    integers = dict.fromkeys((*KEYS, "reads_total"), range(3 * rows))
    write_segment(directory, 1, [table_of(integers, {"device": ["sda", "sdb", "sdc"] * rows})], RANGE)
    return directory / "device-0001.parquet"


def test_one_device_is_read_without_decoding_the_others(tmp_path: Path) -> None:
    """What is damaged of a device is no hindrance to reading another."""
    path = devices(tmp_path, 2000)
    first = pq.ParquetFile(path).metadata.row_group(0).column(0)
    start, size = first.dictionary_page_offset, first.total_compressed_size
    data = bytearray(path.read_bytes())
    data[start : start + size] = bytes(size)
    path.write_bytes(data)
    (found,) = read_tables([path], "device", ("reads_total",), [{"device": "sdb"}])
    assert found.integers["reads_total"].values.tolist() == list(range(1, 6000, 3))
    for damaged in ({"device": "sda"}, {}):
        with pytest.raises(StoreError, match=r"device-0001\.parquet"):
            read_tables([path], "device", ("reads_total",), [damaged])


def test_small_subjects_share_a_row_group(tmp_path: Path) -> None:
    """A row group costs bytes: few rows are not worth one, and then no statistics are either."""
    file = pq.ParquetFile(devices(tmp_path, 300))
    assert file.num_row_groups == 1
    group = file.metadata.row_group(0)
    assert not any(group.column(number).is_stats_set for number in range(group.num_columns))


def test_what_does_not_vary_is_not_packed(tmp_path: Path) -> None:
    """Of several devices: who it is, clocks and a counter that stands are short as they are; holes are packed."""
    rows = 2000
    walk = np.random.default_rng(1).integers(0, 9, 3 * rows).cumsum().tolist()
    holes = [None if number % 7 == 0 else 5 for number in range(3 * rows)]
    integers = {
        "seq": range(3 * rows),
        "reads_total": walk,
        "writes_total": [4] * 3 * rows,
        "in_flight": holes,
    }
    table = table_of(
        integers | {"discards_total": [None] * 3 * rows}, {"device": ["sda", "sdb", "sdc"] * rows}
    )
    write_segment(tmp_path, 1, [table], RANGE)
    file = pq.ParquetFile(tmp_path / "device-0001.parquet")
    assert file.num_row_groups == 3
    chunks = [file.metadata.row_group(0).column(number) for number in range(file.metadata.num_columns)]
    assert {chunk.path_in_schema for chunk in chunks if chunk.compression == "ZSTD"} == {
        "reads_total",
        "in_flight",
    }
    assert all(chunk.total_compressed_size < 200 for chunk in chunks if chunk.compression == "UNCOMPRESSED")


def test_what_is_a_number_here_and_a_text_there_is_refused(tmp_path: Path) -> None:
    """No file is wrong by itself: the first that differs is named."""
    paths = [tmp_path / f"device-000{number}.parquet" for number in (1, 2)]
    for path, values in zip(paths, ([1, 2], ["sda", "sdb"]), strict=True):
        pq.write_table(pa.table({"seq": [1, 2], "device": values}), path)
    with pytest.raises(
        StoreError,
        match=r"device-0002\.parquet: is damaged .*device is a text in one file and a number in another",
    ):
        read_tables(paths, "device", None, [{}])


def test_of_columns_of_one_name_one_is_read(tmp_path: Path) -> None:
    """A file that has two is none of ours, and no traceback."""
    data = pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4])], names=["seq", "seq"])
    pq.write_table(data, tmp_path / "host-0001.parquet")
    (table,) = read_tables([tmp_path / "host-0001.parquet"], "host", None, [{}])
    assert (table.rows, list(table.integers)) == (2, ["seq"])


@pytest.mark.parametrize("lie", [b"zzz", b"\xff\xfe\xfd", b"\0\0\0"])
def test_statistics_that_lie_hide_rows_and_do_no_other_harm(tmp_path: Path, lie: bytes) -> None:
    """Who forges a file hides its own rows: those of others, and all where all are asked for, are as they were."""
    path = devices(tmp_path, 1100)
    data = path.read_bytes()
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    path.write_bytes(data[:footer] + data[footer:].replace(b"sda", lie))
    asked: list[Where] = [{"device": "sda"}, {"device": "sdb"}, {"device": "\udcff"}]
    rows = [read_tables([path], "device", None, [where])[0].rows for where in asked]
    assert rows == [0, 1100, 0]
    assert read_tables([path], "device", None, [{}])[0].rows == 3300


@pytest.mark.parametrize("at", range(4))
def test_a_name_that_is_no_text_is_refused(tmp_path: Path, at: int) -> None:
    """Of a column, as the schema and as each of the row groups has it."""
    path = devices(tmp_path, 1100)
    data = bytearray(path.read_bytes())
    footer = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    places = [found.start() for found in re.finditer(b"device", data) if found.start() > footer]
    data[places[at]] = 0xFF
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"device-0001\.parquet: is damaged"):
        read_tables([path], "device", None, [{"device": "sda"}])


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
