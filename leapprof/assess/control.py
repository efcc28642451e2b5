"""Difference in differences: what the change did beyond what happened to a node that was left alone.

A control (another node of the same chain, recorded at the same two times) has seen the same load, hours and
weather. What it shows is taken off; the interval adds both by squares (MOVER).
"""

import math
from collections.abc import Iterator
from dataclasses import replace

from leapprof.assess.metrics import METRICS
from leapprof.assess.texts import short_effect
from leapprof.model import Comparison, Effect, Interval, MetricComparison

_HEADLINE = frozenset(spec.name for spec in METRICS if spec.headline)


def with_control(comparison: Comparison, control: Comparison) -> Comparison:
    """Return a comparison that also says what is left of each headline metric beyond the control's difference.

    Args:
        comparison: of the node that was changed.
        control: of a node that was not, at the same times.
    """
    said = {"control host": control.before.recording.host.name}
    for metric in comparison.metrics:
        other = _counterpart(metric, control)
        if metric.name not in _HEADLINE or other is None or metric.difference is None or metric.refused:
            continue
        assert other.difference is not None
        beyond = beyond_control(metric.difference, other.difference)
        whom = metric.subject.device or metric.subject.nodeos
        said[f"{metric.name} {whom}" if whom else metric.name] = (
            f"{short_effect(beyond, metric.unit)} beyond the control's {short_effect(other.difference, metric.unit)}"
        )
    return replace(comparison, control=said)


def beyond_control(changed: Effect, control: Effect) -> Effect:
    """Return the difference of two differences; without interval when either has none."""
    value = changed.value - control.value
    if changed.ci95 is None or control.ci95 is None:
        return Effect(value=value, ci95=None)
    down = math.hypot(changed.value - changed.ci95.low, control.ci95.high - control.value)
    up = math.hypot(changed.ci95.high - changed.value, control.value - control.ci95.low)
    return Effect(value=value, ci95=Interval(low=value - down, high=value + up))


def _counterpart(metric: MetricComparison, control: Comparison) -> MetricComparison | None:
    """Return the control's metric of the same name and role, or its only one of that name; None without."""
    found = list(_measured(metric.name, control))
    of_role = [m for m in found if m.subject.role == metric.subject.role]
    for candidates in (of_role, found):
        if len(candidates) == 1:
            return candidates[0]
    return None


def _measured(name: str, control: Comparison) -> Iterator[MetricComparison]:
    """Yield the control's metrics of a name that are on both sides."""
    yield from (m for m in control.metrics if m.name == name and m.difference is not None)
