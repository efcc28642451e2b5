"""Tests of a recording's directory: written, killed, damaged, read."""

import importlib.util
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from leapprof.errors import FormatVersionError, NoRecordingError, StoreError
from leapprof.store import RecordingWriter, Retention, open_recording
from leapprof.store.guard import DiskFullError
from leapprof.store.journal import Journal

_spec = importlib.util.spec_from_file_location("store_builders", Path(__file__).with_name("builders.py"))
assert _spec is not None and _spec.loader is not None
b = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(b)


def fill(writer: RecordingWriter, first: int, count: int) -> None:
    """Append frames whose body names their number."""
    for seq in range(first, first + count):
        writer.append(f"frame {seq}".encode(), seq, b.WALL_NS + seq)


def host(first: int, count: int) -> dict:
    """Return a host table of these frames."""
    return {"host": b.table("host", first, {"cpu_user_ticks_total": list(range(first, first + count))})}


def test_files_are_for_their_owner_only(tmp_path: Path) -> None:
    """The directory has mode 0700, every file in it 0600, also while recording."""
    with RecordingWriter.create(tmp_path / "r", b.manifest()) as writer:
        fill(writer, 1, 5)
        writer.seal(host(1, 3))
        modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "r").iterdir()}
    assert stat.S_IMODE((tmp_path / "r").stat().st_mode) == 0o700
    assert set(modes.values()) == {0o600}, modes


def test_a_live_recording_is_readable(tmp_path: Path) -> None:
    """A reader sees sealed rows and unsealed frames of a recording that goes on, each once."""
    with RecordingWriter.create(tmp_path / "r", b.manifest()) as writer:
        fill(writer, 1, 5)
        writer.seal(host(1, 3))
        stored = open_recording(tmp_path / "r")
        sealed = stored.read("host")
        assert sealed is not None
        assert sealed.integers["seq"].values.tolist() == [1, 2, 3]
        assert list(stored.frames()) == [b"frame 4", b"frame 5"]


def test_a_closed_recording_has_no_journal(tmp_path: Path) -> None:
    """When all frames are sealed only the manifest and Parquet files stay."""
    with RecordingWriter.create(tmp_path / "r", b.manifest()) as writer:
        fill(writer, 1, 3)
        writer.seal(host(1, 3))
    assert sorted(p.name for p in (tmp_path / "r").iterdir()) == ["host-0001.parquet", "recording.json"]


def test_missing_values_and_types_survive(tmp_path: Path) -> None:
    """An integer stays an integer, a missing one stays missing and is not 0, text may be missing too."""
    big = 2**63 - 1
    tables = {
        "device": b.table("device", 1, {"writes_total": [0, None, big]}, device=["sda", "sdb", "sda"]),
        "nodeos": b.table(
            "nodeos", 1, {"pid": [1, 2, None]}, nodeos=["a", "a", "a"], stage=["live", None, "live"]
        ),
    }
    with RecordingWriter.create(tmp_path / "r", b.manifest()) as writer:
        fill(writer, 1, 3)
        writer.seal(tables)
    stored = open_recording(tmp_path / "r")
    device = stored.read("device", ["writes_total"])
    assert device is not None
    assert device.texts["device"].tolist() == ["sda", "sda", "sdb"]
    assert device.integers["writes_total"].values.tolist() == [0, big, 0]
    assert device.integers["writes_total"].present.tolist() == [True, True, False]
    nodeos = stored.read("nodeos")
    assert nodeos is not None
    assert nodeos.texts["stage"].tolist() == ["live", None, "live"]
    assert stored.read("chain") is None


def test_where_keeps_the_rows_of_one_subject(tmp_path: Path) -> None:
    """Rows of another device, or of no such column, are left out."""
    tables = {"device": b.table("device", 1, {"writes_total": [1, 2]}, device=["sda", "sdb"])}
    with RecordingWriter.create(tmp_path / "r", b.manifest()) as writer:
        fill(writer, 1, 2)
        writer.seal(tables)
    stored = open_recording(tmp_path / "r")
    sdb = stored.read("device", where={"device": "sdb"})
    none = stored.read("device", where={"nodeos": "a"})
    assert sdb is not None and none is not None
    assert sdb.integers["writes_total"].values.tolist() == [2]
    assert none.rows == 0


def test_a_column_of_one_segment_is_missing_in_the_other(tmp_path: Path) -> None:
    """Segments with different columns are read as one table."""
    with RecordingWriter.create(tmp_path / "r", b.manifest()) as writer:
        fill(writer, 1, 2)
        writer.seal({"host": b.table("host", 1, {"a": [7]})})
        writer.seal({"host": b.table("host", 2, {"a": [8], "b": [9]})})
    table = open_recording(tmp_path / "r").read("host")
    assert table is not None
    assert table.integers["a"].values.tolist() == [7, 8]
    assert table.integers["b"].present.tolist() == [False, True]


