"""Comparison → report.json, for machines; docs/report-json.md describes every key.

History of the format number:
    1  the first.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from enum import Enum
from typing import Any

from leapprof import __version__
from leapprof.model import (
    Comparison,
    Effect,
    Estimate,
    Event,
    Finding,
    Gap,
    Headroom,
    Interval,
    MetricComparison,
    Nodeos,
    PerUnit,
    RunPair,
    SamplingCost,
    Side,
    Subject,
    WearComparison,
    WearSide,
)
from leapprof.report.starts_view import start_json

FORMAT = 1
_PLAIN = "\n\u00a0"


def number_json(value: float | None) -> float | None:
    """Return value, or None when it is absent or not finite: JSON knows neither NaN nor infinity."""
    return value if value is not None and math.isfinite(value) else None


def interval_json(interval: Interval | None) -> list[float | None] | None:
    """Return both ends; None without an interval."""
    return None if interval is None else [number_json(interval.low), number_json(interval.high)]


def estimate_json(estimate: Estimate | None) -> dict[str, Any] | None:
    """Return one metric of one side; None when it was not measured."""
    if estimate is None:
        return None
    return {
        "mean": number_json(estimate.mean),
        "ci95": interval_json(estimate.ci95),
        "p50": number_json(estimate.p50),
        "p50_ci95": interval_json(estimate.p50_ci95),
        "p95": number_json(estimate.p95),
        "p95_ci95": interval_json(estimate.p95_ci95),
        "p99": number_json(estimate.p99),
        "p99_ci95": interval_json(estimate.p99_ci95),
        "samples": estimate.samples,
        "effective_samples": number_json(estimate.effective_samples),
        "covered_seconds": number_json(estimate.covered_seconds),
        "standard_error": number_json(estimate.standard_error),
        "degrees_of_freedom": estimate.degrees_of_freedom,
        "lag1": number_json(estimate.lag1),
        "batches": estimate.batches,
        "bursts": number_json(estimate.bursts),
        "widening": number_json(estimate.widening),
    }


def effect_json(effect: Effect | None) -> dict[str, Any] | None:
    """Return a difference or ratio with its interval; None without one."""
    return (
        None if effect is None else {"value": number_json(effect.value), "ci95": interval_json(effect.ci95)}
    )


def _subject(subject: Subject) -> dict[str, Any]:
    asked = {"operation": subject.operation, "target": subject.target} if subject.target else {}
    return {"nodeos": subject.nodeos, "device": subject.device, "role": subject.role, **asked}


def _per_unit(figure: PerUnit) -> dict[str, Any]:
    return {
        "name": figure.name,
        "subject": _subject(figure.subject),
        "unit": figure.unit,
        "per": figure.per,
        "before": effect_json(figure.before),
        "after": effect_json(figure.after),
        "ratio": effect_json(figure.ratio),
    }


def _run_pair(runs: RunPair) -> dict[str, Any]:
    return {
        "name": runs.name,
        "subject": _subject(runs.subject),
        "unit": runs.unit,
        "before": [number_json(mean) for mean in runs.before],
        "after": [number_json(mean) for mean in runs.after],
        "difference": [effect_json(effect) for effect in runs.difference],
        "between": effect_json(runs.between),
    }


def _headroom(room: Headroom | None) -> dict[str, Any] | None:
    if room is None:
        return None
    return {
        "metric": room.metric,
        "side": room.side,
        "target_percent": number_json(room.target_percent),
        "why": room.why,
        "cpu_percent": effect_json(room.cpu_percent),
        "peers": interval_json(room.peers),
        "clients": interval_json(room.clients),
        "at": [{"clients": point.clients, "percent": interval_json(point.percent)} for point in room.at],
        "assumption": room.assumption,
    }


def _stands_on(metric: MetricComparison) -> str:
    """Return the key of the effect on which the verdict stands."""
    if metric.adjusted is not None:
        return "adjusted"
    return "ratio" if metric.by_ratio and metric.ratio is not None else "difference"


def _metric(metric: MetricComparison) -> dict[str, Any]:
    return {
        "name": metric.name,
        "unit": metric.unit,
        "subject": _subject(metric.subject),
        "better": metric.better.value,
        "before": estimate_json(metric.before),
        "after": estimate_json(metric.after),
        "difference": effect_json(metric.difference),
        "ratio": effect_json(metric.ratio),
        "adjusted": effect_json(metric.adjusted),
        "stands_on": _stands_on(metric),
        "p_value": number_json(metric.p_value),
        "p_adjusted": number_json(metric.p_adjusted),
        "grade": metric.grade.value,
        "verdict": metric.verdict.value,
        "reason": metric.reason,
        "threshold": number_json(metric.threshold),
        "needed_seconds": number_json(metric.needed_seconds),
        "refused": metric.refused,
        "headline": metric.headline,
        "view_of": list(metric.view_of),
        "design_seconds": number_json(metric.design_seconds),
        "adjusted_for": metric.adjusted_for,
        "confounded": list(metric.confounded),
    }


def _wear_side(side: WearSide | None) -> dict[str, Any] | None:
    if side is None:
        return None
    return {
        "bytes_per_s": number_json(side.bytes_per_s),
        "tb_per_year": number_json(side.tb_per_year),
        "ci95": interval_json(side.ci95),
    }


def _years(interval: Interval | None) -> dict[str, Any] | None:
    return (
        None if interval is None else {"low": number_json(interval.low), "high": number_json(interval.high)}
    )


def _wear(wear: WearComparison) -> dict[str, Any]:
    return {
        "device": wear.device,
        "role": wear.role,
        "model": wear.model,
        "before": _wear_side(wear.before),
        "after": _wear_side(wear.after),
        "rated_tbw": number_json(wear.rated_tbw),
        "lifetime_years": {
            "before": _years(wear.lifetime_years_before),
            "after": _years(wear.lifetime_years_after),
        },
        "stacked_views": list(wear.stacked_views),
        "note": wear.note,
    }


def _nodeos(nodeos: Nodeos) -> dict[str, Any]:
    return {
        "id": nodeos.id,
        "version": nodeos.version,
        "map_mode": nodeos.map_mode,
        "roles": {role: list(devices) for role, devices in nodeos.roles.items()},
        "options": {name: list(values) for name, values in nodeos.options.items()},
        "stand_in": nodeos.stand_in,
    }


def _gap(gap: Gap) -> dict[str, Any]:
    return {
        "start_wall_ns": gap.start_wall_ns,
        "end_wall_ns": gap.end_wall_ns,
        "seconds": gap.duration_s,
        "reason": gap.reason,
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "wall_ns": event.wall_ns,
        "kind": event.kind,
        "subject": event.subject,
        "detail": event.detail,
    }


def _side(side: Side) -> dict[str, Any]:
    recording, window = side.recording, side.window
    return {
        "label": side.label,
        "phase": recording.phase,
        "host": {
            "name": recording.host.name,
            "boot_id": recording.host.boot_id,
            "machine_id": recording.host.machine_id,
            "facts": recording.host.facts,
        },
        "nodeos": [_nodeos(nodeos) for nodeos in recording.nodeos],
        "devices": [_plain(asdict(device)) for device in recording.topology.devices],
        "interval_s": recording.interval_s,
        "started_wall_ns": recording.started_wall_ns,
        "ended_wall_ns": recording.ended_wall_ns,
        "window": _plain(asdict(window)),
        "transport": recording.transport,
        "reconstructed": recording.reconstructed,
        "clock_offsets": [_plain(asdict(offset)) for offset in recording.clock_offsets],
        "gaps": [_gap(gap) for gap in recording.gaps],
        "events": [_event(event) for event in recording.events],
        "denied": list(recording.denied),
        "absent": list(recording.absent),
        "commands": list(recording.commands),
        "findings": [finding_json(finding) for finding in recording.findings],
        "notes": recording.notes,
    }


def finding_json(finding: Finding) -> dict[str, Any]:
    """Return a finding."""
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "message": finding.message,
        "hint": finding.hint,
        "line": finding.line,
        "option": finding.option,
        "subject": finding.subject,
        "evidence": [_plain(asdict(one)) for one in finding.evidence],
    }


def _cost(cost: SamplingCost) -> dict[str, Any]:
    return {**asdict(cost), "cpu_s": number_json(cost.cpu_s), "http_s": number_json(cost.http_s)}


def _with_numbers(said: dict[str, str] | None, key: str, numbers: Sequence[Any]) -> dict[str, Any] | None:
    """Return sentences with the numbers that they are made of."""
    return None if said is None else {**said, key: [_plain(asdict(one)) for one in numbers]}


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a dataclass holds
    """Return value as JSON knows it: enums by value, tuples as lists, numbers that are not finite as None."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return number_json(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _plain(asdict(value)) if is_dataclass(value) and not isinstance(value, type) else value


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return the report for machines: JSON values only, nothing that is not finite."""
    before, after = comparison.before, comparison.after
    return {
        "format": FORMAT,
        "tool": {"name": "leapprof", "version": __version__},
        "title": comparison.title,
        "reconstructed": any(s.recording.reconstructed is not None for s in (before, after)),
        "headline": list(comparison.headline),
        "method": dict(comparison.method),
        "before": _side(before),
        "after": _side(after),
        "metrics": [_metric(metric) for metric in comparison.metrics],
        "wear": [_wear(wear) for wear in comparison.wear],
        "published": [_plain(asdict(figure)) for figure in comparison.published],
        "facts": [{**_plain(asdict(fact)), "changed": fact.changed} for fact in comparison.facts],
        "starts": [_plain(start_json(one)) for one in comparison.starts],
        "stages": {
            "before": {"left_out_s": _plain(before.window.left_out_s)},
            "after": {"left_out_s": _plain(after.window.left_out_s)},
        },
        "change_point": _with_numbers(comparison.change_point, "evidence", comparison.change_evidence),
        "control": _with_numbers(comparison.control, "effects", comparison.control_effects),
        "headroom": _headroom(comparison.headroom),
        "per_unit": [_per_unit(figure) for figure in comparison.per_unit],
        "run_pairs": [_run_pair(runs) for runs in comparison.run_pairs],
        "expectations": [_plain(asdict(result)) for result in comparison.expectations],
        "config": {
            "changed": [_plain(asdict(change)) for change in comparison.config_changes],
            "defaults": [_plain(asdict(change)) for change in comparison.default_changes],
            "findings": [finding_json(f) for f in comparison.findings if f.option is not None],
        },
        "findings": [finding_json(finding) for finding in comparison.findings],
        "not_measured": list(comparison.not_measured),
        "repeat": list(comparison.repeat),
        "cost": {"before": _cost(before.recording.cost), "after": _cost(after.recording.cost)},
    }


def render_json(comparison: Comparison) -> bytes:
    """Return report.json."""
    return encoded(to_json(comparison))


def encoded(document: dict[str, Any]) -> bytes:
    """Return a document as JSON in UTF-8; what a terminal may obey, and what is no UTF-8, is written as an escape."""
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1)
    shown = (c if c.isprintable() or c in _PLAIN else json.dumps(c)[1:-1] for c in text)
    return ("".join(shown) + "\n").encode("utf-8")
