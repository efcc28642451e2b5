"""What the sampling itself cost, summed over all runs of the agent. Pure."""

from dataclasses import dataclass

from leapprof.model import Frame, ReadStatus, SamplingCost
from leapprof.units import NS_PER_S

US_PER_S = 1_000_000


@dataclass(slots=True, kw_only=True)
class CostMeter:
    """Adds up frames of one recording.

    Attributes:
        agent: ``python`` or ``sh``.
    """

    agent: str
    samples: int = 0
    wire_bytes: int = 0
    rejected_frames: int = 0
    _cpu_ns_before: int = 0
    _cpu_ns: int | None = None
    _rss_bytes: int | None = None
    _dropped_before: int = 0
    _dropped: int = 0
    _http_requests: int = 0
    _http_us: int = 0

    def add(self, frame: Frame) -> None:
        """Count one frame; CPU time and drops of a frame are those of its run so far."""
        self.samples += 1
        self._dropped = frame.dropped
        if frame.agent_cpu_ns is not None:
            self._cpu_ns = frame.agent_cpu_ns
        if frame.agent_rss_bytes is not None:
            self._rss_bytes = max(self._rss_bytes or 0, frame.agent_rss_bytes)
        for section in frame.sections:
            if section.name.startswith("http/") and section.status is not ReadStatus.ABSENT:
                self._http_requests += 1
                self._http_us += _elapsed_us(section.text)

    def new_run(self) -> None:
        """Begin the count of another agent: its CPU time and drops start at 0 again."""
        self._cpu_ns_before += self._cpu_ns or 0
        self._cpu_ns = None if self._cpu_ns is None else 0
        self._dropped_before += self._dropped
        self._dropped = 0

    def total(self) -> SamplingCost:
        """Return the cost so far."""
        return SamplingCost(
            agent=self.agent,
            samples=self.samples,
            cpu_s=None if self._cpu_ns is None else (self._cpu_ns_before + self._cpu_ns) / NS_PER_S,
            rss_bytes=self._rss_bytes,
            wire_bytes=self.wire_bytes,
            rejected_frames=self.rejected_frames,
            dropped_frames=self._dropped_before + self._dropped,
            http_requests=self._http_requests,
            http_s=self._http_us / US_PER_S,
        )


_MAX_DIGITS = 12


def _elapsed_us(answer: bytes) -> int:
    """Return the second word of an answer's first line, ``<status> <elapsed_us> <server>``; 0 without one."""
    words = answer[:200].split(b"\n", 1)[0].split()
    known = len(words) > 1 and words[1].isdigit() and len(words[1]) <= _MAX_DIGITS
    return int(words[1]) if known else 0
