"""The probe ``forward``: what a relay adds to packets, by numbered and stamped ones that go in here and come out here.

One machine sends to the relay and is where the relay sends to, so one clock stamps both ends: the sender right before
sendto(2), the kernel at arrival (SO_TIMESTAMPNS, socket(7)) where it offers that. Every second packet goes straight to
the receiver, without the relay: that is the probe's own floor, under the same load at the same time.
"""

import secrets
import socket
import struct
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from leapprof.errors import SourceError
from leapprof.latency.blocks import Blocks, Subject
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.open_loop import Pace, Schedule
from leapprof.latency.wire import Failure, ProbeError, resolve
from leapprof.model import Finding, Severity
from leapprof.units import NS_PER_S, significant

PROBE = "forward"
RELAYED, FLOOR = "relayed", "floor (no relay)"
_HEAD = struct.Struct("<8sQQ")
LEAST_BYTES = _HEAD.size
MOST_BYTES = 65_000
MOST_PACKETS = 10_000_000
_TIMESTAMPNS = 35
"""SO_TIMESTAMPNS and SCM_TIMESTAMPNS of asm-generic/socket.h; Python names neither."""
_TIMESPEC = struct.Struct("@qq")
_POLL_S = 0.1
_BUFFER_BYTES = 4 * 2**20
_CHECK_PACKETS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardPlan:
    """What is sent where.

    Attributes:
        relay: where the relay takes packets.
        listen: where it sends them to: an address of this machine.
        size_bytes: of a packet's payload.
    """

    relay: Endpoint
    listen: Endpoint
    size_bytes: int
    pace: Pace

    @property
    def subjects(self) -> tuple[Subject, Subject]:
        """Return what delays are of: even packets are relayed, odd ones go straight."""
        return (
            Subject(probe=PROBE, operation=RELAYED, target=self.relay.authority),
            Subject(probe=PROBE, operation=FLOOR, target=self.listen.authority),
        )


@dataclass(slots=True, kw_only=True)
class Passage:
    """What became of the packets.

    Attributes:
        came: one byte a packet: how often it arrived, 255 at most.
        sent: packets sent.
        highest: number of the latest packet that arrived, by path.
        reordered: packets that arrived after one with a higher number of the same path.
        stamped_by_kernel: arrivals whose moment the kernel gave.
    """

    came: bytearray
    sent: int = 0
    highest: list[int] = field(default_factory=lambda: [-1, -1])
    reordered: int = 0
    stamped_by_kernel: int = 0

    @property
    def duplicates(self) -> int:
        """Return how many packets came again."""
        return sum(n - 1 for n in self.came if n > 1)

    def lost(self, path: int) -> list[int]:
        """Return the numbers of sent packets of a path that never came."""
        return [n for n in range(path, self.sent, 2) if not self.came[n]]


