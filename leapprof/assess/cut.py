"""Where one continuous recording is cut into before and after."""

from dataclasses import dataclass
from datetime import UTC, datetime

from leapprof.analysis.batch import Span
from leapprof.assess.samples import RecordingTables, Samples, read_samples
from leapprof.errors import ConfigError, NotEnoughDataError
from leapprof.model import Event
from leapprof.units import NS_PER_S

CHANGE_KINDS = ("map-mode-changed", "version-changed", "config-changed", "nodeos-changed", "nodeos-restarted")
"""Events that can be the change, the most telling first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Where a recording is cut.

    Attributes:
        at_s: on the samples' timeline.
        wall_ns: on the host's wall clock.
        text: when and why there, for a person.
        span_before, span_after: both parts.
    """

    at_s: float
    wall_ns: int
    text: str
    span_before: Span
    span_after: Span


def find_change(recording: RecordingTables, change_wall_ns: int | None) -> Change:
    """Return where a recording is cut: at a stated moment, or where a change was seen.

    Raises:
        ConfigError: the moment is outside the recording, or none was seen.
        NotEnoughDataError: the recording is empty.
    """
    clock = read_samples(recording, "host", ())
    if clock is None or clock.time_s.size < 2:
        raise NotEnoughDataError("recording", "no samples", "samples before and after the change")
    if change_wall_ns is not None:
        return _at(clock, change_wall_ns, "as stated")
    event = _seen(recording.manifest.events)
    if event is None:
        raise ConfigError(
            "no restart of nodeos and no change of version, mode or config was seen in this recording; "
            "say when the change was made: --change-at 2024-05-01T12:00:00Z"
        )
    return _at(clock, event.wall_ns, f"{event.kind} {event.subject}".strip())


def _seen(events: tuple[Event, ...]) -> Event | None:
    """Return the event that can be the change: of the most telling kind the last one."""
    for kind in CHANGE_KINDS:
        found = [e for e in events if e.kind == kind]
        if found:
            return max(found, key=lambda e: e.wall_ns)
    return None


def _at(clock: Samples, wall_ns: int, why: str) -> Change:
    """Return the cut at a wall clock moment."""
    moment, first, last = (
        datetime.fromtimestamp(int(ns) // NS_PER_S, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for ns in (wall_ns, clock.wall_ns[0], clock.wall_ns[-1])
    )
    before = clock.wall_ns < wall_ns
    count = int(before.sum())
    if count < 2 or count > before.size - 2:
        raise ConfigError(
            f"the change at {moment} is not inside the recording, which goes from {first} to {last}",
            key="--change-at",
        )
    at = int(before.nonzero()[0][-1])
    at_s = float(clock.time_s[at])
    return Change(
        at_s=at_s,
        wall_ns=wall_ns,
        text=f"{moment} ({why})",
        span_before=Span(start_s=float(clock.time_s[0]), end_s=at_s),
        span_after=Span(start_s=float(clock.time_s[at + 1]), end_s=float(clock.time_s[-1])),
    )
