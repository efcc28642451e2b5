"""`leapprof compare`: the before-and-after report of recordings of one host or several, or of one cut at a change."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from leapprof.cli.options import InventoryOption, check_writable
from leapprof.cli.values import parse_duration_s, parse_time_ns
from leapprof.errors import ConfigError, quoted

if TYPE_CHECKING:
    from leapprof.assess.material import CompareOptions
    from leapprof.assess.sides import WindowChoice
    from leapprof.model import Comparison

FAIL_ON = ("regression", "inconclusive")
FORMATS = ("html", "md", "json", "csv", "png")


def command(
    recordings: Annotated[
        list[Path] | None,
        typer.Argument(
            help="BEFORE and AFTER, each a recording or a directory of several hosts' recordings; or one recording "
            "with --change-at.",
            show_default=False,
            metavar="RECORDING",
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            help="Folder in which a dated folder of its own is made.", callback=check_writable, metavar="DIR"
        ),
    ] = Path("reports"),
    formats: Annotated[
        str, typer.Option("--format", help="What is written: html, md, json, csv, png.", metavar="FORMATS")
    ] = "html,md,json,csv",
    change_at: Annotated[
        str | None,
        typer.Option(help="Cut one recording here: 2024-05-01T12:00:00Z, or auto.", metavar="MOMENT"),
    ] = None,
    window: Annotated[
        str | None,
        typer.Option(
            help="Part of each recording: 6h (its last six hours), 30min..3h (from its start), ..3h.",
            metavar="WINDOW",
        ),
    ] = None,
    control: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            help="BEFORE and AFTER of a node, or of several, that were not changed: their difference is taken off.",
            metavar="BEFORE AFTER",
        ),
    ] = None,
    control_nodeos: Annotated[
        str | None,
        typer.Option(
            help="Name of another nodeos of the same recordings that was not changed.", metavar="ID"
        ),
    ] = None,
    pairs: Annotated[
        bool, typer.Option("--pairs", help="Four or more recordings of phases that alternate.")
    ] = False,
    target_cpu: Annotated[
        float | None,
        typer.Option(
            min=1, max=100, help="CPU of the host up to which there is headroom.", metavar="PERCENT"
        ),
    ] = None,
    rated_tbw: Annotated[
        list[str],
        typer.Option(help="Rated endurance of a drive, decimal TB: [DEVICE=]TB.", metavar="[DEVICE=]TB"),
    ] = [],  # noqa: B006 - typer copies it
    inventory: InventoryOption = None,
    across: Annotated[bool, typer.Option("--across", help="Two hosts, or one time, are meant.")] = False,
    public: Annotated[
        bool, typer.Option("--public", help="Replace names, addresses and serials by aliases.")
    ] = False,
    fail_on: Annotated[
        str,
        typer.Option(
            help="Exit with 10 or 11 on: regression, inconclusive (comma-joined).", metavar="VERDICTS"
        ),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print report.json instead of text.")] = False,
    prometheus: Annotated[
        str | None, typer.Option(help="A server instead of recordings; with --change-at.", metavar="URL")
    ] = None,
    selector: Annotated[
        str, typer.Option(help='Label matchers of one host: instance=~"eos-1:.*"', metavar="MATCHERS")
    ] = "",
    before: Annotated[str, typer.Option(help="How far back from the change.", metavar="DURATION")] = "7d",
    after: Annotated[str, typer.Option(help="How far on from the change.", metavar="DURATION")] = "7d",
    step: Annotated[
        str | None, typer.Option(help="Time between readings; none: as scraped.", metavar="DURATION")
    ] = None,
    host_label: Annotated[
        str | None, typer.Option(help="Label that names the host.", metavar="LABEL")
    ] = None,
    token_file: Annotated[Path | None, typer.Option(help="File with a bearer token.", metavar="FILE")] = None,
    basic_auth_file: Annotated[
        Path | None, typer.Option(help="File with user:password.", metavar="FILE")
    ] = None,
    ca_file: Annotated[Path | None, typer.Option(help="Certificates to trust.", metavar="FILE")] = None,
    timeout: Annotated[str, typer.Option(help="Of one answer of the server.", metavar="DURATION")] = "60s",
) -> None:
    """Compare recordings before and after a change, of one host or of several, and write the report."""
    from leapprof import report
    from leapprof.assess.material import CompareOptions
    from leapprof.cli.compare_output import put_out, put_out_hosts, status, verdicts_of_hosts

    wanted = frozenset(report.Format(name) for name in _names(formats, FORMATS, "--format"))
    fatal = _names(fail_on, FAIL_ON, "--fail-on")
    named, chosen = recordings or [], _window(window)

    def options_of(recording: Path) -> CompareOptions:
        ratings = _ratings(recording, rated_tbw, inventory)
        return CompareOptions(window=chosen, across=across, target_percent=target_cpu, rated_tbw=ratings)

    if prometheus is not None:
        from leapprof.cli.compare_server import ServerRequest, compare_server

        asked = ServerRequest(
            url=prometheus, selector=selector, before=before, after=after, step=step, host_label=host_label,
            token_file=token_file, basic_auth_file=basic_auth_file, ca_file=ca_file, timeout=timeout,
        )  # fmt: skip
        comparison = compare_server(asked, *_server_cut(recordings, change_at, chosen))
    else:
        if change_at is None and not pairs:
            from leapprof.cli.compare_hosts import compared_hosts

            hosts = compared_hosts(named, control, options_of)
            _check_control(named, control, control_nodeos, several=hosts is not None)
            if hosts is not None:
                put_out_hosts(hosts, out, wanted, public=public, as_json=as_json)
                raise typer.Exit(status(verdicts_of_hosts(hosts), fatal))
        comparison = _comparison(named, change_at, options_of, alternating=pairs)
    if control is not None:
        from leapprof.assess.control import with_control

        comparison = with_control(comparison, _comparison(list(control), None, options_of))
    if control_nodeos is not None:
        from leapprof.assess.control import with_neighbour

        comparison = with_neighbour(comparison, control_nodeos)
    put_out(comparison, out, wanted, public=public, as_json=as_json)
    raise typer.Exit(status([(m.verdict, m.headline) for m in comparison.metrics], fatal))


def _check_control(
    named: list[Path], control: tuple[Path, Path] | None, nodeos: str | None, *, several: bool
) -> None:
    """Refuse a control that is no other node.

    Raises:
        ConfigError: see above.
    """
    if control is not None and nodeos is not None:
        raise ConfigError("takes the place of --control", key="--control-nodeos")
    if several and nodeos is not None:
        raise ConfigError(
            "is for one host; for several name the controls with --control", key="--control-nodeos"
        )
    if control is not None and not several and [p.resolve() for p in control] == [p.resolve() for p in named]:
        raise ConfigError(
            "is the comparison itself; another nodeos of the same host is named with --control-nodeos",
            key="--control",
        )


def _comparison(
    named: list[Path],
    change_at: str | None,
    options_of: "Callable[[Path], CompareOptions]",
    *,
    alternating: bool = False,
) -> "Comparison":
    """Return the comparison of one host that the arguments ask for."""
    from leapprof.assess.compare import compare, compare_cut
    from leapprof.assess.host_pairs import of_one_host
    from leapprof.assess.load import load
    from leapprof.store.named import check_named

    if not named:
        raise ConfigError("name two recordings, BEFORE and AFTER, or one with --change-at", key="RECORDING")
    recordings = of_one_host(named)
    repeat = "leapprof compare " + " ".join(path.name for path in recordings)
    repeat += f" --change-at {change_at}" if change_at else ""
    options = replace(options_of(recordings[0]), repeat=(repeat,))
    if change_at is not None:
        if len(recordings) != 1:
            raise ConfigError("--change-at cuts one recording: name one", key="RECORDING")
        return compare_cut(load(recordings[0]), _moment_ns(change_at), options)
    if len(recordings) > 2 or alternating:
        from leapprof.assess.pairs import compare_pairs

        return compare_pairs([load(path) for path in recordings], options)
    if len(recordings) != 2:
        check_named(recordings[0])
        raise ConfigError("name two recordings, BEFORE and AFTER, or one with --change-at", key="RECORDING")
    return compare(load(recordings[0]), load(recordings[1]), options)


def _ratings(recording: Path, rated_tbw: list[str], inventory: Path | None) -> dict[str, float]:
    """Return device → rated TBW that inventory and command line say of a recording's drives."""
    if not (rated_tbw or inventory):
        return {}
    from leapprof.cli.wear_options import stated_tbw
    from leapprof.store import open_recording

    return stated_tbw(open_recording(recording).manifest, rated_tbw, inventory)


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
        ConfigError: it is none of the two forms, or ends before it begins.
    """
    from leapprof.assess.sides import WindowChoice

    if text is None:
        return None
    first, dots, last = text.partition("..")
    if not dots:
        return WindowChoice(last_s=parse_duration_s(first, "--window"))
    from_s, to_s = (parse_duration_s(part, "--window") if part else None for part in (first, last))
    if from_s is not None and to_s is not None and from_s >= to_s:
        raise ConfigError(f"{quoted(text)} ends before it begins", key="--window")
    return WindowChoice(from_s=from_s, to_s=to_s)
