"""The verdict table, the wear table and the key figures of a report, as strings."""

import math
from dataclasses import dataclass

from leapprof.model import (
    Comparison,
    Effect,
    Estimate,
    Interval,
    MetricComparison,
    Verdict,
    WearComparison,
    WearSide,
)
from leapprof.report import text
from leapprof.report.labels import GRADES, VERDICT_SIGNS, is_refused, metric_label, subject_label

# What a reader looks at first, in this order.
_KEY_METRICS = (
    "nodeos.cpu_cores",
    "host.swap_used_bytes",
    "nodeos.rss_bytes",
    "nodeos.rss_anon_bytes",
    "chain.head_lag_s",
    "device.write_bytes_per_s",
    "host.cpu_percent",
)
_MAX_KEY_FIGURES = 4
_UNDECIDED = (Verdict.INCONCLUSIVE, Verdict.UNCHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number and, in small print, its interval and how many independent samples it stands on (empty: none)."""

    value: str
    interval: str = ""
    worth: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricRow:
    """A line of the verdict table."""

    name: str
    label: str
    subject: str
    better: str
    before: Figure
    after: Figure
    difference: Figure
    adjusted: Figure | None
    adjusted_for: str
    ratio: Figure
    change: str
    p: str
    p_adjusted: str
    grade: str
    verdict: str
    sign: str
    reason: str
    threshold: str
    needed: str
    headline: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricGroup:
    """The metrics of one subject."""

    title: str
    rows: tuple[MetricRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WearRow:
    """A line of the wear table."""

    device: str
    about: str
    before_rate: str
    before: Figure
    after_rate: str
    after: Figure
    rating: str
    years_before: str
    years_after: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyFigure:
    """One of the large numbers at the top of the page."""

    label: str
    subject: str
    before: str
    after: str
    change: str
    verdict: str
    sign: str


def _estimate(estimate: Estimate | None, unit: str, *, refused: bool) -> Figure:
    if estimate is None:
        return Figure(value=text.NOT_PERMITTED if refused else text.ABSENT)
    return Figure(
        value=text.value_text(estimate.mean, unit),
        interval=text.interval_text(estimate.ci95, unit),
        worth=_worth(estimate),
    )


def _worth(estimate: Estimate) -> str:
    """Return how many independent samples an estimate is worth; empty for what never moved."""
    interval, worth = estimate.ci95, estimate.effective_samples
    if interval is None or worth is None or interval.low == interval.high:
        return ""
    return f"{worth:,.0f} independent"


def effect_figure(effect: Effect | None, unit: str) -> Figure:
    """Return a difference with its interval."""
    if effect is None:
        return Figure(value=text.ABSENT)
    return Figure(
        value=text.signed_text(effect.value, unit),
        interval=text.signed_interval_text(effect.ci95, unit),
    )


def _ratio(effect: Effect | None) -> Figure:
    if effect is None:
        return Figure(value=text.ABSENT)
    return Figure(value=text.ratio_text(effect.value), interval=text.ratio_interval_text(effect.ci95))


def metric_row(metric: MetricComparison, comparison: Comparison) -> MetricRow:
    """Return one metric as a line of the verdict table."""
    unit = metric.unit
    refused_before = is_refused(metric.name, comparison.before.recording.denied)
    refused_after = is_refused(metric.name, comparison.after.recording.denied)
    reason = metric.reason if metric.refused is None else metric.refused
    return MetricRow(
        name=text.clean(metric.name),
        label=text.clean(metric_label(metric.name)),
        subject=text.clean(subject_label(metric.subject)),
        better=metric.better.value,
        before=_estimate(metric.before, unit, refused=refused_before),
        after=_estimate(metric.after, unit, refused=refused_after),
        difference=effect_figure(metric.difference, unit),
        adjusted=None if metric.adjusted is None else effect_figure(metric.adjusted, unit),
        adjusted_for=text.clean((metric.adjusted_for or "adjusted").partition(",")[0]),
        ratio=_ratio(metric.ratio),
        change=text.percent_change_text(metric.ratio.value if metric.ratio else None),
        p=text.p_text(metric.p_value),
        p_adjusted=text.p_text(metric.p_adjusted),
        grade=GRADES[metric.grade],
        verdict=metric.verdict.value,
        sign=VERDICT_SIGNS[metric.verdict],
        reason=text.clean(reason),
        threshold="" if metric.threshold is None else text.value_text(metric.threshold, unit),
        needed="" if metric.needed_seconds is None else text.duration_text(metric.needed_seconds),
        headline=metric.headline,
    )


def metric_groups(comparison: Comparison) -> tuple[MetricGroup, ...]:
    """Return the verdict table, grouped by subject in the order in which subjects first appear."""
    grouped: dict[str, list[MetricRow]] = {}
    for metric in comparison.metrics:
        row = metric_row(metric, comparison)
        grouped.setdefault(row.subject, []).append(row)
    return tuple(MetricGroup(title=title, rows=tuple(rows)) for title, rows in grouped.items())


def _wear_side(side: WearSide | None) -> tuple[str, Figure]:
    if side is None:
        return text.ABSENT, Figure(value=text.ABSENT)
    yearly = Figure(
        value=text.yearly_text(side.tb_per_year, side.ci95),
        interval=text.interval_text(side.ci95, "tb_per_year"),
    )
    return text.value_text(side.bytes_per_s, "bytes_per_s"), yearly


def _years(interval: Interval | None) -> str:
    if interval is not None and interval.high == math.inf:
        return f"at least {text.value_text(interval.low, 'years')}"
    return text.interval_text(interval, "years") or text.ABSENT


def _wear_note(wear: WearComparison) -> str:
    notes = [text.clean(wear.note)] if wear.note else []
    if wear.stacked_views:
        views = ", ".join(text.clean(view) for view in wear.stacked_views)
        notes.append(f"writes seen on {views} are the same bytes and are counted once")
    return "; ".join(notes)


def wear_rows(comparison: Comparison) -> tuple[WearRow, ...]:
    """Return the wear table."""
    rows = []
    for wear in comparison.wear:
        before_rate, before = _wear_side(wear.before)
        after_rate, after = _wear_side(wear.after)
        rows.append(
            WearRow(
                device=text.clean(wear.device),
                about=", ".join(text.clean(part) for part in (wear.role, wear.model) if part),
                before_rate=before_rate,
                before=before,
                after_rate=after_rate,
                after=after,
                rating=text.ABSENT if wear.rated_tbw is None else f"{wear.rated_tbw:,.4g} TBW",
                years_before=_years(wear.lifetime_years_before),
                years_after=_years(wear.lifetime_years_after),
                note=_wear_note(wear),
            )
        )
    return tuple(rows)


def _wear_figure(comparison: Comparison) -> KeyFigure | None:
    """Return the yearly writes of one device: whose writes changed, then the state's, most directly, comes first."""
    metrics = {m.subject.device: m for m in comparison.metrics if m.name == "device.write_bytes_per_s"}
    found = [(w, w.before, w.after, metrics[w.device]) for w in comparison.wear if w.device in metrics]
    found.sort(key=lambda f: (f[3].verdict in _UNDECIDED, *_far_from_state(f[3])))
    for _, before, after, metric in found:
        if before is not None and after is not None:
            row = metric_row(metric, comparison)
            return KeyFigure(
                label="Drive writes a year",
                subject=row.subject,
                before=text.yearly_text(before.tb_per_year, before.ci95),
                after=text.yearly_text(after.tb_per_year, after.ci95),
                change=row.change or text.signed_text(after.tb_per_year - before.tb_per_year, "tb_per_year"),
                verdict=row.verdict,
                sign=row.sign,
            )
    return None


def _far_from_state(metric: MetricComparison) -> tuple[bool, bool]:
    """Return what puts a device behind others: it carries no state, or also what lies beside it."""
    holds_state = "state" in (metric.subject.role or "").split(", ")
    return not holds_state, not (metric.view_of and metric.headline)


def _metric_figure(metric: MetricComparison, comparison: Comparison) -> KeyFigure:
    row = metric_row(metric, comparison)
    return KeyFigure(
        label=row.label,
        subject=row.subject,
        before=row.before.value,
        after=row.after.value,
        change=row.change or row.difference.value,
        verdict=row.verdict,
        sign=row.sign,
    )


def _is_worth_a_card(metric: MetricComparison) -> bool:
    """Whether a metric was seen on both sides and is not the same number on both."""
    if metric.before is None or metric.after is None:
        return False
    return metric.before.mean != metric.after.mean


def key_figures(comparison: Comparison) -> tuple[KeyFigure, ...]:
    """Return up to four numbers for the top of the page: wear first, then what changed, then the usual ones."""
    wear = _wear_figure(comparison)
    figures = [wear] if wear else []
    rank = {name: i for i, name in enumerate(_KEY_METRICS)}
    names = {"device.write_bytes_per_s"} if wear else set()
    candidates = [
        m
        for m in comparison.metrics
        if _is_worth_a_card(m) and (m.name in rank or m.verdict not in _UNDECIDED)
    ]
    candidates.sort(key=lambda m: (m.verdict in _UNDECIDED, rank.get(m.name, len(rank))))
    for metric in candidates:
        if metric.name not in names and len(figures) < _MAX_KEY_FIGURES:
            names.add(metric.name)
            figures.append(_metric_figure(metric, comparison))
    return tuple(figures)