def test_a_crash_between_sealing_and_deleting_counts_no_frame_twice(tmp_path: Path) -> None:
    """Parquet files whose frames are still in the journal do not count, and the next seal replaces them."""
    directory = tmp_path / "r"
    writer = RecordingWriter.create(directory, b.manifest())
    fill(writer, 1, 3)
    writer.seal(host(1, 2))
    (directory / "host-0002.parquet").write_bytes(b"half a fi")
    stored = open_recording(directory)
    assert [s.number for s in stored.segments] == [1]
    assert list(stored.frames()) == [b"frame 3"]
    writer.seal(host(3, 1))
    writer.close()
    table = open_recording(directory).read("host")
    assert table is not None
    assert table.integers["seq"].values.tolist() == [1, 2, 3]


KILLED = """
import sys, importlib.util
from pathlib import Path
spec = importlib.util.spec_from_file_location("b", sys.argv[2])
b = importlib.util.module_from_spec(spec)
spec.loader.exec_module(b)
from leapprof.store import RecordingWriter
writer = RecordingWriter.create(Path(sys.argv[1]), b.manifest())
for seq in range(1, 10**6):
    writer.append(b"x" * 2000, seq, seq)
    if seq == 300: writer.seal({"host": b.table("host", 1, {"a": list(range(300))})})
    if seq >= 500: print(seq, flush=True)
"""


def test_a_segment_that_is_sealed_again_is_replaced(tmp_path: Path) -> None:
    """Its rows are those of the last sealing, the segment before it is untouched, and a first one may be such, too."""
    with RecordingWriter.create(tmp_path / "r", b.manifest()) as writer:
        writer.reseal(host(1, 2))
        writer.seal(host(3, 2))
        writer.reseal(host(3, 5))
        table = open_recording(tmp_path / "r").read("host")
    assert table is not None
    assert table.integers["seq"].values.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert len(list((tmp_path / "r").glob("*.parquet"))) == 2


def test_kill_9_loses_no_frame_that_was_appended(tmp_path: Path) -> None:
    """After kill -9 the reader finds every frame that append returned for, and the lock is free."""
    program = [
        sys.executable,
        "-c",
        KILLED,
        str(tmp_path / "r"),
        str(Path(__file__).with_name("builders.py")),
    ]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(20)]
        os.kill(process.pid, signal.SIGKILL)
        lines += process.stdout.readlines()
    stored = open_recording(tmp_path / "r")
    table = stored.read("host")
    assert table is not None
    assert table.rows == 300
    assert stored.journal.frames[0].seq == 301
    assert stored.journal.frames[-1].seq >= int(lines[-1] if lines[-1].endswith("\n") else lines[-2])
    assert stored.journal.damage is None


def test_two_collectors_on_one_recording_are_told_apart(tmp_path: Path) -> None:
    """The second one gets an error that says so; so does one that would record over a closed one."""
    with (
        RecordingWriter.create(tmp_path / "r", b.manifest()),
        pytest.raises(StoreError, match="another leapprof is recording here"),
    ):
        RecordingWriter.create(tmp_path / "r", b.manifest())
    with pytest.raises(StoreError, match="holds something already"):
        RecordingWriter.create(tmp_path / "r", b.manifest())


