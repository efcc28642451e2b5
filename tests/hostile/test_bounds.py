"""What a host can make us hold and store is bounded, whatever it sends for however long."""

import sqlite3
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pytest

from leapprof.agent.frame import FrameDecoder, encode_body
from leapprof.assess.load import load
from leapprof.errors import StoreError
from leapprof.ingest import rows as ingest_rows
from leapprof.ingest import tick as ingest_tick
from leapprof.ingest.rows import FrameIngest
from leapprof.model import Frame, Section
from leapprof.recorder import keeper as recorder_keeper
from leapprof.recorder.cost import CostMeter
from leapprof.recorder.keeper import FrameKeeper
from leapprof.recorder.observer import NullObserver
from leapprof.store import RecordingWriter
from tests.hostile.targets import MANIFEST, frame_of

S = 10**9
MIB = 2**20


def numbered(seq: int, *texts: tuple[str, str]) -> Frame:
    """Return a frame of these sections."""
    made = frame_of(b"\x1e".join(f"{name}\x1f{text}".encode() for name, text in texts))
    return replace(made, seq=seq, boottime_ns=seq * S, wall_ns=18 * 10**17 + seq * S)


def keeper(directory: Path) -> FrameKeeper:
    """Return a keeper of a new recording at 1 Hz that is sealed once an hour."""
    writer = RecordingWriter.create(directory, replace(MANIFEST, started_wall_ns=None))
    return FrameKeeper(
        writer=writer, observer=NullObserver(), cost=CostMeter(agent="python"), seal_every_s=3600
    )


@pytest.mark.parametrize("field", range(7))
@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 10**19, 10**300])
def test_a_number_that_no_table_holds_costs_its_frame(tmp_path: Path, field: int, number: int) -> None:
    """Each number of a header at and beyond 63 bits: kept, or counted as rejected, and what follows is kept."""
    words = [1] * 7
    words[field] = number
    text = b"/proc/uptime\tok\t10\n12.0 13.0\n\n"

    def wire(run: bytes, numbers: list[int]) -> bytes:
        body = text + b"end %s %d\n" % (run, numbers[0])
        head = " ".join(map(str, numbers)).encode()
        return b"LPF1 %s %s p 0 %d %d -\n" % (run, head, len(body), len(body)) + body

    decoder, kept = FrameDecoder("h"), keeper(tmp_path / "r")
    for data in (wire(b"00000001", words), wire(b"00000002", [2, 5 * S, 5 * S, 5 * S, 1, 1, 0])):
        for frame in decoder.feed(data):
            kept.keep(frame, frame.wall_ns)
    kept.finish()
    kept.writer.close()
    assert load(tmp_path / "r").table("host").rows == 2 - decoder.rejected
    assert decoder.rejected == (number > 2**63 - 1)


def test_sequence_numbers_that_leap_do_not_run_out(tmp_path: Path) -> None:
    """A host that counts in leaps of a quintillion is recorded with numbers that go on from the last one."""
    kept = keeper(tmp_path / "r")
    for second in range(1, 40):
        frame = numbered(second, ("/proc/uptime", "1.0 1.0\n"))
        kept.keep(replace(frame, seq=2**62 + second if second % 2 else second), 1)
    kept.finish()
    kept.writer.close()
    assert load(tmp_path / "r").table("host").integers["seq"].values.tolist() == list(range(1, 40))


def test_names_that_are_new_each_second_are_left_out_at_some_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices, threads and nodeos beyond the bound get no rows, and the recording says so."""
    monkeypatch.setattr(ingest_rows, "MAX_SUBJECTS", 50)
    monkeypatch.setattr(ingest_tick, "_MAX_NODEOS", 5)
    ingest = FrameIngest()
    for second in range(1, 101):
        ingest.add(
            numbered(
                second,
                ("/proc/diskstats", f"8 {second} sd{second} 1 1 1 1 1 1 1 1 1 1 1\n"),
                (f"nodeos/n{second}/1/2/threads", f"t{second} 1 1 1\n"),
            )
        )
    tables = ingest.tables()
    assert tables["device"].rows <= 50
    assert "thread" not in tables or tables["thread"].rows <= 5
    assert "more than 50 names" in ingest.unreadable["device"]


def test_events_and_gaps_without_end_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that boots each second: so many events and gaps and no more; the last gap takes in what follows."""
    monkeypatch.setattr(ingest_rows, "MAX_EVENTS", 20)
    monkeypatch.setattr(recorder_keeper, "MAX_GAPS", 10)
    kept = keeper(tmp_path / "r")
    for second in range(1, 101):
        boot = ("/proc/sys/kernel/random/boot_id", f"boot-{second}\n")
        kept.keep(numbered(second, ("/proc/uptime", "1.0 1.0\n"), boot), second)
    kept.finish()
    kept.writer.close()
    manifest = load(tmp_path / "r").manifest
    assert len(manifest.events) == 20
    assert len(manifest.gaps) == 10
    assert manifest.gaps[-1].end_wall_ns == 18 * 10**17 + 100 * S


