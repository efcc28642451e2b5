"""How many hosts one collector can follow, through real sshds on loopback; and that it does not grow."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.figures import Figure, Section, at_most
from benchmarks.kernel import rss_bytes, tree_cpu_ns
from benchmarks.program import PROGRAM, words_of
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
MANY_HOSTS, MANY_INTERVAL_S = 500, 5
WATCHED_S, MANY_WATCHED_S = 15, 60
HOUR_S, SETTLING_S, SEAL_S = 3600, 600, 300
OFTEN = (
    "from leapprof.recorder.planning import RecordOptions as o\n"
    f"o.__init__.__kwdefaults__['seal_every_s'] = {SEAL_S}\n"
)
START_LIMIT_S = 240.0
GROWTH_MB_AN_HOUR = 5.0
CORE_PERCENT, MEMORY_MB = 60.0, 400.0
WEEK_SEALS, FRAMES_A_SEAL, SETTLED_SEALS, GROWTH_MB_A_WEEK = 168, 150, 24, 5.0


def measure(*, long: bool) -> Section:
    """Measure everything of this section; long: memory of a hundred hosts over an hour too."""
    load_before = machine.load_now()
    with tempfile.TemporaryDirectory(prefix="leapprof-bench-", dir=Path.cwd()) as folder:
        directory = Path(folder)
        figures = [*many_hosts(directory), *slow_hosts(directory), growth(directory)]
        figures += [over_an_hour(directory)] if long else []
    text = (
        "`leapprof record` with so many hosts at 1 Hz, behind one real sshd on loopback with Debian's MaxStartups "
        "(10:30:100), a session and an agent each: agents and sshd run on the same cores and are not counted. CPU and "
        f"memory are those of the collector's process over {WATCHED_S} s after the last host began; with {MANY_HOSTS} "
        f"hosts every {MANY_INTERVAL_S} s, over {MANY_WATCHED_S} s."
    )
    return Section(title=TITLE, text=text, figures=tuple(figures), where=machine.describe(load_before))


def many_hosts(directory: Path) -> Iterator[Figure]:
    """Yield what each number of hosts takes, and the slopes."""
    rows = []
    with sshd(directory, alias="many") as server:
        for count in HOSTS:
            out = directory / f"out{count}"
            with following(server, out, count) as (row, process):
                watch(row, process, out, WATCHED_S)
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


def slow_hosts(directory: Path) -> Iterator[Figure]:
    """Yield what many hosts take that are sampled less often."""
    with (
        sshd(directory, alias="slow") as server,
        following(server, directory / f"out{MANY_HOSTS}", MANY_HOSTS) as (row, process),
    ):
        watch(row, process, directory / f"out{MANY_HOSTS}", MANY_WATCHED_S)
    what = f"{row.count} hosts every {MANY_INTERVAL_S} s"
    note = f"{row.memory_mb:.0f} MB; all began within {row.start_s:.1f} s; {row.samples_per_s:.1f} samples/s"
    yield at_most(f"CPU of one core, {what}", row.percent, "%", CORE_PERCENT, note)
    yield at_most(f"memory, {what}", row.memory_mb, "MB", MEMORY_MB)
    yield at_most(f"hosts of {row.count} that could not be connected", row.failed, "", 0)


def over_an_hour(directory: Path) -> Figure:
    """Return how much a collector of a hundred hosts grows in an hour, after its first minutes.

    Rows wait in memory for the seal, an hour usually; here it comes twelve times, so that what stays behind is seen.
    """
    memory = []
    with (
        sshd(directory, alias="hour") as server,
        following(server, directory / "outhour", HOSTS[-1], OFTEN + PROGRAM) as (row, process),
    ):
        began = time.monotonic()
        while time.monotonic() - began < HOUR_S and process.poll() is None:
            time.sleep(20)
            memory.append((time.monotonic() - began, rss_bytes(process.pid) / 1e6))
    times, settled = np.array([one for one in memory if one[0] > SETTLING_S]).T
    per_hour = float(np.polyfit(times, settled, 1)[0]) * HOUR_S
    note = (
        f"{times[-1] / 60:.0f} minutes, sealed every {SEAL_S // 60}: {memory[0][1]:.0f} MB at first, "
        f"{settled[0]:.1f} after {SETTLING_S // 60} minutes, {settled[-1]:.1f} at the end; {row.failed} hosts failed"
    )
    what = f"growth of a collector's memory, {row.count} hosts at 1 Hz over an hour"
    return at_most(what, max(per_hour, 0.0), "MB an hour", GROWTH_MB_AN_HOUR, note)


class Row:
    """What one number of hosts took."""

    def __init__(self, count: int) -> None:
        """Nothing is known yet."""
        self.count = count
        self.start_s = self.percent = self.memory_mb = self.samples_per_s = 0.0
        self.failed = 0


@contextmanager
def following(
    server: Sshd, out: Path, count: int, program: str = PROGRAM
) -> "Iterator[tuple[Row, subprocess.Popen[bytes]]]":
    """Record so many hosts while the block runs, which begins when all have begun; the more, the less often."""
    out.mkdir()
    names = [f"h{n:03d}" for n in range(count)]
    (out / "ssh_config").write_text("".join(server.config_block(alias=name) for name in names))
    inventory = out / "leapprof.toml"
    blocks = "".join(f"[hosts.{name}]\n" for name in names)
    inventory.write_text(f'[defaults]\nssh_config = "{out}/ssh_config"\n{blocks}')
    interval = f"{MANY_INTERVAL_S if count >= MANY_HOSTS else 1}s"
    words = words_of(
        "record", *names, "--inventory", inventory, "--out", out, "--phase", "before", "--json", "--interval", interval,
        program=program,
    )  # fmt: skip
    row = Row(count)
    began = time.monotonic()
    with (out / "err").open("wb") as err:
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=err)
        try:
            begun = _wait(out, count, process, began)
            row.start_s, row.failed = time.monotonic() - began, count - begun
            yield row, process
        finally:
            process.terminate()
            process.wait(120)


def _begun(out: Path) -> int:
    """Return how many recordings hold frames."""
    return sum((path / "journal.sqlite-wal").exists() for path in out.glob("h*-before-*"))


def _wait(out: Path, count: int, process: "subprocess.Popen[bytes]", began: float) -> int:
    while _begun(out) < count and time.monotonic() - began < START_LIMIT_S and process.poll() is None:
        time.sleep(0.1)
    return _begun(out)


def watch(row: Row, process: "subprocess.Popen[bytes]", out: Path, watched_s: int) -> None:
    """Note what the collector takes over a while."""
    time.sleep(2)
    before_ns, before, began = tree_cpu_ns(process.pid), _frames(out), time.monotonic()
    time.sleep(watched_s)
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
