"""The probe ``stream``: when messages of a subscription arrive.

Of one endpoint: each block's delay since the stamp of its producer, and behind the fastest of the run, in which a
constant error of either clock cancels. Of several from one machine (head to head): by how much each is behind the first
that had a block, on one monotonic clock; only blocks that all of them had count, first arrivals with 0.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from leapprof.latency.blocks import Blocks, Subject
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.ship_stream import Arrival, ShipStream
from leapprof.latency.wire import Failure, ProbeError
from leapprof.model import Finding, Severity
from leapprof.units import significant

PROBE = "stream"
BEHIND_FASTEST, SINCE_STAMP, BEHIND_FIRST = "behind the fastest", "since its stamp", "behind the first"
_LONGEST_PAUSE_S = 5.0
_PAUSE_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPlan:
    """What is subscribed to, and for how long.

    Attributes:
        most: messages of each endpoint.
        duration_s: at most.
        timeout_s: for a connection, and for each message.
    """

    endpoints: tuple[Endpoint, ...]
    most: int
    duration_s: float
    timeout_s: float


@dataclass(slots=True, kw_only=True)
class Received:
    """What one endpoint sent.

    Attributes:
        arrivals: block id → its first arrival.
        duplicates: blocks that came again.
        gaps: blocks whose number was jumped over and never came.
        failures: kind → how often the connection was lost or silent, with its moment in losses.
    """

    endpoint: Endpoint
    arrivals: dict[bytes, Arrival] = field(default_factory=dict)
    duplicates: int = 0
    highest: int = 0
    numbers: set[int] = field(default_factory=set)
    losses: list[tuple[int, Failure]] = field(default_factory=list)

    def add(self, arrival: Arrival) -> None:
        """Count one message."""
        message = arrival.message
        if message.block_id in self.arrivals:
            self.duplicates += 1
            return
        self.arrivals[message.block_id] = arrival
        self.numbers.add(message.number)
        self.highest = max(self.highest, message.number)

    @property
    def gaps(self) -> int:
        """Return how many block numbers between the first and the last never came."""
        return max(self.numbers) - min(self.numbers) + 1 - len(self.numbers) if self.numbers else 0


def check(endpoint: Endpoint, timeout_s: float) -> int:
    """Return the head block's number: the endpoint is a state history.

    Raises:
        ProbeError: it is not, or cannot be reached.
    """
    with ShipStream(endpoint, timeout_s, threading.Event()) as stream:
        return stream.head()


def receive(plan: StreamPlan, stopped: threading.Event, clock_ns: Callable[[], int]) -> tuple[Received, ...]:
    """Subscribe to all endpoints at once until each has sent enough, or the time is over.

    Args:
        plan: what to do.
        stopped: ends it.
        clock_ns: CLOCK_MONOTONIC.

    Raises:
        KeyboardInterrupt: the operator ended it; stopped is set.
    """
    received = tuple(Received(endpoint=endpoint) for endpoint in plan.endpoints)
    threads = [
        threading.Thread(target=_subscribe, args=(one, plan, stopped, clock_ns), daemon=True)
        for one in received
    ]
    for thread in threads:
        thread.start()
    end_ns = clock_ns() + round(plan.duration_s * 1e9)
    try:
        while any(thread.is_alive() for thread in threads) and clock_ns() < end_ns:
            stopped.wait(0.1)
    finally:
        stopped.set()
        for thread in threads:
            thread.join(plan.timeout_s + 2.0)
    return received


def _subscribe(
    one: Received, plan: StreamPlan, stopped: threading.Event, clock_ns: Callable[[], int]
) -> None:
    """Receive of one endpoint; after a loss go on where it was left."""
    pause_s = _PAUSE_S
    while len(one.arrivals) < plan.most and not stopped.is_set():
        try:
            with ShipStream(one.endpoint, plan.timeout_s, stopped) as stream:
                start = one.highest + 1 if one.highest else stream.head() + 1
                for arrival in stream.blocks(start):
                    one.add(arrival)
                    pause_s = _PAUSE_S
                    if len(one.arrivals) >= plan.most:
                        return
        except ProbeError as error:
            one.losses.append((clock_ns(), error.failure))
            stopped.wait(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)


def _subject(what: str, endpoint: Endpoint) -> Subject:
    return Subject(probe=PROBE, operation=what, target=endpoint.authority)


def count(received: Sequence[Received], blocks: Blocks) -> None:
    """Put the delays of a run into blocks of time."""
    for one in received:
        _count_losses(one, blocks, BEHIND_FASTEST if len(received) == 1 else BEHIND_FIRST)
    if len(received) == 1:
        _count_single(received[0], blocks)
    else:
        _count_race(received, blocks)


def _count_losses(one: Received, blocks: Blocks, what: str) -> None:
    for at_ns, failure in one.losses:
        blocks.failed(_subject(what, one.endpoint), at_ns, failure)


def _count_single(one: Received, blocks: Blocks) -> None:
    delays = [
        (a, a.wall_ns - a.message.stamp_ns) for a in one.arrivals.values() if a.message.stamp_ns is not None
    ]
    if not delays:
        return
    fastest = min(delay for _, delay in delays)
    for arrival, delay in delays:
        blocks.succeeded(_subject(BEHIND_FASTEST, one.endpoint), arrival.monotonic_ns, delay - fastest)
        if fastest >= 0:
            blocks.succeeded(_subject(SINCE_STAMP, one.endpoint), arrival.monotonic_ns, delay)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one endpoint did against the others.

    Attributes:
        firsts: blocks that it had first.
        shared: blocks that all had.
        lead_ns: mean time by which the next one was behind where it was first; None where it never was.
        missing: blocks that another had, and it not.
    """

    endpoint: Endpoint
    firsts: int
    shared: int
    lead_ns: float | None
    missing: int
    duplicates: int

    @property
    def text(self) -> str:
        """Return it as a clause."""
        share = 100 * self.firsts / self.shared if self.shared else 0.0
        lead = "–" if self.lead_ns is None else f"{significant(self.lead_ns / 1e6)} ms"
        return (
            f"{self.endpoint.authority}: first with {significant(share)} % of {self.shared} blocks, mean lead {lead}, "
            f"missing {self.missing}, duplicates {self.duplicates}"
        )


