"""Which samples of a recording are compared: stages, warm-up, the operator's window; and who is whose counterpart."""

from dataclasses import dataclass

import numpy as np

from leapprof.analysis.batch import Span
from leapprof.analysis.quantiles import median
from leapprof.analysis.windows import settled_at_s, warm_up_cut_s
from leapprof.assess.cached import CachedTables, SideTables
from leapprof.assess.compute import USER_HZ, head_lag
from leapprof.assess.liveness import Liveness, Stretches, liveness
from leapprof.assess.samples import RecordingTables, Samples, read_samples
from leapprof.errors import NotEnoughDataError
from leapprof.model import Device, Nodeos, Side, Window
from leapprof.units import NS_PER_S

FEWEST_SAMPLES = 2
PROBE_TRANSPORT = "latency"


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowChoice:
    """Part of each recording that the operator asked for.

    Attributes:
        last_s: its last seconds; None: not asked.
        from_s, to_s: seconds from its first sample; None: open.
    """

    last_s: float | None = None
    from_s: float | None = None
    to_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CutSide:
    """One side, cut to what is compared.

    Attributes:
        tables: the recording, each table read once.
        side: with its window.
        span: the window on the samples' timeline.
        left_out: stretches inside the span in which nodeos was not live.
        stages_known: stages could be told.
    """

    tables: SideTables
    side: Side
    span: Span
    left_out: Stretches
    stages_known: bool


def cut_side(
    recording: RecordingTables, label: str, choice: WindowChoice | None = None, within: Span | None = None
) -> CutSide:
    """Return a side with its window.

    Args:
        recording: whose side it is.
        label: before or after.
        choice: what the operator asked for; it replaces the warm-up cut.
        within: part of the recording that this side is (one recording cut at a change).

    Raises:
        NotEnoughDataError: there are no samples.
    """
    tables = CachedTables(recording)
    clock = read_samples(tables, "host", ())
    if clock is None or clock.time_s.size < FEWEST_SAMPLES:
        raise NotEnoughDataError(f"{label} recording", "no samples", "at least a few minutes of samples")
    whole = _whole(clock, within, label)
    live = liveness(tables, clock, whole)
    if choice:
        span, left_out_s = _chosen(whole, choice)
    elif recording.manifest.transport == PROBE_TRANSPORT:
        span, left_out_s = whole, {}  # a probe of delay does its own warm-up before it counts
    else:
        span, left_out_s = _after_warm_up(tables, whole, live)
    asked = span
    if live and not choice:
        span = _to_live(span, live)
    gone = live.not_live(span) if live else Stretches(start_s=np.empty(0), end_s=np.empty(0))
    _refuse_if_nothing_left(clock, span, gone, label)
    if live:
        left_out_s |= live.not_live_s(asked)
    window = Window(
        start_s=span.start_s,
        end_s=span.end_s,
        start_wall_ns=_wall_at(clock, span.start_s),
        end_wall_ns=_wall_at(clock, span.end_s),
        left_out_s={k: round(v, 3) for k, v in left_out_s.items() if v > 0},
        left_out_inside_s=round(sum(live.not_live_s(span).values(), 0.0), 3) if live else 0.0,
    )
    return CutSide(
        tables=tables,
        side=Side(recording=tables.manifest, window=window, label=label),
        span=span,
        left_out=gone,
        stages_known=live is not None,
    )


def _refuse_if_nothing_left(clock: Samples, span: Span, gone: Stretches, label: str) -> None:
    """Refuse a side on which nodeos was live only before the span.

    Raises:
        NotEnoughDataError: no sample of the span is left to compare.
    """
    inside = clock.time_s[(clock.time_s > span.start_s) & (clock.time_s <= span.end_s)]
    if gone.any and gone.hold(inside).all():
        have = f"no sample with nodeos live in the {span.duration_s:.0f} s after warm-up"
        raise NotEnoughDataError(
            f"{label} side", have, "nodeos at the head; record longer, or choose with --window"
        )


def pair_nodeos(before: tuple[Nodeos, ...], after: tuple[Nodeos, ...]) -> tuple[tuple[Nodeos, Nodeos], ...]:
    """Return the processes that are compared: of the same id, or the only one on each side."""
    by_id = {n.id: n for n in after}
    pairs = tuple((n, by_id[n.id]) for n in before if n.id in by_id)
    if not pairs and len(before) == 1 and len(after) == 1:
        return ((before[0], after[0]),)
    return pairs


