"""Gates: what must be so before a phase counts. Each has a time-out and says what it is waiting for."""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from leapprof.config.playbook_limits import CommandGate, HeadLagGate, MemoryGate
from leapprof.config.playbook_schema import HostEntry, Situation
from leapprof.config.playbook_types import Where
from leapprof.control.commands import filled, filled_plain, run_here
from leapprof.errors import SourceError
from leapprof.experiment.context import RunContext
from leapprof.experiment.failures import GateError
from leapprof.experiment.observe import HostEye, Observation
from leapprof.experiment.situation import difference
from leapprof.experiment.steps import Step, names_of
from leapprof.units import format_duration, format_memory, significant

_PERCENT = 100.0
ONE_TRY_S = 60.0
FEWEST_READINGS = 2
Check = Callable[[Observation, float], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One gate: its name, how long it may take, and what it still waits for (None: open)."""

    name: str
    timeout_s: float
    check: Check


def pass_gates(context: RunContext, entry: HostEntry, step: Step, starts: int) -> None:
    """Wait until all gates of a host are open, one after another.

    Args:
        context: of the run.
        entry: the host.
        step: whose situation nodeos must be in.
        starts: clean starts since the last change of this host; 0 when nothing was changed.

    Raises:
        GateError: one did not open in time.
        InterruptedRunError: the operator ends the run.
    """
    with context.eye(entry) as eye:
        for gate in gates_of(context, entry, step, eye, starts):
            wait_for(context, eye, gate)
    settle = context.playbook.gates.settle
    if settle is not None:  # nobody looks meanwhile: a look costs the host more than a sample does
        context.say(f"{entry.host}: gate settle: waiting for {format_duration(settle.time)} to pass")
        context.pause(settle.time)


def wait_for(context: RunContext, eye: HostEye, gate: Gate) -> Observation:
    """Wait until one gate is open and return what was seen then.

    Raises:
        GateError: it did not open in time.
        InterruptedRunError: the operator ends the run.
    """
    began_s = context.clock.monotonic_s()
    told = ""
    while True:
        observation, missing = _look(eye, gate, context)
        if observation is not None and missing is None:
            return observation
        now_s = context.clock.monotonic_s()
        if now_s - began_s > gate.timeout_s:
            raise GateError(
                eye.host.name,
                f"gate {gate.name} did not open within {format_duration(gate.timeout_s)}: waited for {missing}",
            )
        if missing and _without_numbers(missing) != told:
            told = _without_numbers(missing)
            context.say(f"{eye.host.name}: gate {gate.name}: waiting for {missing}")
        context.pause(context.poll_s)


def _look(eye: HostEye, gate: Gate, context: RunContext) -> tuple[Observation | None, str | None]:
    try:
        observation = eye.look()
        return observation, gate.check(observation, context.clock.monotonic_s())
    except SourceError as error:
        return None, f"the host to answer ({error.problem})"


def _without_numbers(text: str) -> str:
    return "".join(c for c in text if not c.isdigit())


def up_gate(context: RunContext, entry: HostEntry, to: str, timeout_s: float) -> Gate:
    """Return the gate that opens when nodeos runs and is what a situation says."""
    wanted = context.situation(entry, to)
    return Gate(name="node up", timeout_s=timeout_s, check=lambda seen, _: difference(seen, wanted))


def gates_of(context: RunContext, entry: HostEntry, step: Step, eye: HostEye, starts: int) -> Iterator[Gate]:
    """Yield the gates of a playbook for one host, in order."""
    gates = context.playbook.gates
    if entry.runs_nodeos:
        yield from _nodeos_gates(context, entry, step, starts)
    if gates.command is not None:
        command = _Command(gate=gates.command, command=filled(gates.command.run, names_of(entry)), eye=eye)
        yield Gate(name="command", timeout_s=gates.command.timeout, check=command)
    if gates.file is not None:
        path = filled_plain(gates.file.path, names_of(entry))
        test = _Command(gate=CommandGate(run=path), command=f"test -e {shlex.quote(path)}", eye=eye)
        yield Gate(name="file", timeout_s=gates.file.timeout, check=test)
    if gates.memory_settled is not None and entry.runs_nodeos:
        memory = MemoryCheck(gate=gates.memory_settled)
        yield Gate(name="memory settled", timeout_s=gates.memory_settled.timeout, check=memory)


def _nodeos_gates(context: RunContext, entry: HostEntry, step: Step, starts: int) -> Iterator[Gate]:
    gates = context.playbook.gates
    yield up_gate(context, entry, step.to, gates.node_up.timeout)
    if gates.second_start is not None and starts == 1:
        second = _SecondStart(
            wanted=context.situation(entry, step.to), first=_first_start(context, entry, step)
        )
        yield Gate(name="second start", timeout_s=gates.second_start.timeout, check=second)
    if gates.head_lag is not None:
        yield Gate(name="head lag", timeout_s=gates.head_lag.timeout, check=HeadLagCheck(gate=gates.head_lag))


@dataclass(slots=True, kw_only=True)
class _Lasting:
    """Remembers since when something holds."""

    since_s: float | None = None

    def held_s(self, now_s: float, *, holds: bool) -> float | None:
        if not holds:
            self.since_s = None
            return None
        self.since_s = now_s if self.since_s is None else self.since_s
        return now_s - self.since_s


@dataclass(slots=True, kw_only=True)
class HeadLagCheck:
    """Open when the head lag has stayed below the limit for long enough."""

    gate: HeadLagGate
    _lasting: _Lasting = field(default_factory=_Lasting)

    def __call__(self, seen: Observation, now_s: float) -> str | None:
        """Return what is waited for; None: open."""
        lag = seen.reading.head_lag_blocks
        below = lag is not None and lag < self.gate.below_blocks
        held_s = self._lasting.held_s(now_s, holds=below)
        if held_s is not None and held_s >= self.gate.lasting:
            return None
        shown = "not known" if lag is None else f"{lag:.0f} blocks"
        return f"a head lag below {self.gate.below_blocks} blocks for {format_duration(self.gate.lasting)}, is {shown}"


@dataclass(slots=True, kw_only=True)
class MemoryCheck:
    """Open when resident memory has stayed within its band for long enough."""

    gate: MemoryGate
    _seen: list[tuple[float, int]] = field(default_factory=list)

    def __call__(self, seen: Observation, now_s: float) -> str | None:
        """Return what is waited for; None: open."""
        rss = seen.reading.rss_bytes
        if rss is None:
            self._seen.clear()
            return "the resident memory of nodeos to be known"
        self._seen.append((now_s, rss))
        while len(self._seen) > FEWEST_READINGS and self._seen[1][0] <= now_s - self.gate.lasting:
            del self._seen[0]
        values = [value for _, value in self._seen]
        spread = _PERCENT * (max(values) - min(values)) / max(values)
        is_long = self._seen[0][0] <= now_s - self.gate.lasting and len(values) >= FEWEST_READINGS
        if is_long and spread <= self.gate.within_percent:
            return None
        return (
            f"resident memory within {self.gate.within_percent:g} % for {format_duration(self.gate.lasting)}, "
            f"is {format_memory(rss)}, moved {significant(spread, 2)} %"
        )


def _first_start(context: RunContext, entry: HostEntry, step: Step) -> Callable[[str | None], str | None]:
    """Return what tells the identity of the first nodeos after the change, seen now for the first time or before."""
    starts = [
        e.data["identity"]
        for e in context.log.entries
        if e.kind == "done" and e.data.get("host") == entry.host and e.data.get("what") in ("start", "manual")
    ]

    def first(seen: str | None) -> str | None:
        if starts:
            return str(starts[-1])
        noted = context.log.last("first-start", step.id)
        if noted is None and seen is not None:
            context.log.append("first-start", step.id, host=entry.host, identity=seen)
        return str(noted["identity"]) if noted else seen

    return first


@dataclass(frozen=True, slots=True, kw_only=True)
class _SecondStart:
    """Open when the process is another one than the first after the change."""

    wanted: Situation
    first: Callable[[str | None], str | None]

    def __call__(self, seen: Observation, now_s: float) -> str | None:
        del now_s
        missing = difference(seen, self.wanted)
        if missing is None and seen.identity == self.first(seen.identity):
            return "a second clean start of nodeos: stop and start it"
        return missing


@dataclass(slots=True, kw_only=True)
class _Command:
    gate: CommandGate
    command: str
    eye: HostEye

    def __call__(self, seen: Observation, now_s: float) -> str | None:
        del seen, now_s
        if self.gate.on is Where.COLLECTOR:
            status = run_here(self.command, ONE_TRY_S)
        else:
            status = self.eye.source.run(self.command, ONE_TRY_S).exit_status
        return None if status == 0 else f"`{self.command}` to end with 0, ended with {status}"
