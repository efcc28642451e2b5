"""Many hosts' differences become a verdict a metric: changed hosts, controls, who is unlike, and what to make of it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from leapprof.analysis.compare import difference, holm
from leapprof.analysis.estimate import estimate
from leapprof.analysis.fleet import Summary, Unit, against_controls, random_effects
from leapprof.analysis.verdict import Threshold
from leapprof.assess.metrics import METRICS
from leapprof.model import (
    BatchMeans,
    Better,
    Comparison,
    Effect,
    Estimate,
    Finding,
    Interval,
    Severity,
    Verdict,
)

ALPHA = 0.05
FEWEST_BATCHES = 3
"""Three whole days are the least; with fewer a host's own standard error means nothing."""
DRIVES = "host.drive_write_bytes_per_s"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetMetric:
    """What a metric of a fleet is: name, unit, direction that is good, difference that matters."""

    name: str
    unit: str
    better: Better
    threshold: Threshold


FLEET_METRICS: dict[str, FleetMetric] = {
    **{
        spec.name: FleetMetric(name=spec.name, unit=spec.unit, better=spec.better, threshold=spec.threshold)
        for spec in METRICS
    },
    DRIVES: FleetMetric(
        name=DRIVES,
        unit="bytes_per_s",
        better=Better.LOWER,
        threshold=Threshold(absolute=50_000.0, relative=0.2),
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDifference:
    """One metric of one host on both sides.

    Attributes:
        subject: device or nodeos, empty for the host.
        is_control: the host was not changed.
    """

    host: str
    subject: str
    metric: str
    before: Estimate
    after: Estimate
    effect: Effect
    standard_error: float
    is_control: bool

    @property
    def name(self) -> str:
        """Return the host, with its subject where it has one."""
        return f"{self.host} {self.subject}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetVerdict:
    """One metric of a fleet.

    Attributes:
        before_mean: mean of the changed hosts' means before.
        changed, controls: summaries; None below two hosts.
        value, ci95: the difference that the verdict is about, that of the controls taken off; None without.
        reason: one sentence.
    """

    metric: FleetMetric
    before_mean: float
    after_mean: float
    changed: Summary | None
    controls: Summary | None
    value: float | None
    ci95: Interval | None
    p_value: float | None
    p_adjusted: float | None
    verdict: Verdict
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """The whole answer."""

    hosts: tuple[HostDifference, ...]
    verdicts: tuple[FleetVerdict, ...]
    findings: tuple[Finding, ...]


def host_difference(
    host: str, metric: str, before: BatchMeans, after: BatchMeans, *, is_control: bool
) -> HostDifference | None:
    """Return one host's difference; None when a side has too few batches for a standard error."""
    if min(before.mean.size, after.mean.size) < FEWEST_BATCHES:
        return None
    first, second = estimate(before), estimate(after)
    return _difference(host, "", metric, first, second, is_control=is_control)


def of_comparison(host: str, comparison: Comparison, *, is_control: bool) -> tuple[HostDifference, ...]:
    """Return the differences of a pair of recordings that a fleet is about."""
    found = []
    for metric in comparison.metrics:
        if metric.refused or metric.name not in FLEET_METRICS:
            continue
        subject = metric.subject.role or metric.subject.device or metric.subject.nodeos or ""
        found.append(
            _difference(host, subject, metric.name, metric.before, metric.after, is_control=is_control)
        )
    return tuple(one for one in found if one is not None)


def _difference(
    host: str, subject: str, metric: str, before: Estimate | None, after: Estimate | None, *, is_control: bool
) -> HostDifference | None:
    if before is None or after is None or before.standard_error is None or after.standard_error is None:
        return None
    return HostDifference(
        host=host,
        subject=subject,
        metric=metric,
        before=before,
        after=after,
        effect=difference(before, after),
        standard_error=(before.standard_error**2 + after.standard_error**2) ** 0.5,
        is_control=is_control,
    )


def fleet(differences: Iterable[HostDifference]) -> Fleet:
    """Return the verdicts of all metrics of some hosts."""
    hosts = tuple(sorted(differences, key=lambda d: (d.metric, d.is_control, d.host, d.subject)))
    by_metric: Mapping[str, list[HostDifference]] = defaultdict(list)
    for one in hosts:
        by_metric[one.metric].append(one)
    plain = [
        _summarised(name, found) for name, found in by_metric.items() if any(not d.is_control for d in found)
    ]
    adjusted = holm([verdict.p_value for verdict in plain])
    verdicts = tuple(_judged(verdict, p) for verdict, p in zip(plain, adjusted, strict=True))
    return Fleet(hosts=hosts, verdicts=verdicts, findings=_findings(verdicts))


def _summarised(name: str, found: Sequence[HostDifference]) -> FleetVerdict:
    changed = [d for d in found if not d.is_control]
    controls = [d for d in found if d.is_control]
    summary, reference = random_effects(_units(changed)), random_effects(_units(controls))
    value = ci95 = p_value = None
    if summary is not None:
        value, ci95, p_value = summary.mean, summary.ci95, summary.p_value
        if reference is not None:
            value, ci95, p_value = against_controls(summary, reference)
    return FleetVerdict(
        metric=FLEET_METRICS[name],
        before_mean=sum(d.before.mean for d in changed) / len(changed),
        after_mean=sum(d.after.mean for d in changed) / len(changed),
        changed=summary,
        controls=reference,
        value=value,
        ci95=ci95,
        p_value=p_value,
        p_adjusted=None,
        verdict=Verdict.INCONCLUSIVE,
        reason="",
    )


def _units(differences: Sequence[HostDifference]) -> list[Unit]:
    return [
        Unit(name=d.name, difference=d.effect.value, standard_error=d.standard_error) for d in differences
    ]


def _judged(plain: FleetVerdict, p_adjusted: float | None) -> FleetVerdict:
    """Return a metric with its verdict: fail closed, and nothing smaller than what matters is a change."""
    from dataclasses import replace

    verdict, reason = Verdict.INCONCLUSIVE, "one host is no fleet: two or more are needed"
    if plain.value is not None and plain.ci95 is not None:
        threshold = plain.metric.threshold.of(plain.before_mean)
        inside = -threshold < plain.ci95.low and plain.ci95.high < threshold
        proven = p_adjusted is not None and p_adjusted < ALPHA and not plain.ci95.low <= 0 <= plain.ci95.high
        if inside:
            verdict, reason = Verdict.UNCHANGED, "the whole interval lies below what matters"
        elif proven and abs(plain.value) >= threshold:
            verdict, reason = (
                _direction(plain.metric.better, plain.value),
                "the interval leaves out no difference",
            )
        elif proven:
            reason = "a difference is there, and smaller than what matters at its best guess"
        else:
            reason = "the interval holds no difference as well as one that matters"
    return replace(plain, p_adjusted=p_adjusted, verdict=verdict, reason=reason)


def _direction(better: Better, value: float) -> Verdict:
    if better is Better.NEITHER:
        return Verdict.CHANGED
    return Verdict.IMPROVED if (value < 0) == (better is Better.LOWER) else Verdict.REGRESSED


def _findings(verdicts: Sequence[FleetVerdict]) -> tuple[Finding, ...]:
    found = []
    for one in verdicts:
        if one.changed is None:
            continue
        if one.changed.outliers:
            found.append(
                Finding(
                    code="hosts-stand-out",
                    severity=Severity.WARNING,
                    message=f"{one.metric.name}: {', '.join(one.changed.outliers[:10])} changed unlike the others.",
                    hint="Look at these hosts first: another load, drive or config, or the change did not take there.",
                )
            )
        if one.changed.q_p_value < ALPHA and one.changed.i2 > 0.5:
            found.append(
                Finding(
                    code="hosts-differ",
                    severity=Severity.INFO,
                    message=f"{one.metric.name}: {100 * one.changed.i2:.0f} % of the variance lies between hosts.",
                    hint="Read the prediction interval, not the mean's, for one more host.",
                )
            )
    return tuple(found)
