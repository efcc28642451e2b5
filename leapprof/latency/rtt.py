"""The probe ``rtt``: how long a TCP connection takes to be made, which is one round trip, and a TLS handshake apart.

connect(2) returns when the answer to SYN is there, so nothing of the service itself is in it.
"""

import ssl
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from socket import AF_INET, AF_INET6, AddressFamily

from leapprof.errors import SourceError
from leapprof.latency.blocks import Blocks, Subject
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.open_loop import Pace, Schedule
from leapprof.latency.recording import RunWriter
from leapprof.latency.wire import Address, Deadline, ProbeError, connect, resolve, wrap_tls
from leapprof.model import Finding, Severity

PROBE = "rtt"
_FAMILIES = {AF_INET: "IPv4", AF_INET6: "IPv6"}
WORKERS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """One address of an endpoint."""

    endpoint: Endpoint
    address: Address

    @property
    def connecting(self) -> Subject:
        """Return what a connection's delay is of."""
        return self._subject("tcp connect")

    @property
    def shaking(self) -> Subject:
        """Return what a handshake's delay is of."""
        return self._subject("tls handshake")

    def _subject(self, what: str) -> Subject:
        family = _FAMILIES[self.address.family]
        return Subject(probe=PROBE, operation=f"{what} {family}", target=self.endpoint.authority)


@dataclass(frozen=True, slots=True, kw_only=True)
class RttPlan:
    """What is connected to, in turns."""

    ways: tuple[Way, ...]
    pace: Pace


def ways(
    endpoints: tuple[Endpoint, ...], families: tuple[AddressFamily, ...], timeout_s: float
) -> tuple[tuple[Way, ...], tuple[Finding, ...]]:
    """Connect once to each endpoint by each family, so that one that cannot be reached is said at once.

    Returns:
        The ways that work, and a finding for each that does not.

    Raises:
        SourceError: none works.
    """
    good: list[Way] = []
    bad: list[tuple[Endpoint, str]] = []
    for endpoint in endpoints:
        for way, problem in _tried(endpoint, families, timeout_s):
            if way is not None:
                good.append(way)
            else:
                bad.append((endpoint, problem))
    if not good:
        names = ", ".join(e.authority for e in endpoints)
        shown = [problem if len(endpoints) == 1 else f"{e.authority}: {problem}" for e, problem in bad]
        raise SourceError(names, "; ".join(shown))
    return tuple(good), tuple(_unreachable(endpoint, problem) for endpoint, problem in bad)


def _tried(
    endpoint: Endpoint, families: tuple[AddressFamily, ...], timeout_s: float
) -> Iterator[tuple[Way | None, str]]:
    """Yield a way for the first address of each family that the endpoint has, or what is wrong with it."""
    try:
        found = resolve(endpoint)
    except ProbeError as error:
        yield None, error.problem
        return
    for family in families:
        address = next((a for a in found if a.family == family), None)
        if address is None:
            if len(families) == 1:
                yield None, f"the name has no {_FAMILIES[family]} address"
            continue
        way = Way(endpoint=endpoint, address=address)
        try:
            _attempt(way, Deadline.after(timeout_s))
        except ProbeError as error:
            yield None, f"{address.text}: {error.problem}"
        else:
            yield way, ""


def _unreachable(endpoint: Endpoint, problem: str) -> Finding:
    return Finding(
        code="latency-unreachable",
        severity=Severity.WARNING,
        message=f"{endpoint.authority} was left out: {problem}.",
        hint="Check address, firewall and service, or leave it out.",
        subject=endpoint.authority,
    )


def run(plan: RttPlan, writer: RunWriter, start_ns: int) -> None:
    """Make the connections; returns when all are made or have failed.

    Args:
        plan: what to do.
        writer: where results go.
        start_ns: CLOCK_MONOTONIC of the first.

    Raises:
        KeyboardInterrupt: the operator ended it; what was measured is in the writer.
    """
    schedule = Schedule(plan.pace, start_ns)
    threads = [
        threading.Thread(target=_work, args=(plan, schedule, writer.blocks), daemon=True)
        for _ in range(WORKERS)
    ]
    for thread in threads:
        thread.start()
    try:
        writer.wait(threads, plan.pace.timeout_s)
    finally:
        schedule.stopped.set()
        for thread in threads:
            thread.join(plan.pace.timeout_s + 1.0)


def _work(plan: RttPlan, schedule: Schedule, blocks: Blocks) -> None:
    while (given := schedule.take()) is not None:
        number, planned_ns = given
        if not schedule.wait(planned_ns):
            return
        way = plan.ways[number % len(plan.ways)]
        late_ns = max(time.monotonic_ns() - planned_ns, 0)
        _measure(way, planned_ns, late_ns, blocks, plan.pace.timeout_s)


def _measure(way: Way, planned_ns: int, late_ns: int, blocks: Blocks, timeout_s: float) -> None:
    """Make one connection, and a handshake where TLS is spoken; count what came of each."""
    doing = way.connecting
    try:
        for subject, delay_ns in _delays(way, Deadline.after(timeout_s)):
            blocks.succeeded(subject, planned_ns, delay_ns, late_ns)
            doing = way.shaking
    except ProbeError as error:
        blocks.failed(doing, planned_ns, error.failure)


def _attempt(way: Way, deadline: Deadline) -> None:
    for _ in _delays(way, deadline):
        pass


def _delays(way: Way, deadline: Deadline) -> Iterator[tuple[Subject, int]]:
    """Yield the delay of the connection, then that of the handshake.

    Raises:
        ProbeError: one of them failed.
    """
    context = ssl.create_default_context() if way.endpoint.tls else None
    began_ns = time.monotonic_ns()
    sock = connect(way.address, deadline)
    made_ns = time.monotonic_ns()
    with sock:
        yield way.connecting, made_ns - began_ns
        if context is not None:
            began_ns = time.monotonic_ns()
            with wrap_tls(sock, way.endpoint.host, context, deadline):
                yield way.shaking, time.monotonic_ns() - began_ns
