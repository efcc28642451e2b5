"""`leapprof import`: recordings from sources that operators already have."""

import json
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leapprof.cli.options import JsonOption, RecordingsOption
from leapprof.errors import printable

if TYPE_CHECKING:
    from leapprof.importers.blocks import Imported

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Recordings from Prometheus-compatible servers, sysstat, benchmark-nodeos, CSV and SMART history.",
)
PhaseOption = Annotated[str, typer.Option("--phase", help="before, after, or a name.", metavar="NAME")]
_SECRET = ("--token-file", "--basic-auth-file")


@app.command(
    short_help="What sadf prints, sysstat 11 and newer.",
    epilog="Example: leapprof import sysstat sa15.json --out recordings --phase before",
)
def sysstat(
    file: Annotated[
        Path, typer.Argument(help="Output of: sadf -j /var/log/sysstat/saDD -- -A", metavar="FILE")
    ],
    out: RecordingsOption,
    phase: PhaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Import what sadf prints, sysstat 11 and newer. Rates become counters again, and the recording says so."""
    from leapprof.importers.files import read_sysstat

    write(read_sysstat(file), out, phase, as_json=as_json)


@app.command(
    "benchmark-nodeos",
    short_help="Runs of benchmark-nodeos.",
    epilog="Example: leapprof import benchmark-nodeos results --out recordings",
)
def benchmark_nodeos(
    directory: Annotated[
        Path, typer.Argument(help="Directory with its host*.txt and stats*.txt.", metavar="DIR")
    ],
    out: RecordingsOption,
    phase: PhaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Import runs of benchmark-nodeos: memory and swap; its averages since boot are kept as a note only."""
    from leapprof.importers.files import read_benchmark

    write(read_benchmark(directory), out, phase, as_json=as_json)


@app.command(
    "csv",
    short_help="Any table in text: CSV, atop, pcp.",
    epilog="Example: leapprof import csv atop.txt --mapping atop.toml --out recordings",
)
def csv_table(
    file: Annotated[
        Path,
        typer.Argument(help="CSV, `atop -P`, `pmrep -o csv`, or any other table in text.", metavar="FILE"),
    ],
    mapping: Annotated[
        Path, typer.Option("--mapping", help="TOML that says which column is which.", metavar="FILE")
    ],
    out: RecordingsOption,
    phase: PhaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Import a table in text by a mapping of its columns; docs/import.md shows mappings for atop and pcp."""
    from leapprof.importers.files import read_table

    write(read_table(file, mapping), out, phase, as_json=as_json)


@app.command(
    short_help="A history of SMART documents.",
    epilog="Example: leapprof import smart history/*.json --host eos-1 --out recordings",
)
def smart(
    files: Annotated[
        list[Path],
        typer.Argument(help="smartctl --json documents or Scrutiny's details answers.", metavar="FILE"),
    ],
    host: Annotated[str, typer.Option("--host", help="Whose drives they are.", metavar="HOST")],
    out: RecordingsOption,
    phase: PhaseOption = "",
    as_json: JsonOption = False,
) -> None:
    """Import a history of SMART documents: of smartctl, or of Scrutiny's /api/device/WWN/details."""
    from leapprof.importers.files import read_smart

    write(read_smart(host, tuple(files)), out, phase, as_json=as_json)


def write(found: "Iterable[Imported]", out: Path, phase: str, *, as_json: bool) -> None:
    """Write recordings and print where they are, with what the operator should know of them."""
    from leapprof.importers.recording import write_recording
    from leapprof.recorder.naming import check_phase

    check_phase(phase)
    command = shlex.join(["leapprof", *_without_secrets(sys.argv[1:])])
    rows = []
    for imported in found:
        directory = write_recording(imported, out, phase=phase, command=command)
        rows.append((imported, directory))
        if not as_json:
            sys.stdout.write(f"{directory}\n")
            for finding in imported.findings:
                told = printable(f"{finding.severity} {finding.code}: {finding.message} {finding.hint}")
                sys.stderr.write(f"leapprof: {told}\n")
    if as_json:
        sys.stdout.write(
            json.dumps({"format": 1, "recordings": [_row(i, d) for i, d in rows]}, indent=1) + "\n"
        )


def _row(imported: "Imported", directory: Path) -> dict[str, object]:
    return {
        "host": imported.host.name,
        "recording": str(directory),
        "findings": [
            {"code": f.code, "severity": f.severity.value, "message": f.message, "hint": f.hint}
            for f in imported.findings
        ],
    }


def _without_secrets(arguments: list[str]) -> list[str]:
    """Return the command line without names of files that hold secrets and without user:password@ of URLs."""
    shown = []
    skip = False
    for word in arguments:
        name = word.partition("=")[0]
        if skip or name in _SECRET:
            skip = name in _SECRET and "=" not in word
            continue
        scheme, mark, rest = word.partition("://")
        shown.append(
            f"{scheme}://{rest.rpartition('@')[2]}" if mark and "@" in rest.partition("/")[0] else word
        )
    return shown


@app.command(
    short_help="Servers of metrics.",
    epilog="Example: leapprof import prometheus http://metrics:9090 --start 2024-01-15T00:00:00Z "
    "--end 2024-01-22T00:00:00Z --out recordings",
)
def prometheus(
    url: Annotated[str, typer.Argument(help="Root of the API: http://host:9090", metavar="URL")],
    start: Annotated[str, typer.Option("--start", help="2024-01-15T00:00:00Z", metavar="MOMENT")],
    end: Annotated[str, typer.Option("--end", help="2024-01-22T00:00:00Z", metavar="MOMENT")],
    out: RecordingsOption,
    selector: Annotated[
        str, typer.Option("--selector", help='Label matchers: instance=~"eos-.*"', metavar="MATCHERS")
    ] = "",
    phase: PhaseOption = "",
    step: Annotated[
        str | None,
        typer.Option("--step", help="Time between readings; none: as scraped.", metavar="DURATION"),
    ] = None,
    host_label: Annotated[
        str | None, typer.Option("--host-label", help="Label that names the host.", metavar="LABEL")
    ] = None,
    process: Annotated[
        str,
        typer.Option("--process", help="What names of nodeos's groups and containers hold.", metavar="TEXT"),
    ] = "nodeos",
    token_file: Annotated[
        Path | None, typer.Option("--token-file", help="File with a bearer token.", metavar="FILE")
    ] = None,
    basic_auth_file: Annotated[
        Path | None, typer.Option("--basic-auth-file", help="File with user:password.", metavar="FILE")
    ] = None,
    ca_file: Annotated[
        Path | None, typer.Option("--ca-file", help="Certificates to trust.", metavar="FILE")
    ] = None,
    timeout: Annotated[str, typer.Option("--timeout", help="Of one answer.", metavar="DURATION")] = "60s",
    as_json: JsonOption = False,
) -> None:
    """Import the history of hosts from Prometheus, VictoriaMetrics, Mimir or Thanos: one recording a host.

    Secrets come from files, or from LEAPPROF_PROMETHEUS_TOKEN, LEAPPROF_PROMETHEUS_USER and
    LEAPPROF_PROMETHEUS_PASSWORD.
    """
    from leapprof.cli.prometheus_options import open_server
    from leapprof.cli.values import parse_duration_s, parse_time_ns
    from leapprof.importers.prom_targets import FetchRequest
    from leapprof.importers.prometheus import fetch
    from leapprof.units import NS_PER_S

    request = FetchRequest(
        selector=selector,
        start_s=parse_time_ns(start, "--start") // NS_PER_S,
        end_s=parse_time_ns(end, "--end") // NS_PER_S,
        step_s=None if step is None else max(round(parse_duration_s(step, "--step")), 1),
        host_label=host_label,
        process=process,
    )
    with open_server(url, token_file, basic_auth_file, ca_file, timeout) as server:
        write(fetch(server, request), out, phase, as_json=as_json)
