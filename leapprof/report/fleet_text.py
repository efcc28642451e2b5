"""Several hosts in one verdict → plain text, for a terminal of at most 80 columns."""

from collections.abc import Iterable, Sequence

from leapprof.assess.fleet import Fleet
from leapprof.model import Finding
from leapprof.report.fleet_view import FleetRow, HostsView, fleet_rows
from leapprof.report.terminal import WIDTH, finding_lines, opening_lines, wrapped
from leapprof.report.view import FindingView, finding_view

MOST_HOSTS = 40
LABEL_CHARS = 20


def fleet_lines(found: Fleet, findings: Sequence[Finding], width: int = WIDTH) -> list[str]:
    """Return a fleet for a terminal: every metric, then the findings."""
    lines = [f"{_count(found.changed, 'host')} compared, {_count(found.controls, 'control')}", ""]
    for row in fleet_rows(found):
        lines += [*_metric(row, width), ""]
    return lines + _findings([finding_view(finding) for finding in findings], width)


def _count(names: Sequence[str], what: str) -> str:
    return f"{len(names)} {what}" + ("" if len(names) == 1 else "s")


def hosts_lines(view: HostsView, width: int = WIDTH) -> list[str]:
    """Return the summary of a report of several hosts: headline, each host on it, what limits it."""
    lines = opening_lines(view.title, view.banner, view.headline, width)
    for row in (row for row in view.rows if row.headline):
        lines += ["", *_metric(row, width), *_hosts(row, width)]
    limits = (f for f in (*view.findings, *view.shared) if f.severity != "info")
    return [*lines, "", *_findings(limits, width)]


def _metric(row: FleetRow, width: int) -> list[str]:
    """Return what the hosts say together of one metric."""
    about = f" of {row.about}" if row.about != "host" else ""
    lines = wrapped(f"{row.name}{about}: {row.verdict}", f"{row.sign} ", "    ", width)
    lines += wrapped(f"mean of hosts {row.before} before, {row.after} after", "    ", "    ", width)
    if row.difference.interval:
        text = f"difference{f' {row.beyond}' if row.beyond else ''} {row.difference.value} ({row.difference.interval})"
        lines += wrapped(text, "    ", "    ", width)
        more = f", one more host {row.one_more}" if row.one_more != "–" else ""
        lines += wrapped(f"{row.hosts} hosts, between them {row.between}{more}", "    ", "    ", width)
    return lines + wrapped(row.reason, "    ", "    ", width)


def _hosts(row: FleetRow, width: int) -> list[str]:
    """Return a line for each host."""
    lines, label = [], LABEL_CHARS if width == WIDTH else 0
    for line in row.lines[:MOST_HOSTS]:
        name = line.name + (" (control)" if line.is_control else "")
        text = f"{name:<{label}} {line.before} → {line.after}, {line.difference.value} {line.sign}\u00a0{line.verdict}"
        lines += wrapped(text, "      ", "        ", width)
    hidden = len(row.lines) - MOST_HOSTS
    return [*lines, f"      {hidden} more in the report"] if hidden > 0 else lines


def _findings(findings: Iterable[FindingView], width: int) -> list[str]:
    lines = [line for finding in findings for line in (*finding_lines(finding, width), "")]
    return lines[:-1]
