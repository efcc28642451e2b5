"""Many hosts' differences become a verdict a metric: changed hosts, controls, who is unlike, and what to make of it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from leapprof.analysis.allowance import is_widened
from leapprof.analysis.compare import benjamini_hochberg, holm
from leapprof.analysis.fleet import (
    Unit,
    against_controls,
    random_effects,
    reference_of,
)
from leapprof.analysis.verdict import GRADES, Traits, settle
from leapprof.assess.fleet_hosts import FLEET_METRICS, FleetMetric, HostDifference
from leapprof.assess.material import info, warning
from leapprof.model import Effect, Finding, FleetReference, FleetSummary, Grade, Interval, Verdict

ALPHA = 0.05
MUCH_BETWEEN_HOSTS = 0.5
MOST_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetVerdict:
    """One metric of a fleet.

    Attributes:
        group: what it is about on every host (HostDifference); empty for the host and its only nodeos.
        before_mean, after_mean: means of the changed hosts' means.
        changed: summary of the changed hosts; None below two.
        controls: what the controls moved by; None without.
        value, ci95: the difference that the verdict is about, that of the controls taken off; None without.
        threshold: difference that matters.
        grade: the lowest of the hosts'.
        reason: one sentence.
    """

    metric: FleetMetric
    group: str
    before_mean: float
    after_mean: float
    changed: FleetSummary | None
    controls: FleetReference | None
    value: float | None
    ci95: Interval | None
    p_value: float | None
    p_adjusted: float | None
    threshold: float
    grade: Grade
    verdict: Verdict
    reason: str

    @property
    def name(self) -> str:
        """Return the metric, with what it is about where that is not the host or its only nodeos."""
        return f"{self.metric.name} ({self.group})" if self.group else self.metric.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The whole answer."""

    hosts: tuple[HostDifference, ...]
    verdicts: tuple[FleetVerdict, ...]
    findings: tuple[Finding, ...]

    def of(self, one: FleetVerdict) -> tuple[HostDifference, ...]:
        """Return the hosts' differences that a verdict is about, controls last."""
        return tuple(d for d in self.hosts if (d.metric, d.group) == (one.metric.name, one.group))

    @property
    def changed(self) -> tuple[str, ...]:
        """Return the names of the hosts that were changed."""
        return tuple(dict.fromkeys(d.host for d in self.hosts if not d.is_control))

    @property
    def controls(self) -> tuple[str, ...]:
        """Return the names of the hosts that were not."""
        return tuple(dict.fromkeys(d.host for d in self.hosts if d.is_control))


def fleet(differences: Iterable[HostDifference]) -> Fleet:
    """Return the verdicts of all metrics of some hosts, those of the headline first."""
    order = list(FLEET_METRICS)
    hosts = tuple(
        sorted(differences, key=lambda d: (order.index(d.metric), d.group, d.is_control, d.host, d.subject))
    )
    grouped: Mapping[tuple[str, str], list[HostDifference]] = defaultdict(list)
    for one in hosts:
        grouped[one.metric, one.group].append(one)
    of_changed = [found for found in grouped.values() if any(not d.is_control for d in found)]
    plain = sorted((_summarised(found) for found in of_changed), key=lambda v: not v.metric.headline)
    strict = holm([v.p_value if v.metric.headline else None for v in plain])
    loose = benjamini_hochberg([None if v.metric.headline else v.p_value for v in plain])
    verdicts = tuple(
        _judged(v, s if s is not None else other, grouped[v.metric.name, v.group])
        for v, s, other in zip(plain, strict, loose, strict=True)
    )
    return Fleet(hosts=hosts, verdicts=verdicts, findings=_findings(verdicts))


def _summarised(found: Sequence[HostDifference]) -> FleetVerdict:
    """Return one metric of one group, not yet judged."""
    changed = [d for d in found if not d.is_control]
    controls = [d for d in found if d.is_control]
    summary = random_effects(_units(changed))
    reference = reference_of(_units(controls), controls[0].freedom) if controls else None
    value = ci95 = p_value = None
    if summary is not None:
        value, ci95, p_value = summary.mean, summary.ci95, summary.p_value
        if reference is not None:
            value, ci95, p_value = against_controls(summary, reference)
    metric = FLEET_METRICS[found[0].metric]
    if not any(d.can_move for d in found):
        metric, p_value = replace(metric, headline=False), None
    before_mean = sum(d.before.mean for d in changed) / len(changed)
    return FleetVerdict(
        metric=metric,
        group=found[0].group,
        before_mean=before_mean,
        after_mean=sum(d.after.mean for d in changed) / len(changed),
        changed=summary,
        controls=reference,
        value=value,
        ci95=ci95,
        p_value=p_value,
        p_adjusted=None,
        threshold=metric.threshold.of(before_mean),
        grade=Grade.TOO_SHORT,
        verdict=Verdict.INCONCLUSIVE,
        reason="",
    )


def _units(differences: Sequence[HostDifference]) -> list[Unit]:
    return [
        Unit(name=d.name, difference=d.effect.value, standard_error=d.standard_error) for d in differences
    ]


def _judged(plain: FleetVerdict, p_adjusted: float | None, hosts: Sequence[HostDifference]) -> FleetVerdict:
    """Return a metric with its verdict, by the rules that hold for one host's."""
    grade = min((d.grade for d in hosts if d.grade is not None), key=GRADES.index, default=Grade.FULL)
    reason = "one host is no fleet: two or more are needed"
    if plain.value is None:
        return replace(plain, grade=Grade.TOO_SHORT, reason=reason)
    effect = Effect(value=plain.value, ci95=plain.ci95)
    traits = Traits(better=plain.metric.better, threshold=plain.threshold, memory_s=0.0)
    p_value = p_adjusted if plain.metric.headline else None
    allowed = is_widened(*(side for d in hosts for side in (d.before, d.after)))
    verdict, reason = settle(effect, p_value, traits, grade, allowed=allowed)
    weak = [d.host for d in hosts if d.grade is Grade.PRELIMINARY]
    if weak:
        reason += f" (preliminary on {', '.join(weak[:MOST_NAMED])})"
    return replace(plain, p_adjusted=p_adjusted, grade=grade, verdict=verdict, reason=reason)


def _findings(verdicts: Sequence[FleetVerdict]) -> tuple[Finding, ...]:
    """Return who stands out, how unlike hosts are, and what a single control does not tell."""
    found = []
    for one in verdicts:
        if one.changed is None:
            continue
        if one.changed.outliers:
            found.append(
                warning(
                    "hosts-stand-out",
                    f"{one.name}: {', '.join(one.changed.outliers[:MOST_NAMED])} changed unlike the others.",
                    "Look at these hosts first: another load, drive or config, or the change did not take there.",
                )
            )
        if one.metric.headline and one.changed.q_p_value < ALPHA and one.changed.i2 > MUCH_BETWEEN_HOSTS:
            found.append(
                info(
                    "hosts-differ",
                    f"{one.name}: {100 * one.changed.i2:.0f} % of the variance lies between hosts.",
                    "Read the prediction interval, not the mean's, for one more host.",
                )
            )
    if any(one.controls is not None and one.controls.hosts == 1 for one in verdicts):
        found.append(
            info(
                "one-control",
                "A single control was taken off: how hosts differ that were not changed is not in the intervals.",
                "Record two controls or more at the same times.",
            )
        )
    return tuple(found)