def test_a_truncated_journal_yields_frames_up_to_the_damage(tmp_path: Path) -> None:
    """Frames before the damage are read, and the damage is said."""
    writer = RecordingWriter.create(tmp_path / "r", b.manifest())
    fill(writer, 1, 2000)
    writer._journal._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    journal = tmp_path / "r" / "journal.sqlite"
    content = journal.read_bytes()
    writer.abandon()
    journal.write_bytes(content[: len(content) // 2])
    stored = open_recording(tmp_path / "r")
    assert stored.journal.damage is not None
    assert "damaged" in stored.journal.damage
    assert list(stored.frames())[:2] in ([], [b"frame 1", b"frame 2"])


@pytest.mark.parametrize("name", ["recording.json", "host-0001.parquet"])
@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff garbage", b'{"format": 1', b'{"format": 1}', b"[1]", b"PAR1"]
)
def test_a_damaged_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    """Half a file, an empty or foreign one is a StoreError with its path."""
    with RecordingWriter.create(tmp_path / "r", b.manifest()) as writer:
        fill(writer, 1, 2)
        writer.seal(host(1, 2))
    (tmp_path / "r" / name).write_bytes(content)
    with pytest.raises(StoreError, match=name):
        open_recording(tmp_path / "r").read("host")


def test_a_truncated_parquet_file_is_named(tmp_path: Path) -> None:
    """Half a Parquet file is a StoreError with its path."""
    with RecordingWriter.create(tmp_path / "r", b.manifest()) as writer:
        fill(writer, 1, 2)
        writer.seal(host(1, 2))
    path = tmp_path / "r" / "host-0001.parquet"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(StoreError, match=r"host-0001\.parquet: is damaged"):
        open_recording(tmp_path / "r").read("host")


def test_a_newer_format_says_what_to_do(tmp_path: Path) -> None:
    """A manifest of a later format is refused with both numbers."""
    with RecordingWriter.create(tmp_path / "r", b.manifest()):
        pass
    path = tmp_path / "r" / "recording.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "format": 99}))
    with pytest.raises(FormatVersionError, match="format 99 is newer"):
        open_recording(tmp_path / "r")


@pytest.mark.parametrize("kind", ["absent", "file", "empty"])
def test_what_is_no_recording_is_said(tmp_path: Path, kind: str) -> None:
    """A path that does not exist, a file and an empty directory are wrong names and no damage."""
    path = tmp_path / "r"
    if kind == "file":
        path.write_text("x")
    if kind == "empty":
        path.mkdir()
    with pytest.raises(NoRecordingError, match="give the directory that") as caught:
        open_recording(path)
    assert caught.value.exit_code == 2


def test_retention_drops_the_oldest_segments_and_says_so(tmp_path: Path) -> None:
    """Segments older than the retention go, the rest and the manifest's note stay."""
    with RecordingWriter.create(tmp_path / "r", b.manifest()) as writer:
        for first in (1, 11, 21):
            fill(writer, first, 10)
            writer.seal(host(first, 10))
        now = b.WALL_NS + 30 * b.SECOND_NS
        assert writer.drop_outdated(Retention(duration_s=15), now) == 1
        assert writer.drop_outdated(Retention(), now) == 0
        assert writer.drop_outdated(Retention(size_bytes=1), now) == 2
    stored = open_recording(tmp_path / "r")
    assert stored.manifest.notes["segments_dropped"] == "3"
    assert stored.read("host") is None


def test_a_full_disk_is_named_and_keeps_what_is_there(tmp_path: Path) -> None:
    """A message of sqlite, 'database or disk is full' becomes DiskFullError; earlier frames stay readable."""
    writer = RecordingWriter.create(tmp_path / "r", b.manifest())
    writer._journal._db.execute("PRAGMA max_page_count=100")
    with pytest.raises(DiskFullError, match="the disk is full"):
        for seq in range(1, 1000):
            writer.append(b"x" * 1000, seq, seq)
    writer.abandon()
    assert len(open_recording(tmp_path / "r").journal.frames) > 10


def test_a_tick_writes_little(tmp_path: Path) -> None:
    """A frame of 2 kB costs less than 8 kB of writes, checkpoints included."""
    journal = Journal(tmp_path / "journal.sqlite")

    def written() -> int:
        return next(
            int(x.split()[1]) for x in Path("/proc/self/io").read_text().splitlines() if x.startswith("wchar")
        )

    before = written()
    for seq in range(1, 2001):
        journal.append(_frame(seq))
    journal._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    per_tick = (written() - before) / 2000
    journal.abandon()
    assert per_tick < 8000


def _frame(seq: int):
    from leapprof.store.journal import JournalFrame

    return JournalFrame(seq=seq, received_wall_ns=seq, body=os.urandom(2000))


def test_a_read_only_directory_is_readable(tmp_path: Path) -> None:
    """A killed recording on read-only media is read from a copy of its journal."""
    writer = RecordingWriter.create(tmp_path / "r", b.manifest())
    fill(writer, 1, 3)
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("recording.json", "journal.sqlite", "journal.sqlite-wal"):
        (copy / name).write_bytes((tmp_path / "r" / name).read_bytes())
    writer.abandon()
    copy.chmod(0o500)
    try:
        assert list(open_recording(copy).frames()) == [b"frame 1", b"frame 2", b"frame 3"]
    finally:
        copy.chmod(0o700)


def test_a_foreign_journal_leaves_the_sealed_part_readable(tmp_path: Path) -> None:
    """A journal that is no database is said to be damaged, and the segments are read."""
    with RecordingWriter.create(tmp_path / "r", b.manifest()) as writer:
        fill(writer, 1, 2)
        writer.seal(host(1, 2))
    (tmp_path / "r" / "journal.sqlite").write_bytes(b"no database at all" * 100)
    stored = open_recording(tmp_path / "r")
    table = stored.read("host")
    assert table is not None
    assert table.rows == 2
    assert stored.journal.damage is not None


def test_a_journal_without_table_is_empty(tmp_path: Path) -> None:
    """A recorder killed before its first frame leaves a recording without frames."""
    with RecordingWriter.create(tmp_path / "r", b.manifest()):
        pass
    sqlite3.connect(tmp_path / "r" / "journal.sqlite").close()
    assert list(open_recording(tmp_path / "r").frames()) == []
