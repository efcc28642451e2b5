"""Tests of rows that are packed while they wait for their seal."""

from leapprof.ingest.builder import BLOCK_ROWS, TableBuilder

BIG = 2**63 - 1


def test_packed_rows_come_back_as_they_were() -> None:
    """Over several blocks, with missing values and the largest and smallest integers."""
    builder = TableBuilder("device")
    expected = [None if n % 7 == 0 else (BIG, -BIG, n, 0)[n % 4] for n in range(3 * BLOCK_ROWS + 5)]
    for n, value in enumerate(expected):
        builder.add({"device": f"d{n % 3}"}, {"seq": n, "writes_total": value})
    for _ in range(2):  # a copy each time
        table = builder.table()
        column = table.integers["writes_total"]
        found = [int(v) if p else None for v, p in zip(column.values, column.present, strict=True)]
        assert found == expected
        assert table.integers["seq"].values.tolist() == list(range(len(expected)))
        assert table.texts["device"].tolist()[:4] == ["d0", "d1", "d2", "d0"]
        assert table.rows == len(expected)
