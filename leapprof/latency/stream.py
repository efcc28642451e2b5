"""The probe ``stream``: subscriptions of one machine, all at once, each going on where a lost connection left it."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise

from leapprof.latency.message import Arrival, Subscription
from leapprof.latency.wire import Failure, ProbeError
from leapprof.units import NS_PER_S

PROBE = "stream"
_POLL_S = 0.1
_JOIN_S = 3.0
"""A connection that is being made when the run ends is left to itself."""
_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 5.0
_SWITCH_S = 0.0002
"""For how long one thread of Python may keep another, which has a message to stamp, waiting (5 ms usually)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPlan:
    """What is subscribed to, and for how long.

    Attributes:
        most: messages of each.
        duration_s: at most.
        timeout_s: for a connection, and for each message.
    """

    subscriptions: tuple[Subscription, ...]
    most: int
    duration_s: float
    timeout_s: float


@dataclass(slots=True, kw_only=True)
class Received:
    """What one endpoint sent; one thread adds, others take snapshots.

    Attributes:
        name: of the endpoint.
        arrivals: key of a message → its first arrival.
        duplicates: messages that came again, without those that a resumed connection sends once more.
        highest: number of the latest message.
        befores: number → the one right before it.
        resumed_at: up to this number a message that comes again is no duplicate.
        losses: when the connection was lost or silent, CLOCK_MONOTONIC, and why.
        ended: why it will not be tried again; None while it is.
    """

    name: str
    arrivals: dict[bytes, Arrival] = field(default_factory=dict)
    duplicates: int = 0
    highest: int | None = None
    befores: dict[int, int] = field(default_factory=dict)
    resumed_at: int = -1
    losses: list[tuple[int, Failure]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, arrival: Arrival) -> None:
        """Count one message."""
        message = arrival.message
        with self.lock:
            self.highest = max(message.number, -1 if self.highest is None else self.highest)
            if message.before is not None:
                self.befores[message.number] = message.before
            if message.key is None:
                return
            if self.arrivals.setdefault(message.key, arrival) is not arrival:
                self.duplicates += message.number > self.resumed_at

    def lose(self, at_ns: int, failure: Failure) -> None:
        """Count the loss of a connection."""
        with self.lock:
            self.losses.append((at_ns, failure))
            self.resumed_at = -1 if self.highest is None else self.highest

    def snapshot(self) -> "Received":
        """Return a copy that no thread adds to."""
        with self.lock:
            return replace(
                self,
                arrivals=self.arrivals.copy(),
                befores=self.befores.copy(),
                losses=self.losses.copy(),
                lock=threading.Lock(),
            )

    @property
    def gaps(self) -> int:
        """Return how many numbers between the first and the last never came."""
        steps = pairwise(sorted(self.befores))
        return sum(max(self.befores[number] - earlier, 0) for earlier, number in steps)


def receive(
    plan: StreamPlan,
    received: tuple[Received, ...],
    stopped: threading.Event,
    meanwhile: Callable[[], None] = lambda: None,
) -> None:
    """Subscribe to all endpoints at once until each has sent enough, or the time is over.

    Args:
        plan: what to do.
        received: one for each subscription, where its messages go.
        stopped: ends it.
        meanwhile: called several times a second.

    Raises:
        KeyboardInterrupt: the operator ended it; what came is in received.
    """
    threads = [
        threading.Thread(target=_subscribe, args=(one, subscription, plan, stopped), daemon=True)
        for one, subscription in zip(received, plan.subscriptions, strict=True)
    ]
    end_s = time.monotonic() + plan.duration_s
    with _prompt():
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads) and time.monotonic() < end_s:
                if stopped.wait(_POLL_S):
                    break
                meanwhile()
        finally:
            stopped.set()
            for thread in threads:
                thread.join(_JOIN_S)


@contextmanager
def _prompt() -> Iterator[None]:
    """Let a thread that waits for the interpreter have it soon."""
    before_s = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH_S)
    try:
        yield
    finally:
        sys.setswitchinterval(before_s)


def _subscribe(one: Received, subscription: Subscription, plan: StreamPlan, stopped: threading.Event) -> None:
    """Receive of one endpoint; after a loss go on where it was left."""
    pause_s = _PAUSE_S
    while not stopped.is_set():
        try:
            for arrival in subscription.arrivals(one.highest, plan.timeout_s, stopped):
                one.add(arrival)
                pause_s = _PAUSE_S
                if len(one.arrivals) >= plan.most:
                    return
        except ProbeError as error:
            one.lose(time.monotonic_ns(), error.failure)
            stopped.wait(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)
        else:
            if subscription.can_end:
                return


def wait_until(monotonic_ns: int) -> None:
    """Sleep until a moment of CLOCK_MONOTONIC."""
    time.sleep(max(monotonic_ns - time.monotonic_ns(), 0) / NS_PER_S)
