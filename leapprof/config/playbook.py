"""Reads a playbook: YAML, checked strictly, errors with line and path.

The schema is playbook_schema.py; here is what a schema cannot say: what belongs together.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from leapprof.config.playbook_expect import Expectation, parse_expectation
from leapprof.config.playbook_probes import OF_THE_PHASE
from leapprof.config.playbook_schema import ConfigEdit, Playbook
from leapprof.config.playbook_types import Action
from leapprof.config.playbook_yaml import Document, Plain, parse_document, with_override
from leapprof.config.secrets import ADVICE, is_secret_key
from leapprof.config.selector import parse_selector
from leapprof.errors import ConfigError, unreadable

MAX_PROBLEMS_SHOWN = 3
_UNKNOWN = "unexpected_keyword_argument"
_NUMBERS = "phase.interval is 100ms to 60s"
_MIN_INTERVAL_S, _MAX_INTERVAL_S = 0.1, 60.0


@cache
def _adapter() -> TypeAdapter[Playbook]:
    return TypeAdapter(Playbook)


def read_playbook_document(path: Path, overrides: Sequence[str] = ()) -> Document:
    """Read a playbook file as plain values, with the overrides of the command line.

    Raises:
        ConfigError: it cannot be read, or is no YAML that is accepted.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8 text", path=str(path)) from error
    except OSError as error:
        raise unreadable(path, error) from error
    document = parse_document(text, str(path))
    for assignment in overrides:
        document = with_override(document, assignment)
    return document


def playbook_of(document: Document) -> Playbook:
    """Return the playbook that a document says.

    Raises:
        ConfigError: something in it is not accepted; the message names file, line and path.
    """
    if not isinstance(document.value, dict):
        raise document.error((), "a playbook is a mapping: playbook: 1, title: …, hosts: …")
    _refuse_secrets(document, document.value, ())
    try:
        playbook = _adapter().validate_json(json.dumps(document.value), strict=True)
    except ValidationError as error:
        raise _explained(document, error) from None
    _check_hosts(document, playbook)
    _check_phase(document, playbook)
    _check_probes(document, playbook)
    _check_change(document, playbook)
    _check_restart(document, playbook)
    _check_guards(document, playbook)
    _check_expectations(document, playbook)
    return playbook


