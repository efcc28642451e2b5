"""Does the steps of a run, one after another, and writes each to the log: what was done is never done again."""

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import groupby
from typing import Any

from leapprof.config.playbook_schema import HostCommand, HostEntry, Playbook
from leapprof.config.playbook_types import Action
from leapprof.control.commands import run_here
from leapprof.errors import InterruptedRunError, LeapprofError, SourceError
from leapprof.experiment.change import ROLL_BACK_MARK, Changer
from leapprof.experiment.check import check_host
from leapprof.experiment.context import RunContext
from leapprof.experiment.failures import GateError, GuardError
from leapprof.experiment.gates import pass_gates
from leapprof.experiment.guards import Breach
from leapprof.experiment.phases import record_period
from leapprof.experiment.reports import RunResult, write_reports
from leapprof.experiment.rollback import needs_snapshot, prove_roll_back
from leapprof.experiment.steps import Step, StepKind, plan_steps, situations_of, way_back

MAX_PAUSES = 3
MAX_GATES_AT_ONCE = 32
PAGE_TIMEOUT_S = 60.0


def run_steps(context: RunContext) -> RunResult:
    """Do everything that is left of a run, and return what its reports say.

    Raises:
        InterruptedRunError: the operator ended it; --resume goes on.
        GuardError, GateError: a guard was breached, or a gate did not open; the message says what was done.
        LeapprofError: a step failed; its failure is in the log.
    """
    runner = _Runner(context)
    runner.finish_roll_back()
    for _, group in groupby(plan_steps(context.playbook), key=lambda step: step.stage):
        left = [step for step in group if not context.log.is_done(step.id)]
        if left:
            context.go_on()
            runner.do_stage(left)
    return runner.result()


