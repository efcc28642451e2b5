"""Several hosts in one verdict → JSON, for machines; docs/report-json.md describes every key.

History of the format number:
    1  the first.
"""

from collections.abc import Sequence
from typing import Any

from leapprof import __version__
from leapprof.assess.fleet import Fleet, FleetVerdict
from leapprof.assess.fleet_hosts import HostDifference
from leapprof.assess.many_hosts import HostComparison, HostsComparison, SharedFinding
from leapprof.model import Effect, Finding, FleetReference, FleetSummary
from leapprof.report.fleet_view import Folders
from leapprof.report.json import effect_json, encoded, estimate_json, finding_json, interval_json, number_json

FORMAT = 1


def fleet_json(found: Fleet, findings: Sequence[Finding], wire_bytes: int = 0) -> dict[str, Any]:
    """Return the verdicts of a fleet and the difference of every host.

    Args:
        found: the fleet.
        findings: all that are to be said.
        wire_bytes: of the answers of a server; 0 without one.
    """
    return {
        "format": FORMAT,
        "kind": "fleet",
        "tool": {"name": "leapprof", "version": __version__},
        "metrics": [_metric(one) for one in found.verdicts],
        "hosts": [_host(one) for one in found.hosts],
        "findings": [finding_json(finding) for finding in findings],
        "cost": {"wire_bytes": wire_bytes},
    }


def hosts_json(compared: HostsComparison, folders: Folders) -> dict[str, Any]:
    """Return the report of several hosts.

    Args:
        compared: what is reported.
        folders: of the hosts' own reports.
    """
    return {
        **fleet_json(compared.fleet, compared.findings),
        "title": compared.title,
        "headline": list(compared.headline),
        "reports": [
            *(_report(one, folders, is_control=False) for one in compared.hosts),
            *(_report(one, folders, is_control=True) for one in compared.controls),
        ],
        "shared_findings": [_shared(one) for one in compared.shared],
        "method": dict(compared.method),
        "repeat": list(compared.repeat),
    }


def render_hosts_json(compared: HostsComparison, folders: Folders) -> bytes:
    """Return report.json of several hosts."""
    return encoded(hosts_json(compared, folders))


def _report(one: HostComparison, folders: Folders, *, is_control: bool) -> dict[str, Any]:
    return {
        "host": one.host,
        "control": is_control,
        "folder": folders.get((one.host, is_control)),
        "title": one.comparison.title,
    }


def _metric(one: FleetVerdict) -> dict[str, Any]:
    return {
        "name": one.metric.name,
        "unit": one.metric.unit,
        "group": one.group,
        "better": one.metric.better.value,
        "headline": one.metric.headline,
        "before_mean": number_json(one.before_mean),
        "after_mean": number_json(one.after_mean),
        "difference": None if one.value is None else effect_json(Effect(value=one.value, ci95=one.ci95)),
        "threshold": number_json(one.threshold),
        "p_value": number_json(one.p_value),
        "p_adjusted": number_json(one.p_adjusted),
        "grade": one.grade.value,
        "verdict": one.verdict.value,
        "reason": one.reason,
        "changed": _summary(one.changed),
        "controls": _reference(one.controls),
    }


def _summary(summary: FleetSummary | None) -> dict[str, Any] | None:
    if summary is None:
        return None
    return {
        "hosts": summary.hosts,
        "mean": number_json(summary.mean),
        "ci95": interval_json(summary.ci95),
        "standard_error": number_json(summary.standard_error),
        "tau": number_json(summary.tau),
        "i2": number_json(summary.i2),
        "q": number_json(summary.q),
        "q_p_value": number_json(summary.q_p_value),
        "prediction95": interval_json(summary.prediction95),
        "outliers": list(summary.outliers),
    }


def _reference(controls: FleetReference | None) -> dict[str, Any] | None:
    if controls is None:
        return None
    return {
        "hosts": controls.hosts,
        "mean": number_json(controls.mean),
        "standard_error": number_json(controls.standard_error),
    }


def _host(one: HostDifference) -> dict[str, Any]:
    return {
        "host": one.host,
        "subject": one.subject,
        "group": one.group,
        "metric": one.metric,
        "control": one.is_control,
        "before": estimate_json(one.before),
        "after": estimate_json(one.after),
        "difference": effect_json(one.effect),
        "difference_of": one.effect_of,
        "standard_error": number_json(one.standard_error),
        "verdict": one.verdict.value if one.verdict else None,
        "grade": one.grade.value if one.grade else None,
    }


def _shared(one: SharedFinding) -> dict[str, Any]:
    return {
        "code": one.code,
        "severity": one.severity.value,
        "hosts": list(one.hosts),
        "message": one.message,
        "hint": one.hint,
    }
