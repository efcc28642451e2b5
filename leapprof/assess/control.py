"""Difference in differences: what the change did beyond what happened to a node that was left alone.

A control (another node of the same chain, recorded at the same two times) has seen the same load, hours and
weather. What it shows is taken off; the interval adds both by squares (MOVER), and the verdict stands on what is
left. The grade is the lower of both.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from leapprof.analysis.allowance import is_widened
from leapprof.analysis.compare import holm, less, p_of_effect
from leapprof.analysis.verdict import GRADES, Traits, settle
from leapprof.assess.adjusting import FEW_LOADS, OTHER_HOURS, OTHER_LOAD
from leapprof.assess.confounders import beside
from leapprof.assess.metrics import METRICS
from leapprof.assess.subjects import devices_of_states
from leapprof.assess.texts import headline, short_effect
from leapprof.errors import ConfigError
from leapprof.model import Comparison, ControlEffect, Effect, MetricComparison

FEWEST_NODEOS = 2
SEEN_BY_BOTH = (OTHER_HOURS, OTHER_LOAD, FEW_LOADS)
"""What may have made a difference, but not what is left of it beyond a control of the same chain and hours."""
_MEMORY_S = {spec.name: spec.memory_s for spec in METRICS}


def with_control(comparison: Comparison, control: Comparison) -> Comparison:
    """Return a comparison whose headline metrics are judged by what is left beyond the control's difference.

    Args:
        comparison: of the node that was changed.
        control: of a node that was not, at the same times.
    """
    return _beyond_all(
        comparison, "control host", control.before.recording.host.name, lambda m: _counterpart(m, control)
    )


def with_neighbour(comparison: Comparison, nodeos: str) -> Comparison:
    """Return a comparison whose headline metrics are judged beyond another nodeos of the same host that was left alone.

    What the host and its drives show is of both, so it stays as it is; the devices right below the states are compared.

    Args:
        comparison: of a host with several nodeos.
        nodeos: which of them was left alone.

    Raises:
        ConfigError: it is not one of several.
    """
    ids = [n.id for n in comparison.before.recording.nodeos]
    if nodeos not in ids or len(ids) < FEWEST_NODEOS:
        raise ConfigError(
            f"{nodeos!r} is not one of several nodeos: {', '.join(ids) or 'none'}", key="--control-nodeos"
        )
    of_states = devices_of_states(comparison.before.recording)
    device = next((d for d, owners in of_states.items() if owners == (nodeos,)), None)

    def counterpart(metric: MetricComparison) -> MetricComparison | None:
        """Return the same metric of the nodeos that was left alone, or of the device right below its state."""
        mine = (metric.subject.nodeos, metric.subject.device)
        other = (nodeos, None) if mine[1] is None else (None, device)
        if mine == other or None not in mine or (mine[0] is None and mine[1] not in of_states):
            return None
        found = _measured(metric.name, comparison.metrics)
        return next((m for m in found if (m.subject.nodeos, m.subject.device) == other), None)

    return _beyond_all(comparison, "control nodeos", nodeos, counterpart)


def _beyond_all(
    comparison: Comparison,
    kind: str,
    name: str,
    counterpart: Callable[[MetricComparison], MetricComparison | None],
) -> Comparison:
    """Return a comparison whose headline metrics are judged beyond their counterparts."""
    pairs = [(m, counterpart(m) if _is_judged(m) else None) for m in comparison.metrics]
    beyond = [_beyond(m, other) if other else None for m, other in pairs]
    adjusted_p = holm([p_of_effect(effect) if effect else None for effect in beyond])
    metrics = tuple(
        _judged(m, other, effect, p, name) if other and effect else m
        for (m, other), effect, p in zip(pairs, beyond, adjusted_p, strict=True)
    )
    effects = tuple(
        ControlEffect(name=m.name, subject=m.subject, unit=m.unit, control=_plain(other), beyond=effect)
        for (m, other), effect in zip(pairs, beyond, strict=True)
        if other is not None and effect is not None
    )
    return replace(
        comparison,
        metrics=metrics,
        control={kind: name, **dict(map(_said, effects))},
        control_effects=effects,
        headline=headline(
            metrics,
            comparison.wear,
            (comparison.before, comparison.after),
            beside(comparison.facts, comparison.config_changes, comparison.default_changes),
        ),
    )


def _said(one: ControlEffect) -> tuple[str, str]:
    """Return a metric's name with its subject, and both differences as a sentence."""
    whom = one.subject.device or one.subject.nodeos
    return (
        f"{one.name} {whom}" if whom else one.name,
        f"{short_effect(one.beyond, one.unit)} beyond the control's {short_effect(one.control, one.unit)}",
    )


def beyond_control(changed: Effect, control: Effect) -> Effect:
    """Return the difference of two differences; without interval when either has none."""
    return less(changed, control)


def _is_judged(metric: MetricComparison) -> bool:
    """Return whether a control says something of a metric."""
    return metric.headline and metric.difference is not None and metric.threshold is not None


def _plain(metric: MetricComparison) -> Effect:
    """Return the difference as it was: the control stands for load and hours."""
    assert metric.difference is not None
    return metric.difference


def _beyond(metric: MetricComparison, other: MetricComparison) -> Effect:
    return beyond_control(_plain(metric), _plain(other))


def _judged(
    metric: MetricComparison, other: MetricComparison, effect: Effect, p_adjusted: float | None, name: str
) -> MetricComparison:
    """Return a metric whose verdict stands on what is left beyond the control."""
    assert metric.threshold is not None
    grade = min(metric.grade, other.grade, key=GRADES.index)
    traits = Traits(
        better=metric.better, threshold=metric.threshold, memory_s=_MEMORY_S.get(metric.name, 0.0)
    )
    allowed = is_widened(metric.before, metric.after, other.before, other.after)
    verdict, reason = settle(effect, p_adjusted, traits, grade, allowed=allowed)
    why = f"beyond the control {name}, which moved by {short_effect(_plain(other), metric.unit)}"
    return replace(
        metric,
        adjusted=effect,
        adjusted_for=why,
        by_ratio=False,
        p_value=p_of_effect(effect),
        p_adjusted=p_adjusted,
        grade=grade,
        verdict=verdict,
        reason=f"{why}: {reason}",
        confounded=tuple(clause for clause in metric.confounded if clause not in SEEN_BY_BOTH),
    )


def _counterpart(metric: MetricComparison, control: Comparison) -> MetricComparison | None:
    """Return the control's metric of the same name and role, or its only one of that name; None without."""
    found = list(_measured(metric.name, control.metrics))
    of_role = [m for m in found if m.subject.role == metric.subject.role]
    for candidates in (of_role, found):
        if len(candidates) == 1:
            return candidates[0]
    return None


def _measured(name: str, metrics: Sequence[MetricComparison]) -> Iterator[MetricComparison]:
    """Yield the metrics of a name that are on both sides."""
    yield from (m for m in metrics if m.name == name and m.difference is not None)
