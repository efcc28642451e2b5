"""`leapprof agents`: samplers that outlived their connection, and their spools."""

import json
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from leapprof.agent.spool import DEFAULT_PARENT, SpoolStatus, clean_plan, list_plan, read_answer, stop_plan
from leapprof.cli.record import HostsArgument, InventoryOption, JsonOption, TransportOption, chosen_hosts
from leapprof.errors import ConfigError, LeapprofError
from leapprof.model.access import HostConfig
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.link import AgentLink
from leapprof.sources import open_source
from leapprof.store.codec import Json, encode
from leapprof.units import format_bytes


def command(
    hosts: HostsArgument,
    stop: Annotated[
        str | None, typer.Option("--stop", help="End the sampler of this spool; keep its samples.")
    ] = None,
    clean: Annotated[
        str | None, typer.Option("--clean", help="Remove this spool, once its sampler has ended.")
    ] = None,
    spool: Annotated[
        str, typer.Option("--spool", help="Directory on the host that holds spools.")
    ] = DEFAULT_PARENT,
    inventory: InventoryOption = None,
    transport: TransportOption = None,
    as_json: JsonOption = False,
) -> None:
    """List detached samplers and spools of hosts; end (--stop PATH) or remove (--clean PATH) one.

    Exit code 3 when a host cannot be reached.
    """
    question = _question(stop, clean, spool)
    rows: list[tuple[str, tuple[SpoolStatus, ...]]] = []
    failed: list[LeapprofError] = []
    for host in chosen_hosts(hosts, inventory, transport):
        try:
            rows.append((host.name, _ask(host, question)))
        except LeapprofError as error:
            failed.append(error)
    sys.stdout.write(_json(rows) if as_json else _text(rows, spool))
    for failure in failed:
        sys.stderr.write(f"leapprof: {failure}\n")
    if failed:
        raise typer.Exit(min(failure.exit_code for failure in failed))


def _question(stop: str | None, clean: str | None, spool: str) -> bytes:
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
    return "".join(f"{line}\n" for line in lines)


def _line(status: SpoolStatus) -> str:
    living = f"sampler {status.pid} runs" if status.alive else "no sampler"
    state = "removed" if status.removed else living
    held = ""
    if status.newest_seq:
        held = f", samples {status.oldest_seq} to {status.newest_seq}, {format_bytes(status.size_bytes)}"
    problem = f"; {status.problem}" if status.problem else ""
    shown = "".join(c if c.isprintable() else "?" for c in status.path)
    return f"{shown}: {state}{held}{problem}"