def read_playbook(path: Path, overrides: Sequence[str] = ()) -> Playbook:
    """Read and check a playbook file.

    Raises:
        ConfigError: it is not accepted.
    """
    return playbook_of(read_playbook_document(path, overrides))


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of playbooks, for editors."""
    schema = _adapter().json_schema(mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def expectations_of(document: Document | None, playbook: Playbook) -> tuple[Expectation, ...]:
    """Return the expectations of a playbook.

    Args:
        document: to name the line of what is wrong; None when it was checked before.
        playbook: whose.

    Raises:
        ConfigError: one has another form.
    """
    found = []
    for name, text in playbook.expectations.items():
        try:
            found.append(parse_expectation(name, text))
        except ValueError as error:
            if document is None:
                raise ConfigError(str(error), key=f"expectations.{name}") from error
            raise document.error(("expectations", name), str(error)) from error
    return tuple(found)


def _refuse_secrets(document: Document, value: Plain, path: tuple[str | int, ...]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():
            if is_secret_key(name):
                raise document.error((*path, name), ADVICE)
            _refuse_secrets(document, inner, (*path, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _refuse_secrets(document, inner, (*path, number))


def _explained(document: Document, error: ValidationError) -> ConfigError:
    """Return the error that names line and path of what is wrong; the values are not shown."""
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    problems.sort(key=lambda problem: problem["type"] != _UNKNOWN)  # a misspelt name explains a missing one
    first, *others = problems[:MAX_PROBLEMS_SHOWN]
    more = "".join(f"; also {document.error(_path(o['loc']), _sentence(o))}" for o in others)
    left = len(problems) - MAX_PROBLEMS_SHOWN
    more += f"; and {left} more" if left > 0 else ""
    return document.error(_path(first["loc"]), _sentence(first) + more)


def _path(location: tuple[str | int, ...]) -> tuple[str | int, ...]:
    return tuple(part for part in location if part != "[key]")


def _sentence(problem: Any) -> str:  # noqa: ANN401 - a dict of pydantic's own
    kind, text = problem["type"], str(problem["msg"])
    if kind == _UNKNOWN:
        return "is not known here: see docs/playbooks.md for what is"
    if kind in ("missing", "missing_argument", "missing_keyword_only_argument"):
        return "is missing"
    if kind == "bool_type":
        return "is true or false (off, on, yes and no are plain texts)"
    return text.removeprefix("Value error, ")


def _check_hosts(document: Document, playbook: Playbook) -> None:
    names = [entry.host for entry in playbook.hosts]
    for number, entry in enumerate(playbook.hosts):
        if names.index(entry.host) != number:
            raise document.error(("hosts", number, "host"), "is there twice")
        if entry.first == "b" and playbook.design != "crossover":
            raise document.error(("hosts", number, "first"), "only a host of a crossover begins with b")
        if entry.nodeos is not None:
            try:
                parse_selector(entry.nodeos)
            except ConfigError as error:
                raise document.error(("hosts", number, "nodeos"), error.problem) from error
    _check_roles(document, playbook)


def _check_roles(document: Document, playbook: Playbook) -> None:
    if playbook.change is not None and not playbook.changed_hosts:
        raise document.error(("hosts",), "all are controls: nothing would be changed")
    if playbook.design == "crossover" and {h.first for h in playbook.changed_hosts} != {"a", "b"}:
        raise document.error(("hosts",), "a crossover needs a host that begins with a, and one with first: b")


def _check_phase(document: Document, playbook: Playbook) -> None:
    if not _MIN_INTERVAL_S <= playbook.phase.interval <= _MAX_INTERVAL_S:
        raise document.error(("phase", "interval"), _NUMBERS)
    if playbook.phase.duration <= 0:
        raise document.error(("phase", "duration"), "must be longer than 0s")


def _check_probes(document: Document, playbook: Playbook) -> None:
    names = [entry.host for entry in playbook.hosts] + [probe.label for probe in playbook.probes]
    for number, probe in enumerate(playbook.probes):
        path = ("probes", number)
        if names.count(probe.label) > 1:
            raise document.error(path, f"{probe.label} is the name of another one: give it a name")
        given = sorted(OF_THE_PHASE & set(probe.options))
        if given:
            raise document.error((*path, "options", given[0]), "comes from the phase")
        if playbook.design == "crossover":
            raise document.error(path, "a probe measures one thing in turns: use AB, ABAB …")
        if playbook.phase.spool is not None:
            raise document.error(path, "a probe ends with the collector: take phase.spool out")
    needs_nodeos = playbook.restart is not None or (
        playbook.change is not None and playbook.change.command is None
    )
    for number, entry in enumerate(playbook.hosts):
        if needs_nodeos and entry in playbook.changed_hosts and not entry.runs_nodeos:
            raise document.error(("hosts", number, "nodeos"), "there is none to restart: use change.command")


def _check_expectations(document: Document, playbook: Playbook) -> None:
    probes = {probe.latency for probe in playbook.probes}
    for expectation in expectations_of(document, playbook):
        probe = expectation.probe
        if probe is not None and probe not in probes:
            raise document.error(("expectations",), f"{expectation.metric} needs a probe of it under probes")


def _check_change(document: Document, playbook: Playbook) -> None:
    change = playbook.change
    if change is None:
        return
    given = [way for way in (change.manual, change.config, change.command) if way is not None]
    if len(given) != 1:
        raise document.error(("change",), "needs exactly one of manual, config and command")
    if change.manual is not None:
        _check_manual(document, playbook)
    if change.config is not None:
        _check_edit(document, change.config, playbook)
    command = change.command
    if playbook.design != "AB" and command is not None and command.to_a is None:
        raise document.error(("change", "command", "to_a"), "is missing: this design goes back to a")


def _check_edit(document: Document, edit: ConfigEdit, playbook: Playbook) -> None:
    if not edit.set and not edit.remove:
        raise document.error(("change", "config"), "changes nothing: give set or remove")
    both = sorted(set(edit.set) & set(edit.remove))
    if both:
        raise document.error(("change", "config", "remove"), f"{both[0]} is in set too")
    if playbook.restart is None:
        raise document.error(("change", "config"), "needs restart: nodeos reads its config when it starts")


def _check_manual(document: Document, playbook: Playbook) -> None:
    assert playbook.change and playbook.change.manual
    if not playbook.b.says_something or playbook.a == playbook.b:
        raise document.error(
            ("b",), "must tell a from b: version, map_mode or options; leapprof waits for it"
        )
    if playbook.design != "AB":
        if playbook.change.manual.say_back is None:
            raise document.error(("change", "manual", "say_back"), "is missing: this design goes back to a")
        if not playbook.a.says_something:
            raise document.error(("a",), "must tell a from b: leapprof waits for it on the way back")


def _check_restart(document: Document, playbook: Playbook) -> None:
    restart = playbook.restart
    if restart is None:
        return
    given = [way for way in (restart.systemd, restart.docker, restart.commands) if way is not None]
    if len(given) != 1:
        raise document.error(("restart",), "needs exactly one of systemd, docker and commands")
    if playbook.change is not None and playbook.change.manual is not None:
        raise document.error(("restart",), "a manual change includes the restart: say so in manual.say")


def _check_guards(document: Document, playbook: Playbook) -> None:
    guards = playbook.guards
    for name in (
        "head_lag",
        "missed_blocks",
        "memory_available",
        "swap_free",
        "disk_free",
        "temperature",
        "node_down",
    ):
        guard = getattr(guards, name)
        if guard is not None and guard.then is Action.PAUSE and playbook.phase.spool is not None:
            raise document.error(
                ("guards", name, "then"), "pause begins a phase anew, which a sampler with a spool does not"
            )
        if guard is not None and guard.then is Action.ROLL_BACK and playbook.roll_back is None:
            raise document.error(
                ("guards", name, "then"), "roll_back needs the section roll_back (it may be empty: {})"
            )


__all__ = ["expectations_of", "json_schema", "playbook_of", "read_playbook", "read_playbook_document"]
