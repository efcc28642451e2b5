"""`leapprof latency stream`: options → subscriptions → a recording."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass

from leapprof.cli.latency_run import ONE_CLOCK, Common, run_probe
from leapprof.cli.latency_subscriptions import SubscriptionChoice, subscriptions_of
from leapprof.cli.values import parse_duration_s
from leapprof.errors import SourceError
from leapprof.latency.machine import Moment
from leapprof.latency.recording import RunWriter
from leapprof.latency.sntp import clock_offset
from leapprof.latency.standings import count, standings, stream_findings
from leapprof.latency.stream import PROBE, Received, StreamPlan, receive, wait_until
from leapprof.latency.wire import ProbeError
from leapprof.model import Finding, Severity
from leapprof.recorder.naming import check_phase

_TIME_SERVER_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamChoice:
    """What the probe ``stream`` is told."""

    subscriptions: SubscriptionChoice
    count: int
    duration: str
    time_server: str | None


def run_stream(common: Common, choice: StreamChoice) -> None:
    """Run the probe ``stream``.

    Raises:
        ConfigError: an option has another form, or a package is not installed.
        SourceError: an endpoint cannot be reached, or is something else.
        InterruptedRunError: the operator ended it.
    """
    check_phase(common.phase)
    found = subscriptions_of(choice.subscriptions)
    plan = StreamPlan(
        subscriptions=found.subscriptions,
        most=choice.count,
        duration_s=parse_duration_s(choice.duration, "--duration"),
        timeout_s=common.timeout_s,
    )
    settings = {
        "probe": PROBE,
        "target": ", ".join(s.name for s in plan.subscriptions),
        "subscription": found.what,
        **({"account": found.account} if found.account else {}),
        "count": str(choice.count),
        "timeout": f"{plan.timeout_s:g} s",
    }
    with ExitStack() as opened:
        for subscription in plan.subscriptions:
            opened.enter_context(closing(subscription))
            try:
                subscription.check(plan.timeout_s)
            except ProbeError as error:
                raise SourceError(subscription.name, error.problem) from error
        run_probe(
            common, settings, 0.0, lambda writer, first: _Run(plan, choice.time_server, writer).run(first)
        )


class _Run:
    """One run into a recording, which soon holds what came."""

    def __init__(self, plan: StreamPlan, time_server: str | None, writer: RunWriter) -> None:
        """Keep what to do, and where it is written."""
        self._plan, self._time_server, self._writer = plan, time_server, writer
        self._received = tuple(Received(name=one.name) for one in plan.subscriptions)

    def run(self, first: Moment) -> None:
        """Receive from a moment on; what came before would be warm-up."""
        writer = self._writer
        writer.findings += _ask_time(self._time_server, writer)
        wait_until(first.monotonic_ns)
        try:
            receive(self._plan, self._received, threading.Event(), lambda: writer.when_due(self._write))
        finally:
            writer.findings += [*_ask_time(self._time_server, writer), *stream_findings(self._received)]
            self._write()

    def _write(self) -> None:
        """Write all that came so far: which message was the fastest is known for that long."""
        received = [one.snapshot() for one in self._received]
        blocks = self._writer.blocks.anew()
        count(received, blocks)
        for number, standing in enumerate(standings(received), 1):
            self._writer.notes[f"latency_standing_{number}"] = standing.text
        self._writer.notes["latency_clock"] = _clock_text(self._plan, self._time_server, self._writer)
        self._writer.rewrite(blocks)


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
    if len(plan.subscriptions) > 1:
        return ONE_CLOCK
    if not writer.offsets:
        asked = "no time server was asked" if time_server is None else f"{time_server} did not answer"
        return f"wall clock against the sender's stamp; its error is not known: {asked}"
    errors = ", ".join(f"{o.offset_s * 1000:+.2f} ms ± {o.round_trip_s * 500:.2f} ms" for o in writer.offsets)
    return f"wall clock against the sender's stamp; ahead of {time_server} by {errors}"
