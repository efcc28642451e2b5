"""`leapprof compare`: the before-and-after report of two recordings, or of one cut at a change."""

import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leapprof.cli.options import InventoryOption
from leapprof.cli.values import parse_duration_s, parse_time_ns
from leapprof.errors import ConfigError, StoreError

if TYPE_CHECKING:
    from leapprof.assess.material import CompareOptions
    from leapprof.assess.sides import WindowChoice
    from leapprof.model import Comparison
    from leapprof.report import Format

REGRESSION_EXIT = 10
INCONCLUSIVE_EXIT = 11
FAIL_ON = ("regression", "inconclusive")
FORMATS = ("html", "md", "json", "csv", "png")
_MOST_FOLDERS = 10_000


def command(
    recordings: Annotated[
        list[Path] | None,
        typer.Argument(help="BEFORE and AFTER, or one recording with --change-at.", show_default=False),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder in which a dated folder of its own is made.")] = Path(
        "reports"
    ),
    formats: Annotated[
        str, typer.Option("--format", help="What is written: html, md, json, csv, png.")
    ] = "html,md,json,csv",
    change_at: Annotated[
        str | None, typer.Option(help="Cut one recording here: 2024-05-01T12:00:00Z, or auto.")
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            help="Part of each recording: 6h (its last six hours), 30min..3h (from its start), ..3h."
        ),
    ] = None,
    control: Annotated[
        tuple[Path, Path] | None,
        typer.Option(help="BEFORE and AFTER of a node that was not changed; its difference is taken off."),
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Four or more recordings of phases that alternate.")
    ] = False,
    target_cpu: Annotated[
        float | None, typer.Option(help="CPU of the host in percent up to which there is headroom.")
    ] = None,
    rated_tbw: Annotated[
        list[str], typer.Option(help="Rated endurance of a drive, decimal TB: [DEVICE=]TB.")
    ] = [],  # noqa: B006 - typer copies it
    inventory: InventoryOption = None,
    across: Annotated[bool, typer.Option("--across", help="Two hosts, or one time, are meant.")] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Replace names, addresses and serials by aliases.")
    ] = False,
    fail_on: Annotated[
        str, typer.Option(help="Exit with 10 or 11 on: regression, inconclusive (comma-joined).")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json instead of text.")] = False,
    prometheus: Annotated[
        str | None, typer.Option(help="A server instead of recordings; with --change-at.", metavar="URL")
    ] = None,
    selector: Annotated[str, typer.Option(help='Label matchers of one host: instance=~"eos-1:.*"')] = "",
    before: Annotated[str, typer.Option(help="How far back from the change.")] = "7d",
    after: Annotated[str, typer.Option(help="How far on from the change.")] = "7d",
    step: Annotated[str | None, typer.Option(help="Time between readings; none: as scraped.")] = None,
    host_label: Annotated[str | None, typer.Option(help="Label that names the host.")] = None,
    token_file: Annotated[Path | None, typer.Option(help="File with a bearer token.")] = None,
    basic_auth_file: Annotated[Path | None, typer.Option(help="File with user:password.")] = None,
    ca_file: Annotated[Path | None, typer.Option(help="Certificates to trust.")] = None,
    timeout: Annotated[str, typer.Option(help="Of one answer of the server.")] = "60s",
) -> None:
    """Compare two recordings of a host, before and after a change, and write the report."""
    from leapprof import report

    wanted = frozenset(report.Format(name) for name in _names(formats, FORMATS, "--format"))
    fatal = _names(fail_on, FAIL_ON, "--fail-on")
    from leapprof.assess.material import CompareOptions

    choice = CompareOptions(
        window=_window(window),
        across=across,
        target_percent=target_cpu,
        rated_tbw=_ratings(recordings or [], rated_tbw, inventory),
    )
    if prometheus is not None:
        from leapprof.cli.compare_server import ServerRequest, compare_server

        asked = ServerRequest(
            url=prometheus, selector=selector, before=before, after=after, step=step, host_label=host_label,
            token_file=token_file, basic_auth_file=basic_auth_file, ca_file=ca_file, timeout=timeout,
        )  # fmt: skip
        comparison = compare_server(asked, *_server_cut(recordings, change_at, _window(window)))
    else:
        comparison = _comparison(recordings or [], change_at, choice, alternating=pairs)
    if control is not None:
        from leapprof.assess.control import with_control

        comparison = with_control(comparison, _comparison(list(control), None, choice))
    paths = _written(comparison, out, wanted, public=public)
    if as_json:
        _print_json(comparison, public=public)
    else:
        _print(comparison, paths, public=public)
    raise typer.Exit(_status(comparison, fatal))


