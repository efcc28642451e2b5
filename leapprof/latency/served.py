"""Delays that a server or captures kept → a recording: the clock is their wall clock, nothing of a host was sampled."""

from dataclasses import dataclass
from pathlib import Path

from leapprof.latency.histogram import wall_columns
from leapprof.latency.machine import filled
from leapprof.latency.recording import TRANSPORT
from leapprof.model import ClockOffset, Finding, Host, Recording, SamplingCost, Table, Topology
from leapprof.store import RecordingWriter
from leapprof.store.segments import concatenate
from leapprof.units import NS_PER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedFacts:
    """What a recording says of where its delays come from.

    Attributes:
        offset_s: the server's clock minus ours; None when not known.
        wire_bytes: that its answers took.
    """

    directory: Path
    phase: str
    region: str
    start_s: int
    end_s: int
    block_s: int
    settings: dict[str, str]
    notes: dict[str, str]
    command: str
    offset_s: float | None
    wire_bytes: int
    taken_wall_ns: int


def write_served(facts: ServedFacts, delays: tuple[Table, ...], findings: tuple[Finding, ...]) -> None:
    """Write a recording.

    Raises:
        StoreError: it cannot be written.
    """
    offsets = (
        ()
        if facts.offset_s is None
        else (ClockOffset(taken_wall_ns=facts.taken_wall_ns, offset_s=facts.offset_s, round_trip_s=1.0),)
    )
    settings = {f"latency_{name}": text for name, text in sorted(facts.settings.items())}
    manifest = Recording(
        host=Host(name=facts.region, boot_id="", facts={**settings, "region": facts.region}),
        nodeos=(),
        topology=Topology(),
        phase=facts.phase,
        interval_s=float(facts.block_s),
        started_wall_ns=facts.start_s * NS_PER_S,
        ended_wall_ns=facts.end_s * NS_PER_S,
        transport=TRANSPORT,
        cost=SamplingCost(
            agent=TRANSPORT, samples=0, cpu_s=None, rss_bytes=None, wire_bytes=facts.wire_bytes
        ),
        clock_offsets=offsets,
        findings=findings,
        commands=(facts.command,),
        notes=facts.notes,
    )
    latency = concatenate("latency", delays)
    with RecordingWriter.create(facts.directory, manifest) as writer:
        writer.seal({"latency": latency, "host": _clock(facts)})


def _clock(facts: ServedFacts) -> Table:
    """Return the rows that say which time the recording covers."""
    ends = [s * NS_PER_S for s in range(facts.start_s, facts.end_s + 1, facts.block_s)]
    integers = {"seq": filled(range(1, len(ends) + 1)), **wall_columns(ends)}
    return Table(name="host", rows=len(ends), integers=integers, texts={})
