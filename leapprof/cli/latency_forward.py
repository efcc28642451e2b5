"""`leapprof latency forward`: options → packets → a recording."""

import threading
import time
from dataclasses import dataclass

from leapprof.cli.latency_run import Common, run_probe
from leapprof.cli.values import parse_duration_s
from leapprof.errors import ConfigError
from leapprof.latency.endpoint import parse_host_port
from leapprof.latency.forward import (
    MOST_PACKETS,
    PROBE,
    TRANSPORTS,
    Forwarder,
    ForwardPlan,
    Passage,
    forward_findings,
)
from leapprof.latency.machine import Moment
from leapprof.latency.open_loop import Pace
from leapprof.latency.recording import RunWriter
from leapprof.recorder.naming import check_phase
from leapprof.units import significant


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardChoice:
    """What the probe ``forward`` is told."""

    relay: str | None
    listen: str | None
    rate_per_s: float
    size_bytes: int
    duration: str
    transport: str


def run_forward(common: Common, choice: ForwardChoice) -> None:
    """Run the probe ``forward``.

    Raises:
        ConfigError: an option has another form.
        SourceError: the relay forwards nothing.
        InterruptedRunError: the operator ended it.
    """
    check_phase(common.phase)
    if choice.relay is None or choice.listen is None:
        raise ConfigError("give the relay's HOST:PORT and --listen, or --captures IN OUT", key="HOST:PORT")
    if choice.transport not in TRANSPORTS:
        raise ConfigError(f"{choice.transport!r} is none of {', '.join(TRANSPORTS)}", key="--transport")
    duration_s = parse_duration_s(choice.duration, "--duration")
    if duration_s * choice.rate_per_s > MOST_PACKETS:
        raise ConfigError(f"more than {MOST_PACKETS} packets; shorten it or lower --rate", key="--duration")
    pace = Pace(
        rate_per_s=choice.rate_per_s,
        duration_s=duration_s,
        warm_up_s=0.0,
        most=MOST_PACKETS,
        timeout_s=common.timeout_s,
    )
    plan = ForwardPlan(
        relay=parse_host_port(choice.relay),
        listen=parse_host_port(choice.listen),
        size_bytes=choice.size_bytes,
        pace=pace,
        transport=choice.transport,
    )
    settings = {
        "probe": PROBE,
        "target": plan.relay.authority,
        "listen": plan.listen.authority,
        "transport": plan.transport,
        "rate": f"{significant(choice.rate_per_s)} packets/s, every second one through the relay",
        "size": f"{choice.size_bytes} B",
        "timeout": f"{significant(common.timeout_s)} s",
    }
    with Forwarder(plan) as forwarder:
        forwarder.check()
        run_probe(common, settings, 0.0, lambda writer, first: _probe(plan, forwarder, writer, first))


def _probe(plan: ForwardPlan, forwarder: Forwarder, writer: RunWriter, first: Moment) -> None:
    def seal() -> None:
        forwarder.settle(writer.blocks, first.monotonic_ns, time.monotonic_ns())
        writer.seal_complete(plan.pace.timeout_s)

    try:
        forwarder.run(writer.blocks, first.monotonic_ns, threading.Event(), lambda: writer.when_due(seal))
    finally:
        _conclude(plan, forwarder.passage, writer)


def _conclude(plan: ForwardPlan, passage: Passage, writer: RunWriter) -> None:
    floor = writer.blocks.whole.get(plan.subjects[1])
    floor_ns = None if floor is None else floor.delays_ns.quantile(0.5)
    writer.findings += list(forward_findings(plan, passage, floor_ns))
    writer.notes["latency_clock"] = (
        "one wall clock: the sender's stamp, and the kernel's of the arrival"
        if passage.stamped_by_kernel
        else "one wall clock, read by the sender and by the receiver"
    )
