"""Rows → metric comparisons: effects, p values over all of them, thresholds, verdicts."""

from collections.abc import Sequence

from leapprof.analysis.compare import benjamini_hochberg, difference, holm, p_value, ratio
from leapprof.analysis.load import LoadEffect, at_equal_load
from leapprof.analysis.verdict import Judgement, Sides, Traits, judge
from leapprof.analysis.windows import hours_covered, share_hours
from leapprof.assess.measure import batches_within
from leapprof.assess.metrics import SubjectKind
from leapprof.assess.rows import Row
from leapprof.assess.sides import CutSide
from leapprof.model import Effect, Grade, MetricComparison, Verdict

LOAD_METRIC = "chain.transactions_per_s"
OTHER_HOURS = "the sides cover different hours of the day and have no common load"
FLOW_UNITS = frozenset({"percent", "cores", "bytes_per_s", "per_s"})
"""What follows the load; a level (memory, swap) does not."""


def judged(rows: Sequence[Row], before: CutSide, after: CutSide) -> tuple[MetricComparison, ...]:
    """Return the comparison of every row; p values of the headline by Holm, of the others by Benjamini-Hochberg."""
    p_values = [_p(row) for row in rows]
    strict = holm([p if row.is_headline else None for p, row in zip(p_values, rows, strict=True)])
    loose = benjamini_hochberg(
        [None if row.is_headline else p for p, row in zip(p_values, rows, strict=True)]
    )
    load = _load_row(rows)
    same_hours = share_hours(_hours(before), _hours(after))
    return tuple(
        _compared(
            row, p, s if s is not None else other, _adjusted(row, load, before, after), same_hours=same_hours
        )
        for row, p, s, other in zip(rows, p_values, strict, loose, strict=True)
    )


def load_effect(row: Row, load: Row | None, before: CutSide, after: CutSide) -> LoadEffect | None:
    """Return the difference of a row at equal load; None where there is no load or it cannot be computed."""
    if load is None or row is load or not (row.before and row.after and load.before and load.after):
        return None
    if row.spec.subject is SubjectKind.NODEOS and row.subject.nodeos != load.subject.nodeos:
        return None
    means = (row.before.batches, batches_within(load.before.series, before), row.after.batches)
    after_load = batches_within(load.after.series, after)
    if means[0] is None or means[1] is None or means[2] is None or after_load is None:
        return None
    return at_equal_load(means[0], means[1], means[2], after_load)


def _load_row(rows: Sequence[Row]) -> Row | None:
    """Return the row of the load; None when there are several nodeos, whose loads cannot be told apart."""
    found = [r for r in rows if r.spec.name == LOAD_METRIC and r.before and r.after]
    return found[0] if len(found) == 1 else None


def _adjusted(row: Row, load: Row | None, before: CutSide, after: CutSide) -> Effect | None:
    """Return the effect at equal load; an extrapolated one is refused."""
    if row.spec.table == "chain" or row.refused is not None or row.spec.unit not in FLOW_UNITS:
        return None
    found = load_effect(row, load, before, after)
    return found.effect if found is not None and not found.extrapolated else None


def _p(row: Row) -> float | None:
    """Return the p value of a row; None when it has none."""
    if row.before is None or row.after is None or row.refused is not None:
        return None
    return p_value(row.before.estimate, row.after.estimate)


def _hours(cut: CutSide) -> frozenset[int]:
    """Return the hours of the day that a window covers."""
    return hours_covered(cut.side.window.start_wall_ns, cut.side.window.end_wall_ns)


def _compared(
    row: Row, p: float | None, p_adjusted: float | None, adjusted: Effect | None, *, same_hours: bool
) -> MetricComparison:
    """Return the comparison of one row."""
    before, after = row.before, row.after
    effect = difference(before.estimate, after.estimate) if before and after else None
    threshold = row.spec.threshold.of(before.estimate.mean) if before else None
    confounded = () if same_hours or adjusted is not None else (OTHER_HOURS,)
    judgement = _judgement(row, effect, p_adjusted, threshold, confounded)
    return MetricComparison(
        name=row.spec.name,
        unit=row.spec.unit,
        subject=row.subject,
        better=row.spec.better,
        before=before.estimate if before else None,
        after=after.estimate if after else None,
        difference=effect,
        ratio=ratio(before.estimate, after.estimate) if before and after else None,
        adjusted=adjusted,
        p_value=p,
        p_adjusted=p_adjusted,
        grade=judgement.grade,
        verdict=judgement.verdict,
        reason=judgement.reason,
        threshold=threshold,
        needed_seconds=judgement.needed_seconds,
        refused=row.refused,
    )


def _judgement(
    row: Row,
    effect: Effect | None,
    p_adjusted: float | None,
    threshold: float | None,
    confounded: tuple[str, ...],
) -> Judgement:
    """Return what may be said of a row."""
    if row.before is None or row.after is None or effect is None or threshold is None:
        side = "before" if row.before is None else "after"
        reason = f"not measured {side}"
        return Judgement(grade=Grade.TOO_SHORT, verdict=Verdict.INCONCLUSIVE, reason=reason)
    sides = Sides(
        before=row.before.estimate,
        after=row.after.estimate,
        before_bursts=row.before.bursts,
        after_bursts=row.after.bursts,
        before_range=row.before.range,
        after_range=row.after.range,
        confounded=confounded,
    )
    traits = Traits(better=row.spec.better, threshold=threshold, memory_s=row.spec.memory_s)
    found = judge(effect, p_adjusted if row.is_headline else None, sides, traits)
    if row.refused is None:
        return found
    return Judgement(grade=found.grade, verdict=Verdict.INCONCLUSIVE, reason=f"refused: {row.refused}")