def _shared(received: Sequence[Received]) -> list[bytes]:
    """Return the ids of the blocks that all endpoints had, by the first one's time."""
    ids = set(received[0].arrivals).intersection(*(one.arrivals for one in received[1:]))
    return sorted(ids, key=lambda i: received[0].arrivals[i].monotonic_ns)


def _count_race(received: Sequence[Received], blocks: Blocks) -> None:
    for block_id in _shared(received):
        arrivals = [one.arrivals[block_id].monotonic_ns for one in received]
        first = min(arrivals)
        for one, came_ns in zip(received, arrivals, strict=True):
            blocks.succeeded(_subject(BEHIND_FIRST, one.endpoint), first, came_ns - first)


def standings(received: Sequence[Received]) -> tuple[Standing, ...]:
    """Return how each endpoint did; none for a single one."""
    if len(received) < 2:
        return ()
    shared = _shared(received)
    all_ids = set().union(*(one.arrivals for one in received))
    leads: dict[int, list[int]] = {i: [] for i in range(len(received))}
    for block_id in shared:
        came = [one.arrivals[block_id].monotonic_ns for one in received]
        winner = came.index(min(came))
        leads[winner].append(min(c for i, c in enumerate(came) if i != winner) - came[winner])
    return tuple(
        Standing(
            endpoint=one.endpoint,
            firsts=len(leads[i]),
            shared=len(shared),
            lead_ns=sum(leads[i]) / len(leads[i]) if leads[i] else None,
            missing=len(all_ids) - len(one.arrivals),
            duplicates=one.duplicates,
        )
        for i, one in enumerate(received)
    )


def stream_findings(received: Sequence[Received]) -> Iterator[Finding]:
    """Yield what limits a run: gaps, duplicates, losses, clocks that disagree."""
    for one in received:
        name = one.endpoint.authority
        if one.losses or one.gaps or one.duplicates:
            yield Finding(
                code="latency-stream-torn",
                severity=Severity.WARNING,
                message=f"{name}: the connection was lost or silent {len(one.losses)} time(s); {one.gaps} block(s) "
                f"never came, {one.duplicates} came again.",
                hint="After a loss blocks come late all at once; look at the network and the node's log of that time.",
                subject=name,
            )
        delays = [
            a.wall_ns - a.message.stamp_ns for a in one.arrivals.values() if a.message.stamp_ns is not None
        ]
        if len(received) == 1 and delays and min(delays) < 0:
            yield Finding(
                code="latency-clock-behind",
                severity=Severity.WARNING,
                message=f"{name}: blocks came up to {significant(-min(delays) / 1e6)} ms before their own stamp, so "
                "one of the clocks is wrong; only delays behind the fastest are given.",
                hint="Let both machines follow a time server; --time-server HOST measures the error of this one.",
                subject=name,
            )
