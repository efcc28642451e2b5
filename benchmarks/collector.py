"""How many hosts one collector can follow, through real sshds on loopback; and that it does not grow."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.figures import Figure, Section, at_most
from benchmarks.kernel import rss_bytes, tree_cpu_ns
from benchmarks.program import words_of
from leapprof.agent import agent as host_agent
from leapprof.agent.frame import FrameDecoder
from leapprof.agent.plan import encode_plan
from leapprof.ingest.rows import FrameIngest
from leapprof.model import Host, Recording, SamplingCost, Topology
from leapprof.recorder.cost import CostMeter
from leapprof.recorder.keeper import FrameKeeper
from leapprof.recorder.observer import NullObserver
from leapprof.recorder.planning import RecordOptions, sampling_plan
from leapprof.store import RecordingWriter
from leapprof.units import NS_PER_S
from tests.support.sshd import Sshd, sshd

TITLE = "The collector"
HOSTS = (10, 25, 50, 100)
WATCHED_S = 15
START_LIMIT_S = 90.0
CORE_PERCENT, MEMORY_MB = 60.0, 400.0
WEEK_SEALS, FRAMES_A_SEAL, SETTLED_SEALS, GROWTH_MB_A_WEEK = 168, 150, 24, 5.0


def measure(*, long: bool) -> Section:
    """Measure everything of this section."""
    del long
    load_before = machine.load_now()
    with tempfile.TemporaryDirectory(prefix="leapprof-bench-", dir=Path.cwd()) as folder:
        figures = [*many_hosts(Path(folder)), growth(Path(folder))]
    text = (
        "`leapprof record` with so many hosts at 1 Hz, behind one real sshd on loopback with Debian's MaxStartups "
        "(10:30:100), a session and an agent each: agents and sshd run on the same cores and are not counted. CPU and "
        f"memory are those of the collector's process over {WATCHED_S} s after the last host began."
    )
    return Section(title=TITLE, text=text, figures=tuple(figures), where=machine.describe(load_before))


def many_hosts(directory: Path) -> Iterator[Figure]:
    """Yield what each number of hosts takes, and the slopes."""
    rows = []
    with sshd(directory, alias="many") as server:
        for count in HOSTS:
            row = follow(server, directory / f"out{count}", count)
            rows.append(row)
            note = f"{row.memory_mb:.0f} MB; all began within {row.start_s:.1f} s; {row.samples_per_s:.1f} samples/s"
            if count == HOSTS[-1]:
                yield at_most(f"CPU of one core, {count} hosts", row.percent, "%", CORE_PERCENT, note)
                yield at_most(f"memory, {count} hosts", row.memory_mb, "MB", MEMORY_MB)
                yield at_most(f"hosts of {count} that could not be connected", row.failed, "", 0)
            else:
                yield Figure(what=f"CPU of one core, {count} hosts", value=row.percent, unit="%", note=note)
    counts = np.array([row.count for row in rows], dtype=np.float64)
    slope = np.polyfit(counts, [row.percent for row in rows], 1)[0]
    memory = np.polyfit(counts, [row.memory_mb for row in rows], 1)[0]
    yield Figure(
        what="each further host at 1 Hz", value=float(slope), unit="% of a core", note=f"{memory:.1f} MB"
    )


class Row:
    """What one number of hosts took."""

    def __init__(self, count: int) -> None:
        """Nothing is known yet."""
        self.count = count
        self.start_s = self.percent = self.memory_mb = self.samples_per_s = 0.0
        self.failed = 0


def follow(server: Sshd, out: Path, count: int) -> Row:
    """Record so many hosts for a while."""
    out.mkdir()
    names = [f"h{n:03d}" for n in range(count)]
    (out / "ssh_config").write_text("".join(server.config_block(alias=name) for name in names))
    inventory = out / "leapprof.toml"
    blocks = "".join(f"[hosts.{name}]\n" for name in names)
    inventory.write_text(f'[defaults]\nssh_config = "{out}/ssh_config"\n{blocks}')
    words = words_of("record", *names, "--inventory", inventory, "--out", out, "--phase", "before", "--json")
    row = Row(count)
    began = time.monotonic()
    with (out / "err").open("wb") as err:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=err)
        try:
            begun = _wait(out, count, process, began)
            row.start_s, row.failed = time.monotonic() - began, count - begun
            _watch(row, process, out)
        finally:
            process.terminate()
            process.wait(120)
    return row


def _begun(out: Path) -> int:
    """Return how many recordings hold frames."""
    return sum((path / "journal.sqlite-wal").exists() for path in out.glob("h*-before-*"))


def _wait(out: Path, count: int, process: "subprocess.Popen[bytes]", began: float) -> int:
    while _begun(out) < count and time.monotonic() - began < START_LIMIT_S and process.poll() is None:
        time.sleep(0.1)
    return _begun(out)


def _watch(row: Row, process: "subprocess.Popen[bytes]", out: Path) -> None:
    time.sleep(2)
    before_ns, before, began = tree_cpu_ns(process.pid), _frames(out), time.monotonic()
    time.sleep(WATCHED_S)
    took_s = time.monotonic() - began
    row.percent = 100 * (tree_cpu_ns(process.pid) - before_ns) / NS_PER_S / took_s
    row.memory_mb = rss_bytes(process.pid) / 1e6
    row.samples_per_s = (_frames(out) - before) / (time.monotonic() - began)


def _frames(out: Path) -> int:
    from leapprof.store import open_recording

    return sum(len(open_recording(path).journal.frames) for path in out.glob("h*-before-*"))


def growth(directory: Path) -> Figure:
    """Return how a recorder grows over the seals of a week, frames as fast as they can be kept."""
    manifest = Recording(
        host=Host(name="h", boot_id="b"), nodeos=(), topology=Topology(), phase="", interval_s=1.0,
        started_wall_ns=None, ended_wall_ns=None, transport="local",
        cost=SamplingCost(agent="python", samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
    )  # fmt: skip
    plan = encode_plan(sampling_plan((), (), RecordOptions()))
    sampler = host_agent.Sampler(host_agent.Plan(plan), host_agent.Encoder())
    decoder, memory = FrameDecoder("h"), []
    with RecordingWriter.create(directory / "growth", manifest) as writer:
        keeper = FrameKeeper(
            writer=writer, observer=NullObserver(), cost=CostMeter(agent="python"), seal_every_s=FRAMES_A_SEAL,
            ingest=FrameIngest(),
        )  # fmt: skip
        for _ in range(WEEK_SEALS):
            for _ in range(FRAMES_A_SEAL):
                sampler.begin(False)
                for frame in decoder.feed(sampler.finish(0)[2]):
                    keeper.keep(frame, frame.wall_ns)
            memory.append(rss_bytes(os.getpid()) / 1e6)
        keeper.finish()
    settled = memory[SETTLED_SEALS:]
    per_week = float(np.polyfit(np.arange(len(settled)), settled, 1)[0]) * WEEK_SEALS
    note = f"{WEEK_SEALS} seals of {FRAMES_A_SEAL} frames: {settled[0]:.1f} MB after a day, {memory[-1]:.1f} at the end"
    return at_most("growth of a recorder's memory", max(per_week, 0.0), "MB a week", GROWTH_MB_A_WEEK, note)
