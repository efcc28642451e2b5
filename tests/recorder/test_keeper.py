"""Tests of what is kept of one host."""

from pathlib import Path

from leapprof.assess.load import load
from leapprof.model import Frame, Host, ReadStatus, Recording, SamplingCost, Section, Topology
from leapprof.recorder.cost import CostMeter
from leapprof.recorder.keeper import FrameKeeper
from leapprof.recorder.observer import NullObserver
from leapprof.store import RecordingWriter, Retention

S = 1_000_000_000
WALL_NS = 1_790_000_000 * S


def frame(seq: int, second: int, wall_s: int | None = None, busy: int | None = None) -> Frame:
    """Return a frame; the counter follows the clock unless it is given."""
    text = b"cpu  %d 0 0 0 0 0 0 0 0 0\n" % (second * 10 if busy is None else busy)
    return Frame(
        seq=seq,
        boottime_ns=second * S,
        wall_ns=WALL_NS + (second if wall_s is None else wall_s) * S,
        deadline_ns=second * S,
        agent_cpu_ns=1,
        agent_rss_bytes=1,
        dropped=0,
        sections=(Section(name="/proc/stat", status=ReadStatus.OK, text=text),),
    )


def keeper(directory: Path, seal_every_s: float = 3600, **changes: object) -> FrameKeeper:
    """Return a keeper of a new recording."""
    manifest = Recording(
        host=Host(name="h", boot_id="b"),
        nodeos=(),
        topology=Topology(),
        phase="",
        interval_s=1.0,
        started_wall_ns=None,
        ended_wall_ns=None,
        transport="ssh",
        cost=SamplingCost(agent="python", samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
    )
    return FrameKeeper(
        writer=RecordingWriter.create(directory, manifest),
        observer=NullObserver(),
        cost=CostMeter(agent="python"),
        seal_every_s=seal_every_s,
        **changes,  # type: ignore[arg-type]
    )


def test_a_reboot_is_an_event_and_a_gap(tmp_path: Path) -> None:
    """The host was away between both boots; its counters begin in another boot."""
    kept = keeper(tmp_path / "r")
    kept.keep(frame(1, 500), 0)
    kept.keep(frame(2, 501), 0)
    kept.lost("connection reset")
    kept.new_run()
    kept.keep(frame(1, 4, wall_s=560), 0)
    kept.finish()
    kept.writer.close()
    loaded = load(tmp_path / "r")
    assert [gap.reason for gap in loaded.manifest.gaps] == ["host-rebooted"]
    assert [e.kind for e in loaded.manifest.events] == ["connection-lost", "connection-restored", "reboot"]
    assert loaded.table("host").integers["boot"].values.tolist() == [0, 0, 1]
    assert loaded.table("host").integers["seq"].values.tolist() == [1, 2, 3]


def test_a_clock_step_and_a_counter_reset_are_events(tmp_path: Path) -> None:
    """Neither makes a gap: the host's boot clock went on."""
    kept = keeper(tmp_path / "r")
    for one in (frame(1, 10), frame(2, 11, wall_s=3600), frame(3, 12, wall_s=3601, busy=1)):
        kept.keep(one, 0)
    kept.finish()
    kept.writer.close()
    manifest = load(tmp_path / "r").manifest
    assert [e.kind for e in manifest.events] == ["clock-step", "counter-reset"]
    assert manifest.gaps == ()


def test_frames_that_a_spool_sends_again_are_kept_once(tmp_path: Path) -> None:
    """After a lost connection a spool begins at a key frame before what is held."""
    kept = keeper(tmp_path / "r", follows_spool=True)
    for seq in (1, 2, 3):
        kept.keep(frame(seq, seq), 0)
    kept.new_run()
    for seq in (2, 3, 4):
        kept.keep(frame(seq, seq), 0)
    kept.finish()
    kept.writer.close()
    assert load(tmp_path / "r").table("host").integers["seq"].values.tolist() == [1, 2, 3, 4]
    assert kept.held_seq == 4


def test_an_always_on_recording_forgets_what_is_old(tmp_path: Path) -> None:
    """Segments and gaps beyond the retention go, and the manifest begins later."""
    kept = keeper(tmp_path / "r", seal_every_s=10, retention=Retention(duration_s=25))
    seconds = [s for s in range(1, 64) if s != 5]
    for seq, second in enumerate(seconds, 1):
        kept.keep(frame(seq, second), 0)
    kept.finish()
    kept.writer.close()
    loaded = load(tmp_path / "r")
    first = int(loaded.table("host").integers["boottime_ns"].values[0]) // S
    assert first > 20
    assert loaded.manifest.gaps == ()
    assert int(loaded.manifest.notes["segments_dropped"]) >= 2
    assert loaded.manifest.started_wall_ns is not None
    assert loaded.manifest.started_wall_ns > WALL_NS + 20 * S
