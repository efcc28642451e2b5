"""A playbook → its steps, in order. Pure: the same playbook gives the same steps, whose names the log keeps."""

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from leapprof.config.playbook_limits import Gates
from leapprof.config.playbook_schema import HostCommand, HostEntry, Playbook
from leapprof.config.playbook_types import Role, Where
from leapprof.control.commands import filled, filled_plain
from leapprof.control.service import UNKNOWN_STATE_STOP_S, service_commands

_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


class StepKind(StrEnum):
    """What a step does."""

    CHECK = "check"
    MANUAL = "manual"
    EDIT = "edit"
    COMMAND = "command"
    STOP = "stop"
    PREPARE = "prepare"
    START = "start"
    WAIT = "wait"
    GATES = "gates"
    RECORD = "record"
    REPORT = "report"


CHANGING = frozenset(
    {StepKind.EDIT, StepKind.COMMAND, StepKind.STOP, StepKind.PREPARE, StepKind.START, StepKind.MANUAL}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step.

    Attributes:
        id: unique and stable: number, kind, host.
        stage: steps of one stage may be done on several hosts at once; those of one host in order.
        host: that it is about; None: all.
        to: situation that it leads to, ``a`` or ``b``.
        number: which prepare command, or which start, from 0.
        period: which recording, from 0.
        title: one line for a person.
        commands: what is run where, as ``where: command``.
        seconds: that it takes at least; None when it depends on the host.
    """

    id: str
    kind: StepKind
    stage: int
    title: str
    host: str | None = None
    to: str = "b"
    number: int = 0
    period: int = 0
    commands: tuple[str, ...] = ()
    seconds: float | None = 0.0

    @property
    def changes_host(self) -> bool:
        """Return whether a host is another one afterwards."""
        return self.kind in CHANGING


def safe_name(text: str) -> str:
    """Return a text fit for a file name and a step's id."""
    return _UNSAFE.sub("-", text).strip(".-")[:60] or "host"


def names_of(entry: HostEntry) -> dict[str, str]:
    """Return what ``{name}`` stands for in the commands of a host."""
    return {"host": entry.host, **entry.vars}


def situations_of(playbook: Playbook, entry: HostEntry) -> tuple[str, ...]:
    """Return the situation of a host in each period."""
    periods: tuple[str, ...]
    if playbook.design == "crossover":
        periods = ("a", "b") if entry.first == "a" else ("b", "a")
    else:
        periods = periods_of(playbook)
    is_left_alone = entry.role is Role.CONTROL or playbook.change is None
    return ("a",) * len(periods) if is_left_alone else periods


def periods_of(playbook: Playbook) -> tuple[str, ...]:
    """Return the situation of each period of a design in which all hosts change together."""
    return tuple(playbook.design.lower())


def phase_name(playbook: Playbook, period: int, situation: str) -> str:
    """Return the phase under which a host is recorded in a period."""
    if playbook.design == "AB":
        return ("before", "after")[period]
    if playbook.design == "crossover":
        return f"{situation}-period{period + 1}"
    return f"{playbook.design[period].lower()}{period // 2 + 1}"


def plan_steps(playbook: Playbook) -> tuple[Step, ...]:
    """Return all steps of a playbook, in order."""
    planner = _Planner(playbook)
    return tuple(replace(step, id=_step_id(number, step)) for number, step in enumerate(planner.steps(), 1))


def way_back(playbook: Playbook, entry: HostEntry, mark: str) -> tuple[Step, ...]:
    """Return the steps that take one host back to situation a; the mark makes their names unique."""
    steps = _Planner(playbook).change(entry, "a", stage=0)
    found = [
        step for step in steps if _is_prepare(step) or (step.kind is not StepKind.WAIT and step.number == 0)
    ]
    return tuple(replace(step, id=f"{mark}-{number:02d}-{step.kind}") for number, step in enumerate(found, 1))


def _is_prepare(step: Step) -> bool:
    return step.kind is StepKind.PREPARE


def _step_id(number: int, step: Step) -> str:
    about = f"-{safe_name(step.host)}" if step.host else ""
    return f"{number:03d}-{step.kind}{about}"


class _Planner:
    """Makes the steps; ids come later."""

    def __init__(self, playbook: Playbook) -> None:
        self._playbook = playbook

    def steps(self) -> Iterator[Step]:
        playbook = self._playbook
        yield Step(
            id="",
            kind=StepKind.CHECK,
            stage=0,
            title="look at every host, check what will be changed",
            seconds=None,
        )
        now = dict.fromkeys((entry.host for entry in playbook.hosts), "a")
        stage = 1
        for period in range(len(situations_of(playbook, playbook.hosts[0]))):
            for entry in playbook.hosts:
                wanted = situations_of(playbook, entry)[period]
                if wanted != now[entry.host]:
                    yield from self.change(entry, wanted, stage)
                    now[entry.host] = wanted
            for entry in playbook.hosts:
                yield self._gates(entry, now[entry.host], period, stage + 1)
            yield self._record(period, stage + 2)
            stage += 3
        title = "compare each pair, judge the expectations, write the reports"
        yield Step(id="", kind=StepKind.REPORT, stage=stage, title=title)

    def change(self, entry: HostEntry, to: str, stage: int) -> Iterator[Step]:
        """Yield the steps that take one host to a situation."""
        change = self._playbook.change
        assert change is not None
        if change.manual is not None:
            say = change.manual.say if to == "b" else change.manual.say_back or change.manual.say
            title = f"you: {filled_plain(' '.join(say.split()), names_of(entry))}"
            yield self._of(entry, StepKind.MANUAL, to, stage, title=title, seconds=None)
        if change.config is not None:
            yield self._edit(entry, to, stage)
        if change.command is not None:
            command = change.command.to_b if to == "b" else change.command.to_a
            assert command is not None
            yield self._command(entry, StepKind.COMMAND, to, stage, command)
        if self._playbook.restart is not None:
            yield from self._restarts(entry, to, stage)

    def _of(self, entry: HostEntry, kind: StepKind, to: str, stage: int, **more: object) -> Step:
        return replace(Step(id="", kind=kind, stage=stage, title="", host=entry.host, to=to), **more)  # type: ignore[arg-type]

    def _edit(self, entry: HostEntry, to: str, stage: int) -> Step:
        assert self._playbook.change and self._playbook.change.config
        config = self._playbook.change.config
        file = filled_plain(config.file, names_of(entry)) if config.file else "the config.ini in use"
        if to == "a":
            script = "cat BACKUP > FILE.new; mv FILE.new FILE   # refused if the file is not as we left it"
            return self._of(
                entry,
                StepKind.EDIT,
                to,
                stage,
                title=f"put {file} back as it was",
                commands=(f"host: {script}",),
            )
        lines = [
            f"host: line of {name} in {file} becomes `{name} = {value}`" for name, value in config.set.items()
        ]
        lines += [f"host: lines of {name} in {file} are commented out" for name in config.remove]
        lines.append(
            "host: cp -p FILE BACKUP (0600); sed … FILE > FILE.new; mv FILE.new FILE   # refused if its SHA-256 differs"
        )
        return self._of(entry, StepKind.EDIT, to, stage, title=f"edit {file}", commands=tuple(lines))

    def _command(
        self, entry: HostEntry, kind: StepKind, to: str, stage: int, command: HostCommand, number: int = 0
    ) -> Step:
        names = names_of(entry)
        lines = [f"{command.on}: {filled(command.run, names)}"]
        if command.verify is not None:
            lines.append(f"{command.on}: {filled(command.verify, names)}   # verify")
        title = "run a command" if kind is StepKind.COMMAND else "prepare while nodeos is stopped"
        return self._of(
            entry, kind, to, stage, number=number, title=title, commands=tuple(lines), seconds=None
        )

    def _restarts(self, entry: HostEntry, to: str, stage: int) -> Iterator[Step]:
        restart = self._playbook.restart
        assert restart is not None
        stop_s = restart.stop_timeout or UNKNOWN_STATE_STOP_S
        commands = service_commands(restart, names_of(entry), stop_s)
        for number in range(restart.times):
            if number:
                yield self._of(
                    entry, StepKind.WAIT, to, stage, number=number, seconds=restart.between,
                    title="let nodeos run before its second start",
                )  # fmt: skip
            look = "host: look at the dirty flag of the state; a dirty one is never started"
            yield self._of(
                entry, StepKind.STOP, to, stage, number=number, title="stop nodeos, wait until it has gone",
                commands=(f"host: {commands.stop}", look), seconds=None,
            )  # fmt: skip
            if number == 0:
                prepare: Sequence[HostCommand] = restart.prepare if to == "b" else restart.prepare_back
                for index, command in enumerate(prepare):
                    yield self._command(entry, StepKind.PREPARE, to, stage, command, index)
            yield self._of(
                entry, StepKind.START, to, stage, number=number, title="start nodeos, wait until it runs",
                commands=(f"host: {commands.start}",), seconds=None,
            )  # fmt: skip

    def _gates(self, entry: HostEntry, to: str, period: int, stage: int) -> Step:
        gates, lines = self._playbook.gates, []
        if gates.command is not None:
            lines.append(f"{gates.command.on}: {filled(gates.command.run, names_of(entry))}")
        seconds = gates.settle.time if gates.settle else 0.0
        seconds += gates.head_lag.lasting if gates.head_lag else 0.0
        seconds += gates.memory_settled.lasting if gates.memory_settled else 0.0
        title = f"gates: {', '.join(gate_names(gates, entry)) or 'none'}"
        return self._of(
            entry,
            StepKind.GATES,
            to,
            stage,
            period=period,
            title=title,
            commands=tuple(lines),
            seconds=seconds,
        )

    def _record(self, period: int, stage: int) -> Step:
        phase = self._playbook.phase
        hosts = [
            f"{entry.host} as {phase_name(self._playbook, period, situations_of(self._playbook, entry)[period])}"
            for entry in self._playbook.hosts
        ]
        page = self._playbook.guards.page
        commands = [f"collector: leapprof latency {shlex.join(p.words)}" for p in self._playbook.probes]
        commands += [f"collector: {page}   # when a guard is breached"] if page else []
        return Step(
            id="", kind=StepKind.RECORD, stage=stage, period=period, title=f"record {', '.join(hosts)}",
            seconds=phase.warm_up + phase.duration,
            commands=tuple(commands),
        )  # fmt: skip


_OF_NODEOS = frozenset({"node up", "second start", "head lag", "memory settled"})


def gate_names(gates: Gates, entry: HostEntry) -> tuple[str, ...]:
    """Return the names of the gates that a host has to pass."""
    asked = {
        "node up": gates.node_up, "second start": gates.second_start, "head lag": gates.head_lag,
        "command": gates.command, "file": gates.file, "memory settled": gates.memory_settled, "settle": gates.settle,
    }  # fmt: skip
    return tuple(
        name
        for name, gate in asked.items()
        if gate is not None and (entry.runs_nodeos or name not in _OF_NODEOS)
    )


def is_on_collector(command: HostCommand) -> bool:
    """Return whether a command runs here."""
    return command.on is Where.COLLECTOR
