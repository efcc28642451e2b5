"""`leapprof latency stream`: options → subscriptions → a recording."""

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

from leapprof.cli.latency_run import Common, run_probe
from leapprof.cli.values import parse_duration_s
from leapprof.errors import ConfigError, SourceError
from leapprof.latency.endpoint import Endpoint, parse_url
from leapprof.latency.machine import Moment
from leapprof.latency.recording import RunWriter
from leapprof.latency.sntp import clock_offset
from leapprof.latency.stream import PROBE, StreamPlan, check, count, receive, standings, stream_findings
from leapprof.latency.wire import ProbeError
from leapprof.model import Finding, Severity
from leapprof.recorder.naming import check_phase
from leapprof.units import NS_PER_S

_TIME_SERVER_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamChoice:
    """What the probe ``stream`` is told."""

    urls: tuple[str, ...]
    count: int
    duration: str
    time_server: str | None


def run_stream(common: Common, choice: StreamChoice) -> None:
    """Run the probe ``stream``.

    Raises:
        ConfigError: an option has another form, or websockets is not installed.
        SourceError: an endpoint cannot be reached, or is no state history.
        InterruptedRunError: the operator ended it.
    """
    check_phase(common.phase)
    endpoints = tuple(parse_url(url, ("ws", "wss")) for url in choice.urls)
    if len(set(endpoints)) < len(endpoints):
        raise ConfigError("an endpoint is named twice", key="URL")
    plan = StreamPlan(
        endpoints=endpoints,
        most=choice.count,
        duration_s=parse_duration_s(choice.duration, "--duration"),
        timeout_s=common.timeout_s,
    )
    for endpoint in endpoints:
        _check(endpoint, plan.timeout_s)
    settings = {
        "probe": PROBE,
        "target": ", ".join(e.authority for e in endpoints),
        "subscription": "state history, blocks without traces and deltas",
        "count": str(choice.count),
        "timeout": f"{plan.timeout_s:g} s",
    }
    run_probe(common, settings, 0.0, lambda writer, first: _probe(plan, choice.time_server, writer, first))


def _check(endpoint: Endpoint, timeout_s: float) -> None:
    try:
        check(endpoint, timeout_s)
    except ProbeError as error:
        raise SourceError(endpoint.authority, error.problem) from error


def _probe(plan: StreamPlan, time_server: str | None, writer: RunWriter, first: Moment) -> None:
    stopped = threading.Event()
    writer.findings += _ask_time(time_server, writer)
    time.sleep(
        max(first.monotonic_ns - time.monotonic_ns(), 0) / NS_PER_S
    )  # what came before would be warm-up
    received = receive(plan, stopped, time.monotonic_ns)
    count(received, writer.blocks)
    writer.findings += [*_ask_time(time_server, writer), *stream_findings(received)]
    for number, standing in enumerate(standings(received), 1):
        writer.notes[f"latency_standing_{number}"] = standing.text
    writer.notes["latency_clock"] = _clock_text(plan, time_server, writer)


def _ask_time(time_server: str | None, writer: RunWriter) -> Iterator[Finding]:
    """Measure the error of this machine's clock; yield a finding where it cannot be."""
    if time_server is None:
        return
    found = clock_offset(time_server, _TIME_SERVER_S)
    if found is not None:
        writer.offsets.append(found)
        return
    yield Finding(
        code="latency-no-time-server",
        severity=Severity.INFO,
        message=f"The time server {time_server} did not answer, so the error of this machine's clock is not known.",
        hint="Name another with --time-server; delays behind the fastest do not need it.",
    )


def _clock_text(plan: StreamPlan, time_server: str | None, writer: RunWriter) -> str:
    if len(plan.endpoints) > 1:
        return "one clock (CLOCK_MONOTONIC of the probing machine): no clock offset enters"
    if not writer.offsets:
        asked = "no time server was asked" if time_server is None else f"{time_server} did not answer"
        return f"wall clock against the producer's stamp; its error is not known: {asked}"
    errors = ", ".join(f"{o.offset_s * 1000:+.2f} ms ± {o.round_trip_s * 500:.2f} ms" for o in writer.offsets)
    return f"wall clock against the producer's stamp; ahead of {time_server} by {errors}"
