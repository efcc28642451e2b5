"""An open loop: attempts begin at planned moments, whatever became of those before.

A closed loop asks again only after the answer, so a server that stalls for a second is asked once instead of a hundred
times, and the stall vanishes from the percentiles (coordinated omission; Tene, "How NOT to Measure Latency", 2015).
Here an attempt that no worker was free for is counted from its planned moment on, and as timed out when none became
free within the time-out. A worker that waited and was woken late by its own machine begins when it woke: that is the
probe's lateness, which is kept apart and not the server's.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from leapprof.latency.blocks import Blocks, Subject
from leapprof.latency.wire import Deadline, ProbeError
from leapprof.units import NS_PER_S

_LONGEST_NAP_S = 0.2
"""So that an interrupted run ends soon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """When attempts are made.

    Attributes:
        rate_per_s: attempts a second.
        duration_s: of the counted part.
        warm_up_s: in front of it, made and not counted.
        most: attempts at most, warm-up included.
        timeout_s: of one attempt, from its planned moment.
    """

    rate_per_s: float
    duration_s: float
    warm_up_s: float
    most: int
    timeout_s: float

    @property
    def attempts(self) -> int:
        """Return how many attempts there will be."""
        return min(self.most, max(1, round((self.warm_up_s + self.duration_s) * self.rate_per_s)))

    def planned_ns(self, number: int, start_ns: int) -> int:
        """Return when an attempt is planned."""
        return start_ns + round(number * NS_PER_S / self.rate_per_s)


class Schedule:
    """Gives out the attempts in order, each to one worker."""

    def __init__(self, pace: Pace, start_ns: int) -> None:
        """Plan from a moment of CLOCK_MONOTONIC on."""
        self._pace, self._start_ns = pace, start_ns
        self._next = 0
        self._lock = threading.Lock()
        self.stopped = threading.Event()

    def take(self) -> tuple[int, int] | None:
        """Return number and planned moment of the next attempt; None when there is none."""
        with self._lock:
            number = self._next
            if number >= self._pace.attempts or self.stopped.is_set():
                return None
            self._next += 1
        return number, self._pace.planned_ns(number, self._start_ns)

    def wait(self, planned_ns: int) -> bool:
        """Sleep until a moment; False when the run was stopped meanwhile."""
        while (left := planned_ns - time.monotonic_ns()) > 0:
            if self.stopped.is_set():
                return False
            time.sleep(min(left / NS_PER_S, _LONGEST_NAP_S))
        return True


def work(
    schedule: Schedule,
    pace: Pace,
    attempt: Callable[[int, Deadline], None],
    blocks: Blocks,
    subjects: tuple[Subject, ...],
) -> None:
    """Make attempts until there are no more: what one worker does.

    Args:
        schedule: shared by all workers.
        pace: of the run.
        attempt: makes the attempt of this number.
        blocks: where results go.
        subjects: number modulo their count is the subject of an attempt.
    """
    while (given := schedule.take()) is not None:
        number, planned_ns = given
        subject = subjects[number % len(subjects)]
        waited = time.monotonic_ns() < planned_ns
        if not schedule.wait(planned_ns):
            return
        began_ns = time.monotonic_ns()
        late_ns = began_ns - planned_ns if waited else 0
        deadline = Deadline(planned_ns + late_ns + round(pace.timeout_s * NS_PER_S), pace.timeout_s)
        try:
            deadline.left_s("free connection")
            attempt(number, deadline)
        except ProbeError as error:
            blocks.failed(subject, planned_ns, error.failure)
        else:
            blocks.succeeded(subject, planned_ns, time.monotonic_ns() - planned_ns - late_ns, late_ns)
