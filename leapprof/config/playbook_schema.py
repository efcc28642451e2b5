"""What may stand in a playbook: frozen values that pydantic checks strictly.

docs/playbook.schema.json is made of them.

Durations are texts such as ``90s``, ``15m``, ``6h``, ``1h30m``; sizes ``8 GiB``, ``500 MB``; both become base units.
A text that is a command is run by a shell, on the host unless it says ``on: collector``. In commands, paths and unit
names ``{host}`` and the names under a host's ``vars`` are replaced, quoted for the shell where they are commands.
"""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from leapprof.config.playbook_limits import Gates, Guards
from leapprof.config.playbook_probes import ProbeEntry
from leapprof.config.playbook_types import (
    STRICT,
    AbsolutePath,
    Duration,
    Line,
    Name,
    OptionName,
    OptionValue,
    Role,
    Text,
    Where,
)

PLAYBOOK_FORMAT = 1
"""1: the first."""
PRODUCING_WORDS = "restart it although it produces"
NO_NODEOS = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class HostEntry:
    """One host: its inventory name, ssh alias, ``user@host:port`` or ``local``.

    Attributes:
        nodeos: how its nodeos is recognised (``unit:nodeos.service``); None: the only one there; ``none``: there
            is none.
        first: in a crossover, the situation that it begins with.
        vars: texts that replace ``{name}``.
    """

    __pydantic_config__ = STRICT
    host: Line
    nodeos: Line | None = None
    role: Role = Role.CHANGED
    first: Literal["a", "b"] = "a"
    vars: dict[Name, Line] = field(default_factory=dict)

    @property
    def runs_nodeos(self) -> bool:
        """Return whether a nodeos is expected there: a relay's host, or the collector itself, may run none."""
        return self.nodeos != NO_NODEOS


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """How long each phase is recorded.

    Attributes:
        duration: that is compared, after warm_up.
        warm_up: recorded, and left out of the comparison.
        spool: directory on the host; the sampler goes on when the collector goes away.
    """

    __pydantic_config__ = STRICT
    duration: Duration
    warm_up: Duration = 0.0
    interval: Duration = 1.0
    spool: AbsolutePath | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a nodeos must be like before a phase counts; what is not said is not checked.

    Attributes:
        state_on: where its state directory lies.
        options: of config.ini, as leapprof sees them on the host.
    """

    __pydantic_config__ = STRICT
    version: Name | None = None
    map_mode: Literal["mapped", "mapped_private", "heap", "locked"] | None = None
    state_on: Literal["disk", "tmpfs"] | None = None
    options: dict[OptionName, OptionValue] = field(default_factory=dict)

    @property
    def says_something(self) -> bool:
        """Return whether there is anything to look for."""
        return bool(self.version or self.map_mode or self.state_on or self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class ManualChange:
    """The operator changes the host; leapprof waits until it sees situation b there."""

    __pydantic_config__ = STRICT
    say: Text
    say_back: Text | None = None
    timeout: Duration = 86_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEdit:
    """Lines of config.ini are replaced, added or taken out.

    Attributes:
        file: None: the config.ini that the running nodeos uses.
        set: option → value; an option that has several lines is refused.
        remove: options whose lines go.
    """

    __pydantic_config__ = STRICT
    file: AbsolutePath | None = None
    set: dict[OptionName, OptionValue] = field(default_factory=dict)
    remove: tuple[OptionName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCommand:
    """A command that changes something.

    Attributes:
        verify: command that ends with 0 exactly when ``run`` has done its work.
    """

    __pydantic_config__ = STRICT
    run: Text
    verify: Text | None = None
    on: Where = Where.HOST
    timeout: Duration = 1800.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandChange:
    """Anything: from situation a to b, and back."""

    __pydantic_config__ = STRICT
    to_b: HostCommand
    to_a: HostCommand | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One of three ways."""

    __pydantic_config__ = STRICT
    manual: ManualChange | None = None
    config: ConfigEdit | None = None
    command: CommandChange | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StopStart:
    """Commands of the operator's own."""

    __pydantic_config__ = STRICT
    stop: Text
    start: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """How nodeos is restarted.

    Attributes:
        systemd, docker, commands: exactly one.
        sudo: put ``sudo -n`` before systemctl, docker and the look at the state file.
        stop_timeout: how long writing the state back may take; None: estimated from the state's size.
        prepare, prepare_back: run while nodeos is stopped, on the way to b, and back to a.
        times: 2 makes a second clean start, which mapped_private needs after a snapshot.
        between: a nodeos runs that long between two restarts.
        producing: the words that allow the restart of a nodeos that is in the schedule.
    """

    __pydantic_config__ = STRICT
    systemd: Line | None = None
    docker: Line | None = None
    commands: StopStart | None = None
    sudo: bool = False
    stop_timeout: Duration | None = None
    start_timeout: Duration = 600.0
    prepare: tuple[HostCommand, ...] = ()
    prepare_back: tuple[HostCommand, ...] = ()
    times: Annotated[int, Field(ge=1, le=3)] = 1
    between: Duration = 60.0
    producing: Literal["restart it although it produces"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RollBack:
    """How a host gets back to a when a guard or gate fails.

    Attributes:
        on_failed_gate: also when a gate after the change fails.
        snapshot: on the host, that the version of situation a loads; needed where the state cannot be kept.
        snapshot_version: version that made it.
        prepare: run while nodeos is stopped: puts the snapshot in place.
    """

    __pydantic_config__ = STRICT
    on_failed_gate: bool = False
    snapshot: AbsolutePath | None = None
    snapshot_version: Name | None = None
    prepare: tuple[HostCommand, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportChoice:
    """What is written at the end."""

    __pydantic_config__ = STRICT
    formats: tuple[Literal["html", "md", "json", "csv", "png"], ...] = ("html", "md", "json", "csv")
    public: bool = False


Design = Annotated[str, StringConstraints(pattern=r"^((AB)+|crossover)$", max_length=40)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    """One planned experiment.

    Attributes:
        playbook: format number.
        inventory: file of hosts, seen from the playbook's directory.
        design: ``AB``, ``ABAB`` …, or ``crossover``.
        probes: of delay, run on the collector through every phase.
        change: None: the same thing is measured on both sides.
        a, b: what nodeos is like before and after the change.
        expectations: metric, or ``metric[role]`` → ``decrease >= 10 %``, ``<= 8 GiB`` ….
        max_parallel: hosts that are changed at the same time.
    """

    __pydantic_config__ = STRICT
    playbook: Literal[1]
    title: Line
    hosts: Annotated[tuple[HostEntry, ...], Field(min_length=1, max_length=500)]
    phase: Phase
    inventory: Line | None = None
    design: Design = "AB"
    probes: tuple[ProbeEntry, ...] = ()
    change: Change | None = None
    a: Situation = field(default_factory=Situation)
    b: Situation = field(default_factory=Situation)
    restart: Restart | None = None
    gates: Gates = field(default_factory=Gates)
    guards: Guards = field(default_factory=Guards)
    roll_back: RollBack | None = None
    expectations: dict[Line, Line] = field(default_factory=dict)
    report: ReportChoice = field(default_factory=ReportChoice)
    max_parallel: Annotated[int, Field(ge=1, le=50)] = 1

    @property
    def changed_hosts(self) -> tuple[HostEntry, ...]:
        """Return the hosts that the change is made on."""
        return tuple(host for host in self.hosts if host.role is Role.CHANGED)
