"""What happens between both ends: packets are swallowed, frames torn, the agent killed."""

import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from leapprof.agent import agent as host_agent
from leapprof.agent.frame import FrameDecoder
from leapprof.agent.plan import Plan, Read, encode_plan
from leapprof.assess.load import LoadedRecording, load
from leapprof.model import Frame, Gap, Host, Recording, SamplingCost, Topology
from leapprof.model.access import HostConfig
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.cost import CostMeter
from leapprof.recorder.hosts import CONNECTS_AT_ONCE, record_hosts
from leapprof.recorder.keeper import FrameKeeper
from leapprof.recorder.observer import NullObserver
from leapprof.recorder.planning import RecordOptions
from leapprof.recorder.session import HostSession
from leapprof.sources import Timeouts
from leapprof.sources.local import LocalSource
from leapprof.sources.ssh import SshSource
from leapprof.store import RecordingWriter
from tests.support import cut_network
from tests.support.cut_network import Cable, SwallowingProxy
from tests.support.sshd import Sshd, free_port, needs_sshd, sshd

CUTS_S = tuple(float(word) for word in os.environ.get("LEAPPROF_FAULT_CUT_S", "3").split(","))
"""How long the network is cut, e.g. ``30,600``, which takes as long as it says."""
LIMIT_S = 120.0
COMES_BACK_S = 100.0
"""The longest pause between two attempts is a minute, and an attempt may take half a minute to fail."""
IMPATIENT = Timeouts(connect_s=5.0, banner_s=5.0, keepalive_s=0.5)
"""For short cuts, which the usual time-outs outlast."""


class Watcher(NullObserver):
    """Counts samples, and keeps gaps and troubles."""

    def __init__(self) -> None:
        self.samples = 0
        self.gaps: list[Gap] = []
        self.troubles: list[str] = []

    def sampled(self, host: str, frame: Frame) -> None:
        self.samples += 1

    def gap(self, host: str, gap: Gap) -> None:
        self.gaps.append(gap)

    def trouble(self, host: str, problem: str) -> None:
        self.troubles.append(problem)


@contextmanager
def recording(out: Path, host: HostConfig, source: object) -> Iterator[tuple[HostSession, Watcher]]:
    """Record in the background until the block ends."""
    watcher = Watcher()
    session = HostSession(
        host=host,
        source=source,  # type: ignore[arg-type]
        out=out,
        options=RecordOptions(phase="before", interval_s=0.1),
        clock=SystemClock(),
        stop=threading.Event(),
        observer=watcher,
    )
    thread = threading.Thread(target=record_hosts, args=((session,), session.stop), daemon=True)
    thread.start()
    try:
        yield session, watcher
    finally:
        session.stop.set()
        thread.join(LIMIT_S)
    assert not thread.is_alive()


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def wait_for_more(watcher: Watcher, count: int) -> None:
    """Wait for so many further samples."""
    wanted = watcher.samples + count
    wait_for(lambda: watcher.samples >= wanted)


def check_holes_are_gaps(loaded: LoadedRecording) -> None:
    """Every pause between samples is covered by a gap that has a reason, and no sample came twice."""
    host = loaded.table("host", ())
    sequence = host.integers["seq"].values.tolist()
    assert sequence == sorted(set(sequence))
    times_ns = host.integers["boottime_ns"].values.tolist()
    for before, after in pairwise(times_ns):
        if after - before > 1.5e9:
            covering = [g for g in loaded.manifest.gaps if g.start_ns <= before + 1 and g.end_ns >= after - 1]
            assert covering and all(gap.reason for gap in covering), (before, after)


def cut_and_mend(
    out: Path, server: Sshd, link: SwallowingProxy | Cable, address: tuple[str, int], cut_s: float
) -> str:
    """Record through a link that is cut for so long; check what was kept, and return what was lost in words."""
    config = out / "config"
    place = (f"HostName {address[0]}", f"Port {address[1]}", f"HostKeyAlias [127.0.0.1]:{server.port}")
    config.write_text(server.config_block(*place))
    host = replace(server.host(), ssh_config=str(config))
    with recording(out / "out", host, SshSource(host, IMPATIENT if cut_s < 10 else Timeouts())) as (
        session,
        watcher,
    ):
        wait_for_more(watcher, 5)
        link.cut()
        time.sleep(cut_s)
        if cut_s < 10:
            wait_for(lambda: watcher.troubles)
        link.mend()
        wait_for_more(watcher, 20)
    assert session.directory is not None
    loaded = load(session.directory)
    check_holes_are_gaps(loaded)
    kinds = [event.kind for event in loaded.manifest.events if event.kind.startswith("connection")]
    assert kinds[:1] in ([], ["connection-lost"])
    assert kinds[-1:] in ([], ["connection-restored"])
    missing_s = [(gap.end_ns - gap.start_ns) / 1e9 for gap in loaded.manifest.gaps]
    assert max(missing_s, default=0.0) < cut_s + COMES_BACK_S
    if cut_s < 10:
        assert "connection-lost" in [gap.reason for gap in loaded.manifest.gaps]
    lost = f"{sum(missing_s):.1f} s in {len(missing_s)} gaps"
    return f"cut for {cut_s:g} s: {lost}, connection lost {kinds.count('connection-lost')} times"


@needs_sshd
@pytest.mark.parametrize("cut_s", CUTS_S)
@pytest.mark.timeout(max(CUTS_S) + 400)
def test_the_network_is_cut_without_a_word(
    tmp_path: Path, cut_s: float, figure: Callable[[str], None]
) -> None:
    """The silence is noticed, the host is tried again, samples go on, and each hole is a gap that has a reason."""
    with sshd(tmp_path) as server:
        proxy = SwallowingProxy(server.port)
        figure(cut_and_mend(tmp_path, server, proxy, ("127.0.0.1", proxy.port), cut_s))
        proxy.close()


