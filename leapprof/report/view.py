"""Comparison → ReportView: every string of a report for people, formatted; templates do no arithmetic."""

from dataclasses import dataclass

from leapprof.model import Comparison, ConfigChange, Finding, Side
from leapprof.report import text
from leapprof.report.quantile_rows import quantile_rows
from leapprof.report.starts_view import StartsView, starts_view
from leapprof.report.view_checks import check_rows
from leapprof.report.view_metrics import (
    KeyFigure,
    MetricGroup,
    WearRow,
    key_figures,
    metric_groups,
    wear_rows,
)

MAX_EVENTS_A_SIDE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SideView:
    """One side: what was recorded, when, and which part of it is compared."""

    name: str
    label: str
    host: str
    nodeos: str
    recorded: str
    window: str
    length: str
    left_out: str
    reconstructed: str | None
    cost: tuple[tuple[str, str], ...]
    denied: tuple[str, ...]
    absent: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of a plain table, with a mark for what differs."""

    cells: tuple[str, ...]
    changed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingView:
    """A finding, ready to print."""

    code: str
    severity: str
    message: str
    hint: str
    about: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """A report for people, as strings in the order in which they are read.

    Attributes:
        headline: sentences; the first lead_count of them stand above the key figures.
    """

    title: str
    banner: tuple[str, ...]
    headline: tuple[str, ...]
    lead_count: int
    key_figures: tuple[KeyFigure, ...]
    before: SideView
    after: SideView
    groups: tuple[MetricGroup, ...]
    tally: tuple[tuple[str, int], ...]
    quantiles: tuple[Row, ...]
    wear: tuple[WearRow, ...]
    published: tuple[Row, ...]
    findings: tuple[FindingView, ...]
    facts_changed: tuple[Row, ...]
    facts_same: tuple[Row, ...]
    config_changes: tuple[Row, ...]
    default_changes: tuple[Row, ...]
    timeline: tuple[Row, ...]
    timeline_left_out: str
    checks: tuple[tuple[str, str], ...]
    not_measured: tuple[str, ...]
    method: tuple[tuple[str, str], ...]
    repeat: tuple[str, ...]
    starts: StartsView | None = None


def _cost(side: Side) -> tuple[tuple[str, str], ...]:
    cost, interval_s = side.recording.cost, side.recording.interval_s
    unknown = text.ABSENT
    return (
        ("agent", text.clean(cost.agent)),
        ("samples", f"{cost.samples:,}, one every {interval_s:g} s"),
        ("CPU time of the agent", unknown if cost.cpu_s is None else text.value_text(cost.cpu_s, "s")),
        ("memory of the agent", text.value_text(cost.rss_bytes, "bytes")),
        ("received from the host", text.value_text(cost.wire_bytes, "moved_bytes")),
        ("frames rejected, dropped", f"{cost.rejected_frames:,}, {cost.dropped_frames:,}"),
        ("questions put to nodeos", f"{cost.http_requests:,}, {text.value_text(cost.http_s, 's')} in all"),
    )


def _nodeos(side: Side) -> str:
    found = [
        " ".join(
            text.clean(part)
            for part in (n.id, n.version, n.map_mode, "(stand-in, not nodeos)" if n.stand_in else None)
            if part
        )
        for n in side.recording.nodeos
    ]
    return "; ".join(found) or text.ABSENT


def side_view(side: Side, name: str) -> SideView:
    """Return one side for people."""
    recording, window = side.recording, side.window
    left_out = [f"{text.duration_text(s)} {text.clean(why)}" for why, s in sorted(window.left_out_s.items())]
    return SideView(
        name=name,
        label="" if side.label == name else text.clean(side.label),
        host=text.clean(recording.host.name),
        nodeos=_nodeos(side),
        recorded=text.span_text(recording.started_wall_ns, recording.ended_wall_ns),
        window=text.span_text(window.start_wall_ns, window.end_wall_ns),
        length=text.duration_text(window.compared_s),
        left_out=", ".join(left_out) or "nothing",
        reconstructed=None if recording.reconstructed is None else text.clean(recording.reconstructed),
        cost=_cost(side),
        denied=tuple(text.clean(reading) for reading in recording.denied),
        absent=tuple(text.clean(reading) for reading in recording.absent),
    )


def _banner(before: SideView, after: SideView) -> tuple[str, ...]:
    return tuple(
        f"The {side.name} side was not measured: {side.reconstructed}"
        for side in (before, after)
        if side.reconstructed is not None
    )


def finding_view(finding: Finding) -> FindingView:
    """Return a finding for people."""
    about = [part for part in (finding.subject, finding.option) if part]
    if finding.line is not None:
        about.append(f"line {finding.line}")
    return FindingView(
        code=text.clean(finding.code),
        severity=finding.severity.value,
        message=text.clean(finding.message),
        hint=text.clean(finding.hint),
        about=", ".join(text.clean(part) for part in about),
    )


def _facts(comparison: Comparison) -> tuple[Row, ...]:
    return tuple(
        Row(
            cells=(
                text.clean(fact.subject),
                text.clean(fact.name),
                text.clean_or_absent(fact.before),
                text.clean_or_absent(fact.after),
            ),
            changed=fact.changed,
        )
        for fact in comparison.facts
    )


def _config(changes: tuple[ConfigChange, ...]) -> tuple[Row, ...]:
    return tuple(
        Row(
            cells=(
                text.clean(change.nodeos),
                text.clean(change.option),
                _set_to(change.before, change.before_default),
                _set_to(change.after, change.after_default),
            ),
            changed=True,
        )
        for change in changes
    )


def _set_to(value: str | None, default: str | None) -> str:
    if value is not None or default is None:
        return text.clean_or_absent(value)
    return f"{text.ABSENT} (default {text.clean(default)})"


def _timeline_of(side: Side, name: str) -> list[tuple[int, Row]]:
    rows = [
        (e.wall_ns, (name, text.moment_text(e.wall_ns), e.kind, e.subject or "host", e.detail))
        for e in side.recording.events
    ]
    rows += [
        (
            gap.start_wall_ns,
            (
                name,
                text.moment_text(gap.start_wall_ns),
                "gap",
                "recording",
                f"{text.duration_text(gap.duration_s)} without samples: {gap.reason}",
            ),
        )
        for gap in side.recording.gaps
    ]
    rows.sort(key=lambda row: row[0])
    return [(ns, Row(cells=tuple(text.clean(c) for c in cells))) for ns, cells in rows]


def _timeline(comparison: Comparison) -> tuple[tuple[Row, ...], str]:
    rows: list[Row] = []
    hidden = 0
    for side, name in ((comparison.before, "before"), (comparison.after, "after")):
        found = _timeline_of(side, name)
        hidden += max(0, len(found) - MAX_EVENTS_A_SIDE)
        rows += [row for _, row in found[:MAX_EVENTS_A_SIDE]]
    return tuple(rows), f"{hidden:,} more are in report.json." if hidden else ""


def _expectations(comparison: Comparison) -> tuple[str, ...]:
    """Return what became of the playbook's expectations: the first lines of a report."""
    return tuple(
        text.clean(
            f"Expectation {result.outcome.value}: {result.metric}"
            f"{f' [{result.subject}]' if result.subject else ''} {result.text}. {result.reason}"
        )
        for result in comparison.expectations
    )


