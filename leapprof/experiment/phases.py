"""Records one period on all hosts at once, guarded, with the probes of delay beside it."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event as StopEvent

from leapprof.agent.spool import MAX_NAME_CHARS, clean_plan, read_answer, spool_path
from leapprof.config.playbook_schema import HostEntry
from leapprof.errors import InterruptedRunError, LeapprofError, SourceError
from leapprof.experiment.context import RunContext
from leapprof.experiment.guards import Breach, GuardingObserver
from leapprof.experiment.observe import selectors_of
from leapprof.experiment.probing import Probing
from leapprof.experiment.runlog import RECORDINGS
from leapprof.experiment.steps import Step, phase_name, situations_of
from leapprof.recorder.hosts import SessionResult, record_hosts
from leapprof.recorder.planning import RecordOptions
from leapprof.recorder.session import HostSession
from leapprof.recorder.spooling import SpoolChoice
from leapprof.sources import open_source
from leapprof.units import NS_PER_S

STOP_POLL_S = 0.2
HEAT_EVERY_S = 30.0
LEAST_FOLLOWED_S = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What became of one attempt to record a period.

    Attributes:
        recordings: playbook's name of a host or probe → directory, relative to the run's.
        breach: the guard that ended it; None when it went well.
    """

    recordings: dict[str, str]
    breach: Breach | None = None


def record_period(context: RunContext, step: Step) -> Recorded:
    """Record all hosts for warm-up and duration.

    Raises:
        SourceError: a host or a probe failed.
        StoreError: the disk refuses.
        InterruptedRunError: the operator ends the run.
    """
    playbook, stop = context.playbook, StopEvent()
    names = {context.hosts[entry.host].name: entry.host for entry in playbook.hosts}
    observer = GuardingObserver(playbook.guards, names, context.clock, stop, context.observer)
    attach = playbook.phase.spool is not None and context.log.last("begun", step.id) is not None
    context.log.append("begun", step.id, attach=attach)
    sessions = [_session(context, entry, step, observer, stop, attach=attach) for entry in playbook.hosts]
    probing = _probing(context, step, stop)
    began_wall_ns = context.clock.wall_ns()
    with (
        _relayed(context.stop, stop),
        _heat_watched(context, observer, stop),
        probing.running(playbook.probes),
    ):
        results = record_hosts(sessions, stop)
    breach = observer.breaches[0] if observer.breaches else None
    recordings = _recordings(context, results, names)
    if breach is None:
        _raise_failure(context, results)
        probing.ask(playbook.probes, began_wall_ns, context.clock.wall_ns())
        recordings |= {n: _relative(context, path) for n, path in probing.recordings().items()}
        remove_spools(context, step)
    return Recorded(recordings=recordings, breach=breach)


def _probing(context: RunContext, step: Step, stop: StopEvent) -> Probing:
    return Probing(
        phase=context.playbook.phase,
        phase_name=phase_name(context.playbook, step.period, ""),
        out=_out(context, step) / f"{step.id}-probes",
        stop=stop,
    )


def _session(
    context: RunContext,
    entry: HostEntry,
    step: Step,
    observer: GuardingObserver,
    stop: StopEvent,
    *,
    attach: bool,
) -> HostSession:
    playbook, host = context.playbook, context.hosts[entry.host]
    phase = playbook.phase
    duration_s = phase.warm_up + phase.duration
    if attach:
        duration_s = max(LEAST_FOLLOWED_S, duration_s - _elapsed_s(context, step))
    situation = situations_of(playbook, entry)[step.period]
    return HostSession(
        host=host,
        source=open_source(host),
        out=_out(context, step),
        options=RecordOptions(
            phase=phase_name(playbook, step.period, situation),
            interval_s=phase.interval,
            duration_s=duration_s,
            selectors=selectors_of(entry.nodeos, host),
        ),
        clock=context.clock,
        stop=stop,
        observer=observer,
        spool=SpoolChoice(parent=phase.spool, attach=attach, name=_spool_name(context, step))
        if phase.spool
        else None,
        commands=(f"leapprof run (step {step.id} of run {context.run_id})",),
    )


def _spool_name(context: RunContext, step: Step) -> str:
    """Return the name of a period's spool: spools of earlier periods and runs may still lie there."""
    return f"{context.run_id}-{step.id}"[-MAX_NAME_CHARS:].lstrip("-.")


def remove_spools(context: RunContext, step: Step) -> None:
    """Remove the spools of a period that is recorded; one that stays is said."""
    parent = context.playbook.phase.spool
    for entry in context.playbook.hosts if parent else ():
        path = spool_path(_spool_name(context, step), parent or "")
        try:
            with context.eye(entry) as eye:
                status = read_answer(eye.link().ask_encoded(clean_plan(path)))
            problem = next((s.problem for s in status if not s.removed), None)
        except LeapprofError as error:
            problem = str(error)
        if problem:
            context.say(f"{entry.host}: the spool {path} stays: {problem}; see `leapprof agents`")


def _out(context: RunContext, step: Step) -> Path:
    """Return where this attempt's recordings go: two attempts may begin in the same second."""
    attempt = sum(entry.kind == "begun" and entry.step == step.id for entry in context.log.entries)
    out = context.log.directory / RECORDINGS
    return out if attempt == 1 else out / f"{step.id}-again-{attempt}"


def _elapsed_s(context: RunContext, step: Step) -> float:
    begun = next(e for e in context.log.entries if e.kind == "begun" and e.step == step.id)
    return (context.clock.wall_ns() - begun.wall_ns) / NS_PER_S


def _recordings(
    context: RunContext, results: Sequence[SessionResult], names: dict[str, str]
) -> dict[str, str]:
    return {
        names[result.host]: _relative(context, result.directory)
        for result in results
        if result.directory is not None
    }


def _relative(context: RunContext, recording: Path) -> str:
    return str(recording.relative_to(context.log.directory))


def _raise_failure(context: RunContext, results: Sequence[SessionResult]) -> None:
    for result in results:
        if result.error is not None:
            raise result.error
    if context.stop.is_set():
        raise InterruptedRunError(str(context.log.directory))
    short = [result.host for result in results if result.directory is None]
    if short:
        raise SourceError(short[0], "nothing was recorded")


@contextmanager
def _relayed(outer: StopEvent, inner: StopEvent) -> Iterator[None]:
    """Set the inner stop when the outer one is set; the inner one may be set for other reasons."""
    over = threading.Event()

    def relay() -> None:
        while not over.wait(STOP_POLL_S):
            if outer.is_set():
                inner.set()

    thread = threading.Thread(target=relay, name="stop-relay", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def _heat_watched(context: RunContext, observer: GuardingObserver, stop: StopEvent) -> Iterator[None]:
    """Ask for temperatures while the context lasts, where the playbook guards them."""
    if context.playbook.guards.temperature is None:
        yield
        return
    over = threading.Event()
    threads = [
        threading.Thread(target=_watch_heat, args=(context, entry, observer, over), daemon=True)
        for entry in context.playbook.hosts
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _watch_heat(
    context: RunContext, entry: HostEntry, observer: GuardingObserver, over: threading.Event
) -> None:
    with context.eye(entry) as eye:
        while not over.wait(min(HEAT_EVERY_S, context.poll_s * 6)):
            celsius = eye.temperature_celsius()
            if celsius is not None:
                observer.heat(eye.host.name, celsius, context.clock.wall_ns())
