"""Tests of reading recordings, whatever became of their recorders."""

from dataclasses import replace
from pathlib import Path

import pytest

from leapprof.agent.frame import encode_body
from leapprof.assess.load import load
from leapprof.ingest.rows import FrameIngest
from leapprof.model import Frame, Host, ReadStatus, Recording, SamplingCost, Section, Topology
from leapprof.store import RecordingWriter

S = 1_000_000_000
WALL_NS = 1_790_000_000 * S


def manifest() -> Recording:
    """Return the manifest of a recording that has just begun."""
    return Recording(
        host=Host(name="h1", boot_id="b"),
        nodeos=(),
        topology=Topology(),
        phase="before",
        interval_s=1.0,
        started_wall_ns=None,
        ended_wall_ns=None,
        transport="local",
        cost=SamplingCost(agent="python", samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
    )


def frame(seq: int, second: int, pid: int = 7) -> Frame:
    """Return a frame with a host and a nodeos."""
    stat = b"%d (nodeos) S 1 1 1 0 -1 0 0 0 0 0 %d 0 0 0 20 0 5 0 %d 0 0" % (pid, second * 100, pid)
    texts = {"/proc/stat": b"cpu  %d 0 0 0 0 0 0 0 0 0\n" % second, f"nodeos/eos/{pid}/{pid}/stat": stat}
    return Frame(
        seq=seq,
        boottime_ns=second * S,
        wall_ns=WALL_NS + second * S,
        deadline_ns=second * S,
        agent_cpu_ns=second * 1000,
        agent_rss_bytes=9_000_000,
        dropped=0,
        sections=tuple(Section(name=n, status=ReadStatus.OK, text=t) for n, t in texts.items()),
    )


def killed(directory: Path, frames: list[Frame], sealed: int = 0) -> Path:
    """Leave a recording the way a kill does: some frames sealed, some not."""
    writer = RecordingWriter.create(directory, manifest())
    ingest = FrameIngest()
    for one in frames:
        writer.append(encode_body(one), one.seq, one.wall_ns)
    for one in frames[:sealed]:
        ingest.add(one)
    if sealed:
        writer.seal(ingest.drain())
    writer.abandon()
    return directory


@pytest.mark.parametrize("sealed", [0, 3, 6])
def test_sealed_and_unsealed_frames_are_one_table(tmp_path: Path, sealed: int) -> None:
    """Wherever the kill came, each frame is read once, in order."""
    frames = [frame(i, i) for i in range(1, 7)]
    loaded = load(killed(tmp_path / "r", frames, sealed))
    assert loaded.table("host").integers["seq"].values.tolist() == [1, 2, 3, 4, 5, 6]
    assert loaded.table("nodeos", where={"nodeos": "eos"}).rows == 6
    assert loaded.table("nodeos", where={"nodeos": "wax"}).rows == 0
    assert loaded.table("no-such-table").rows == 0


def test_the_manifest_is_completed_from_the_data(tmp_path: Path) -> None:
    """Start, end, gaps, events and cost of a killed recording come from its samples."""
    frames = [frame(1, 1), frame(2, 2), frame(3, 9), frame(4, 10, pid=8)]
    loaded = load(killed(tmp_path / "r", frames, 1))
    found = loaded.manifest
    assert (found.started_wall_ns, found.ended_wall_ns) == (WALL_NS + S, WALL_NS + 10 * S)
    assert [(gap.start_ns // S, gap.end_ns // S, gap.reason) for gap in found.gaps] == [(2, 9, "agent-late")]
    assert "nodeos-restarted" in [event.kind for event in found.events]
    assert found.cost.samples == 4
    assert "recording-not-closed" in [finding.code for finding in found.findings]


def test_a_reboot_at_the_seam_of_a_segment_is_another_boot(tmp_path: Path) -> None:
    """The clock that begins again tells the boot, although the events are in no frame."""
    frames = [frame(1, 500), frame(2, 501), frame(3, 5), frame(4, 6)]
    loaded = load(killed(tmp_path / "r", frames, 2))
    assert loaded.table("host").integers["boot"].values.tolist() == [0, 0, 1, 1]


def test_an_unreadable_frame_is_left_out_and_said(tmp_path: Path) -> None:
    """Foreign bytes in the journal cost one sample and are a finding."""
    writer = RecordingWriter.create(tmp_path / "r", manifest())
    writer.append(encode_body(frame(1, 1)), 1, 1)
    writer.append(b"no frame", 2, 2)
    writer.abandon()
    loaded = load(tmp_path / "r")
    assert loaded.table("host").rows == 1
    assert "frames-unreadable" in [finding.code for finding in loaded.manifest.findings]


def test_a_recording_without_samples_is_readable(tmp_path: Path) -> None:
    """A recorder killed before its first sample leaves an empty recording, not an error."""
    loaded = load(killed(tmp_path / "r", []))
    assert loaded.table("host").rows == 0
    assert loaded.manifest.ended_wall_ns is None


def test_columns_that_were_not_asked_for_are_not_read(tmp_path: Path) -> None:
    """Key columns are always there, others when asked for, sealed or not."""
    loaded = load(killed(tmp_path / "r", [frame(i, i) for i in range(1, 5)], 2))
    columns = set(loaded.table("host", ("cpu_user_ticks_total",)).integers)
    assert columns == {"seq", "boottime_ns", "wall_ns", "boot", "cpu_user_ticks_total"}


def test_stages_come_from_the_head_lag(tmp_path: Path) -> None:
    """A nodeos whose API answers is live; one that never answered has no stage."""
    frames = []
    for seq in range(1, 4):
        one = frame(seq, seq)
        info = (
            b'200 500 nodeos/v5.0.3\n{"head_block_num": 5, "last_irreversible_block_num": 4, '
            b'"head_block_time": "2026-09-21T14:13:20.000"}'
        )
        answer = Section(name="http/eos/v1/chain/get_info", status=ReadStatus.OK, text=info)
        frames.append(replace(one, sections=(*one.sections, answer)))
    loaded = load(killed(tmp_path / "a", frames))
    assert set(loaded.table("nodeos").texts["stage"]) == {"live"}
    silent = load(killed(tmp_path / "b", [frame(1, 1), frame(2, 2)]))
    assert set(silent.table("nodeos").texts["stage"]) == {None}