def _tally(groups: tuple[MetricGroup, ...]) -> tuple[tuple[str, int], ...]:
    order = ("regressed", "improved", "changed", "unchanged", "inconclusive")
    verdicts = [row.verdict for group in groups for row in group.rows]
    return tuple((verdict, verdicts.count(verdict)) for verdict in order if verdict in verdicts)


def report_view(comparison: Comparison) -> ReportView:
    """Return the report for people of a comparison."""
    before, after = side_view(comparison.before, "before"), side_view(comparison.after, "after")
    facts = _facts(comparison)
    timeline, timeline_left_out = _timeline(comparison)
    groups = metric_groups(comparison)
    return ReportView(
        title=text.clean(comparison.title),
        banner=_banner(before, after),
        headline=(
            *_expectations(comparison),
            *(text.clean(sentence, 2000) for sentence in comparison.headline),
        ),
        lead_count=len(_expectations(comparison)) + 1,
        key_figures=key_figures(comparison),
        before=before,
        after=after,
        groups=groups,
        tally=_tally(groups),
        quantiles=tuple(Row(cells=cells) for cells in quantile_rows(comparison)),
        wear=wear_rows(comparison),
        published=tuple(
            Row(cells=tuple(text.clean(c) for c in (p.what, p.published, p.ours, p.why_different)))
            for p in comparison.published
        ),
        findings=tuple(finding_view(finding) for finding in comparison.findings),
        facts_changed=tuple(row for row in facts if row.changed),
        facts_same=tuple(row for row in facts if not row.changed),
        config_changes=_config(comparison.config_changes),
        default_changes=_config(comparison.default_changes),
        timeline=timeline,
        timeline_left_out=timeline_left_out,
        checks=check_rows(comparison),
        not_measured=tuple(text.clean(sentence) for sentence in comparison.not_measured),
        method=tuple((text.clean(k), text.clean(v, 2000)) for k, v in sorted(comparison.method.items())),
        repeat=tuple(text.clean(command, 2000) for command in comparison.repeat),
        starts=starts_view(comparison),
    )