class _Runner:
    """Holds what the steps of one process hand to each other; what must outlive it is in the log."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._playbook = context.playbook
        self._entries = {entry.host: entry for entry in context.playbook.hosts}
        self._result: RunResult | None = None

    def finish_roll_back(self) -> None:
        """Finish the roll-back that was under way when the run was killed.

        Raises:
            GuardError: it is finished, and the run is over.
            SourceError: it cannot be finished.
        """
        begun = next((e for e in self._context.log.entries if e.kind == "roll-back"), None)
        if begun is not None:
            step = next(step for step in plan_steps(self._playbook) if step.id == begun.step)
            host = str(begun.data["host"])
            raise GuardError(host, f"a roll-back was under way: {self._roll_back(self._entries[host], step)}")

    def do_stage(self, steps: Sequence[Step]) -> None:
        """Do the steps of one stage: those of a host in order, hosts at once as far as the playbook allows."""
        kinds = {step.kind for step in steps}
        if StepKind.GATES in kinds:
            self._on_all(steps, self._pass_gates, min(len(steps), MAX_GATES_AT_ONCE))
        elif steps[0].host is not None:
            chains = [list(chain) for _, chain in groupby(steps, key=lambda step: step.host)]
            self._on_all(chains, self._change_host, self._playbook.max_parallel)
        else:
            ways = {
                StepKind.CHECK: self._check,
                StepKind.RECORD: self._record,
                StepKind.REPORT: self._report,
            }
            self._guarded(steps[0], ways[steps[0].kind])

    def _on_all(self, items: Sequence[Any], work: Callable[[Any], None], at_once: int) -> None:
        """Do the work for each item; after a failure no other is begun, and it is raised when all have ended."""
        failed = threading.Event()

        def attempt(item: Any) -> None:  # noqa: ANN401 - whatever the caller's work takes
            if failed.is_set():
                return
            try:
                work(item)
            except BaseException:
                failed.set()
                raise

        with ThreadPoolExecutor(max_workers=at_once) as pool:
            running = [pool.submit(attempt, item) for item in items]
            errors = [error for task in running if (error := task.exception()) is not None]
        for error in sorted(errors, key=lambda e: isinstance(e, InterruptedRunError)):
            raise error

    def _guarded(self, step: Step, work: Callable[[Step], None]) -> None:
        """Do a step; a failure is written to the log."""
        self._context.say(f"{step.id}: {step.title}")
        try:
            work(step)
        except InterruptedRunError:
            raise
        except LeapprofError as error:
            self._context.log.append("failed", step.id, host=step.host, problem=str(error))
            raise

    def _check(self, step: Step) -> None:
        facts = {}
        for entry in self._playbook.hosts:
            self._context.go_on()
            facts[entry.host] = check_host(self._context, entry).as_data()
        self._context.log.append("done", step.id, facts=facts)

    def _facts(self, host: str) -> Mapping[str, Any]:
        step = plan_steps(self._playbook)[0]
        done = self._context.log.last("done", step.id) or {}
        return dict(done.get("facts", {}).get(host, {}))

    def _change_host(self, steps: Sequence[Step]) -> None:
        """Do the changes of one host in order; the operator may end the run between two of them."""
        entry = self._entries[str(steps[0].host)]
        prepares = self._prepares(steps[0].to)
        with self._context.eye(entry) as eye:
            changer = Changer(
                context=self._context, entry=entry, eye=eye, facts=self._facts(entry.host), prepares=prepares
            )
            for step in steps:
                self._context.go_on()
                if step.kind is StepKind.WAIT:
                    self._guarded(step, self._wait)
                else:
                    self._guarded(step, changer.do)

    def _prepares(self, to: str) -> tuple[HostCommand, ...]:
        restart = self._playbook.restart
        if restart is None:
            return ()
        return restart.prepare if to == "b" else restart.prepare_back

    def _wait(self, step: Step) -> None:
        self._context.pause(step.seconds or 0.0)
        self._context.log.append("done", step.id)

    def _pass_gates(self, step: Step) -> None:
        self._guarded(step, self._wait_for_gates)

    def _wait_for_gates(self, step: Step) -> None:
        entry = self._entries[str(step.host)]
        self._open_gates(entry, step)
        self._context.log.append("done", step.id)

    def _open_gates(self, entry: HostEntry, step: Step) -> None:
        try:
            pass_gates(self._context, entry, step, self._starts(entry, step))
        except GateError as error:
            back = self._playbook.roll_back
            if back is None or not back.on_failed_gate or step.to != "b":
                raise
            said = self._roll_back(entry, step)
            raise GateError(error.host, f"{error.problem}; {said}") from error

    def _starts(self, entry: HostEntry, step: Step) -> int:
        """Return how often nodeos was started by the change before this gate; a manual change starts it once."""
        if step.period == 0 or self._playbook.change is None:
            return 0
        now, last = (situations_of(self._playbook, entry)[p] for p in (step.period, step.period - 1))
        if now == last:
            return 0
        return self._playbook.restart.times if self._playbook.restart else 1

    def _record(self, step: Step) -> None:
        for _ in range(MAX_PAUSES):
            recorded = record_period(self._context, step)
            if recorded.breach is None:
                self._context.log.append("done", step.id, recordings=recorded.recordings)
                return
            self._answer(step, recorded.breach)
        problem = f"guards were breached {MAX_PAUSES} times; the phase was given up, nothing was changed"
        raise GuardError(recorded.breach.host if recorded.breach else "", problem)

    def _answer(self, step: Step, breach: Breach) -> None:
        """Do what a guard says.

        Raises:
            GuardError: the run ends here.
        """
        what = f"guard {breach.guard}: {breach.reason}"
        self._context.log.append(
            "note", step.id, host=breach.host, breach=breach.guard, problem=breach.reason
        )
        self._context.say(f"{breach.host}: {what}")
        self._page(f"{breach.host}: {what}")
        if breach.action is Action.PAUSE:
            self._context.say(f"{breach.host}: the phase begins anew when all gates are open again")
            for entry in self._playbook.hosts:
                situation = situations_of(self._playbook, entry)[step.period]
                pass_gates(self._context, entry, replace(step, to=situation), 0)
            return
        said = "stopped, nothing was changed by this"
        if breach.action is Action.ROLL_BACK:
            entry = self._entries[breach.host]
            to = situations_of(self._playbook, entry)[step.period]
            said = (
                self._roll_back(entry, step)
                if to == "b"
                else "nothing to roll back: the host was not changed"
            )
        raise GuardError(breach.host, f"{what}; {said}")

    def _roll_back(self, entry: HostEntry, step: Step) -> str:
        """Take one host back to situation a and return what was done; a roll-back that fails says what is now.

        Raises:
            SourceError: it failed half-way.
        """
        proof = prove_roll_back(self._playbook)
        if not proof.holds:
            return f"not rolled back: {proof.reason}"
        steps = way_back(_with_snapshot(self._playbook), entry, f"{ROLL_BACK_MARK}-{step.id}")
        prepares = self._prepares("a")
        if needs_snapshot(self._playbook) and self._playbook.roll_back is not None:
            prepares = self._playbook.roll_back.prepare
        if self._context.log.last("roll-back", step.id) is None:
            self._context.log.append("roll-back", step.id, host=entry.host)
        self._context.say(f"{entry.host}: rolling back: {proof.reason}")
        with self._context.eye(entry) as eye:
            changer = Changer(
                context=self._context, entry=entry, eye=eye, facts=self._facts(entry.host), prepares=prepares
            )
            for back in steps:
                if self._context.log.is_done(back.id):
                    continue
                try:
                    changer.do(back)
                except LeapprofError as error:
                    self._context.log.append("failed", back.id, host=entry.host, problem=str(error))
                    raise SourceError(entry.host, f"the roll-back stopped at {back.id}: {error}") from error
        self._context.log.append("ended", step.id, outcome=f"rolled back {entry.host}")
        return "rolled back to situation a"

    def _page(self, reason: str) -> None:
        page = self._playbook.guards.page
        if page is None:
            return
        environment = {"LEAPPROF_RUN": str(self._context.log.directory), "LEAPPROF_REASON": reason}
        try:
            status = run_here(page, PAGE_TIMEOUT_S, environment)
        except SourceError as error:
            self._context.say(f"page: {error}")
            return
        if status != 0:
            self._context.say(f"page: ended with status {status}")

    def _recordings(self) -> list[Mapping[str, str]]:
        found: list[Mapping[str, str]] = []
        for step in plan_steps(self._playbook):
            if step.kind is StepKind.RECORD:
                done = self._context.log.last("done", step.id)
                assert done is not None
                found.append(dict(done["recordings"]))
        return found

    def _report(self, step: Step) -> None:
        log = self._context.log
        self._result = write_reports(log.directory, self._playbook, self._recordings(), self._context.run_id)
        outcome, code = self._result.outcome, self._result.exit_code
        summary = str(self._result.summary.relative_to(log.directory))
        told = "reported" if outcome is None else outcome.value
        log.append("ended", step.id, outcome=told, exit_code=code, summary=summary)

    def result(self) -> RunResult:
        """Return what the reports say."""
        assert self._result is not None
        return self._result


def _with_snapshot(playbook: Playbook) -> Playbook:
    """Return the playbook whose way back puts the snapshot in place, where the state alone does not do."""
    if playbook.restart is None or playbook.roll_back is None or not needs_snapshot(playbook):
        return playbook
    return replace(playbook, restart=replace(playbook.restart, prepare_back=playbook.roll_back.prepare))
