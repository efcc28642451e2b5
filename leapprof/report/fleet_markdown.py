"""HostsView → Markdown that can be pasted into a post."""

from collections.abc import Iterable

from leapprof import __version__
from leapprof.report.fleet_view import FleetRow, HostRow, HostsView
from leapprof.report.markdown import code_block, escaped, figure_cell, finding_line, section, table


def render_hosts_markdown(view: HostsView) -> str:
    """Return the post: summary first, then hosts, metrics, each host's differences and findings."""
    lines = [f"# {escaped(view.title)}", ""]
    for sentence in view.banner:
        lines += [f"> **RECONSTRUCTED.** {escaped(sentence)}", ""]
    lines += [f"- {escaped(sentence)}" for sentence in view.headline]
    metrics = table(
        ("metric", "hosts", "before", "after", "difference", "between hosts", "one more host", "verdict"),
        [_metric(row) for row in view.rows],
        right=(1, 2, 3, 4, 5, 6),
    )
    heads = ("host", "change", "compared", "headline metrics", "warnings")
    hosts = table(heads, map(_host, view.hosts)) if view.hosts else []
    method = [f"- {escaped(name)}: {escaped(value)}" for name, value in view.method]
    lines += [
        *section("Hosts", hosts),
        *section("Metrics", metrics),
        *section("Every host's differences", list(_each(view))),
        *section("Findings", list(map(finding_line, view.findings))),
        *section("Findings on the hosts, each kind once", list(map(finding_line, view.shared))),
        *section("Method", method),
        *section("How to repeat it", code_block(view.repeat) if view.repeat else []),
        "",
        f"Made by leapprof {__version__}.",
    ]
    return "\n".join(lines) + "\n"


def _metric(row: FleetRow) -> tuple[str, ...]:
    beyond = f", {escaped(row.beyond)}" if row.beyond else ""
    return (
        f"{escaped(row.label)} (`{row.name.replace('`', '')}`), {escaped(row.about)}",
        row.hosts,
        escaped(row.before),
        escaped(row.after),
        figure_cell(row.difference) + beyond,
        escaped(row.between),
        escaped(row.one_more),
        f"{row.sign} **{row.verdict}**, {row.grade}: {escaped(row.reason)}",
    )


def _host(host: HostRow) -> tuple[str, ...]:
    name = escaped(host.host) + (" (control)" if host.is_control else "")
    return (
        f"[{name}](<{host.folder}/report.md>)" if host.folder else name,
        escaped(host.title),
        escaped(host.compared),
        escaped(host.verdicts) or "–",
        host.warnings,
    )


def _each(view: HostsView) -> Iterable[str]:
    """Yield a table of the hosts for each metric of the headline; the others are in report.json."""
    heads = ("host", "before", "after", "difference", "verdict of this host")
    for row in (row for row in view.rows if row.headline):
        cells = [
            (
                escaped(line.name) + (" (control)" if line.is_control else ""),
                escaped(line.before),
                escaped(line.after),
                figure_cell(line.difference),
                f"{line.sign} {line.verdict}, {line.grade}" if line.sign else "–",
            )
            for line in row.lines
        ]
        yield from (
            f"**{escaped(row.label)}**, {escaped(row.about)}",
            "",
            *table(heads, cells, right=(1, 2, 3)),
            "",
        )
