"""Tests of tables that are read once: what is kept, taken apart and read again is what the recording holds."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from leapprof.assess.cached import CachedTables
from leapprof.assess.load import LoadedRecording, load
from leapprof.assess.rows import measure_rows
from leapprof.assess.sides import cut_side
from leapprof.model import Table

SAMPLES = Path(__file__).parents[2] / "samples"
ONE = SAMPLES / "nodeos-v5-starts" / "mapped"
"""Its nodeos starts and stops: rows of several processes, a stage of every kind, readings that are missing."""


@pytest.fixture(scope="module")
def recording() -> LoadedRecording:
    """Return a real recording."""
    return load(ONE)


def assert_same(found: Table, expected: Table, columns: Sequence[str]) -> None:
    """Compare rows, the columns that were asked for, and texts."""
    assert found.rows == expected.rows
    for name in {*columns, "seq", "boottime_ns", "wall_ns", "boot"} & set(expected.integers):
        assert np.array_equal(found.integers[name].values, expected.integers[name].values), name
        assert np.array_equal(found.integers[name].present, expected.integers[name].present), name
    for name, values in expected.texts.items():
        if name == "stage" and name not in columns:
            continue  # told only where it is asked for
        assert found.texts[name].tolist() == values.tolist(), name


ASKED: tuple[tuple[str, tuple[str, ...], Mapping[str, str] | None], ...] = (
    ("nodeos", ("stage", "utime_ticks_total"), None),
    ("nodeos", ("stage", "io_write_bytes_total", "pid"), {"nodeos": "nodeos"}),
    ("nodeos", ("child_rss_bytes",), {"nodeos": "nodeos"}),
    ("chain", ("head_lag_ms",), {"nodeos": "nodeos"}),
    ("device", ("write_sectors_total", "read_ms_total"), {"device": "vda"}),
    ("device", ("write_sectors_total",), {"device": "no such device"}),
    ("device", ("writes_total",), None),
    ("device", ("writes_total",), {"device": "vda"}),
    ("host", ("cpu_user_ticks_total", "file_pmd_mapped_bytes"), None),
    ("smart", (), None),
)


@pytest.mark.parametrize("is_released", [False, True])
@pytest.mark.parametrize("asked", [ASKED, ASKED[::-1]], ids=["whole first", "subjects first"])
def test_what_is_kept_is_what_is_stored(
    recording: LoadedRecording,
    asked: Sequence[tuple[str, tuple[str, ...], Mapping[str, str] | None]],
    *,
    is_released: bool,
) -> None:
    """In whatever order tables are asked for, whole or of a subject, before and after they were released."""
    tables = CachedTables(recording)
    tables.prepare("device", [{"device": "vda"}, {"device": "loop0"}])
    for _ in range(2):
        for name, columns, where in asked:
            assert_same(tables.table(name, columns, where), recording.table(name, columns, where), columns)
            if is_released:
                tables.release(name, where)


class Counting:
    """A recording from disk that says what was read of it."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self.read: list[str] = []

    def of(self, recording: LoadedRecording, monkeypatch: pytest.MonkeyPatch) -> CachedTables:
        """Return the recording's tables; each reading of its files is kept."""
        plain = type(recording.stored).read_each

        def counted(stored: object, name: str, *rest: object) -> object:
            self.read.append(name)
            return plain(stored, name, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(type(recording.stored), "read_each", counted)
        return CachedTables(recording)


def test_each_table_is_read_once(recording: LoadedRecording, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several subjects cost one reading, a table that was read whole none, and stages none of their own."""
    counting = Counting()
    tables = counting.of(recording, monkeypatch)
    tables.prepare("device", [{"device": "vda"}, {"device": "loop0"}])
    tables.table("device", ("writes_total",), {"device": "vda"})
    tables.table("device", ("writes_total",), {"device": "loop0"})
    tables.table("nodeos", ("stage",))
    tables.table("nodeos", ("stage", "rss_bytes"), {"nodeos": "nodeos"})
    tables.release("nodeos")
    tables.table("nodeos", ("stage", "rss_bytes"), {"nodeos": "nodeos"})
    assert sorted(counting.read) == ["chain", "device", "nodeos"]


def test_a_series_is_drawn_and_dropped() -> None:
    """Memory holds the charts of a comparison, and of series those that are asked for again: the load, and jumps."""
    long = SAMPLES / "nodeos-v5-long"
    sides = [
        cut_side(load(long / name), label)
        for name, label in (("mapped", "before"), ("mapped_private", "after"))
    ]
    rows = [row for row in measure_rows(*sides) if row.before and row.after]
    assert rows
    for row in rows:
        assert row.before is not None
        assert row.chart is not None
        assert row.chart.before_value.size > 0
        is_kept = row.spec.table == "chain" or row.spec.name == "nodeos.cpu_cores"
        assert bool(row.before.series.value.size) == is_kept, row.spec.name
