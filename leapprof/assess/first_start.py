"""Finding: the compared run of a mapped_private nodeos is its first start after a snapshot.

Source: chainbase keeps the pages of a snapshot in anonymous memory until the next clean start (measured on Leap 5.0.3:
900 MiB against 2 MiB).
"""

from collections.abc import Iterator

from leapprof.assess.both_sides import on_each
from leapprof.assess.eras import LATE_NOTICE_S
from leapprof.assess.material import Material, warning
from leapprof.assess.sides import CutSide
from leapprof.assess.starts import measure_starts
from leapprof.model import Finding, Side
from leapprof.model.start import StartKind, StartMeasure
from leapprof.units import NS_PER_S, format_memory


def starts_of(material: Material) -> tuple[StartMeasure, ...]:
    """Return the runs of both sides, before first; of one recording cut at a change, each run on its side."""
    before, after = on_each(_starts_of_side, material.sides, (None, None))
    changed_ns = material.change_wall_ns
    if changed_ns is None:
        return before + after
    return (
        *(one for one in before if not _is_after(one, before, changed_ns)),
        *(one for one in after if _is_after(one, after, changed_ns)),
    )


def _is_after(one: StartMeasure, runs: tuple[StartMeasure, ...], changed_ns: int) -> bool:
    """Return whether a run belongs after the change: it began then, or it is what a time stated late was about."""
    if one.started_wall_ns >= changed_ns:
        return True
    late = one.started_wall_ns >= changed_ns - round(LATE_NOTICE_S * NS_PER_S)
    went_on = one.started_wall_ns + round((one.uptime_s or 0.0) * NS_PER_S) > changed_ns
    is_first = all(o.started_wall_ns >= one.started_wall_ns for o in runs if o.nodeos == one.nodeos)
    return late and went_on and not is_first


def _starts_of_side(cut: CutSide, _: None) -> tuple[StartMeasure, ...]:
    return measure_starts(cut.tables, cut.side.label)


def first_starts(material: Material, starts: tuple[StartMeasure, ...]) -> Iterator[Finding]:
    """Yield a finding for each side whose compared run began from a snapshot and holds its state privately."""
    for cut in material.sides:
        for one in _compared(cut.side, starts):
            if cut.side.label == "after":
                yield warning(
                    "after-is-first-start",
                    f"After: {one.nodeos} began from a snapshot ({one.kind_source} says so), so in mapped_private its "
                    f"whole state is anonymous memory{_held(one)}: RSS and swap are those of a first start.",
                    "Stop it cleanly, start it once more without --snapshot, and record that run.",
                    subject=one.nodeos,
                )
            else:
                yield warning(
                    "before-is-first-start",
                    f"Before: {one.nodeos} began from a snapshot ({one.kind_source} says so), so in mapped_private its "
                    f"whole state is anonymous memory{_held(one)}: RSS and swap are those of a first start.",
                    "Stop it cleanly, start it once more without --snapshot, and record that run.",
                    subject=one.nodeos,
                )


def _compared(side: Side, starts: tuple[StartMeasure, ...]) -> Iterator[StartMeasure]:
    """Yield the run of each mapped_private nodeos that was there when the window began, if it is a first start."""
    private = {n.id for n in side.recording.nodeos if n.map_mode == "mapped_private"}
    for nodeos in sorted(private):
        own = [s for s in starts if s.label == side.label and s.nodeos == nodeos]
        running = [s for s in own if s.started_wall_ns <= side.window.start_wall_ns]
        chosen = running[-1:] or own[:1]
        yield from (s for s in chosen if s.kind is StartKind.SNAPSHOT)


def _held(one: StartMeasure) -> str:
    peak = one.start_peak_anon_bytes
    return f" ({format_memory(peak)} at the start)" if peak else ""
