"""Columns that grow file by file."""

import numpy as np
import pytest

from leapprof.store.growing import GrowingTable, Part


def whole(*values: int) -> list[Part]:
    """Return one piece without holes."""
    return [Part(np.array(values, dtype=np.int64))]


def names(words: list[str], *codes: int) -> list[Part]:
    """Return one piece of texts."""
    return [Part(np.array(codes, dtype=np.int32), None, words)]


def test_room_is_made_when_files_are_larger_than_the_first() -> None:
    """Every value stays where it was, and so does what is missing."""
    found = GrowingTable("device", 3)
    found.add(1, {"reads": whole(7), "device": names(["sda"], 0)}, {"device"})
    holes = [Part(np.arange(1000), np.arange(1000) % 2 == 0)]
    found.add(1000, {"reads": holes, "device": names(["sdb", "sda"], *([0, 1] * 500))}, {"device"})
    found.add(2000, {"writes": whole(*range(2000))}, ())
    table = found.table()
    assert table.rows == 3001
    reads, writes = table.integers["reads"], table.integers["writes"]
    assert reads.present[:4].tolist() == [True, True, False, True]
    assert (reads.values[0], int(reads.values.sum()), int(reads.present.sum())) == (7, 7 + 249_500, 501)
    assert writes.present.tolist() == [False] * 1001 + [True] * 2000
    assert writes.values[1001:].tolist() == list(range(2000))
    assert table.texts["device"][:4].tolist() == ["sda", "sdb", "sda", "sdb"]
    assert table.texts["device"][1001:].tolist() == [None] * 2000


def test_columns_without_a_hole_share_one_mask_that_nobody_can_write() -> None:
    """A week of fifty columns has one."""
    found = GrowingTable("host", 1)
    found.add(3, {"a": whole(1, 2, 3), "b": whole(4, 5, 6)}, ())
    integers = found.table().integers
    assert integers["a"].present is integers["b"].present
    with pytest.raises(ValueError, match="read-only"):
        integers["a"].present[0] = False


def test_nothing_is_a_table_of_no_rows_that_knows_its_columns() -> None:
    """A subject that no file holds."""
    found = GrowingTable("device", 2)
    found.add(0, {"reads": [], "device": []}, {"device"})
    table = found.table()
    assert (table.rows, list(table.integers), list(table.texts)) == (0, ["reads"], ["device"])


def test_a_number_that_becomes_a_text_is_refused() -> None:
    """By its name."""
    found = GrowingTable("device", 2)
    found.add(1, {"device": whole(1)}, ())
    with pytest.raises(TypeError, match="device is a text in one file and a number in another"):
        found.add(1, {"device": names(["sda"], 0)}, {"device"})
