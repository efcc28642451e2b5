"""Finding: the compared run of a mapped_private nodeos is its first start after a snapshot.

Source: chainbase keeps the pages of a snapshot in anonymous memory until the next clean start (measured on Leap 5.0.3:
900 MiB against 2 MiB).
"""

from collections.abc import Iterator
from dataclasses import replace

from leapprof.assess.material import Material, warning
from leapprof.assess.starts import measure_starts
from leapprof.model import Finding, Side
from leapprof.model.start import StartKind, StartMeasure
from leapprof.units import format_memory


def starts_of(material: Material) -> tuple[StartMeasure, ...]:
    """Return the runs of both sides, before first."""
    before, after = material.sides
    if before.tables is not after.tables:
        return tuple(one for cut in material.sides for one in measure_starts(cut.tables, cut.side.label))
    change_wall_ns = before.side.window.end_wall_ns
    return tuple(
        replace(one, label="after" if one.started_wall_ns >= change_wall_ns else "before")
        for one in measure_starts(before.tables, "before")
    )


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
