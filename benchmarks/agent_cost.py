"""What sampling costs the observed host, beside other samplers in the same run, and how that grows."""

import contextlib
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks import lab, machine
from benchmarks.figures import Figure, Section, at_most
from benchmarks.kernel import main_thread_ns
from benchmarks.samplers import Samplers, pcp, samplers
from leapprof.units import NS_PER_S

TITLE = "The observed host"
SHORT_S, LONG_S, SLOPE_S = 120, 600, 30
SETTLED_SAMPLES = 22  # each process is looked at in the first three scans, one in 10 s
NS_PER_MS = 1e6
PYTHON_MS, SH_MS, MEMORY_MB = 0.5, 8.0, 15.0
PYTHON_WIRE_BYTES, SH_WIRE_BYTES = 1000, 3000
EXPORTER_SHARE, CUT_EXPORTER_SHARE = 15, 5
MANY_PROCESSES, MANY_DEVICES, MANY_NODEOS = 2000, 32, 8
WRONG_BY_PERCENT = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a sampler cost over a while."""

    name: str
    ms_a_sample: float
    memory_mb: float
    samples: int
    agent_ms: float | None = None
    wire_bytes: float = 0.0
    packed_bytes: float = 0.0


@dataclass(slots=True, kw_only=True)
class Mark:
    """The counters of an agent at one moment; frames leave a host together, so some were made that are not here yet."""

    cpu_ns: int
    made: int
    samples: int
    wire_bytes: int
    packed_bytes: int
    agent_ns: int

    @classmethod
    def of(cls, one: lab.Sampling) -> "Mark":
        """Take them."""
        assert one.last is not None
        later_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - one.last.deadline_ns
        return cls(
            cpu_ns=one.account.cpu_ns(),
            made=one.last.seq + later_ns // NS_PER_S,
            samples=one.meter.samples,
            wire_bytes=one.wire_bytes,
            packed_bytes=one.packed.packed_bytes,
            agent_ns=one.last.agent_cpu_ns or 0,
        )


def cost_since(before: Mark, one: lab.Sampling, name: str) -> Cost:
    """Return what an agent cost since a mark."""
    now = Mark.of(one)
    count = max(now.samples - before.samples, 1)
    assert one.server.process is not None
    return Cost(
        name=name,
        ms_a_sample=(now.cpu_ns - before.cpu_ns) / max(now.made - before.made, 1) / NS_PER_MS,
        memory_mb=(one.last.agent_rss_bytes or 0) / 1e6 if one.last else 0.0,
        samples=count,
        agent_ms=(now.agent_ns - before.agent_ns) / count / NS_PER_MS,
        wire_bytes=(now.wire_bytes - before.wire_bytes) / count,
        packed_bytes=(now.packed_bytes - before.packed_bytes) / count,
    )


def measure(*, long: bool) -> Section:
    """Measure everything of this section."""
    load = machine.load_now()
    seconds = LONG_S if long else SHORT_S
    with tempfile.TemporaryDirectory(prefix="leapprof-bench-") as folder:
        directory = Path(folder)
        side = side_by_side(directory, seconds)
        figures = [*side.figures(), *slopes(directory), question_cost(directory)]
    left_out = f" Left out: {'; '.join(side.left_out)}." if side.left_out else ""
    text = (
        f"One nodeos (the stand-in), {side.devices} block devices, {side.processes} processes, every reading of "
        f"the plan at its cadence, {seconds} s at 1 Hz; all samplers in the same run, each in a cgroup of "
        f"its own with what it starts (pmcd + pmlogger in {SLOPE_S} s after the others). The agent's figures hold "
        "sshd's share (encryption and copying)." + left_out
    )
    return Section(title=TITLE, text=text, figures=tuple(figures), tail=_TAIL, where=machine.describe(load))


_COLD = "once a second every tick finds cold caches, and the kernel makes each text anew"
_BYTE_BY_BYTE = "a shell reads byte by byte, and starts two programs a tick"
_TAIL = (
    "Where an exporter is less than so many times agent.py, it is agent.py that is too dear. "
    "The stand-in is no nodeos: the time that a question takes from nodeos's main thread is in every report "
    "(`cost`: questions, and the sum of their answer times). node_exporter is Debian's with its default collectors, "
    "and with those alone that read what our plan reads of a host; the agent reads each nodeos's process, cgroup, "
    "threads, log and API beside that."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """One run of all samplers."""

    python: Cost
    shell: Cost
    others: dict[str, Cost]
    left_out: list[str]
    printed_ms: float
    kernel_ms: float
    devices: int
    processes: int

    def figures(self) -> Iterator[Figure]:
        """Yield the figures with their targets."""
        python, shell = self.python, self.shell
        own_ms = python.agent_ms or 0.0
        agent = f"agent {own_ms:.2f} ms, sshd {python.ms_a_sample - own_ms:.2f} ms; {_COLD}"
        yield at_most("agent.py, CPU", python.ms_a_sample, "ms a sample", PYTHON_MS, agent)
        yield at_most("agent.py, memory", python.memory_mb, "MB", MEMORY_MB)
        yield at_most("agent.py, on the wire", python.wire_bytes, "bytes a sample", PYTHON_WIRE_BYTES)
        yield at_most("agent.sh, CPU", shell.ms_a_sample, "ms a sample", SH_MS, _BYTE_BY_BYTE)
        yield at_most(
            "agent.sh, on the wire",
            shell.packed_bytes,
            "bytes a sample",
            SH_WIRE_BYTES,
            f"with `Compression yes` in ssh_config; {shell.wire_bytes:,.0f} without it",
        )
        wrong = 100 * abs(self.printed_ms - self.kernel_ms) / max(self.kernel_ms, 1e-9)
        note = f"printed {self.printed_ms:.1f} ms, kernel {self.kernel_ms:.1f} ms in all"
        yield at_most("printed cost against the kernel's account", wrong, "% apart", WRONG_BY_PERCENT, note)
        yield from self._others()

    def _others(self) -> Iterator[Figure]:
        ours = self.python.ms_a_sample
        limits = {"node_exporter": EXPORTER_SHARE, "node_exporter, host readings only": CUT_EXPORTER_SHARE}
        for name, cost in self.others.items():
            times, least = cost.ms_a_sample / ours, limits.get(name, 1)
            yield Figure(
                what=f"{name}, CPU",
                value=cost.ms_a_sample,
                unit="ms a sample",
                target=f"≥ {least} × agent.py" if least > 1 else "more than agent.py",
                met=times >= least,
                note=f"{times:.1f} × agent.py; {cost.memory_mb:.0f} MB",
            )


def side_by_side(directory: Path, seconds: int) -> SideBySide:
    """Run all samplers at once."""
    with contextlib.ExitStack() as stack:
        nodeos = stack.enter_context(lab.standin(directory, "one"))
        found = lab.selectors_of(nodeos)
        python = stack.enter_context(lab.sampling(directory, "python", found))
        shell = stack.enter_context(lab.sampling(directory, "sh", found))
        others: Samplers = stack.enter_context(samplers(directory, nodeos.process.pid, seconds))
        before = [Mark.of(python), Mark.of(shell)]
        costs = _costs(others, seconds)
        own = cost_since(before[0], python, "agent.py"), cost_since(before[1], shell, "agent.sh")
        apart = stack.enter_context(pcp(directory))
        return SideBySide(
            python=own[0],
            shell=own[1],
            others=costs | _costs(apart, SLOPE_S),
            left_out=[*others.left_out, *apart.left_out],
            printed_ms=(python.meter.total().cpu_s or 0) * 1e3,
            kernel_ms=main_thread_ns(python.agent_pid) / NS_PER_MS,
            devices=len(Path("/proc/diskstats").read_text().splitlines()),
            processes=machine.process_count(),
        )


def _costs(others: Samplers, seconds: int) -> dict[str, Cost]:
    """Return what samplers cost in the seconds to come."""
    before_ns = [other.account.cpu_ns() for other in others.running]
    time.sleep(seconds)
    return {
        other.name: Cost(
            name=other.name,
            ms_a_sample=(other.account.cpu_ns() - ns) / seconds / NS_PER_MS,
            memory_mb=other.account.rss_bytes() / 1e6,
            samples=seconds,
        )
        for other, ns in zip(others.running, before_ns, strict=True)
    }


def slopes(directory: Path) -> Iterator[Figure]:
    """Yield what many processes, devices and nodeos add."""
    with lab.standin(directory, "base") as nodeos:
        found = lab.selectors_of(nodeos)
        with lab.idle_processes(MANY_PROCESSES):
            yield _slope(directory / "p", found, f"with {MANY_PROCESSES:,} idle processes more")
        with lab.more_devices(MANY_DEVICES) as added:
            yield _slope(directory / "d", found, f"with {added} block devices more")
    with contextlib.ExitStack() as stack:
        many = [
            stack.enter_context(lab.standin(directory, f"many{n}", "--transactions-per-s=1"))
            for n in range(MANY_NODEOS)
        ]
        yield _slope(directory / "n", lab.selectors_of(*many), f"with {MANY_NODEOS} nodeos")


def _slope(directory: Path, found: tuple[lab.NodeosSelector, ...], what: str) -> Figure:
    directory.mkdir()
    with lab.sampling(directory, "python", found) as one:
        one.wait(SETTLED_SAMPLES)
        before = Mark.of(one)
        time.sleep(SLOPE_S)
        cost = cost_since(before, one, what)
    note = f"{cost.wire_bytes:,.0f} bytes a sample, {cost.memory_mb:.1f} MB, {SLOPE_S} s"
    return Figure(what=f"agent.py, CPU, {what}", value=cost.ms_a_sample, unit="ms a sample", note=note)


QUESTIONS = ("/v1/chain/get_info", "/v1/db_size/get", "/v1/prometheus/metrics")
ASKED = 200


def question_cost(directory: Path) -> Figure:
    """Return the main-thread time that one round of questions takes from the stand-in."""
    with lab.standin(directory, "asked", "--transactions-per-s=0") as one:
        pid = one.process.pid
        quiet_s = 10.0
        before = main_thread_ns(pid)
        time.sleep(quiet_s)
        idle_ns_per_s = (main_thread_ns(pid) - before) / quiet_s
        before, began = main_thread_ns(pid), time.monotonic()
        for _ in range(ASKED):
            for path in QUESTIONS:
                lab.ask(one.port, path)
        took_s = time.monotonic() - began
        main_ns = main_thread_ns(pid) - before - idle_ns_per_s * took_s
    return Figure(
        what="nodeos's main thread, for one round of questions (once in 10 s)",
        value=max(main_ns, 0.0) / ASKED / NS_PER_MS,
        unit="ms",
        note=f"the stand-in, which answers in a thread of its own; {ASKED} rounds, idle time taken off",
    )
