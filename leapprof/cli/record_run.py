"""What `leapprof record` does: checks what was asked, runs a session a host, says how each ended."""

import json
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event as StopEvent
from types import FrameType

import typer

from leapprof.agent.spool import DEFAULT_PARENT
from leapprof.cli.live_view import watching
from leapprof.cli.values import parse_duration_s
from leapprof.config.inventory import resolve_hosts
from leapprof.config.selector import parse_selector
from leapprof.errors import ConfigError, InterruptedRunError, StoreError, printable
from leapprof.model.access import HostConfig
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.hosts import SessionResult, record_hosts
from leapprof.recorder.naming import check_phase
from leapprof.recorder.observer import Observer
from leapprof.recorder.planning import RecordOptions, check_interval
from leapprof.recorder.session import HostSession
from leapprof.recorder.spooling import SpoolChoice
from leapprof.sources import open_source
from leapprof.store import Retention

DEFAULT_RETENTION = "30d"
TRANSPORTS = ("ssh", "openssh", "local")


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRequest:
    """The command line of `leapprof record`, as it was written."""

    hosts: tuple[str, ...]
    out: Path
    phase: str
    duration: str | None
    interval: str
    nodeos: tuple[str, ...]
    inventory: Path | None
    transport: str | None
    spool: str | None
    attach: bool
    retention: str | None
    as_json: bool
    metrics_listen: str | None = None


def run(asked: RecordRequest) -> None:
    """Record until the duration is over or a signal comes.

    Raises:
        ConfigError: what was asked is not accepted; nothing was started.
        InterruptedRunError: a signal ended the recording.
        typer.Exit: some hosts failed.
    """
    options = _options(asked)
    kept = _retention(asked.retention, options)
    spool = (
        SpoolChoice(parent=asked.spool or DEFAULT_PARENT, attach=asked.attach)
        if asked.spool or asked.attach
        else None
    )
    found = chosen_hosts(asked.hosts, asked.inventory, asked.transport)
    stop = StopEvent()
    names = [host.name for host in found]
    with (
        stopped_by_signals(stop) as caught,
        watching(names, quiet=asked.as_json) as watcher,
        _serving(asked.metrics_listen, watcher) as observer,
    ):
        sessions = [
            HostSession(
                host=host,
                source=open_source(host),
                out=asked.out,
                options=options,
                clock=SystemClock(),
                stop=stop,
                observer=observer,
                spool=spool,
                commands=(_command_line(asked.hosts, host.name),),
                retention=kept,
            )
            for host in found
        ]
        results = record_hosts(sessions, stop)
    _print_results(results, asked.as_json)
    _raise_outcome(results, bool(caught), asked.out)


@contextmanager
def _serving(listen: str | None, observer: Observer) -> Iterator[Observer]:
    """Yield the observer, with a /metrics endpoint in front of it when one is wanted.

    Raises:
        ConfigError: the address cannot be listened on.
    """
    if listen is None:
        yield observer
        return
    from leapprof.recorder.metrics_server import MetricsObserver, MetricsServer

    shown = MetricsObserver(observer)
    with MetricsServer(listen, shown):
        yield shown


def _command_line(asked: Sequence[str], host: str) -> str:
    """Return the command that repeats the recording of one host: its reports name no other."""
    words = sys.argv[2:]
    for name in asked:
        if name in words:
            words.remove(name)
    return shlex.join(["leapprof", "record", host, *words])


def _options(asked: RecordRequest) -> RecordOptions:
    check_phase(asked.phase)
    interval_s = parse_duration_s(asked.interval, "interval")
    check_interval(interval_s)
    return RecordOptions(
        phase=asked.phase,
        interval_s=interval_s,
        duration_s=None if asked.duration is None else parse_duration_s(asked.duration, "duration"),
        selectors=tuple(parse_selector(text) for text in asked.nodeos),
    )


def _retention(text: str | None, options: RecordOptions) -> Retention | None:
    """Return what an always-on recording keeps; a phase keeps everything unless the operator says otherwise."""
    always_on = not options.phase and options.duration_s is None
    if text is None and not always_on:
        return None
    return Retention(duration_s=parse_duration_s(text or DEFAULT_RETENTION, "retention"))


def chosen_hosts(
    names: Sequence[str], inventory: Path | None, transport: str | None
) -> tuple[HostConfig, ...]:
    """Return the hosts that the operator named, reached the way that was asked for.

    Raises:
        ConfigError: a name, the inventory or the transport is wrong.
    """
    if transport is not None and transport not in TRANSPORTS:
        raise ConfigError(f"{transport!r} is not accepted: {', '.join(TRANSPORTS)}", key="transport")
    hosts = resolve_hosts(names, inventory)
    return hosts if transport is None else tuple(replace(host, transport=transport) for host in hosts)


@contextmanager
def stopped_by_signals(stop: StopEvent) -> Iterator[list[int]]:
    """Set the stop on SIGINT and SIGTERM instead of dying; yield the signals that came."""
    caught: list[int] = []

    def handle(number: int, frame: FrameType | None) -> None:
        caught.append(number)
        stop.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print_results(results: Sequence[SessionResult], as_json: bool) -> None:
    if as_json:
        rows = [_result_row(result) for result in results]
        sys.stdout.write(json.dumps({"format": 1, "recordings": rows}, indent=1) + "\n")
        return
    for result in results:
        if result.directory is not None:
            sys.stdout.write(f"{result.directory}\n")


def _result_row(result: SessionResult) -> dict[str, str | None]:
    return {
        "host": result.host,
        "recording": None if result.directory is None else str(result.directory),
        "error": None if result.error is None else str(result.error),
    }


def _raise_outcome(results: Sequence[SessionResult], interrupted: bool, out: Path) -> None:
    """End with the exit code of what happened: failures first, then the interruption.

    Raises:
        InterruptedRunError: a signal ended the recording and no host failed.
        typer.Exit: some hosts failed.
    """
    failed = [result for result in results if result.error is not None]
    for result in failed:
        problem = str(result.error).removeprefix(f"{result.host}: ")
        sys.stderr.write(f"leapprof: {result.host} failed: {printable(problem)}\n")
    if any(isinstance(result.error, StoreError) for result in failed):
        raise typer.Exit(StoreError.exit_code)
    if failed:
        raise typer.Exit(min(result.error.exit_code for result in failed if result.error is not None))
    if interrupted:
        kept = [str(result.directory) for result in results if result.directory is not None]
        raise InterruptedRunError(", ".join(kept) or str(out))