@needs_sshd
@pytest.mark.skipif(bool(cut_network.missing()), reason=cut_network.missing() or "a cable can be made")
@pytest.mark.parametrize("cut_s", CUTS_S)
@pytest.mark.timeout(max(CUTS_S) + 400)
def test_the_cable_is_pulled(tmp_path: Path, cut_s: float, figure: Callable[[str], None]) -> None:
    """The same over a veth pair between two network namespaces, whose far end is taken down and up."""
    cable = Cable()
    port = free_port()
    try:
        with sshd(tmp_path, options=(f"ListenAddress {cut_network.FAR}:{port}",)) as server:
            where = (cut_network.FAR, port)
            figure(cable.at_near_end(lambda: cut_and_mend(tmp_path, server, cable, where, cut_s)))
    finally:
        cable.close()


def children() -> set[int]:
    """Return the pids of our children."""
    paths = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(word) for path in paths for word in path.read_text().split()}


def test_kill_9_of_the_agent(tmp_path: Path) -> None:
    """Another agent is started; the hole is a gap with its reason, no sample is lost or counted twice."""
    before = children()
    host = HostConfig(name="local", address="", transport="local")
    with recording(tmp_path, host, LocalSource("local")) as (session, watcher):
        wait_for_more(watcher, 8)
        agents = children() - before
        for pid in agents:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_for_more(watcher, 12)
    assert agents
    assert session.directory is not None
    loaded = load(session.directory)
    check_holes_are_gaps(loaded)
    kinds = [event.kind for event in loaded.manifest.events if event.kind.startswith("connection")]
    assert kinds == ["connection-lost", "connection-restored"]
    assert loaded.manifest.cost.samples == watcher.samples == loaded.table("host", ()).rows


def wire(count: int) -> list[tuple[bytes, int]]:
    """Return frames of this machine as an agent sends them, with their numbers."""
    plan = Plan(interval_ms=1000, reads=(Read(path="/proc/uptime"), Read(path="/proc/stat", keep=("cpu ",))))
    sampler = host_agent.Sampler(host_agent.Plan(encode_plan(plan)), host_agent.Encoder())
    made = []
    for _ in range(count):
        sampler.begin(False)
        seq, _, data = sampler.finish(0)
        made.append((data, seq))
    return made


def keeper(directory: Path) -> FrameKeeper:
    """Return a keeper of a new recording, whose ticks are so short that every missing frame is a gap."""
    manifest = Recording(
        host=Host(name="h", boot_id="b"), nodeos=(), topology=Topology(), phase="", interval_s=1e-5,
        started_wall_ns=None, ended_wall_ns=None, transport="replay",
        cost=SamplingCost(agent="python", samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
    )  # fmt: skip
    writer = RecordingWriter.create(directory, manifest)
    return FrameKeeper(
        writer=writer, observer=NullObserver(), cost=CostMeter(agent="python"), seal_every_s=1e9
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_fifth_of_the_frames_is_torn(tmp_path: Path, seed: int) -> None:
    """Every whole frame that can be decoded is kept as it was sent, every other is counted and leaves a hole."""
    sent = wire(240)
    rng = random.Random(seed)
    tears = [
        rng.random() < 0.2 for _ in sent
    ]  # drawn apart: where they tear depends on what this machine sends
    originals = (
        {f.seq: f for data, _ in sent for f in whole.feed(data)} if (whole := FrameDecoder("h")) else {}
    )
    decoder, kept = FrameDecoder("h"), keeper(tmp_path / "r")
    torn = set()
    for (data, seq), is_torn in zip(sent, tears, strict=True):
        if is_torn:
            torn.add(seq)
            at = rng.randrange(len(data))
            data = rng.choice((data[:at], data[:at] + bytes([data[at] ^ 0x55]) + data[at + 1 :]))
        for frame in decoder.feed(data):
            assert frame == originals[frame.seq]
            assert frame.seq not in torn
            kept.keep(frame, frame.wall_ns)
    kept.count_wire(decoder)
    kept.finish()
    kept.writer.close()
    loaded = load(tmp_path / "r")
    assert 0 < loaded.table("host", ()).rows <= len(sent) - len(torn)
    assert loaded.manifest.cost.rejected_frames > 0
    sequence = loaded.table("host", ()).integers["seq"].values.tolist()
    assert sequence == sorted(set(sequence))


def test_many_hosts_are_connected_a_few_at_a_time(tmp_path: Path) -> None:
    """Sshd's MaxStartups is not tripped: no more than eight connections are being made at once."""
    lock, inside, most = threading.Lock(), [0], [0]

    class Source(LocalSource):
        def run(self, command: str, timeout_s: float) -> object:  # type: ignore[override]
            with lock:
                inside[0] += 1
                most[0] = max(most[0], inside[0])
            time.sleep(0.05)
            with lock:
                inside[0] -= 1
            return super().run("exit 1", timeout_s)

        def open(self, command: str) -> object:  # type: ignore[override]
            return super().open("exit 0")

    stop = threading.Event()
    sessions = [
        HostSession(
            host=HostConfig(name=f"h{n}", address="", transport="local"),
            source=Source(f"h{n}"),
            out=tmp_path,
            options=RecordOptions(phase="before"),
            clock=SystemClock(),
            stop=stop,
        )
        for n in range(3 * CONNECTS_AT_ONCE)
    ]
    results = record_hosts(sessions, stop)
    assert all(result.error is not None for result in results)
    assert 1 < most[0] <= CONNECTS_AT_ONCE
