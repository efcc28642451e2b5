"""A recording: what was observed of one host in one phase. Its manifest, gaps and events."""

from dataclasses import dataclass, field

from leapprof.model.finding import Finding
from leapprof.model.host import Host, Nodeos, Topology
from leapprof.units import NS_PER_S

REBOOTED = "host-rebooted"
"""Reason of a gap in which the host was booted again: CLOCK_BOOTTIME began anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A stretch without samples.

    Attributes:
        start_ns, end_ns: CLOCK_BOOTTIME of the last sample before and the first after, nanoseconds.
        start_wall_ns, end_wall_ns: the same on the host's wall clock.
        reason: connection-lost, host-rebooted, frames-dropped, collector-stopped, agent-ended …
    """

    start_ns: int
    end_ns: int
    start_wall_ns: int
    end_wall_ns: int
    reason: str

    @property
    def duration_s(self) -> float:
        """Return its length by the clock that never steps; across a reboot the wall clock's is all there is."""
        if self.reason == REBOOTED:
            return (self.end_wall_ns - self.start_wall_ns) / NS_PER_S
        return (self.end_ns - self.start_ns) / NS_PER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened at one moment.

    Attributes:
        boottime_ns, wall_ns: when, on the host's clocks.
        kind: nodeos-started, nodeos-stopped, nodeos-restarted, reboot, counter-reset, clock-step,
            connection-lost, connection-restored, cpu-count-changed, read-denied …
        subject: nodeos id, device name or empty for the host.
        detail: one line for a person.
    """

    boottime_ns: int
    wall_ns: int
    kind: str
    subject: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockOffset:
    """Host's wall clock minus the collector's, with the round trip that bounds its error; seconds."""

    taken_wall_ns: int
    offset_s: float
    round_trip_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SamplingCost:
    """What the sampling itself cost the host.

    Attributes:
        agent: ``python`` or ``sh``.
        samples: frames received.
        cpu_s: CPU time of the agent over the recording, seconds; None when not known.
        rss_bytes: largest resident memory of the agent; None when not known.
        wire_bytes: bytes received from the agent.
        rejected_frames, dropped_frames: torn or foreign frames; frames the agent had to drop.
        http_requests: questions put to nodeos.
        http_s: the sum of their response times, seconds.
    """

    agent: str
    samples: int
    cpu_s: float | None
    rss_bytes: int | None
    wire_bytes: int
    rejected_frames: int = 0
    dropped_frames: int = 0
    http_requests: int = 0
    http_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """The manifest of a recording (recording.json).

    Attributes:
        host, nodeos, topology: as found at the start.
        phase: ``before``, ``after`` or a name; empty for an always-on recording.
        interval_s: the tick.
        started_wall_ns, ended_wall_ns: host's wall clock of the first and last sample; None while recording.
        transport: ssh, openssh, local, replay, import.
        reconstructed: text that says from what, when the recording was not measured; None for a real one.
        denied: readings that were refused, e.g. ``nodeos/eos/io``.
        absent: readings that the host does not have.
    """

    host: Host
    nodeos: tuple[Nodeos, ...]
    topology: Topology
    phase: str
    interval_s: float
    started_wall_ns: int | None
    ended_wall_ns: int | None
    transport: str
    cost: SamplingCost
    clock_offsets: tuple[ClockOffset, ...] = ()
    gaps: tuple[Gap, ...] = ()
    events: tuple[Event, ...] = ()
    findings: tuple[Finding, ...] = ()
    denied: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    reconstructed: str | None = None
    notes: dict[str, str] = field(default_factory=dict)
