"""What a plain difference has to be freed of before it says something of the change: another load, growth of the state.

A level or rate that follows the chain's load is compared at equal load where the load differs between both
sides, or where they cover different hours of the day. Memory that grew because the state holds more is no
regression: its growth is taken off.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leapprof.analysis.allowance import widened
from leapprof.analysis.compare import difference, less
from leapprof.analysis.hours import at_the_same_hours
from leapprof.analysis.load import LEAST_OVERLAP, LoadEffect, at_equal_load
from leapprof.analysis.windows import hours_covered, share_hours
from leapprof.assess.measure import batches_within
from leapprof.assess.metrics import FLOW_UNITS, SubjectKind
from leapprof.assess.rows import Row
from leapprof.assess.sides import CutSide
from leapprof.assess.subjects import devices_of_states
from leapprof.model import Effect
from leapprof.units import format_memory, format_value

LOAD_METRIC = "chain.transactions_per_s"
LOAD_METRICS = (LOAD_METRIC, "chain.billed_cpu_percent", "chain.peers_in")
"""What may stand for the load: the first that both sides know."""
_LOAD_NAMES = {
    LOAD_METRIC: "transactions",
    "chain.billed_cpu_percent": "CPU that the chain billed",
    "chain.peers_in": "incoming peers",
}
STATE_USED = "chain.db_used_bytes"
LEAST_LOAD_SHARE = 0.05
"""Loads that differ by less than this share are one load."""
FEW_LOADS = "both sides have seen few loads in common"
OTHER_LOAD = "the load differs, and neither side has seen the other's"
SAME_HOURS = "with each hour of the day counted alike, for the sides hold them unequally"
OTHER_HOURS = "the sides cover different hours of the day and have no common load"
DAILY_SWING = 0.6
"""Peak to trough of a load that swings by 30 % over a day: what other hours alone can make of a flow."""
HOLDS_STATE = frozenset({"nodeos.state_resident_bytes", "nodeos.rss_bytes"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjustment:
    """What is made of a row's plain difference.

    Attributes:
        effect: on which the verdict stands; None: on the plain difference.
        why: what effect takes off.
        confounded: what forbids a full verdict, each a clause.
        swing: what other hours of the day alone could make of the difference.
        by_ratio: a flow at its own load: load scales it, so the ratio carries over from these hours to others.
    """

    effect: Effect | None = None
    why: str | None = None
    confounded: tuple[str, ...] = ()
    swing: float = 0.0
    by_ratio: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Adjuster:
    """What is known of load, hours and growth on both sides.

    Attributes:
        loads: rows of the load, one a nodeos; none when unknown.
        owners: device right below a state → names of the nodeos processes whose state it is.
        same_hours: both sides cover nearly the same hours of the day.
        growth: nodeos id → by how much more its state holds after.
    """

    before: CutSide
    after: CutSide
    loads: tuple[Row, ...]
    owners: Mapping[str, tuple[str, ...]]
    same_hours: bool
    growth: dict[str | None, Effect]

    def adjust(self, row: Row) -> Adjustment:
        """Return what is made of a row."""
        if row.before is None or row.after is None or row.refused is not None:
            return Adjustment()
        if row.spec.name in HOLDS_STATE:
            return self._beyond_growth(row)
        follows = row.spec.unit in FLOW_UNITS and row.spec.table != "chain"
        load = self._load_of(row)
        if follows and (_differs(load) or not self.same_hours):
            return self._at_equal_load(row, load)
        plain = difference(row.before.estimate, row.after.estimate)
        matched = at_the_same_hours(plain, row.before.hours, row.after.hours)
        if matched is not None:
            return Adjustment(effect=matched, why=SAME_HOURS)
        return Adjustment(confounded=() if self.same_hours else (OTHER_HOURS,), by_ratio=follows)

    def _load_of(self, row: Row) -> Row | None:
        """Return the load that a row follows: the only one, or of several nodeos that of its own."""
        if len(self.loads) == 1:
            return self.loads[0]
        nodeos, device = row.subject.nodeos, row.subject.device
        own = (nodeos,) if nodeos else self.owners.get(device or "", ())
        return next((load for load in self.loads if own == (load.subject.nodeos,)), None)

    def _at_equal_load(self, row: Row, load: Row | None) -> Adjustment:
        found = load_effect(row, load, self.before, self.after)
        if load is None or found is None or found.extrapolated:
            return self._not_at_equal_load(row, load)
        few = (FEW_LOADS,) if found.overlap < LEAST_OVERLAP else ()
        effect = _allowing(found.effect, row)
        return Adjustment(effect=effect, why=f"at equal load, for {_told(load)}", confounded=few)

    def _not_at_equal_load(self, row: Row, load: Row | None) -> Adjustment:
        """Return why there is no full verdict, and how large an effect the hours alone could be."""
        assert row.before is not None
        loads = (OTHER_LOAD,) if _differs(load) else ()
        hours = () if self.same_hours else (OTHER_HOURS,)
        swing = 0.0 if self.same_hours else DAILY_SWING * row.before.estimate.mean
        return Adjustment(confounded=(*loads, *hours), swing=swing, by_ratio=True)

    def _beyond_growth(self, row: Row) -> Adjustment:
        """Return the difference beyond that of the state in use; never more is taken off than was added."""
        assert row.before is not None
        assert row.after is not None
        growth = self.growth.get(row.subject.nodeos)
        plain = difference(row.before.estimate, row.after.estimate)
        if growth is None or growth.ci95 is None or growth.ci95.low <= 0 or plain.value <= 0:
            return Adjustment()
        taken = Effect(value=min(growth.value, plain.value), ci95=growth.ci95)
        why = f"beyond the growth of the state, which holds {format_memory(growth.value)} more"
        return Adjustment(effect=less(plain, taken), why=why)


def adjuster(rows: Sequence[Row], before: CutSide, after: CutSide) -> Adjuster:
    """Return what is known of load, hours and growth."""
    growth = {
        row.subject.nodeos: difference(row.before.estimate, row.after.estimate)
        for row in rows
        if row.spec.name == STATE_USED and row.before and row.after
    }
    return Adjuster(
        before=before,
        after=after,
        loads=_loads(rows),
        owners=devices_of_states(before.side.recording),
        same_hours=share_hours(_hours(before), _hours(after)),
        growth=growth,
    )


def _loads(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the rows of what stands for the load, one a nodeos."""
    for name in LOAD_METRICS:
        found = tuple(r for r in rows if r.spec.name == name and r.before and r.after)
        if found:
            return found
    return ()


