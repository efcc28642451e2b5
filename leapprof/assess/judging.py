"""Rows → metric comparisons: effects, p values over all of them, thresholds, verdicts."""

from collections.abc import Sequence
from dataclasses import replace

from leapprof.analysis.allowance import ON_OFF_SPREAD
from leapprof.analysis.compare import (
    benjamini_hochberg,
    difference,
    holm,
    p_of_effect,
    p_value,
    ratio,
)
from leapprof.analysis.verdict import Judgement, Sides, Traits, judge
from leapprof.assess.adjusting import Adjustment, adjuster
from leapprof.assess.immovable import immovable, reason_of
from leapprof.assess.rows import Row
from leapprof.assess.sides import CutSide
from leapprof.assess.write_back import WRITES, write_back_clauses
from leapprof.model import Effect, Grade, MetricComparison, Verdict


def judged(rows: Sequence[Row], before: CutSide, after: CutSide) -> tuple[MetricComparison, ...]:
    """Return the comparison of every row; p values of the headline by Holm, of the others by Benjamini-Hochberg.

    What cannot move is no question, so its p value is in neither family.
    """
    known = adjuster(rows, before, after)
    write_back = write_back_clauses(before, after)
    adjustments = [_with_write_back(known.adjust(row), row, write_back) for row in rows]
    still = immovable(rows, before, after)
    p_values = [
        None if why else _p(row, made) for row, made, why in zip(rows, adjustments, still, strict=True)
    ]
    strict = holm([p if row.is_headline else None for p, row in zip(p_values, rows, strict=True)])
    loose = benjamini_hochberg(
        [None if row.is_headline else p for p, row in zip(p_values, rows, strict=True)]
    )
    compared = (
        _compared(row, p, s if s is not None else other, made)
        for row, p, s, other, made in zip(rows, p_values, strict, loose, adjustments, strict=True)
    )
    return tuple(_kept_out(found, why) for found, why in zip(compared, still, strict=True))


def _kept_out(metric: MetricComparison, why: str | None) -> MetricComparison:
    """Return a comparison, outside the headline when it cannot move."""
    if why is None:
        return metric
    return replace(
        metric,
        headline=False,
        immovable=why,
        adjusted=None,
        adjusted_for=None,
        confounded=(),
        needed_seconds=None,
        reason=reason_of(why, metric.verdict, metric.reason),
    )


def _with_write_back(made: Adjustment, row: Row, clauses: tuple[str, ...]) -> Adjustment:
    """Return the adjustment of a row of writes with what the kernel did otherwise: nodeos is not credited with it."""
    if not clauses or row.spec.name not in WRITES:
        return made
    return replace(made, confounded=(*made.confounded, *clauses))


def _p(row: Row, made: Adjustment) -> float | None:
    """Return the p value of what the verdict stands on; None when it has none."""
    if row.before is None or row.after is None or row.refused is not None:
        return None
    if made.effect is not None:
        return p_of_effect(made.effect)
    return p_value(row.before.estimate, row.after.estimate)


def _compared(row: Row, p: float | None, p_adjusted: float | None, made: Adjustment) -> MetricComparison:
    """Return the comparison of one row."""
    before, after = row.before, row.after
    effect = difference(before.estimate, after.estimate) if before and after else None
    threshold = row.spec.threshold.of(before.estimate.mean) if before else None
    judgement = _judgement(row, made, made.effect or effect, p_adjusted, threshold)
    reason = f"{made.why}: {judgement.reason}" if made.effect and made.why else judgement.reason
    return MetricComparison(
        name=row.spec.name,
        unit=row.spec.unit,
        subject=row.subject,
        better=row.spec.better,
        before=before.estimate if before else None,
        after=after.estimate if after else None,
        difference=effect,
        ratio=ratio(before.estimate, after.estimate) if before and after else None,
        adjusted=made.effect,
        adjusted_for=made.why,
        p_value=p,
        p_adjusted=p_adjusted,
        grade=judgement.grade,
        verdict=judgement.verdict,
        reason=reason,
        threshold=threshold,
        needed_seconds=judgement.needed_seconds,
        design_seconds=judgement.design_seconds,
        refused=row.refused,
        headline=row.is_headline and before is not None and after is not None,
        view_of=row.view_of,
        confounded=made.confounded if before and after else (),
        by_ratio=made.by_ratio,
    )


def _judgement(
    row: Row, made: Adjustment, effect: Effect | None, p_adjusted: float | None, threshold: float | None
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
        confounded=made.confounded,
        swing=made.swing,
        by_ratio=made.by_ratio,
        on_off=max(row.before.spread, row.after.spread) > ON_OFF_SPREAD,
    )
    traits = Traits(better=row.spec.better, threshold=threshold, memory_s=row.spec.memory_s)
    found = judge(effect, p_adjusted if row.is_headline else None, sides, traits)
    if row.refused is None:
        return found
    return Judgement(grade=found.grade, verdict=Verdict.INCONCLUSIVE, reason=f"refused: {row.refused}")