def _comparison(
    recordings: list[Path], change_at: str | None, options: "CompareOptions", *, alternating: bool = False
) -> "Comparison":
    """Return the comparison that the arguments ask for."""
    from leapprof.assess.compare import compare, compare_cut
    from leapprof.assess.load import load

    repeat = "leapprof compare " + " ".join(path.name for path in recordings)
    options = replace(options, repeat=(repeat + (f" --change-at {change_at}" if change_at else ""),))
    if change_at is not None:
        if len(recordings) != 1:
            raise ConfigError("--change-at cuts one recording: name one", key="RECORDING")
        return compare_cut(load(recordings[0]), _moment_ns(change_at), options)
    if len(recordings) > 2 or alternating:
        from leapprof.assess.pairs import compare_pairs

        return compare_pairs([load(path) for path in recordings], options)
    if len(recordings) != 2:
        raise ConfigError("name two recordings, BEFORE and AFTER, or one with --change-at", key="RECORDING")
    return compare(load(recordings[0]), load(recordings[1]), options)


def _ratings(recordings: list[Path], rated_tbw: list[str], inventory: Path | None) -> dict[str, float]:
    """Return device → rated TBW that inventory and command line say of the first recording's drives."""
    if not recordings or not (rated_tbw or inventory):
        return {}
    from leapprof.cli.wear_options import stated_tbw
    from leapprof.store import open_recording

    return stated_tbw(open_recording(recordings[0]).manifest, rated_tbw, inventory)


def _server_cut(
    recordings: list[Path] | None, change_at: str | None, window: "WindowChoice | None"
) -> "tuple[int | None, CompareOptions]":
    """Return the change and the options of a comparison of a server's history.

    Raises:
        ConfigError: recordings are named too, or no change is.
    """
    from leapprof.assess.material import CompareOptions

    if recordings:
        raise ConfigError("takes the place of recordings: name none", key="--prometheus")
    if change_at is None:
        raise ConfigError("say when the change was made: 2024-01-22T20:00:00Z", key="--change-at")
    return _moment_ns(change_at), CompareOptions(window=window)


def _written(
    comparison: "Comparison", out: Path, formats: "frozenset[Format]", *, public: bool
) -> tuple[Path, ...]:
    """Write the report into a new folder of its own and return its files.

    The folder is dated by the end of the after recording, so that the same input gives the same name and bytes.
    """
    from leapprof import report

    ended_ns = comparison.after.window.end_wall_ns
    date = datetime.fromtimestamp(ended_ns // 10**9, tz=UTC).strftime("%Y-%m-%d")
    for number in range(1, _MOST_FOLDERS):
        folder = out / f"compare-{date}-{number}"
        try:
            folder.mkdir(parents=True, exist_ok=False)
        except FileExistsError:
            continue
        except OSError as error:
            raise StoreError(str(folder), error.strerror or str(error)) from error
        return report.write(comparison, folder, formats, public=public)
    raise StoreError(
        str(out), f"holds {_MOST_FOLDERS} reports of {date} already; name another folder with --out"
    )


def _print(comparison: "Comparison", paths: tuple[Path, ...], *, public: bool) -> None:
    """Print the summary of the report for a terminal, then the paths of its files."""
    from leapprof.report.public import publish
    from leapprof.report.terminal import summary_lines
    from leapprof.report.view import report_view

    for line in summary_lines(report_view(publish(comparison) if public else comparison)):
        typer.echo(line)
    typer.echo("")
    for path in paths:
        typer.echo(str(path))


def _print_json(comparison: "Comparison", *, public: bool) -> None:
    """Print what report.json holds."""
    from leapprof.report.json import render_json
    from leapprof.report.public import publish

    sys.stdout.write(render_json(publish(comparison) if public else comparison).decode("utf-8"))


def _status(comparison: "Comparison", fatal: tuple[str, ...]) -> int:
    """Return the exit code: regressions of any metric first, then an inconclusive headline metric."""
    if "regression" in fatal and any(m.verdict == "regressed" for m in comparison.metrics):
        return REGRESSION_EXIT
    if "inconclusive" in fatal and any(
        m.verdict == "inconclusive" and m.headline for m in comparison.metrics
    ):
        return INCONCLUSIVE_EXIT
    return 0


def _names(text: str, known: tuple[str, ...], key: str) -> tuple[str, ...]:
    """Return comma-joined names.

    Raises:
        ConfigError: one is not known.
    """
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    for name in names:
        if name not in known:
            raise ConfigError(f"{name!r} is none of {', '.join(known)}", key=key)
    return names


def _moment_ns(text: str) -> int | None:
    """Return a moment as nanoseconds of the wall clock; None for auto.

    Raises:
        ConfigError: it is no moment, or has no time zone.
    """
    return None if text == "auto" else parse_time_ns(text, "--change-at")


def _window(text: str | None) -> "WindowChoice | None":
    """Return the part of both recordings that was asked for.

    Raises:
        ConfigError: it is none of the two forms.
    """
    from leapprof.assess.sides import WindowChoice

    if text is None:
        return None
    first, dots, last = text.partition("..")
    if not dots:
        return WindowChoice(last_s=parse_duration_s(first, "--window"))
    from_s, to_s = (parse_duration_s(part, "--window") if part else None for part in (first, last))
    return WindowChoice(from_s=from_s, to_s=to_s)
