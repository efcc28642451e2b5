"""Expectations judged on 95 % intervals: met, not met, cannot tell. Pure.

An expectation is met when the whole interval says so, not met when no part of it does; without an interval, and
where two sides may not be compared, nobody can tell.
"""

from collections.abc import Sequence

from leapprof.config.playbook_expect import Expectation, Kind
from leapprof.model import Comparison, ExpectationResult, Interval, MetricComparison, Outcome
from leapprof.units import format_value, significant

_PERCENT = 100.0


def judge(expectation: Expectation, comparison: Comparison) -> ExpectationResult:
    """Return what a comparison says of one expectation; of several subjects the worst outcome."""
    found = [
        m for m in comparison.metrics if m.name == expectation.metric and _is_about(m, expectation.subject)
    ]
    judged = [_judged(expectation, metric) for metric in found]
    if not judged:
        judged = [(Outcome.CANNOT_TELL, "This metric was not measured on both sides.")]
    outcome = worst([outcome for outcome, _ in judged])
    reason = next(reason for verdict, reason in judged if verdict is outcome)
    return ExpectationResult(
        metric=expectation.metric,
        subject=expectation.subject,
        text=expectation.text,
        outcome=outcome,
        reason=reason,
    )


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """Return not met when anything is not met, met only when all are; nothing is met by nothing."""
    for outcome in (Outcome.NOT_MET, Outcome.CANNOT_TELL):
        if outcome in outcomes:
            return outcome
    return Outcome.MET


def _is_about(metric: MetricComparison, subject: str | None) -> bool:
    if subject is None:
        return True
    roles = [role.strip() for role in (metric.subject.role or "").split(",")]
    return subject in (metric.subject.device, metric.subject.nodeos, metric.subject.operation, *roles)


def _judged(expectation: Expectation, metric: MetricComparison) -> tuple[Outcome, str]:
    if metric.refused is not None and expectation.kind is not Kind.LEVEL:  # the level after needs no before
        return Outcome.CANNOT_TELL, metric.refused
    interval = _interval(expectation, metric)
    if interval is None:
        return Outcome.CANNOT_TELL, f"There is no interval: {metric.reason}"
    low, high = (_shown(expectation, metric, value) for value in (interval.low, interval.high))
    shown = f"{low} to {high}"
    if expectation.is_at_least:
        is_met, is_missed = interval.low >= expectation.limit, interval.high < expectation.limit
    else:
        is_met, is_missed = interval.high <= expectation.limit, interval.low > expectation.limit
    if is_met or is_missed:
        return (Outcome.MET if is_met else Outcome.NOT_MET), f"The 95 % interval is {shown}."
    return Outcome.CANNOT_TELL, f"The limit lies inside the 95 % interval, {shown}."


def _interval(expectation: Expectation, metric: MetricComparison) -> Interval | None:
    """Return the interval of what is judged, a decrease counted as positive."""
    if expectation.kind is Kind.LEVEL:
        return metric.after.ci95 if metric.after else None
    if expectation.kind is Kind.DIFFERENCE:
        change = metric.difference.ci95 if metric.difference else None
    else:
        ratio = metric.ratio.ci95 if metric.ratio else None
        change = Interval(low=ratio.low - 1.0, high=ratio.high - 1.0) if ratio else None
    if change is None or not expectation.is_decrease:
        return change
    return Interval(low=-change.high, high=-change.low)


def _shown(expectation: Expectation, metric: MetricComparison, value: float) -> str:
    if expectation.kind is Kind.SHARE:
        return f"{significant(value * _PERCENT)} %"
    sign = "-" if value < 0 else ""
    return sign + format_value(abs(value), metric.unit)
