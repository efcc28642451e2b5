"""Begins a run, or finds the one to go on with, and holds its log while it lasts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from threading import Event as StopEvent

from leapprof import __version__
from leapprof.assess.metrics import METRICS
from leapprof.config.inventory import resolve_hosts
from leapprof.config.playbook import expectations_of, playbook_of, read_playbook_document
from leapprof.config.playbook_schema import Playbook
from leapprof.config.playbook_yaml import Document
from leapprof.errors import ConfigError, StoreError
from leapprof.experiment.context import RunContext
from leapprof.experiment.reports import RunResult
from leapprof.experiment.runlog import (
    RunLog,
    find_runs,
    new_run_directory,
    read_entries,
    read_run_file,
    write_run_file,
)
from leapprof.experiment.runner import run_steps
from leapprof.experiment.states import host_states
from leapprof.experiment.steps import plan_steps
from leapprof.model.access import HostConfig
from leapprof.recorder.clock import Clock
from leapprof.recorder.observer import Observer


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run on disk.

    Attributes:
        playbook_file: as it was named; paths in the playbook are seen from its directory.
    """

    directory: Path
    playbook: Playbook
    playbook_file: Path


def begin_run(playbook_file: Path, overrides: Sequence[str], out: Path, clock: Clock) -> Run:
    """Make the directory of a new run.

    Raises:
        ConfigError: the playbook is not accepted.
        StoreError: the disk refuses.
    """
    document = read_playbook_document(playbook_file, overrides)
    playbook = playbook_of(document)
    hosts_of(playbook, playbook_file)
    check_metrics(playbook)
    directory = new_run_directory(out, playbook_file, clock.wall_ns())
    write_run_file(
        directory,
        {
            "leapprof": __version__,
            "playbook_file": str(playbook_file.absolute()),
            "begun_wall_ns": clock.wall_ns(),
            "playbook": document.value,
        },
    )
    return Run(directory=directory, playbook=playbook, playbook_file=playbook_file)


def open_run(directory: Path) -> Run:
    """Return a run as it was begun: what the playbook file says today does not matter.

    Raises:
        StoreError, FormatVersionError: it is no run, or damaged.
        ConfigError: this leapprof does not accept its playbook any more.
    """
    found = read_run_file(directory)
    playbook = playbook_of(Document(name=str(directory / "run.json"), value=found.get("playbook")))
    return Run(
        directory=directory,
        playbook=playbook,
        playbook_file=Path(str(found.get("playbook_file", "playbook.yml"))),
    )


def find_run(playbook_file: Path, out: Path) -> Run:
    """Return the last run of a playbook; the argument may be a run's directory itself.

    Raises:
        ConfigError: there is none.
    """
    if playbook_file.is_dir():
        return open_run(playbook_file)
    runs = find_runs(out, playbook_file)
    if not runs:
        raise ConfigError(f"{out} holds no run of this playbook", path=str(playbook_file), key="--out")
    return open_run(runs[-1])


def unfinished_run(playbook_file: Path, out: Path) -> Run:
    """Return the run that --resume goes on with.

    Raises:
        ConfigError: there is none, or several.
    """
    if playbook_file.is_dir():
        return open_run(playbook_file)
    left = [d for d in find_runs(out, playbook_file) if not any(e.kind == "ended" for e in read_entries(d))]
    if len(left) == 1:
        return open_run(left[0])
    if not left:
        raise ConfigError(
            f"{out} holds no unfinished run of this playbook", path=str(playbook_file), key="--resume"
        )
    names = ", ".join(str(directory) for directory in left)
    raise ConfigError(f"there are {len(left)}: give one of {names} in place of the playbook", key="--resume")


def hosts_of(playbook: Playbook, playbook_file: Path) -> dict[str, HostConfig]:
    """Return how each host of a playbook is reached.

    Raises:
        ConfigError: the inventory or a name is wrong, or a name stands for several hosts.
    """
    inventory = playbook_file.parent / playbook.inventory if playbook.inventory else None
    found = {}
    for entry in playbook.hosts:
        hosts = resolve_hosts([entry.host], inventory)
        if len(hosts) != 1:
            raise ConfigError(
                f"stands for {len(hosts)} hosts; list them one by one", path=entry.host, key="hosts"
            )
        found[entry.host] = hosts[0]
    return found


def check_metrics(playbook: Playbook) -> None:
    """Refuse expectations about metrics that do not exist.

    Raises:
        ConfigError: there is one.
    """
    known = {spec.name for spec in METRICS}
    for expectation in expectations_of(None, playbook):
        if expectation.metric not in known:
            near = ", ".join(get_close_matches(expectation.metric, sorted(known), 3)) or "docs/metrics.md"
            raise ConfigError(
                f"there is no such metric; see {near}", key=f"expectations.{expectation.metric}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Attendance:
    """Who watches a run and how it is told what to do."""

    clock: Clock
    stop: StopEvent
    say: Callable[[str], None]
    observer: Observer
    assumed_done: frozenset[str] = frozenset()
    run_again: frozenset[str] = frozenset()


def attend(run: Run, attendance: Attendance) -> RunResult:
    """Do everything that is left of a run.

    Raises:
        ConfigError: another process does it, or it has ended.
        LeapprofError: see run_steps.
    """
    with RunLog(run.directory, attendance.clock) as log:
        ended = next((e for e in log.entries if e.kind == "ended"), None)
        if ended is not None:
            raise ConfigError(
                f"has ended: {ended.data.get('outcome')}", path=str(run.directory), key="--resume"
            )
        _check_named(run, attendance, {entry.step for entry in log.entries})
        context = RunContext(
            playbook=run.playbook,
            run_id=run.directory.name,
            hosts=hosts_of(run.playbook, run.playbook_file),
            log=log,
            clock=attendance.clock,
            stop=attendance.stop,
            say=attendance.say,
            observer=attendance.observer,
            assumed_done=attendance.assumed_done,
            run_again=attendance.run_again,
        )
        return run_steps(context)


def _check_named(run: Run, attendance: Attendance, logged: set[str]) -> None:
    known = logged | {step.id for step in plan_steps(run.playbook)}
    unknown = sorted((attendance.assumed_done | attendance.run_again) - known)
    if unknown:
        raise ConfigError(f"the run has no step {unknown[0]!r}; see --status", path=str(run.directory))


def states_of(run: Run) -> tuple[str, ...]:
    """Return what each host of a run is now, as its log says; never fails."""
    try:
        return host_states(run.playbook, read_entries(run.directory))
    except StoreError as error:
        return (f"the log of the run is not readable: {error}",)


def changes_hosts(playbook: Playbook) -> tuple[str, ...]:
    """Return the hosts that a playbook changes, or may change: nobody knows what a gate's command does."""
    steps = plan_steps(playbook)
    return tuple(dict.fromkeys(s.host for s in steps if s.host and (s.changes_host or s.commands)))
