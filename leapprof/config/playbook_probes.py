"""Probes of delay in a playbook: `leapprof latency`, run on the collector through every phase."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from leapprof.config.playbook_types import STRICT, Line, Name, OptionName, OptionValue

SERVED = "histogram"
"""The probe that asks a server afterwards what it counted in the phase; all others run while it lasts."""
OF_THE_PHASE = frozenset({"out", "phase", "duration", "warm-up", "start", "end", "json"})
"""Options that the playbook's phase gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeEntry:
    """One probe.

    Attributes:
        latency: which command of `leapprof latency`.
        of: what it is pointed at, as the command takes it: URLs or HOST:PORT.
        options: of the command, without dashes; a list gives an option several times, true gives a switch.
        name: of its recordings and reports; None: that of the command.
    """

    __pydantic_config__ = STRICT
    latency: Literal["request", "rtt", "histogram", "stream", "forward"]
    of: Annotated[tuple[Line, ...], Field(max_length=50)] = ()
    options: dict[OptionName, OptionValue | tuple[OptionValue, ...]] = field(default_factory=dict)
    name: Name | None = None

    @property
    def label(self) -> str:
        """Return its name in recordings and reports."""
        return self.name or self.latency

    @property
    def words(self) -> tuple[str, ...]:
        """Return the command line behind `leapprof latency`, without what the phase gives."""
        found = [self.latency, *self.of]
        for name, value in self.options.items():
            for one in (value,) if isinstance(value, str) else value:
                found += [f"--{name}"] if one == "true" else [] if one == "false" else [f"--{name}", one]
        return tuple(found)