def pair_devices(before: tuple[Device, ...], after: tuple[Device, ...]) -> tuple[tuple[Device, Device], ...]:
    """Return the devices that are the same drive: by wwid, else serial number, else kernel name.

    A kernel name alone counts only where neither side knows better: sda may be another drive after a boot.
    """
    found = {a.name: b for a in before for b in after if _same_identity(a, b)}
    taken = {b.name for b in found.values()}
    for device in before:
        same = next((d for d in after if d.name == device.name and d.name not in taken), None)
        if device.name not in found and same is not None and is_same_device(device, same):
            found[device.name] = same
    return tuple((a, found[a.name]) for a in before if a.name in found)


def is_same_device(first: Device, second: Device) -> bool:
    """Return whether two devices are one: by wwid, else serial number, else kernel name."""
    for mine, other in ((first.wwid, second.wwid), (first.serial, second.serial)):
        if mine and other:
            return mine == other
    return first.name == second.name


def _same_identity(first: Device, second: Device) -> bool:
    """Return whether wwid or serial number say that two devices are one."""
    return bool(first.wwid and first.wwid == second.wwid) or bool(
        first.serial and first.serial == second.serial
    )


def _whole(clock: Samples, within: Span | None, label: str) -> Span:
    """Return the span of the samples, or of that part of them."""
    start, end = float(clock.time_s[0]), float(clock.time_s[-1])
    if within is not None:
        start, end = max(start, within.start_s), min(end, within.end_s)
    if end <= start:
        raise NotEnoughDataError(f"{label} side", "no samples", "samples on both sides of the change")
    return Span(start_s=start, end_s=end)


def _chosen(whole: Span, choice: WindowChoice) -> tuple[Span, dict[str, float]]:
    """Return the part that the operator asked for."""
    start = whole.start_s + (choice.from_s or 0.0)
    end = whole.end_s if choice.to_s is None else min(whole.end_s, whole.start_s + choice.to_s)
    if choice.last_s is not None:
        start = max(start, end - choice.last_s)
    if end <= start:
        raise NotEnoughDataError("window", "no samples in it", f"a part of {whole.duration_s:.0f} s")
    return Span(start_s=start, end_s=end), {"not-asked-for": whole.duration_s - (end - start)}


def _after_warm_up(
    tables: RecordingTables, whole: Span, live: Liveness | None
) -> tuple[Span, dict[str, float]]:
    """Return the span after warm-up, decided by the start of nodeos and its head lag alone."""
    cut_s = warm_up_cut_s(whole, _started_s(tables, whole), _settled_s(tables, live))
    return Span(start_s=whole.start_s + cut_s, end_s=whole.end_s), {"warm-up": cut_s}


def _started_s(tables: RecordingTables, whole: Span) -> float | None:
    """Return when the last nodeos that was there at the start of the span had been started."""
    started = []
    for nodeos in tables.manifest.nodeos:
        rows = read_samples(tables, "nodeos", ("start_ticks",), {"nodeos": nodeos.id})
        if rows is None or not rows.has("start_ticks"):
            continue
        at = int(np.searchsorted(rows.time_s, whole.start_s))
        column = rows.columns["start_ticks"]
        here = np.flatnonzero(column.present[at:])
        if here.size:
            started.append(float(column.values[at + here[0]]) / USER_HZ)
    return max(started) if started else None


def _settled_s(tables: RecordingTables, live: Liveness | None) -> float | None:
    """Return when the slowest nodeos had been at the head for a minute; None where it does not say."""
    settled = []
    for nodeos in tables.manifest.nodeos:
        chain = read_samples(tables, "chain", ("head_lag_ms",), {"nodeos": nodeos.id})
        lag = head_lag(chain) if chain is not None else None
        found = settled_at_s(lag.series) if lag is not None else None
        if found is not None:
            settled.append(found)
    return max(settled) if settled and live is not None else None


def _to_live(span: Span, live: Liveness) -> Span:
    """Return the span without leading and trailing stretches in which nodeos was not live."""
    at = live.time_s[live.live & (live.time_s > span.start_s) & (live.time_s <= span.end_s)]
    if not at.size:
        return span
    usual = median(np.diff(live.time_s))
    return Span(start_s=max(span.start_s, float(at[0]) - usual), end_s=float(at[-1]))


def _wall_at(clock: Samples, moment_s: float) -> int:
    """Return the host's wall clock at a moment of the timeline."""
    at = min(int(np.searchsorted(clock.time_s, moment_s)), clock.time_s.size - 1)
    return int(clock.wall_ns[at]) + round((moment_s - float(clock.time_s[at])) * NS_PER_S)