def _told(load: Row) -> str:
    """Return why the load has to be reckoned with."""
    if not _differs(load):
        return "the sides cover different hours of the day"
    assert load.before is not None
    assert load.after is not None
    before, after = (format_value(s.estimate.mean, load.spec.unit) for s in (load.before, load.after))
    return f"the {_LOAD_NAMES[load.spec.name]} were {before} before and {after} after"


def _allowing(effect: Effect, row: Row) -> Effect:
    """Return an effect made of batch means, whose interval allows for a short window as those of its sides do."""
    if effect.ci95 is None:
        return effect
    by = max(side.estimate.widening for side in (row.before, row.after) if side is not None)
    return Effect(value=effect.value, ci95=widened(effect.value, effect.ci95, by))


def load_effect(row: Row, load: Row | None, before: CutSide, after: CutSide) -> LoadEffect | None:
    """Return the difference of a row at equal load; None where there is no load or it cannot be computed."""
    if load is None or row is load or not (row.before and row.after and load.before and load.after):
        return None
    if row.spec.subject is SubjectKind.NODEOS and row.subject.nodeos != load.subject.nodeos:
        return None
    before_load = batches_within(load.before.series, before)
    after_load = batches_within(load.after.series, after)
    if row.before.batches is None or row.after.batches is None or before_load is None or after_load is None:
        return None
    return at_equal_load(row.before.batches, before_load, row.after.batches, after_load)


def _differs(load: Row | None) -> bool:
    """Return whether these two windows saw another load; whether the chain did for good does not matter here."""
    if load is None:
        return False
    assert load.before is not None
    assert load.after is not None
    before, after = load.before.estimate.mean, load.after.estimate.mean
    return abs(after - before) > LEAST_LOAD_SHARE * before


def _hours(cut: CutSide) -> frozenset[int]:
    """Return the hours of the day that a window covers."""
    return hours_covered(cut.side.window.start_wall_ns, cut.side.window.end_wall_ns)
