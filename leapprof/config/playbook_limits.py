"""Gates and guards of a playbook: what must be so before a phase counts, and what must not happen during one."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from leapprof.config.playbook_types import STRICT, AbsolutePath, Action, Duration, Size, Text, Where


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeUpGate:
    """nodeos runs, and is what the situation says."""

    __pydantic_config__ = STRICT
    timeout: Duration = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadLagGate:
    """The head block is recent."""

    __pydantic_config__ = STRICT
    below_blocks: Annotated[int, Field(ge=1)]
    lasting: Duration = 0.0
    timeout: Duration = 7200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryGate:
    """nodeos's resident memory stays within a band."""

    __pydantic_config__ = STRICT
    within_percent: Annotated[float, Field(gt=0, le=100)]
    lasting: Duration
    timeout: Duration = 14_400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondStartGate:
    """After a change, nodeos was cleanly started a second time."""

    __pydantic_config__ = STRICT
    timeout: Duration = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SettleGate:
    """Some time passes."""

    __pydantic_config__ = STRICT
    time: Duration


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandGate:
    """A command ends with 0."""

    __pydantic_config__ = STRICT
    run: Text
    on: Where = Where.HOST
    timeout: Duration = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGate:
    """A file appears on the host."""

    __pydantic_config__ = STRICT
    path: AbsolutePath
    timeout: Duration = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """What must be so before a phase counts, in this order."""

    __pydantic_config__ = STRICT
    node_up: NodeUpGate = field(default_factory=NodeUpGate)
    second_start: SecondStartGate | None = None
    head_lag: HeadLagGate | None = None
    command: CommandGate | None = None
    file: FileGate | None = None
    memory_settled: MemoryGate | None = None
    settle: SettleGate | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AboveGuard:
    """Breached while a value lies above a limit: blocks of head lag, missed blocks, degrees Celsius."""

    __pydantic_config__ = STRICT
    above: Annotated[float, Field(ge=0)]
    lasting: Duration = 0.0
    then: Action = Action.STOP


@dataclass(frozen=True, slots=True, kw_only=True)
class BelowGuard:
    """Breached while less than this is left."""

    __pydantic_config__ = STRICT
    below: Size
    lasting: Duration = 0.0
    then: Action = Action.STOP


@dataclass(frozen=True, slots=True, kw_only=True)
class DownGuard:
    """Breached while nodeos does not run."""

    __pydantic_config__ = STRICT
    lasting: Duration = 30.0
    then: Action = Action.STOP


@dataclass(frozen=True, slots=True, kw_only=True)
class Guards:
    """What must not happen during a phase.

    Attributes:
        head_lag: blocks of half a second behind the host's clock.
        missed_blocks: half-second slots since the phase's first look by which the head did not advance.
        disk_free: of the filesystems that hold data, state and blocks.
        temperature: the hottest sensor of /sys/class/hwmon, degrees Celsius; not judged where there is none.
        page: command on the collector; its environment holds LEAPPROF_RUN and LEAPPROF_REASON.
    """

    __pydantic_config__ = STRICT
    head_lag: AboveGuard | None = None
    missed_blocks: AboveGuard | None = None
    memory_available: BelowGuard | None = None
    swap_free: BelowGuard | None = None
    disk_free: BelowGuard | None = None
    temperature: AboveGuard | None = None
    node_down: DownGuard | None = field(default_factory=DownGuard)
    page: Text | None = None
