"""The probe ``forward``: what a relay adds to packets, by numbered and stamped ones that go in here and come out here.

One machine sends to the relay and is where the relay sends to, so one clock stamps both ends: the sender right before
send(2), the kernel at arrival (SO_TIMESTAMPNS, socket(7)) where it offers that. Every second packet goes straight to
the receiver, without the relay: that is the probe's own floor, under the same load at the same time.
"""

import secrets
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from leapprof.errors import SourceError
from leapprof.latency.blocks import Blocks, Subject
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.findings import Losses, loss_finding
from leapprof.latency.forward_paths import RELAYED_PATH, STRAIGHT_PATH, Paths, TcpPaths, UdpPaths
from leapprof.latency.open_loop import Pace, Schedule
from leapprof.latency.wire import Failure
from leapprof.model import Finding, Severity, evidence
from leapprof.units import NS_PER_S, significant

PROBE = "forward"
RELAYED, FLOOR = "relayed", "floor (no relay)"
TRANSPORTS = ("udp", "tcp")
_HEAD = struct.Struct("<8sQQ")
LEAST_BYTES = _HEAD.size
MOST_PACKETS = 10_000_000
_POLL_S = 0.1
_CHECK_PACKETS = 20
_MOST_COUNTED, _GIVEN_UP = 254, 255


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardPlan:
    """What is sent where.

    Attributes:
        relay: where the relay takes packets.
        listen: where it sends them to: an address of this machine.
        transport: one of TRANSPORTS.
        size_bytes: of a packet's payload.
    """

    relay: Endpoint
    listen: Endpoint
    size_bytes: int
    pace: Pace
    transport: str = "udp"

    @property
    def subjects(self) -> tuple[Subject, Subject]:
        """Return what delays are of: even packets are relayed, odd ones go straight."""
        return (
            Subject(probe=PROBE, operation=RELAYED, target=self.relay.authority),
            Subject(probe=PROBE, operation=FLOOR, target=self.listen.authority),
        )

    def open_paths(self) -> Paths:
        """Return what carries the packets.

        Raises:
            SourceError: an address cannot be used.
        """
        if self.transport == "tcp":
            return TcpPaths(self.relay, self.listen, self.size_bytes, self.pace.timeout_s)
        return UdpPaths(self.relay, self.listen, self.size_bytes)


@dataclass(slots=True, kw_only=True)
class Passage:
    """What became of the packets.

    Attributes:
        came: one byte a packet: how often it arrived; given up when it did not within the time-out.
        sent: number beyond the latest packet that was sent, by path.
        settled: up to this number it is known of each packet whether it came.
        highest: number of the latest packet that arrived, by path.
        lost, reordered: packets of the relay that never came, and that came after one with a higher number.
        duplicates: packets that came again.
        stamped_by_kernel: arrivals whose moment the kernel gave.
    """

    came: bytearray
    sent: list[int] = field(default_factory=lambda: [0, 0])
    settled: int = 0
    highest: list[int] = field(default_factory=lambda: [-1, -1])
    lost: int = 0
    reordered: int = 0
    duplicates: int = 0
    stamped_by_kernel: int = 0


