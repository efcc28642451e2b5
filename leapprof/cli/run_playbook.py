"""What `leapprof run` does: plans, asks, begins or goes on, and says how it ended and what the hosts are now."""

import json
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from threading import Event as StopEvent

import typer

from leapprof.cli.options import check_writable
from leapprof.cli.record_run import stopped_by_signals
from leapprof.cli.run_probes import check_probes
from leapprof.config.playbook import read_playbook
from leapprof.errors import ConfigError, InterruptedRunError, LeapprofError, printable
from leapprof.experiment.dry_run import dry_run_lines
from leapprof.experiment.reports import RunResult
from leapprof.experiment.runlog import read_entries
from leapprof.experiment.starting import (
    Attendance,
    Run,
    attend,
    begin_run,
    changes_hosts,
    check_metrics,
    find_run,
    hosts_of,
    states_of,
    unfinished_run,
)
from leapprof.experiment.states import host_states, status_lines, summary_of
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.observer import NullObserver


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """The command line of `leapprof run`, as it was written."""

    playbook: Path
    out: Path
    dry_run: bool
    apply: bool
    resume: bool
    status: bool
    overrides: tuple[str, ...]
    assume_done: tuple[str, ...]
    run_again: tuple[str, ...]
    as_json: bool


def run(asked: RunRequest) -> None:
    """Do what the command line asks.

    Raises:
        ConfigError: it, or the playbook, is not accepted; nothing was begun.
        typer.Exit: expectations are not met, or cannot be told.
        LeapprofError: the run ended before its report; what the hosts are was printed.
    """
    _check(asked)
    if asked.dry_run:
        playbook = read_playbook(asked.playbook, asked.overrides)
        hosts_of(playbook, asked.playbook)
        check_metrics(playbook)
        check_probes(playbook)
        sys.stdout.write(printable("\n".join(dry_run_lines(playbook))) + "\n")
    elif asked.status:
        _print_status(find_run(asked.playbook, asked.out), asked)
    else:
        _attend(asked)


def _check(asked: RunRequest) -> None:
    ways = [asked.dry_run, asked.resume, asked.status]
    if sum(ways) > 1:
        raise ConfigError("give one of --dry-run, --resume and --status")
    if (asked.resume or asked.status) and asked.overrides:
        raise ConfigError("a run keeps the values that it was begun with", key="--set")
    if (asked.assume_done or asked.run_again) and not asked.resume:
        raise ConfigError("belongs to --resume", key="--assume-done and --run-again")
    if not (asked.resume or asked.status) and asked.playbook.is_dir():
        raise ConfigError(
            "is a directory; with --resume or --status it may be a run's", path=str(asked.playbook)
        )


def _print_status(found: Run, asked: RunRequest) -> None:
    entries = read_entries(found.directory)
    if asked.as_json:
        document = {
            "format": 1,
            "run": str(found.directory),
            **summary_of(entries),
            "hosts": list(host_states(found.playbook, entries)),
        }
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
    else:
        lines = (str(found.directory), *status_lines(found.playbook, entries))
        sys.stdout.write(printable("\n".join(lines)) + "\n")


def _attend(asked: RunRequest) -> None:
    clock = SystemClock()
    if asked.resume:
        found = unfinished_run(asked.playbook, asked.out)
        _confirm(changes_hosts(found.playbook), asked)
    else:
        playbook = read_playbook(asked.playbook, asked.overrides)
        check_probes(playbook)
        _confirm(changes_hosts(playbook), asked)
        check_writable(asked.out)
        found = begin_run(asked.playbook, asked.overrides, asked.out, clock)
    _say(f"run {found.directory}")
    stop = StopEvent()
    threading.Thread(target=_tell_when_stopped, args=(stop,), daemon=True).start()
    with stopped_by_signals(stop):
        attendance = Attendance(
            clock=clock,
            stop=stop,
            say=_say,
            observer=NullObserver(),
            assumed_done=frozenset(asked.assume_done),
            run_again=frozenset(asked.run_again),
        )
        try:
            result = attend(found, attendance)
        except LeapprofError as error:
            _say_states(found)
            if isinstance(error, InterruptedRunError):
                raise InterruptedRunError(f"{found.directory}; go on with --resume") from error
            raise
    _print_result(found, result, asked)
    if result.exit_code:
        raise typer.Exit(result.exit_code)


def _tell_when_stopped(stop: StopEvent) -> None:
    stop.wait()
    _say("ending: nothing new is begun; a change that was begun is finished first")


def _confirm(hosts: tuple[str, ...], asked: RunRequest) -> None:
    """Return when the operator allows the change of these hosts.

    Raises:
        ConfigError: he does not.
    """
    if asked.apply or not hosts:
        return
    names = ", ".join(hosts)
    if not sys.stdin.isatty():
        raise ConfigError(f"{names} would be changed: give --apply, or look with --dry-run first", key="run")
    sys.stderr.write(f"This changes {names}; see --dry-run for how. Type the name(s) to go on: ")
    sys.stderr.flush()
    typed = sys.stdin.readline().replace(",", " ").split()
    if typed != list(hosts):
        raise ConfigError("nothing was changed: the names were not typed", key="run")


def _say(text: str) -> None:
    sys.stderr.write(f"leapprof: {printable(text)}\n")
    sys.stderr.flush()


def _say_states(found: Run) -> None:
    for line in states_of(found):
        _say(line)


def _print_result(found: Run, result: RunResult, asked: RunRequest) -> None:
    if asked.as_json:
        text = (result.summary.parent / "summary.json").read_text(encoding="utf-8")
        document = {"run": str(found.directory), **json.loads(text)}
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
        return
    if result.outcome is not None:
        sys.stdout.write(f"expectations: {result.outcome.value}\n")
    for pair in result.pairs:
        for judged in pair.results:
            subject = f"[{judged.subject}]" if judged.subject else ""
            line = f"{judged.outcome.value}: {judged.metric}{subject}: {judged.text}. {judged.reason}"
            sys.stdout.write(f"  {printable(line)}\n")
        for sentence in pair.headline:
            sys.stdout.write(f"  {printable(f'{pair.pair.name}: {sentence}')}\n")
    sys.stdout.write(f"{result.summary}\n")
