"""What happens on the observed host: nodeos goes, another program takes its place, the clock is stepped."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from leapprof.assess.load import load
from leapprof.model import Frame, Host, ReadStatus, Recording, SamplingCost, Section, Topology
from leapprof.model.access import HostConfig, NodeosSelector
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.cost import CostMeter
from leapprof.recorder.keeper import FrameKeeper
from leapprof.recorder.observer import NullObserver
from leapprof.recorder.planning import RecordOptions
from leapprof.recorder.session import HostSession
from leapprof.sources.local import LocalSource
from leapprof.store import RecordingWriter

S = 1_000_000_000
HOUR_S = 3600
WALL_NS = 1_790_000_000 * S


class Watcher(NullObserver):
    """Counts samples, and those of them without a nodeos."""

    samples = without = 0

    def sampled(self, host: str, frame: Frame) -> None:
        self.samples += 1
        self.without += not any(section.name.startswith("nodeos/") for section in frame.sections)


def named(name: str) -> "subprocess.Popen[bytes]":
    """Start a process under a name."""
    return subprocess.Popen([name, "-c", "import time; time.sleep(600)"], executable=sys.executable)


@contextmanager
def recording(out: Path, name: str) -> Iterator[tuple[HostSession, Watcher]]:
    """Record this machine and the process of that name."""
    watcher = Watcher()
    session = HostSession(
        host=HostConfig(name="local", address="", transport="local"),
        source=LocalSource("local"),
        out=out,
        options=RecordOptions(
            phase="before",
            interval_s=0.1,
            selectors=(NodeosSelector(id="eos", kind="cmdline", value=name),),
        ),
        clock=SystemClock(),
        stop=threading.Event(),
        observer=watcher,
    )
    thread = threading.Thread(target=session.run, daemon=True)
    thread.start()
    try:
        yield session, watcher
    finally:
        session.stop.set()
        thread.join(60)


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_nodeos_is_gone_and_comes_back_under_another_name(tmp_path: Path) -> None:
    """The stop is an event, the host is sampled on, and a program of another name is not taken for it."""
    name = f"lp-gone-{os.getpid()}"
    process = named(name)
    other = None
    try:
        with recording(tmp_path, name) as (session, watcher):
            wait_for(lambda: watcher.samples >= 8)
            process.kill()
            process.wait()
            wait_for(lambda: watcher.without >= 3)
            other = named(f"lp-other-{os.getpid()}")
            wait_for(lambda: watcher.without >= 28)
    finally:
        for one in filter(None, (process, other)):
            one.kill()
            one.wait()
    assert session.directory is not None
    loaded = load(session.directory)
    kinds = [event.kind for event in loaded.manifest.events if event.kind.startswith("nodeos")]
    assert kinds[-1:] == ["nodeos-stopped"], kinds
    assert set(loaded.table("nodeos").integers["pid"].values.tolist()) == {process.pid}
    assert loaded.table("host", ()).rows >= loaded.table("nodeos").rows + 20
    assert "connection-lost" not in [gap.reason for gap in loaded.manifest.gaps]


def frame(second: int, wall_s: int) -> Frame:
    """Return a frame of that second since boot and that wall time."""
    return Frame(
        seq=second,
        boottime_ns=second * S,
        wall_ns=WALL_NS + wall_s * S,
        deadline_ns=second * S,
        agent_cpu_ns=1,
        agent_rss_bytes=1,
        dropped=0,
        sections=(
            Section(name="/proc/stat", status=ReadStatus.OK, text=b"cpu  %d 0 0 0 0 0 0 0 0 0\n" % second),
        ),
    )


def kept(directory: Path, frames: list[tuple[Frame, int]]) -> Recording:
    """Return the manifest of a recording of these frames, each with the collector's time of arrival."""
    manifest = Recording(
        host=Host(name="h", boot_id="b"), nodeos=(), topology=Topology(), phase="", interval_s=1.0,
        started_wall_ns=None, ended_wall_ns=None, transport="ssh",
        cost=SamplingCost(agent="python", samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
    )  # fmt: skip
    with RecordingWriter.create(directory, manifest) as writer:
        keeper = FrameKeeper(
            writer=writer, observer=NullObserver(), cost=CostMeter(agent="python"), seal_every_s=20
        )
        for one, received_ns in frames:
            keeper.keep(one, received_ns)
        keeper.finish()
    return load(directory).manifest


@pytest.mark.parametrize("step_s", [HOUR_S, -HOUR_S], ids=["forward", "back"])
def test_the_clock_of_the_host_is_stepped_by_an_hour(tmp_path: Path, step_s: int) -> None:
    """It is an event and no gap: intervals are those of the boot clock; every sample is kept."""
    frames = [frame(n, n + (step_s if n > 30 else 0)) for n in range(1, 61)]
    manifest = kept(tmp_path / "r", [(one, one.wall_ns) for one in frames])
    assert [event.kind for event in manifest.events] == ["clock-step"]
    assert manifest.gaps == ()
    host = load(tmp_path / "r").table("host", ())
    assert (host.integers["boottime_ns"].values // S).tolist() == list(range(1, 61))


@pytest.mark.parametrize("step_s", [HOUR_S, -HOUR_S], ids=["forward", "back"])
def test_the_clock_of_the_collector_is_stepped_by_an_hour(tmp_path: Path, step_s: int) -> None:
    """Nothing changes: samples carry the host's clocks."""
    frames = [frame(n, n) for n in range(1, 61)]
    manifest = kept(
        tmp_path / "r", [(one, one.wall_ns + (step_s if one.seq > 30 else 0) * S) for one in frames]
    )
    assert manifest.events == ()
    assert manifest.gaps == ()
    assert manifest.ended_wall_ns == WALL_NS + 60 * S