def test_rows_without_end_are_sealed_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So many rows are sealed before the hour is over: memory stays small, and nothing is lost."""
    monkeypatch.setattr(recorder_keeper, "MAX_OPEN_ROWS", 500)
    kept = keeper(tmp_path / "r")
    devices = "".join(f"8 {n} sd{n} 1 1 1 1 1 1 1 1 1 1 1\n" for n in range(100))
    for second in range(1, 21):
        kept.keep(numbered(second, ("/proc/diskstats", devices), ("/proc/uptime", "1.0 1.0\n")), second)
        assert kept.ingest.rows < 500
    kept.finish()
    kept.writer.close()
    assert load(tmp_path / "r").table("device").rows == 2000


SCHEMA = (
    "CREATE TABLE frames (seq INTEGER PRIMARY KEY, received_wall_ns INTEGER NOT NULL, body BLOB NOT NULL)"
)
ENDLESS = """CREATE VIEW frames AS WITH RECURSIVE n(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM n)
SELECT seq, 1 AS received_wall_ns, x'00' AS body FROM n"""
SWELLING = """CREATE TABLE frames (seq INTEGER PRIMARY KEY, received_wall_ns INTEGER NOT NULL DEFAULT 1,
body BLOB GENERATED ALWAYS AS (zeroblob(900000000)) VIRTUAL)"""
JOURNALS = {
    "a view without end": (ENDLESS,),
    "bodies that swell when they are read": (SWELLING, "INSERT INTO frames (seq) VALUES (1), (2), (3)"),
    "bodies that are numbers": (SCHEMA, "INSERT INTO frames VALUES (1, 1, 4000000000)"),
    "bodies that are text": (SCHEMA, "INSERT INTO frames VALUES (1, 1, 'x')"),
    "times that are text": (SCHEMA, "INSERT INTO frames VALUES (1, 'x', x'00')"),
    "another table": ("CREATE TABLE frames (seq TEXT, received_wall_ns TEXT, body TEXT)",),
    "fewer columns": ("CREATE TABLE frames (seq INTEGER PRIMARY KEY)", "INSERT INTO frames VALUES (1)"),
    "names that are no text": (SCHEMA, "INSERT INTO frames VALUES (1, 1, x'00')"),
    "a huge version": (SCHEMA, "PRAGMA user_version = -2147483648"),
}  # fmt: skip


@pytest.mark.parametrize("name", JOURNALS)
def test_a_hostile_journal_is_damage_and_no_more(tmp_path: Path, name: str) -> None:
    """Whatever database somebody puts there: bounded memory, and the recording opens or says what is wrong."""
    path = tmp_path / "r"
    with RecordingWriter.create(path, MANIFEST):
        pass
    (path / "journal.sqlite").unlink(missing_ok=True)
    with sqlite3.connect(path / "journal.sqlite") as db:
        for statement in JOURNALS[name]:
            db.execute(statement)
    db.close()
    if "no text" in name:
        raw = (path / "journal.sqlite").read_bytes()
        (path / "journal.sqlite").write_bytes(raw.replace(b"framesframes", b"fra\xb4esfra\xb4es"))
    tracemalloc.start()
    try:
        loaded = load(path)
        assert loaded.table("host").rows == 0
        codes = [finding.code for finding in loaded.manifest.findings]
        assert "version" in name or codes, codes
    except StoreError as error:
        assert "journal" in str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 20 * MIB


def test_good_frames_before_hostile_ones_are_read(tmp_path: Path) -> None:
    """A journal that goes wrong in the middle gives what stands before."""
    path = tmp_path / "r"
    with RecordingWriter.create(path, MANIFEST):
        pass
    (path / "journal.sqlite").unlink(missing_ok=True)
    body = encode_body(replace(numbered(1, ("/proc/uptime", "1.0 1.0\n")), sections=(_uptime(),)))
    with sqlite3.connect(path / "journal.sqlite") as db:
        db.execute(SCHEMA)
        db.execute("INSERT INTO frames VALUES (1, 1, ?)", (body,))
        db.execute("INSERT INTO frames VALUES (2, 1, 4000000000)")
    db.close()
    assert load(path).table("host").rows == 1


def _uptime() -> Section:
    return frame_of(b"/proc/uptime\x1f1.0 1.0\n").sections[0]
