"""What `leapprof agents` asks and prints."""

import json
import sys
from collections.abc import Sequence

import typer

from leapprof.agent.spool import SpoolStatus, clean_plan, list_plan, read_answer, stop_plan
from leapprof.errors import ConfigError, LeapprofError, printable
from leapprof.model.access import HostConfig
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.link import AgentLink
from leapprof.sources import open_source
from leapprof.store.codec import Json, encode
from leapprof.units import format_bytes


def run(hosts: Sequence[HostConfig], question: bytes, parent: str, *, as_json: bool) -> None:
    """Put a question to hosts and print the answers.

    Raises:
        typer.Exit: a host cannot be reached.
    """
    rows: list[tuple[str, tuple[SpoolStatus, ...]]] = []
    failed: list[LeapprofError] = []
    for host in hosts:
        try:
            rows.append((host.name, _ask(host, question)))
        except LeapprofError as error:
            failed.append(error)
    sys.stdout.write(_json(rows) if as_json else _text(rows, parent))
    for failure in failed:
        sys.stderr.write(f"leapprof: {printable(str(failure))}\n")
    if failed:
        raise typer.Exit(min(failure.exit_code for failure in failed))


def chosen_question(stop: str | None, clean: str | None, spool: str) -> bytes:
    """Return the plan of what is asked.

    Raises:
        ConfigError: two things at once, or a path that is no spool.
    """
    if stop is not None and clean is not None:
        raise ConfigError("--stop and --clean are two steps: stop first, then clean", key="agents")
    if stop is not None:
        return stop_plan(stop)
    return list_plan(spool) if clean is None else clean_plan(clean)


def _ask(host: HostConfig, question: bytes) -> tuple[SpoolStatus, ...]:
    with open_source(host) as source, AgentLink.open(source, "python", SystemClock()) as link:
        return read_answer(link.ask_encoded(question))


def _json(rows: Sequence[tuple[str, tuple[SpoolStatus, ...]]]) -> str:
    listed: list[Json] = [{"host": host, "spools": encode(found)} for host, found in rows]
    return json.dumps({"format": 1, "hosts": listed}, indent=1) + "\n"


def _text(rows: Sequence[tuple[str, tuple[SpoolStatus, ...]]], parent: str) -> str:
    lines = []
    for host, found in rows:
        lines += [f"{host}: {_line(status)}" for status in found] or [
            f"{host}: nothing left behind in {parent}"
        ]
    return "".join(f"{printable(line)}\n" for line in lines)


def _line(status: SpoolStatus) -> str:
    living = f"sampler {status.pid} runs" if status.alive else "no sampler"
    state = "removed" if status.removed else living
    held = ""
    if status.newest_seq:
        held = f", samples {status.oldest_seq} to {status.newest_seq}, {format_bytes(status.size_bytes)}"
    problem = f"; {status.problem}" if status.problem else ""
    return f"{status.path}: {state}{held}{problem}"
