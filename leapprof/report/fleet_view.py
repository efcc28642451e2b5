"""Several hosts in one verdict → strings of a report for people; templates do no arithmetic."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leapprof.assess.fleet import Fleet, FleetVerdict
from leapprof.assess.fleet_hosts import HostDifference
from leapprof.assess.fleet_texts import whom
from leapprof.assess.many_hosts import HostComparison, HostsComparison
from leapprof.model import Effect, Verdict
from leapprof.report import text
from leapprof.report.forest import Forest, forest
from leapprof.report.labels import GRADES, VERDICT_SIGNS, metric_label
from leapprof.report.view import FindingView, finding_view
from leapprof.report.view_metrics import Figure, effect_figure

HOST = "host"
Folders = Mapping[tuple[str, bool], str]
"""Host, and whether it is a control → folder of its own report, relative to the one of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostLine:
    """One metric of one host, or of all together."""

    host: str
    subject: str
    before: str
    after: str
    difference: Figure
    verdict: str
    sign: str
    grade: str
    is_control: bool

    @property
    def name(self) -> str:
        """Return the host, with its subject where it has one."""
        return f"{self.host} {self.subject}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRow:
    """One metric of all hosts.

    Attributes:
        about: what it is on every host.
        before, after: means of the hosts' means.
        difference: of the mean, that of the controls taken off.
        between: how unlike the hosts are.
        one_more: where one more host would lie.
        lines: each host, controls last.
        forest: drawn for the metrics of the headline with two hosts or more; None for others.
    """

    name: str
    label: str
    about: str
    hosts: str
    before: str
    after: str
    difference: Figure
    beyond: str
    between: str
    one_more: str
    p: str
    p_adjusted: str
    verdict: str
    sign: str
    grade: str
    reason: str
    headline: bool
    lines: tuple[HostLine, ...]
    forest: Forest | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostRow:
    """One host: its own report, and what stands in it.

    Attributes:
        folder: of its report, relative to this one; empty when none is written.
        verdicts: of its headline metrics, with their signs.
        warnings: number of findings that limit what may be concluded.
    """

    host: str
    folder: str
    title: str
    compared: str
    verdicts: str
    warnings: str
    is_control: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsView:
    """A report of several hosts, as strings in the order in which they are read."""

    title: str
    banner: tuple[str, ...]
    headline: tuple[str, ...]
    rows: tuple[FleetRow, ...]
    hosts: tuple[HostRow, ...]
    findings: tuple[FindingView, ...]
    shared: tuple[FindingView, ...]
    method: tuple[tuple[str, str], ...]
    repeat: tuple[str, ...]


def hosts_view(compared: HostsComparison, folders: Folders) -> HostsView:
    """Return the report of several hosts for people.

    Args:
        compared: what is reported.
        folders: of the hosts' own reports.
    """
    reconstructed = {
        one.host
        for one in (*compared.hosts, *compared.controls)
        for side in (one.comparison.before, one.comparison.after)
        if side.recording.reconstructed is not None
    }
    return HostsView(
        title=text.clean(compared.title),
        banner=tuple(f"{text.clean(host)} was not measured." for host in sorted(reconstructed)),
        headline=tuple(text.clean(sentence, 2000) for sentence in compared.headline),
        rows=fleet_rows(compared.fleet),
        hosts=(
            *(_host(one, folders, is_control=False) for one in compared.hosts),
            *(_host(one, folders, is_control=True) for one in compared.controls),
        ),
        findings=tuple(finding_view(finding) for finding in compared.findings),
        shared=tuple(
            FindingView(
                code=one.code,
                severity=one.severity.value,
                message=text.clean(one.message),
                hint=text.clean(one.hint),
                about=text.clean(", ".join(one.hosts)),
            )
            for one in compared.shared
        ),
        method=tuple((text.clean(k), text.clean(v, 2000)) for k, v in sorted(compared.method.items())),
        repeat=tuple(text.clean(command, 2000) for command in compared.repeat),
    )


def fleet_rows(found: Fleet) -> tuple[FleetRow, ...]:
    """Return the metrics of a fleet, each with its hosts."""
    return tuple(_row(one, found.of(one)) for one in found.verdicts)


def _row(one: FleetVerdict, hosts: Sequence[HostDifference]) -> FleetRow:
    unit, summary = one.metric.unit, one.changed
    effect = None if one.value is None else Effect(value=one.value, ci95=one.ci95)
    ahead = summary.prediction95 if summary else None
    controls = one.controls.hosts if one.controls else 0
    return FleetRow(
        name=one.metric.name,
        label=text.clean(metric_label(one.metric.name)),
        about=text.clean(whom(one) or HOST),
        hosts=str(summary.hosts if summary else 1),
        before=text.value_text(one.before_mean, unit),
        after=text.value_text(one.after_mean, unit),
        difference=effect_figure(effect, unit),
        beyond=f"beyond {controls} control{'s' if controls > 1 else ''}" if controls else "",
        between=f"{text.signed_text(summary.tau, unit).removeprefix('+')} (I² {100 * summary.i2:.0f} %)"
        if summary
        else text.ABSENT,
        one_more=text.signed_interval_text(ahead, unit) or text.ABSENT,
        p=text.p_text(one.p_value),
        p_adjusted=text.p_text(one.p_adjusted),
        verdict=one.verdict.value,
        sign=VERDICT_SIGNS[one.verdict],
        grade=GRADES[one.grade],
        reason=text.clean(one.reason),
        headline=one.metric.headline,
        lines=tuple(_line(d, unit) for d in hosts),
        forest=forest(one, hosts) if one.metric.headline and effect is not None else None,
    )


def _line(one: HostDifference, unit: str) -> HostLine:
    return HostLine(
        host=text.clean(one.host),
        subject=text.clean(one.subject),
        before=text.value_text(one.before.mean, unit),
        after=text.value_text(one.after.mean, unit),
        difference=effect_figure(one.effect, unit),
        verdict=one.verdict.value if one.verdict else text.ABSENT,
        sign=VERDICT_SIGNS[one.verdict] if one.verdict else "",
        grade=GRADES[one.grade] if one.grade else "",
        is_control=one.is_control,
    )


def _host(one: HostComparison, folders: Folders, *, is_control: bool) -> HostRow:
    comparison = one.comparison
    counted = Counter(m.verdict for m in comparison.metrics if m.headline)
    lengths = [text.duration_text(side.window.compared_s) for side in (comparison.before, comparison.after)]
    return HostRow(
        host=text.clean(one.host),
        folder=folders.get((one.host, is_control), ""),
        title=text.clean(comparison.title.removeprefix(f"{one.host}: ")),
        compared=f"{lengths[0]} before, {lengths[1]} after",
        verdicts=", ".join(f"{VERDICT_SIGNS[v]} {counted[v]} {v.value}" for v in Verdict if counted[v]),
        warnings=str(sum(f.severity != "info" for f in comparison.findings)),
        is_control=is_control,
    )
