"""Boots and clocks of a host, seen from its frames."""

from leapprof.model import Event, Frame

CLOCK_STEP_NS = 1_000_000_000
SLEW_DIVISOR = 2000
"""The kernel slews a clock by at most 500 ppm (adjtimex(2)): a drift below elapsed / 2000 is no step."""


class BootTracker:
    """Counts boots and notices steps of the wall clock.

    Args:
        boot: number of the boot that the first frame belongs to.
        boot_id: its id, when known from an earlier ingest.
    """

    def __init__(self, boot: int, boot_id: str | None) -> None:
        """Start before the first frame."""
        self.boot = boot
        self.boot_id = boot_id
        self._boottime_ns: int | None = None
        self._wall_minus_boot_ns = 0

    def add(self, frame: Frame, boot_id: str | None) -> Event | None:
        """Take note of a frame; return a reboot or clock-step event.

        Args:
            frame: the next frame.
            boot_id: /proc/sys/kernel/random/boot_id where the frame has it.
        """
        known = boot_id is not None and self.boot_id is not None
        went_back = self._boottime_ns is not None and frame.boottime_ns < self._boottime_ns
        rebooted = boot_id != self.boot_id if known else went_back
        event = None
        if rebooted:
            self.boot += 1
            self.boot_id = None
            event = _event(frame, "reboot", "the host was booted again")
        elif self._boottime_ns is not None:
            event = self._clock_step(frame)
        self.boot_id = boot_id or self.boot_id
        self._boottime_ns = frame.boottime_ns
        self._wall_minus_boot_ns = frame.wall_ns - frame.boottime_ns
        return event

    def _clock_step(self, frame: Frame) -> Event | None:
        assert self._boottime_ns is not None
        elapsed_ns = abs(frame.boottime_ns - self._boottime_ns)
        step_ns = frame.wall_ns - frame.boottime_ns - self._wall_minus_boot_ns
        if abs(step_ns) <= CLOCK_STEP_NS + elapsed_ns // SLEW_DIVISOR:
            return None
        return _event(frame, "clock-step", f"the wall clock was set by {step_ns / 1e9:+.3f} s")


def _event(frame: Frame, kind: str, detail: str) -> Event:
    return Event(boottime_ns=frame.boottime_ns, wall_ns=frame.wall_ns, kind=kind, subject="", detail=detail)
