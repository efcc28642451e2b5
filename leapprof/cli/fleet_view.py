"""A fleet's answer as text and as JSON."""

from typing import Any

from leapprof.analysis.fleet import Summary
from leapprof.assess.fleet import FleetVerdict, HostDifference
from leapprof.cli.fleet_run import FleetAnswer
from leapprof.model import Estimate, Interval
from leapprof.units import format_value

FORMAT = 1
"""1: first."""


def fleet_lines(answer: FleetAnswer) -> list[str]:
    """Return the answer for a person."""
    found, more = answer.fleet, answer.findings
    changed = sorted({d.host for d in found.hosts if not d.is_control})
    controls = sorted({d.host for d in found.hosts if d.is_control})
    lines = [f"{len(changed)} hosts compared, {len(controls)} controls", ""]
    for one in found.verdicts:
        lines += _metric_lines(one)
    for finding in (*found.findings, *more):
        lines.append(f"{finding.severity} {finding.code}: {finding.message} {finding.hint}")
    return lines


def _metric_lines(one: FleetVerdict) -> list[str]:
    unit = one.metric.unit
    lines = [
        f"{one.metric.name}: {one.verdict}",
        f"    mean of hosts {format_value(one.before_mean, unit)} before, {format_value(one.after_mean, unit)} after",
    ]
    if one.value is not None and one.ci95 is not None:
        beyond = " beyond the controls" if one.controls else ""
        lines.append(f"    difference{beyond} {_signed(one.value, unit)} {_interval(one.ci95, unit)}")
    if one.changed is not None:
        summary = one.changed
        text = f"    {summary.hosts} hosts, between them {_signed(summary.tau, unit)} (I² {100 * summary.i2:.0f} %)"
        if summary.prediction95 is not None:
            text += f", one more host {_interval(summary.prediction95, unit)}"
        lines.append(text)
    lines.append(f"    {one.reason}")
    return [*lines, ""]


def _signed(value: float, unit: str) -> str:
    return ("−" if value < 0 else "+" if value > 0 else "") + format_value(abs(value), unit)


def _interval(interval: Interval, unit: str) -> str:
    return f"[{_signed(interval.low, unit)}, {_signed(interval.high, unit)}]"


def fleet_json(answer: FleetAnswer) -> dict[str, Any]:
    """Return the answer for machines."""
    found, more = answer.fleet, answer.findings
    return {
        "format": FORMAT,
        "metrics": [_metric(one) for one in found.verdicts],
        "hosts": [_host(one) for one in found.hosts],
        "findings": [
            {"code": f.code, "severity": f.severity.value, "message": f.message, "hint": f.hint}
            for f in (*found.findings, *more)
        ],
        "cost": {"wire_bytes": answer.wire_bytes},
    }


def _metric(one: FleetVerdict) -> dict[str, Any]:
    return {
        "name": one.metric.name,
        "unit": one.metric.unit,
        "before_mean": one.before_mean,
        "after_mean": one.after_mean,
        "difference": None if one.value is None else {"value": one.value, "ci95": _pair(one.ci95)},
        "p_value": one.p_value,
        "p_adjusted": one.p_adjusted,
        "verdict": one.verdict.value,
        "reason": one.reason,
        "changed": _summary(one.changed),
        "controls": _summary(one.controls),
    }


def _summary(summary: Summary | None) -> dict[str, Any] | None:
    if summary is None:
        return None
    return {
        "hosts": summary.hosts,
        "mean": summary.mean,
        "ci95": _pair(summary.ci95),
        "tau": summary.tau,
        "i2": summary.i2,
        "q": summary.q,
        "q_p_value": summary.q_p_value,
        "prediction95": _pair(summary.prediction95),
        "outliers": list(summary.outliers),
    }


def _host(one: HostDifference) -> dict[str, Any]:
    return {
        "host": one.host,
        "subject": one.subject,
        "metric": one.metric,
        "control": one.is_control,
        "before": _estimate(one.before),
        "after": _estimate(one.after),
        "difference": {"value": one.effect.value, "ci95": _pair(one.effect.ci95)},
    }


def _estimate(estimate: Estimate) -> dict[str, Any]:
    return {
        "mean": estimate.mean,
        "ci95": _pair(estimate.ci95),
        "batches": estimate.batches,
        "covered_seconds": estimate.covered_seconds,
    }


def _pair(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]
