"""Guards: what must not happen during a phase, judged on the frames that the recorder keeps anyway."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event as StopEvent

from leapprof.config.playbook_limits import AboveGuard, BelowGuard, Guards
from leapprof.config.playbook_types import Action
from leapprof.errors import ParseError
from leapprof.experiment.observe import BLOCK_MS, FrameReader, Reading
from leapprof.model import Frame, Gap, Recording
from leapprof.recorder.clock import Clock
from leapprof.recorder.observer import Observer
from leapprof.units import format_bytes, format_memory

_NS_PER_BLOCK = BLOCK_MS * 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """One breached guard."""

    host: str
    guard: str
    action: Action
    reason: str


@dataclass(slots=True, kw_only=True)
class GuardWatch:
    """Judges one host's readings.

    Attributes:
        host: its name.
        guards: of the playbook.
    """

    host: str
    guards: Guards
    _since_s: dict[str, float] = field(default_factory=dict)
    _first_head: tuple[int, int] | None = None
    _was_up: bool = False

    def judge(self, reading: Reading, now_s: float) -> Breach | None:
        """Return the first guard that is breached by now; None when all is well."""
        if reading.head_block is not None and self._first_head is None:
            self._first_head = (reading.wall_ns, reading.head_block)
        self._was_up = self._was_up or reading.is_up
        for name, problem, lasting_s, action in self._problems(reading):
            if problem is None:
                self._since_s.pop(name, None)
                continue
            since_s = self._since_s.setdefault(name, now_s)
            if now_s - since_s >= lasting_s:
                return Breach(host=self.host, guard=name, action=action, reason=problem)
        return None

    def _problems(self, reading: Reading) -> Iterator[tuple[str, str | None, float, Action]]:
        """Yield guard, what is wrong (None: nothing), how long it may be so, what then; unknown is not judged."""
        guards = self.guards
        if guards.node_down is not None:
            down = None if reading.is_up or not self._was_up else "nodeos does not run"
            yield "node_down", down, guards.node_down.lasting, guards.node_down.then
        above = (
            ("head_lag", guards.head_lag, reading.head_lag_blocks, "blocks behind"),
            ("missed_blocks", guards.missed_blocks, self._missed(reading), "blocks missed"),
            ("temperature", guards.temperature, reading.temperature_celsius, "°C"),
        )
        for name, guard, value, unit in above:
            if guard is not None and value is not None:
                yield name, _above(guard, value, unit), guard.lasting, guard.then
        below = (
            ("memory_available", guards.memory_available, reading.mem_available_bytes, "of memory available"),
            ("swap_free", guards.swap_free, reading.swap_free_bytes, "of swap free"),
            ("disk_free", guards.disk_free, reading.disk_free_bytes, "of disk free"),
        )
        for name, low, left, what in below:
            if low is not None and left is not None:
                yield name, _below(low, left, what), low.lasting, low.then

    def _missed(self, reading: Reading) -> float | None:
        if self._first_head is None or reading.head_block is None:
            return None
        wall_ns, head = self._first_head
        due = (reading.wall_ns - wall_ns) / _NS_PER_BLOCK
        return max(0.0, due - (reading.head_block - head) - 1)


def _above(guard: AboveGuard, value: float, unit: str) -> str | None:
    return f"{value:.0f} {unit}, more than {guard.above:g}" if value > guard.above else None


def _below(guard: BelowGuard, left_bytes: int, what: str) -> str | None:
    if left_bytes >= guard.below:
        return None
    shown = format_bytes if "disk" in what else format_memory
    return f"{shown(left_bytes)} {what}, less than {shown(guard.below)}"


class GuardingObserver:
    """Watches the recorder's frames for breaches, and hands everything on; called from the thread of each host."""

    def __init__(
        self, guards: Guards, names: dict[str, str], clock: Clock, stop: StopEvent, inner: Observer
    ) -> None:
        """Begin without a breach.

        Args:
            guards: of the playbook.
            names: recorder's name of a host → name in the playbook.
            clock: the collector's.
            stop: is set at the first breach.
            inner: who watches too.
        """
        self.breaches: list[Breach] = []
        self._clock, self._stop, self._inner = clock, stop, inner
        self._mutex = threading.Lock()
        self._readers = {name: FrameReader() for name in names}
        heat = Guards(node_down=None, temperature=guards.temperature)
        self._watches = {name: GuardWatch(host=entry, guards=guards) for name, entry in names.items()}
        self._heat_watches = {name: GuardWatch(host=entry, guards=heat) for name, entry in names.items()}

    def started(self, host: str, directory: Path, manifest: Recording) -> None:
        """Note which nodeos is watched."""
        if len(manifest.nodeos) == 1:
            self._readers[host].nodeos_id = manifest.nodeos[0].id
        self._inner.started(host, directory, manifest)

    def sampled(self, host: str, frame: Frame) -> None:
        """Judge a frame."""
        self._inner.sampled(host, frame)
        try:
            reading = self._readers[host].read(frame)
        except ParseError:  # a frame that cannot be read tells nothing; the recorder keeps it
            return
        self._judge(self._watches[host], reading)

    def heat(self, host: str, celsius: float, wall_ns: int) -> None:
        """Judge a temperature, which frames do not hold."""
        reading = Reading(wall_ns=wall_ns, is_up=True, temperature_celsius=celsius)
        self._judge(self._heat_watches[host], reading)

    def _judge(self, watch: GuardWatch, reading: Reading) -> None:
        with self._mutex:
            breach = watch.judge(reading, self._clock.monotonic_s())
            if breach is not None:
                self.breaches.append(breach)
                self._stop.set()

    def gap(self, host: str, gap: Gap) -> None:
        """Hand on."""
        self._inner.gap(host, gap)

    def trouble(self, host: str, problem: str) -> None:
        """Hand on."""
        self._inner.trouble(host, problem)

    def ended(self, host: str, problem: str | None) -> None:
        """Hand on."""
        self._inner.ended(host, problem)