class Forwarder:
    """One run. Use with ``with``."""

    def __init__(self, plan: ForwardPlan) -> None:
        """Open the paths.

        Raises:
            SourceError: an address cannot be used.
        """
        self._plan = plan
        self._token = secrets.token_bytes(8)
        self._padding = bytes(plan.size_bytes - LEAST_BYTES)
        self._paths = plan.open_paths()
        self._lock = threading.Lock()
        self.passage = Passage(came=bytearray(plan.pace.attempts))

    def __enter__(self) -> "Forwarder":
        return self

    def __exit__(self, *_: object) -> None:
        self._paths.close()

    def check(self) -> None:
        """Send a few packets, so that a relay that forwards nothing ends the run before it begins.

        Raises:
            SourceError: none came out within the time-out.
        """
        timeout_s = self._plan.pace.timeout_s
        end_s = time.monotonic() + timeout_s
        token, sent = self._token[::-1], 0
        while time.monotonic() < end_s:
            if sent < _CHECK_PACKETS:
                self._send(RELAYED_PATH, token, sent, 0)
                sent += 1
            found = self._paths.receive()
            if found is not None and found.data[:8] == token:
                return
        raise SourceError(
            self._plan.relay.authority,
            f"no packet came out of the relay at {self._plan.listen.authority} within {timeout_s:g} s: it is not "
            f"there, or does not send to that address by {self._plan.transport.upper()}",
        )

    def _send(self, path: int, token: bytes, number: int, held_ns: int) -> bool:
        """Send a packet with the moment at which it should have gone."""
        head = _HEAD.pack(token, number, time.time_ns() - held_ns)
        return self._paths.send(path, head + self._padding)

    def run(
        self,
        blocks: Blocks,
        start_ns: int,
        stopped: threading.Event,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        """Send all packets and wait for them; what became of them is in passage.

        Args:
            blocks: where delays go.
            start_ns: CLOCK_MONOTONIC of the first packet.
            stopped: ends the run.
            meanwhile: called several times a second.

        Raises:
            KeyboardInterrupt: the operator ended it; what came is in blocks.
        """
        done = threading.Event()
        collector = threading.Thread(target=self._collect, args=(blocks, start_ns, done), daemon=True)
        senders = [
            threading.Thread(target=self._send_all, args=(path, start_ns, stopped), daemon=True)
            for path in (RELAYED_PATH, STRAIGHT_PATH)
        ]
        for thread in (collector, *senders):
            thread.start()
        timeout_s = self._plan.pace.timeout_s
        try:
            while any(sender.is_alive() for sender in senders) and not stopped.wait(_POLL_S):
                meanwhile()
            stopped.wait(timeout_s)
        finally:
            stopped.set()
            done.set()
            for thread in (collector, *senders):
                thread.join(timeout_s + 2.0)
            self.settle(blocks, start_ns, time.monotonic_ns())

    def _send_all(self, path: int, start_ns: int, stopped: threading.Event) -> None:
        pace = self._plan.pace
        schedule = Schedule(pace, start_ns)
        schedule.stopped = stopped
        for number in range(path, pace.attempts, 2):
            planned_ns = pace.planned_ns(number, start_ns)
            behind_ns = max(time.monotonic_ns() - planned_ns, 0)
            if not schedule.wait(planned_ns):
                return
            self._send(path, self._token, number, behind_ns if self._paths.holds_up else 0)
            self.passage.sent[path] = number + 1

    def _collect(self, blocks: Blocks, start_ns: int, done: threading.Event) -> None:
        while not done.is_set():
            found = self._paths.receive()
            if found is None or len(found.data) < LEAST_BYTES:
                continue
            token, number, sent_ns = _HEAD.unpack_from(found.data)
            if token == self._token and number < len(self.passage.came) and self._is_first(number):
                self.passage.stamped_by_kernel += found.by_kernel
                planned_ns = self._plan.pace.planned_ns(number, start_ns)
                blocks.succeeded(self._plan.subjects[number % 2], planned_ns, found.wall_ns - sent_ns)

    def _is_first(self, number: int) -> bool:
        """Count an arrival; False when the packet came before, or was given up."""
        passage, path = self.passage, number % 2
        with self._lock:
            times = passage.came[number]
            if times == _GIVEN_UP:
                return False
            passage.came[number] = min(times + 1, _MOST_COUNTED)
            passage.duplicates += times > 0
            if times == 0:
                passage.reordered += path == RELAYED_PATH and number < passage.highest[path]
                passage.highest[path] = max(passage.highest[path], number)
            return times == 0

    def settle(self, blocks: Blocks, start_ns: int, until_ns: int) -> None:
        """Count as lost what was planned a time-out before a moment of CLOCK_MONOTONIC, was sent and did not come."""
        pace, passage = self._plan.pace, self.passage
        limit_ns = until_ns - round(pace.timeout_s * NS_PER_S)
        while passage.settled < len(passage.came):
            number = passage.settled
            planned_ns = pace.planned_ns(number, start_ns)
            if planned_ns > limit_ns:
                return
            passage.settled += 1
            with self._lock:
                is_lost = passage.came[number] == 0 and number < passage.sent[number % 2]
                if is_lost:
                    passage.came[number] = _GIVEN_UP
            if is_lost:
                passage.lost += number % 2 == RELAYED_PATH
                blocks.failed(self._plan.subjects[number % 2], planned_ns, Failure.LOST)


def forward_findings(plan: ForwardPlan, passage: Passage, floor_ns: float | None) -> Iterator[Finding]:
    """Yield what limits a run: loss, reordering, repetition, and the probe's own floor."""
    losses = Losses(
        packets=(passage.sent[RELAYED_PATH] + 1) // 2,
        lost=passage.lost,
        reordered=passage.reordered,
        repeated=passage.duplicates,
    )
    if (found := loss_finding(losses, relay=plan.relay.authority)) is not None:
        yield found
    if floor_ns is not None:
        by = "the kernel" if passage.stamped_by_kernel else "the probe"
        yield Finding(
            code="latency-floor",
            severity=Severity.INFO,
            message=f"The probe's own floor is {significant(floor_ns / 1000)} µs at the median (packets that went "
            f"straight, arrivals stamped by {by}): differences below it are not resolved.",
            hint="Compare a relay with the floor beside it, or two relays of the same probe.",
            evidence=evidence("s", floor=floor_ns / NS_PER_S),
        )