class Forwarder:
    """The two sockets of a run. Use with ``with``."""

    def __init__(self, plan: ForwardPlan) -> None:
        """Open both.

        Raises:
            SourceError: an address cannot be used.
        """
        self._plan = plan
        self._token = secrets.token_bytes(8)
        try:
            self._relay, self._listen = (resolve(e)[0] for e in (plan.relay, plan.listen))
        except ProbeError as error:
            raise SourceError(plan.relay.authority, error.problem) from error
        self._receiver = socket.socket(self._listen.family, socket.SOCK_DGRAM)
        self._sender = socket.socket(self._relay.family, socket.SOCK_DGRAM)
        self._direct = socket.socket(self._listen.family, socket.SOCK_DGRAM)
        try:
            self._receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
            self._receiver.setsockopt(socket.SOL_SOCKET, _TIMESTAMPNS, 1)
            self._receiver.bind(self._listen.sockaddr)
            self._receiver.settimeout(_POLL_S)
        except OSError as error:
            self.__exit__()
            raise SourceError(
                plan.listen.authority,
                f"cannot listen there ({error.strerror}): it has to be a free port of this machine",
            ) from error

    def __enter__(self) -> "Forwarder":
        return self

    def __exit__(self, *_: object) -> None:
        for sock in (self._receiver, self._sender, self._direct):
            sock.close()

    def check(self) -> None:
        """Send a few packets, so that a relay that forwards nothing ends the run before it begins.

        Raises:
            SourceError: none came out within the time-out.
        """
        timeout_s = self._plan.pace.timeout_s
        end_s = time.monotonic() + timeout_s
        sent = 0
        while time.monotonic() < end_s:
            if sent < _CHECK_PACKETS:
                self._send(2 * sent, self._token[::-1])
                sent += 1
            found = self._receive()
            if found is not None and found[0] == self._token[::-1]:
                return
        raise SourceError(
            self._plan.relay.authority,
            f"no packet came out of the relay at {self._plan.listen.authority} within {timeout_s:g} s: it is not "
            "there, or does not send to that address",
        )

    def _send(self, number: int, token: bytes) -> bool:
        """Send a packet with the moment; False when this machine's own network refused it."""
        is_direct = number % 2
        sock = self._direct if is_direct else self._sender
        padding = bytes(self._plan.size_bytes - LEAST_BYTES)
        address = (self._listen if is_direct else self._relay).sockaddr
        try:
            sock.sendto(_HEAD.pack(token, number, time.time_ns()) + padding, address)
        except OSError:
            return False
        return True

    def _receive(self) -> tuple[bytes, int, int, int, bool] | None:
        """Return token, number, sent and arrived of a packet, and whether the kernel said when; None of none."""
        try:
            data, more, _, _ = self._receiver.recvmsg(MOST_BYTES, 256)
        except OSError:
            return None
        now_ns = time.time_ns()
        if len(data) < LEAST_BYTES:
            return None
        token, number, sent_ns = _HEAD.unpack_from(data)
        for level, kind, content in more:
            if (level, kind) == (socket.SOL_SOCKET, _TIMESTAMPNS) and len(content) >= _TIMESPEC.size:
                seconds, rest = _TIMESPEC.unpack_from(content)
                return token, number, sent_ns, seconds * NS_PER_S + rest, True
        return token, number, sent_ns, now_ns, False

    def run(self, blocks: Blocks, start_ns: int, stopped: threading.Event) -> Passage:
        """Send all packets and wait for them; returns what became of them.

        Args:
            blocks: where delays go.
            start_ns: CLOCK_MONOTONIC of the first packet.
            stopped: ends the run.
        """
        passage = Passage(came=bytearray(self._plan.pace.attempts))
        done = threading.Event()
        thread = threading.Thread(target=self._collect, args=(blocks, start_ns, passage, done), daemon=True)
        thread.start()
        try:
            self._send_all(start_ns, passage, stopped)
            stopped.wait(self._plan.pace.timeout_s)
        finally:
            done.set()
            thread.join(2.0)
            for path, subject in enumerate(self._plan.subjects):
                for number in passage.lost(path):
                    blocks.failed(subject, self._plan.pace.planned_ns(number, start_ns), Failure.LOST)
        return passage

    def _send_all(self, start_ns: int, passage: Passage, stopped: threading.Event) -> None:
        schedule = Schedule(self._plan.pace, start_ns)
        schedule.stopped = stopped
        while (given := schedule.take()) is not None:
            number, planned_ns = given
            if not schedule.wait(planned_ns):
                return
            self._send(number, self._token)
            passage.sent = number + 1

    def _collect(self, blocks: Blocks, start_ns: int, passage: Passage, done: threading.Event) -> None:
        subjects = self._plan.subjects
        while not done.is_set():
            found = self._receive()
            if found is None or found[0] != self._token or found[1] >= len(passage.came):
                continue
            _, number, sent_ns, arrived_ns, by_kernel = found
            passage.came[number] = min(passage.came[number] + 1, 255)
            if passage.came[number] > 1:
                continue
            path = number % 2
            passage.reordered += number < passage.highest[path]
            passage.highest[path] = max(passage.highest[path], number)
            passage.stamped_by_kernel += by_kernel
            planned_ns = self._plan.pace.planned_ns(number, start_ns)
            blocks.succeeded(subjects[path], planned_ns, arrived_ns - sent_ns)


def forward_findings(plan: ForwardPlan, passage: Passage, floor_ns: float | None) -> Iterator[Finding]:
    """Yield what limits a run: loss, reordering, repetition, and the probe's own floor."""
    lost = len(passage.lost(0))
    if lost or passage.reordered or passage.duplicates:
        yield Finding(
            code="latency-packets-lost",
            severity=Severity.WARNING,
            message=f"{plan.relay.authority}: {lost} of {(passage.sent + 1) // 2} packets lost, {passage.reordered} "
            f"reordered, {passage.duplicates} repeated.",
            hint="Lower --rate to see whether the relay or this machine drops them.",
            subject=plan.relay.authority,
        )
    if floor_ns is not None:
        by = "the kernel" if passage.stamped_by_kernel else "the probe"
        yield Finding(
            code="latency-floor",
            severity=Severity.INFO,
            message=f"The probe's own floor is {significant(floor_ns / 1000)} µs at the median (packets that went "
            f"straight, arrivals stamped by {by}): differences below it are not resolved.",
            hint="Compare a relay with the floor beside it, or two relays of the same probe.",
        )
