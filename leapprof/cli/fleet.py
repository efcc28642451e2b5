"""`leapprof fleet`: many hosts in one verdict, from pairs of recordings or from a server."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leapprof.cli.options import JsonOption, check_writable
from leapprof.errors import printable

if TYPE_CHECKING:
    from leapprof.assess.fleet import Fleet
    from leapprof.model import Finding


def command(
    pairs: Annotated[
        Path | None,
        typer.Option(help="TOML: [[pairs]] with host, before, after and control = true.", metavar="FILE"),
    ] = None,
    prometheus: Annotated[str | None, typer.Option(help="A server instead of pairs.", metavar="URL")] = None,
    selector: Annotated[str, typer.Option(help='Changed hosts: instance=~"eos-.*"', metavar="MATCHERS")] = "",
    control_selector: Annotated[
        str | None,
        typer.Option(help="Hosts that were not changed; their difference is taken off.", metavar="MATCHERS"),
    ] = None,
    change_at: Annotated[str | None, typer.Option(help="2024-01-22T20:00:00Z", metavar="MOMENT")] = None,
    before: Annotated[str, typer.Option(help="How far back from the change.", metavar="DURATION")] = "7d",
    after: Annotated[str, typer.Option(help="How far on, once settled.", metavar="DURATION")] = "7d",
    settle: Annotated[
        str, typer.Option(help="Left out right after the change.", metavar="DURATION")
    ] = "30min",
    host_label: Annotated[
        str | None, typer.Option(help="Label that names the host.", metavar="LABEL")
    ] = None,
    process: Annotated[
        str, typer.Option(help="What names of nodeos's process groups hold.", metavar="TEXT")
    ] = "nodeos",
    token_file: Annotated[Path | None, typer.Option(help="File with a bearer token.", metavar="FILE")] = None,
    basic_auth_file: Annotated[
        Path | None, typer.Option(help="File with user:password.", metavar="FILE")
    ] = None,
    ca_file: Annotated[Path | None, typer.Option(help="Certificates to trust.", metavar="FILE")] = None,
    timeout: Annotated[str, typer.Option(help="Of one answer of the server.", metavar="DURATION")] = "120s",
    out: Annotated[
        Path | None,
        typer.Option(
            help="Folder for report.html, report.md and report.json; none: no report.",
            callback=check_writable,
            metavar="DIR",
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare many hosts before and after a change: a random-effects summary of each metric, outliers named.

    A server is asked for batch means, not for raw points: see docs/prometheus.md for what that costs.
    """
    from leapprof.cli.fleet_run import ServerFleet, fleet_of_pairs, fleet_of_server
    from leapprof.cli.folding import summary_width
    from leapprof.errors import ConfigError
    from leapprof.report.fleet_json import fleet_json
    from leapprof.report.fleet_text import fleet_lines

    if (pairs is None) == (prometheus is None):
        raise ConfigError("say either --pairs FILE or --prometheus URL", key="--pairs")
    if pairs is not None:
        answer = fleet_of_pairs(pairs)
    else:
        answer = fleet_of_server(
            ServerFleet(
                url=str(prometheus), selector=selector, control_selector=control_selector, change_at=change_at,
                before=before, after=after, settle=settle, host_label=host_label, process=process,
                token_file=token_file, basic_auth_file=basic_auth_file, ca_file=ca_file, timeout=timeout,
            )
        )  # fmt: skip
    findings = (*answer.fleet.findings, *answer.findings)
    paths = () if out is None else _written(answer.fleet, findings, change_at, out)
    if as_json:
        document = fleet_json(answer.fleet, findings, answer.wire_bytes)
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
    else:
        lines = [*fleet_lines(answer.fleet, findings, summary_width()), *(f"\n{path}" for path in paths)]
        sys.stdout.write(printable("\n".join(lines)) + "\n")


def _written(
    found: "Fleet", findings: "tuple[Finding, ...]", change_at: str | None, out: Path
) -> tuple[Path, ...]:
    """Write the report of a fleet and return its files."""
    from leapprof.assess.many_hosts import without_reports
    from leapprof.report import Format
    from leapprof.report.hosts import write_hosts

    change = f"before and after {change_at}" if change_at else "before and after"
    repeat = shlex.join(["leapprof", *sys.argv[1:]])
    compared = without_reports(found, change, findings, repeat)
    return write_hosts(compared, out, frozenset({Format.HTML, Format.MD, Format.JSON}))
