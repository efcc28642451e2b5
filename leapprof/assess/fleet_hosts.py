"""One host's differences as a fleet takes them: from a comparison of recordings, or from batch means of a server."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from leapprof.analysis.allowance import Nature, allowing, is_short
from leapprof.analysis.compare import NORMAL_975, difference
from leapprof.analysis.estimate import estimate
from leapprof.analysis.verdict import Threshold
from leapprof.assess.measure import range_of
from leapprof.assess.metrics import METRICS, WRITE_MEMORY_S
from leapprof.assess.subjects import devices_of_states
from leapprof.model import (
    BatchMeans,
    Better,
    Comparison,
    Effect,
    Estimate,
    Grade,
    MetricComparison,
    Subject,
    Verdict,
)

FEWEST_BATCHES = 3
"""Three whole days are the least; with fewer a host's own standard error means nothing."""
DRIVES = "host.drive_write_bytes_per_s"
STATE = "state"


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetMetric:
    """What a metric of a fleet is: name, unit, direction that is good, difference that matters.

    Attributes:
        headline: one of the metrics whose p values Holm adjusts together.
        memory_s: prior of the integrated autocorrelation time.
    """

    name: str
    unit: str
    better: Better
    threshold: Threshold
    headline: bool
    memory_s: float


FLEET_METRICS: dict[str, FleetMetric] = {
    **{
        spec.name: FleetMetric(
            name=spec.name,
            unit=spec.unit,
            better=spec.better,
            threshold=spec.threshold,
            headline=spec.headline,
            memory_s=spec.memory_s,
        )
        for spec in METRICS
    },
    DRIVES: FleetMetric(
        name=DRIVES,
        unit="bytes_per_s",
        better=Better.LOWER,
        threshold=Threshold(absolute=50_000.0, relative=0.2),
        headline=True,
        memory_s=WRITE_MEMORY_S,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HostDifference:
    """One metric of one host on both sides.

    Attributes:
        subject: device or nodeos by its own name, empty for the host.
        group: what it is on every host, so that like is summarised with like: empty for the host and its only
            nodeos, ``state`` for the device right below the state, else a role or a name.
        effect: on which the host's own verdict stands: at equal load or beyond its control where it has that.
        effect_of: clause that says so; None: the plain difference.
        is_control: the host was not changed.
        verdict: of the host alone; None where a server was asked.
        grade: of the host alone; where a server was asked of its windows.
        can_move: False where the metric could not move on this host; where it can on none, it is no question.
    """

    host: str
    subject: str
    group: str
    metric: str
    before: Estimate
    after: Estimate
    effect: Effect
    standard_error: float
    is_control: bool
    effect_of: str | None = None
    verdict: Verdict | None = None
    grade: Grade | None = None
    can_move: bool = True

    @property
    def name(self) -> str:
        """Return the host, with its subject where it has one."""
        return f"{self.host} {self.subject}".strip()

    @property
    def freedom(self) -> float:
        """Return the degrees of freedom of the standard error, by Welch and Satterthwaite."""
        sides = [(e.standard_error or 0.0, e.degrees_of_freedom or 1) for e in (self.before, self.after)]
        spread = sum(error**4 / freedom for error, freedom in sides)
        return sum(error**2 for error, _ in sides) ** 2 / spread if spread > 0 else 1.0


def host_difference(
    host: str,
    metric: str,
    before: BatchMeans,
    after: BatchMeans,
    *,
    is_control: bool,
    other_hours: bool = False,
) -> HostDifference | None:
    """Return one host's difference; None when a side has too few batches for a standard error.

    Args:
        host: its name.
        metric: of FLEET_METRICS.
        before: its batch means.
        after: its batch means.
        is_control: it was not changed.
        other_hours: the windows cover other hours of the day, so nothing is certain without a control.
    """
    if min(before.mean.size, after.mean.size) < FEWEST_BATCHES:
        return None
    memory_s = FLEET_METRICS[metric].memory_s
    (first, short_before), (second, short_after) = (_allowed(one, memory_s) for one in (before, after))
    error = _joined_error(first, second)
    if first is None or second is None or error is None:
        return None
    preliminary = short_before or short_after or other_hours
    return HostDifference(
        host=host,
        subject="",
        group="",
        metric=metric,
        before=first,
        after=second,
        effect=difference(first, second),
        standard_error=error,
        is_control=is_control,
        grade=Grade.PRELIMINARY if preliminary else Grade.FULL,
    )


def _allowed(batches: BatchMeans, memory_s: float) -> tuple[Estimate | None, bool]:
    """Return the estimate of a side, which allows for a short window, and whether it is one."""
    found = estimate(batches)
    if found is None:
        return None, True
    nature = Nature(memory_s=memory_s, range=range_of(batches), non_negative=batches.non_negative)
    return allowing(found, nature), is_short(found, nature)


def of_comparison(host: str, comparison: Comparison, *, is_control: bool) -> tuple[HostDifference, ...]:
    """Return the differences of a pair of recordings that a fleet is about."""
    of_states = devices_of_states(comparison.before.recording)
    found = [
        replace(one, group=_group(metric.subject, of_states))
        for metric in comparison.metrics
        if (one := _of_metric(host, metric, is_control=is_control)) is not None
    ]
    times = Counter((one.metric, one.group) for one in found)
    # where two of a host would share a group, their names tell them apart
    return tuple(
        one if times[one.metric, one.group] == 1 else replace(one, group=one.subject) for one in found
    )


def _of_metric(host: str, metric: MetricComparison, *, is_control: bool) -> HostDifference | None:
    """Return one metric's difference; None for one that may not be compared, or has no standard error."""
    before, after, effect = metric.before, metric.after, metric.adjusted or metric.difference
    error = _joined_error(before, after)
    if metric.refused or metric.name not in FLEET_METRICS or before is None or after is None or error is None:
        return None
    if effect is None or effect.ci95 is None:
        return None
    if metric.adjusted is not None:
        error = (effect.ci95.high - effect.ci95.low) / 2 / NORMAL_975
    return HostDifference(
        host=host,
        subject=_own_name(metric.subject),
        group="",
        metric=metric.name,
        before=before,
        after=after,
        effect=effect,
        standard_error=error,
        is_control=is_control,
        effect_of=metric.adjusted_for if metric.adjusted is not None else None,
        verdict=metric.verdict,
        grade=metric.grade,
        can_move=metric.immovable is None,
    )


def _joined_error(before: Estimate | None, after: Estimate | None) -> float | None:
    """Return the standard error of a difference; None when a side has none."""
    errors = [side.standard_error if side else None for side in (before, after)]
    if errors[0] is None or errors[1] is None:
        return None
    return math.hypot(errors[0], errors[1])


def _own_name(subject: Subject) -> str:
    parts = (subject.nodeos, subject.device, subject.operation, subject.target)
    return " ".join(part for part in parts if part)


def _group(subject: Subject, of_states: Mapping[str, tuple[str, ...]]) -> str:
    """Return what a subject is on every host.

    Args:
        subject: of a metric of one host.
        of_states: device right below a state → whose it is, on that host.
    """
    if subject.device is None:
        return subject.operation or ""
    if subject.device in of_states:
        return STATE if len(of_states) == 1 else f"{STATE} of {', '.join(of_states[subject.device])}"
    return subject.role or subject.device
