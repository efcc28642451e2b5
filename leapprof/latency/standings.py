"""Delays of subscriptions, from the moments at which their messages came.

Of one endpoint: each message's delay since its stamp, and behind the fastest of the run, in which a constant error of
either clock cancels. Of several from one machine (head to head): by how much each is behind the first that had a
message, on one monotonic clock; only messages that all of them had count, first arrivals with 0.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from leapprof.latency.blocks import Blocks, Subject
from leapprof.latency.stream import PROBE, Received
from leapprof.model import Finding, Severity, evidence
from leapprof.units import NS_PER_S, significant

BEHIND_FASTEST, SINCE_STAMP, BEHIND_FIRST = "behind the fastest", "since its stamp", "behind the first"
TOLD = "told by the log"


def _subject(what: str, one: Received) -> Subject:
    return Subject(probe=PROBE, operation=what, target=one.name)


def count(received: Sequence[Received], blocks: Blocks) -> None:
    """Put the delays of a run into blocks of time."""
    for one in received:
        what = BEHIND_FASTEST if len(received) == 1 else BEHIND_FIRST
        for at_ns, failure in one.losses:
            blocks.failed(_subject(what, one), at_ns, failure)
        _count_told(one, blocks)
    if len(received) == 1:
        _count_single(received[0], blocks)
    else:
        _count_race(received, blocks)


def _count_told(one: Received, blocks: Blocks) -> None:
    for arrival in one.arrivals.values():
        told_ns = arrival.message.told_ns
        if told_ns is not None and told_ns >= 0:
            blocks.succeeded(_subject(TOLD, one), arrival.monotonic_ns, told_ns)


def _delays_ns(one: Received) -> list[tuple[int, int]]:
    """Return when each message came, CLOCK_MONOTONIC, and its delay since its stamp by two clocks."""
    return [
        (a.monotonic_ns, a.wall_ns - a.message.stamp_ns)
        for a in one.arrivals.values()
        if a.message.stamp_ns is not None
    ]


def _count_single(one: Received, blocks: Blocks) -> None:
    delays = _delays_ns(one)
    fastest_ns = min((delay for _, delay in delays), default=0)
    for at_ns, delay_ns in delays:
        blocks.succeeded(_subject(BEHIND_FASTEST, one), at_ns, delay_ns - fastest_ns)
        if fastest_ns >= 0:
            blocks.succeeded(_subject(SINCE_STAMP, one), at_ns, delay_ns)


def _shared(received: Sequence[Received]) -> list[list[int]]:
    """Return when messages that all endpoints had came to each, CLOCK_MONOTONIC, in the order of the first one's."""
    keys = set(received[0].arrivals).intersection(*(one.arrivals for one in received[1:]))
    return sorted([one.arrivals[key].monotonic_ns for one in received] for key in keys)


def _count_race(received: Sequence[Received], blocks: Blocks) -> None:
    for came_ns in _shared(received):
        first_ns = min(came_ns)
        for one, at_ns in zip(received, came_ns, strict=True):
            blocks.succeeded(_subject(BEHIND_FIRST, one), first_ns, at_ns - first_ns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one endpoint did against the others.

    Attributes:
        name: of the endpoint.
        firsts: messages that it had first.
        shared: messages that all had.
        lead_ns: mean time by which the next one was behind where it was first; None where it never was.
        missing: messages that another had, and it not, of blocks or slots between the latest first and the earliest
            last one of all.
    """

    name: str
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
            f"{self.name}: first with {significant(share)} % of {self.shared} messages, mean lead {lead}, "
            f"missing {self.missing}, duplicates {self.duplicates}"
        )


def _common_numbers(received: Sequence[Received]) -> tuple[int, int]:
    """Return the latest first and the earliest last number: before and after, not all were subscribed."""
    numbers = [[a.message.number for a in one.arrivals.values()] for one in received]
    return max(min(n, default=0) for n in numbers), min(max(n, default=0) for n in numbers)


def _keys_between(one: Received, low: int, high: int) -> frozenset[bytes]:
    return frozenset(key for key, a in one.arrivals.items() if low < a.message.number < high)


def standings(received: Sequence[Received]) -> tuple[Standing, ...]:
    """Return how each endpoint did; none for a single one."""
    if len(received) < 2:
        return ()
    shared = _shared(received)
    middles = [_keys_between(one, *_common_numbers(received)) for one in received]
    all_keys = frozenset().union(*middles)
    leads: dict[int, list[int]] = {i: [] for i in range(len(received))}
    for came_ns in shared:
        winner = came_ns.index(min(came_ns))
        leads[winner].append(min(c for i, c in enumerate(came_ns) if i != winner) - came_ns[winner])
    return tuple(
        Standing(
            name=one.name,
            firsts=len(leads[i]),
            shared=len(shared),
            lead_ns=sum(leads[i]) / len(leads[i]) if leads[i] else None,
            missing=len(all_keys) - len(middles[i]),
            duplicates=one.duplicates,
        )
        for i, one in enumerate(received)
    )


def stream_findings(received: Sequence[Received]) -> Iterator[Finding]:
    """Yield what limits a run: gaps, duplicates, losses, clocks that disagree."""
    for one in received:
        if one.losses or one.gaps or one.duplicates:
            yield Finding(
                code="latency-stream-torn",
                severity=Severity.WARNING,
                message=f"{one.name}: the connection was lost or silent {len(one.losses)} time(s); {one.gaps} block(s) "
                f"or slot(s) never came, {one.duplicates} message(s) came again.",
                hint="After a loss messages come all at once; look at the network and the node's log of that time.",
                subject=one.name,
                evidence=evidence(
                    "count", losses=len(one.losses), never_came=one.gaps, came_again=one.duplicates
                ),
            )
        ahead_ns = -min((delay for _, delay in _delays_ns(one)), default=0)
        if len(received) == 1 and ahead_ns > 0:
            yield Finding(
                code="latency-clock-behind",
                severity=Severity.WARNING,
                message=f"{one.name}: messages came up to {significant(ahead_ns / 1e6)} ms before their own stamp, so "
                "one of the clocks is wrong; only delays behind the fastest are given.",
                hint="Let both machines follow a time server; --time-server HOST measures the error of this one.",
                subject=one.name,
                evidence=evidence("s", ahead=ahead_ns / NS_PER_S),
            )
