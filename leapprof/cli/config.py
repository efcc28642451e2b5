"""`leapprof config`: is this config.ini right for a version, what differs between two, what does an option do."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from leapprof.cli.config_facts import facts_of_host, facts_of_recording
from leapprof.cli.options import InventoryOption
from leapprof.errors import ConfigError, NodeosRefusesError, printable, unreadable
from leapprof.model import Finding, Severity
from leapprof.nodeos.diff import Change, diff_options, options_of
from leapprof.nodeos.explain import Explanation, explain
from leapprof.nodeos.grammar import MAX_CONFIG_CHARS, Config, parse_config
from leapprof.nodeos.host_facts import HostFacts
from leapprof.nodeos.options import load_tables, table_for
from leapprof.nodeos.privacy import shown_name
from leapprof.nodeos.rules import check_config, would_start
from leapprof.nodeos.versions import Version, parse_version

app = typer.Typer(no_args_is_help=True, help="Check, compare and explain config.ini of nodeos.")

_File = Annotated[str, typer.Argument(metavar="FILE", help="A config.ini, or - for standard input.")]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command(
    "check",
    short_help="Would nodeos start with a config.ini?",
    epilog="Example: leapprof config check config.ini --target spring-1.2",
)
def check(
    file: _File,
    target: Annotated[
        str,
        typer.Option(
            help="Version that is to start with it: leap-5.0, v5.0.3, spring-1.2 …", metavar="VERSION"
        ),
    ],
    source: Annotated[
        str | None,
        typer.Option(
            help="Version that it comes from: also tells which defaults change silently.", metavar="VERSION"
        ),
    ] = None,
    recording: Annotated[
        Path | None,
        typer.Option(
            help="A recording of the host, for what depends on memory, cores and drives.", metavar="RECORDING"
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            help="The host itself, asked now: inventory name, ssh alias, user@host or local.", metavar="HOST"
        ),
    ] = None,
    nodeos: Annotated[
        str | None,
        typer.Option(
            help="Which nodeos, when there are several: its name, or unit:NAME, data-dir:PATH …",
            metavar="SELECTOR",
        ),
    ] = None,
    inventory: InventoryOption = None,
    as_json: _Json = False,
) -> None:
    """Say whether nodeos would start with a config.ini (0), or refuse it (7), and what else is wrong with it."""
    version = _version(target, "--target")
    before = None if source is None else _version(source, "--source")
    config = _read(file)
    facts = _facts(recording, host, nodeos, inventory)
    findings = check_config(config, version, source=before, facts=facts)
    starts = would_start(findings)
    sys.stdout.write(_json_findings(findings) if as_json else _text_findings(file, findings))
    if not as_json:
        _write_notes(version, facts)
    if not starts:
        refused = sum(finding.severity is Severity.ERROR for finding in findings)
        errors = "1 error" if refused == 1 else f"{refused} errors"
        raise NodeosRefusesError(file, f"nodeos {target} would refuse it ({errors})")


@app.command(
    "diff",
    short_help="What differs between two config.ini.",
    epilog="Example: leapprof config diff old.ini new.ini",
)
def diff(
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A config.ini.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="Another one.")],
    as_json: _Json = False,
) -> None:
    """List what differs between two config.ini, grouped by what it can move: CPU, memory, disk writes, network."""
    changes = diff_options(options_of(_read(before)), options_of(_read(after)))
    sys.stdout.write(_json_changes(changes) if as_json else _text_changes(changes))


@app.command(
    "explain", short_help="What an option does.", epilog="Example: leapprof config explain database-map-mode"
)
def explain_option(
    option: Annotated[str, typer.Argument(metavar="OPTION", help="Name of an option of config.ini.")],
    as_json: _Json = False,
) -> None:
    """Say what an option does, what it can move, and how its default changed over the versions."""
    explanation = explain(option)
    if explanation is None:
        raise ConfigError(
            f"no version of nodeos that leapprof knows has it{_similar(option)}", key=shown_name(option)
        )
    sys.stdout.write(_json_explanation(explanation) if as_json else _text_explanation(explanation))


def _write_notes(version: Version, facts: HostFacts | None) -> None:
    table = table_for(version, load_tables()).version
    if version.numbers != table.numbers or version.fork:
        sys.stderr.write(f"leapprof: {version.text} is judged by the options of {table.name}\n")
    if facts is None:
        sys.stderr.write("leapprof: the host is not known: --recording or --host adds the rules about it\n")


def _version(text: str, key: str) -> Version:
    try:
        version = parse_version(text)
        table_for(version, load_tables())
    except ValueError as error:
        raise ConfigError(str(error), key=key) from error
    return version


def _read(file: str) -> Config:
    try:
        data = sys.stdin.buffer.read(MAX_CONFIG_CHARS + 1) if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise unreadable(file, error) from error
    return parse_config(data.decode("utf-8", errors="replace"))


def _facts(
    recording: Path | None, host: str | None, nodeos: str | None, inventory: Path | None
) -> HostFacts | None:
    if recording is not None and host is not None:
        raise ConfigError("give --recording or --host, not both", key="--host")
    if recording is not None:
        return facts_of_recording(recording, nodeos)
    return None if host is None else facts_of_host(host, nodeos, inventory)


def _similar(option: str) -> str:
    import difflib

    names = sorted({name for table in load_tables() for name in table.options})
    close = difflib.get_close_matches(option[:64], names, n=3)
    return f"; did you mean {', '.join(close)}?" if close else ""


def _json_text(document: object) -> str:
    return json.dumps(document, indent=1) + "\n"


def _json_findings(findings: Sequence[Finding]) -> str:
    rows = [
        {
            "code": finding.code,
            "severity": finding.severity.value,
            "line": finding.line,
            "option": finding.option,
            "message": finding.message,
            "hint": finding.hint,
        }
        for finding in findings
    ]
    return _json_text({"findings": rows})


def _text_findings(file: str, findings: Sequence[Finding]) -> str:
    lines = []
    for finding in findings:
        where = file if finding.line is None else f"{file}:{finding.line}"
        lines.append(
            f"{where}: {finding.severity.value}: {finding.message} [{finding.code}]\n    {finding.hint}\n"
        )
    return printable("".join(lines)) or f"{file}: nothing found\n"


def _json_changes(changes: Sequence[Change]) -> str:
    rows = [
        {"option": change.option, "group": change.group, "before": change.before, "after": change.after}
        for change in changes
    ]
    return _json_text({"changes": rows})


def _text_changes(changes: Sequence[Change]) -> str:
    lines, group = [], None
    for change in changes:
        if change.group != group:
            group = change.group
            title = (
                "moves nothing that is measured" if group == "none" else f"can move {group.replace('_', ' ')}"
            )
            lines.append(f"{title}:\n")
        lines.append(f"  {change.option}: {_or_absent(change.before)} → {_or_absent(change.after)}\n")
    return "".join(lines) or "no difference\n"


def _or_absent(value: str | None) -> str:
    return "(not set)" if value is None else value


def _json_explanation(explanation: Explanation) -> str:
    stretches = [
        {
            "first": stretch.first,
            "last": stretch.last,
            "type": stretch.type,
            "default": stretch.default,
            "multi": stretch.multi,
            "in_file": stretch.in_file,
            "values": list(stretch.values),
        }
        for stretch in explanation.stretches
    ]
    return _json_text(
        {
            "option": explanation.name,
            "plugin": explanation.plugin,
            "unit": explanation.unit,
            "group": explanation.group,
            "effect": explanation.effect,
            "added_in": explanation.added_in,
            "removed_in": explanation.removed_in,
            "versions": stretches,
        }
    )


def _text_explanation(explanation: Explanation) -> str:
    unit = f", in {explanation.unit}" if explanation.unit else ""
    lines = [f"{explanation.name} ({explanation.plugin}{unit})\n"]
    if explanation.effect:
        lines.append(f"  {explanation.effect}\n")
    group = explanation.group.replace("_", " ")
    lines.append("  moves nothing that is measured\n" if group == "none" else f"  can move: {group}\n")
    for stretch in explanation.stretches:
        span = stretch.first if stretch.first == stretch.last else f"{stretch.first} to {stretch.last}"
        default = "no default" if stretch.default is None else f"default {stretch.default}"
        values = f", one of {', '.join(stretch.values)}" if stretch.values else ""
        place = "" if stretch.in_file else ", command line only"
        repeat = ", may be repeated" if stretch.multi else ""
        lines.append(f"  {span}: {stretch.type}{values}, {default}{repeat}{place}\n")
    if explanation.removed_in:
        lines.append(f"  removed in {explanation.removed_in}: nodeos refuses a file that has it\n")
    return "".join(lines)
