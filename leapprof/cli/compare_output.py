"""What `leapprof compare` writes, prints and returns: a dated folder, a summary for the terminal, an exit code."""

import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from leapprof.errors import StoreError
from leapprof.units import NS_PER_S

if TYPE_CHECKING:
    from leapprof.assess.many_hosts import HostsComparison
    from leapprof.model import Comparison
    from leapprof.report import Format

REGRESSION_EXIT = 10
INCONCLUSIVE_EXIT = 11
_MOST_FOLDERS = 10_000

Write = Callable[[Path], tuple[Path, ...]]


def put_out(
    comparison: "Comparison", out: Path, formats: "frozenset[Format]", *, public: bool, as_json: bool
) -> None:
    """Write the report of one host into a new folder of its own, and print its summary or report.json."""
    from leapprof import report
    from leapprof.cli.folding import summary_width
    from leapprof.report.json import render_json
    from leapprof.report.terminal import summary_lines
    from leapprof.report.view import report_view

    ended_ns = comparison.after.window.end_wall_ns
    paths = _written(out, ended_ns, lambda folder: report.write(comparison, folder, formats, public=public))
    if public:
        from leapprof.report.public import publish

        comparison = publish(comparison)
    if as_json:
        sys.stdout.write(render_json(comparison).decode("utf-8"))
    else:
        _print(summary_lines(report_view(comparison), summary_width()), paths)


def put_out_hosts(
    compared: "HostsComparison", out: Path, formats: "frozenset[Format]", *, public: bool, as_json: bool
) -> None:
    """Write the report of several hosts into a new folder of its own, and print its summary or report.json."""
    from leapprof.cli.folding import summary_width
    from leapprof.report.fleet_json import render_hosts_json
    from leapprof.report.fleet_text import hosts_lines
    from leapprof.report.fleet_view import hosts_view
    from leapprof.report.hosts import folders_of, write_hosts
    from leapprof.report.public import publish_hosts

    ended_ns = max(one.comparison.after.window.end_wall_ns for one in compared.hosts)
    shown = publish_hosts(compared) if public else compared
    paths = _written(out, ended_ns, lambda folder: write_hosts(shown, folder, formats))
    folders = folders_of(shown)
    if as_json:
        sys.stdout.write(render_hosts_json(shown, folders).decode("utf-8"))
    else:
        shown_paths = {path.parent: path for path in reversed(paths) if path.parent != paths[0].parent}
        summary = [path for path in paths if path.parent == paths[0].parent]
        lines = hosts_lines(hosts_view(shown, folders), summary_width())
        _print(lines, [*summary, *reversed(shown_paths.values())])


def verdicts_of_hosts(compared: "HostsComparison") -> list[tuple[str, bool]]:
    """Return all verdicts of several hosts, each with whether it is one of the headline."""
    own = [(m.verdict, m.headline) for one in compared.hosts for m in one.comparison.metrics]
    return [*own, *((v.verdict, v.metric.headline) for v in compared.fleet.verdicts)]


def status(verdicts: Sequence[tuple[str, bool]], fatal: Iterable[str]) -> int:
    """Return the exit code: a regression of any metric first, then an inconclusive one of the headline."""
    if "regression" in fatal and any(verdict == "regressed" for verdict, _ in verdicts):
        return REGRESSION_EXIT
    if "inconclusive" in fatal and any(v == "inconclusive" and headline for v, headline in verdicts):
        return INCONCLUSIVE_EXIT
    return 0


def _written(out: Path, ended_ns: int, write: Write) -> tuple[Path, ...]:
    """Write a report into a new folder and return its files.

    The folder is dated by the end of the after recording, so that the same input gives the same name and bytes.
    """
    date = datetime.fromtimestamp(ended_ns // NS_PER_S, tz=UTC).strftime("%Y-%m-%d")
    for number in range(1, _MOST_FOLDERS):
        folder = out / f"compare-{date}-{number}"
        try:
            folder.mkdir(parents=True, exist_ok=False)
        except FileExistsError:
            continue
        except OSError as error:
            raise StoreError(str(folder), error.strerror or str(error)) from error
        return write(folder)
    raise StoreError(
        str(out), f"holds {_MOST_FOLDERS} reports of {date} already; name another folder with --out"
    )


def _print(lines: Iterable[str], paths: Iterable[Path]) -> None:
    for line in (*lines, "", *map(str, paths)):
        typer.echo(line)
