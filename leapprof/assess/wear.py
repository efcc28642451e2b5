"""Writes a year of each drive on both sides, from the device counter; logical views are named, never added."""

import math
from collections.abc import Sequence

from leapprof.assess.measure import MeasuredSide
from leapprof.assess.rows import Row
from leapprof.assess.sides import is_same_device
from leapprof.assess.subjects import DevicePair
from leapprof.endurance.ratings import find_rating
from leapprof.model import Device, DeviceKind, Interval, WearComparison, WearSide
from leapprof.units import DAY_S, significant, tb_per_year

WRITES = "device.write_bytes_per_s"
_VIRTUAL = (
    "a virtual disk: what its writes do to the drive below is not seen here; "
    "record on the hypervisor for the wear of that drive"
)


def wear_comparisons(
    rows: Sequence[Row], devices: Sequence[DevicePair], rated_tbw: dict[str, float]
) -> tuple[WearComparison, ...]:
    """Return a row per drive, then one per logical device that carries a role.

    Args:
        rows: measured.
        devices: pairs, in order.
        rated_tbw: device → decimal TB, as the operator says; it wins over the table of drives.
    """
    writes = {row.subject.device: row for row in rows if row.spec.name == WRITES}
    return tuple(
        _wear(pair, writes[pair.device.name], devices, rated_tbw)
        for pair in devices
        if pair.device.name in writes
    )


def _wear(
    pair: DevicePair, row: Row, devices: Sequence[DevicePair], rated_tbw: dict[str, float]
) -> WearComparison:
    """Return the wear of one device."""
    device = pair.device
    before, after = _side(row.before), _side(row.after)
    rated, rated_after = _ratings(pair, rated_tbw)
    return WearComparison(
        device=device.name,
        role=pair.role,
        model=device.model,
        before=before,
        after=after,
        rated_tbw=rated,
        lifetime_years_before=_years(rated, before),
        lifetime_years_after=_years(rated_after, after),
        stacked_views=tuple(p.device.name for p in devices if device.name in p.view_of and not pair.view_of),
        note=_note(pair, row, rated_after),
    )


def _side(measured: MeasuredSide | None) -> WearSide | None:
    """Return a rate as a yearly amount."""
    if measured is None:
        return None
    estimate = measured.estimate
    interval = estimate.ci95
    return WearSide(
        bytes_per_s=estimate.mean,
        tb_per_year=tb_per_year(estimate.mean),
        ci95=Interval(low=tb_per_year(interval.low), high=tb_per_year(interval.high)) if interval else None,
    )


def _ratings(pair: DevicePair, said: dict[str, float]) -> tuple[float | None, float | None]:
    """Return the rating before and after; a drive of another model has its own."""
    if pair.view_of:
        return None, None
    rated = said.get(pair.device.name) or _rated(pair.device)
    if pair.before is None or pair.after is None or not _is_replaced(pair):
        return rated, rated
    own = said.get(pair.after.name) if pair.after.name != pair.before.name else None
    return rated, own or _rated(pair.after)


def _is_replaced(pair: DevicePair) -> bool:
    return bool(pair.before and pair.after and not is_same_device(pair.before, pair.after))


def _rated(device: Device) -> float | None:
    """Return the rating of a drive by its model; None when not known."""
    rating = find_rating(device.model, device.size_bytes)
    return rating.rated_tbw if rating else None


def _years(rated: float | None, side: WearSide | None) -> Interval | None:
    """Return how long a new drive's rating lasts, without end when the rate may be 0; None when not known."""
    if rated is None or side is None or side.ci95 is None or side.ci95.high <= 0:
        return None
    low, high = side.ci95.low, side.ci95.high
    return Interval(low=rated / high, high=rated / low if low > 0 else math.inf)


def _note(pair: DevicePair, row: Row, rated_after: float | None) -> str | None:
    """Return what limits a row."""
    notes = []
    if pair.after is not None and _is_replaced(pair):
        model = f", {pair.after.model}" if pair.after.model else ""
        rating = f", rated {significant(rated_after)} TBW" if rated_after is not None else ""
        notes.append(f"after it is another device: {pair.after.name}{model}{rating}")
    if pair.view_of:
        notes.append(f"a view of {', '.join(pair.view_of)}, whose row holds the same bytes: never add them")
    if pair.device.kind is DeviceKind.VIRTUAL:
        notes.append(_VIRTUAL)
    if pair.device.kind is DeviceKind.NETWORK:
        notes.append("a network disk: its provider wears the drives")
    sides = [side for side in (row.before, row.after) if side is not None]
    if any(side.lower_bound for side in sides):
        notes.append("the counter was reset in between: a lower bound")
    if any(side.estimate.covered_seconds < DAY_S for side in sides):
        notes.append("less than a day was seen: a year if every hour looked like these")
    return "; ".join(notes) or None
