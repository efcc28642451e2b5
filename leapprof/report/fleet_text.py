"""Several hosts in one verdict → plain text, for a terminal of 80 columns."""

from collections.abc import Iterable, Sequence

from leapprof.assess.fleet import Fleet
from leapprof.model import Finding
from leapprof.report.fleet_view import FleetRow, HostsView, fleet_rows
from leapprof.report.terminal import finding_lines, opening_lines, wrapped
from leapprof.report.view import FindingView, finding_view

MOST_HOSTS = 40
LABEL_CHARS = 20


def fleet_lines(found: Fleet, findings: Sequence[Finding]) -> list[str]:
    """Return a fleet for a terminal: every metric, then the findings."""
    lines = [f"{_count(found.changed, 'host')} compared, {_count(found.controls, 'control')}", ""]
    for row in fleet_rows(found):
        lines += [*_metric(row), ""]
    return lines + _findings([finding_view(finding) for finding in findings])


def _count(names: Sequence[str], what: str) -> str:
    return f"{len(names)} {what}" + ("" if len(names) == 1 else "s")


def hosts_lines(view: HostsView) -> list[str]:
    """Return the summary of a report of several hosts: headline, each host on it, what limits it."""
    lines = opening_lines(view.title, view.banner, view.headline)
    for row in (row for row in view.rows if row.headline):
        lines += ["", *_metric(row), *_hosts(row)]
    return [*lines, "", *_findings(f for f in (*view.findings, *view.shared) if f.severity != "info")]


def _metric(row: FleetRow) -> list[str]:
    """Return what the hosts say together of one metric."""
    about = f" of {row.about}" if row.about != "host" else ""
    lines = wrapped(f"{row.name}{about}: {row.verdict}", f"{row.sign} ", "    ")
    lines += wrapped(f"mean of hosts {row.before} before, {row.after} after", "    ", "    ")
    if row.difference.interval:
        text = f"difference{f' {row.beyond}' if row.beyond else ''} {row.difference.value} ({row.difference.interval})"
        lines += wrapped(text, "    ", "    ")
        more = f", one more host {row.one_more}" if row.one_more != "–" else ""
        lines += wrapped(f"{row.hosts} hosts, between them {row.between}{more}", "    ", "    ")
    return lines + wrapped(row.reason, "    ", "    ")


def _hosts(row: FleetRow) -> list[str]:
    """Return a line for each host."""
    lines = []
    for line in row.lines[:MOST_HOSTS]:
        name = line.name + (" (control)" if line.is_control else "")
        text = f"{name:<{LABEL_CHARS}} {line.before} → {line.after}, {line.difference.value} {line.sign} {line.verdict}"
        lines += wrapped(text, "      ", "        ")
    hidden = len(row.lines) - MOST_HOSTS
    return [*lines, f"      {hidden} more in the report"] if hidden > 0 else lines


def _findings(findings: Iterable[FindingView]) -> list[str]:
    lines = [line for finding in findings for line in (*finding_lines(finding), "")]
    return lines[:-1]
