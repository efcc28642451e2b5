"""The steps that change a host. Each writes its intent first; begun ones are finished, never made twice.

A step that was begun when leapprof died is looked at again: the hash of the file, the identity of the process
and the playbook's own ``verify`` say whether it was done. Where nothing says so, the run stops and asks.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from threading import Event as StopEvent
from typing import Any

from leapprof.config.playbook_schema import HostCommand, HostEntry
from leapprof.config.playbook_types import Where
from leapprof.control import config_file
from leapprof.control.commands import filled, run_checked, run_here, shown
from leapprof.control.service import ServiceCommands, read_dirty_flag, service_commands
from leapprof.errors import SourceError
from leapprof.experiment.check import edits_of, refuse_bad_edits
from leapprof.experiment.context import RunContext
from leapprof.experiment.failures import NeedsOperatorError
from leapprof.experiment.gates import Gate, up_gate, wait_for
from leapprof.experiment.observe import HostEye, Observation
from leapprof.experiment.producing import refuse_if_producing
from leapprof.experiment.steps import Step, StepKind, is_on_collector, names_of, safe_name

GRACE_POLLS, LEAST_GRACE_S = 3, 3.0
"""What was begun on the host when leapprof died may still be under way: it gets this long to show."""
STOP_MARGIN_S = 60.0
ROLL_BACK_MARK = "rollback"
_FILE_DATA = ("path", "suffix", "before", "after")
_KEPT = (*_FILE_DATA, "identity")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changer:
    """Makes the changes of one host.

    Attributes:
        facts: what the check found, from the log.
        prepares: commands for the time between stop and start.
    """

    context: RunContext
    entry: HostEntry
    eye: HostEye
    facts: Mapping[str, Any]
    prepares: tuple[HostCommand, ...] = ()

    def do(self, step: Step) -> None:
        """Do one step, or find that it was done.

        Raises:
            NeedsOperatorError: nobody but the operator can say whether it was done.
            ConfigError, SourceError: it cannot be done; the message says what is now.
            InterruptedRunError: the operator ends the run while it waits for him.
        """
        ways: dict[StepKind, Callable[[Step, Mapping[str, Any] | None], None]] = {
            StepKind.EDIT: self._edit if step.to == "b" else self._restore,
            StepKind.COMMAND: self._command,
            StepKind.PREPARE: self._command,
            StepKind.STOP: self._stop,
            StepKind.START: self._start,
            StepKind.MANUAL: self._manual,
        }
        if step.id in self.context.assumed_done:
            told = self.context.log.last("intent", step.id) or {}
            self._done(step, assumed=True, **{name: told[name] for name in _KEPT if name in told})
            return
        is_new = step.id in self.context.run_again
        begun = None if is_new else self.context.log.last("intent", step.id)
        ways[step.kind](step, begun)

    def _intent(self, step: Step, **data: object) -> None:
        self.context.log.append(
            "intent", step.id, host=self.entry.host, to=step.to, what=step.kind.value, **data
        )

    def _done(self, step: Step, **data: object) -> None:
        self.context.log.append(
            "done", step.id, host=self.entry.host, to=step.to, what=step.kind.value, **data
        )

    @property
    def _sudo(self) -> bool:
        restart = self.context.playbook.restart
        return restart is not None and restart.sudo

    @property
    def _names(self) -> dict[str, str]:
        return names_of(self.entry)

    def _is_roll_back(self, step: Step) -> bool:
        return step.id.startswith(ROLL_BACK_MARK)

    def _edit(self, step: Step, begun: Mapping[str, Any] | None) -> None:
        path = str(self.facts["config_path"])
        if begun is not None and self._is_committed(step, begun, path):
            self._done(step, **_file_data(begun))
            return
        config = config_file.read_config(self.eye.source, self.eye.link(), path, sudo=self._sudo)
        edits = edits_of(self.context.playbook, config)
        if not edits:
            self._done(step, path=path, suffix=None)
            return
        refuse_bad_edits(self.context.playbook, config, edits, self.eye.look())
        suffix = f"leapprof-{safe_name(self.context.run_id)}-{step.id}"[:120]
        new = config_file.stage(self.eye.source, config, edits, suffix, sudo=self._sudo)
        self._intent(step, path=path, suffix=suffix, before=config.sha256, after=new)
        config_file.commit(self.eye.source, path, suffix, (config.sha256, new), sudo=self._sudo)
        self._done(step, path=path, suffix=suffix, before=config.sha256, after=new)

    def _is_committed(self, step: Step, begun: Mapping[str, Any], path: str) -> bool:
        """Return whether the file is the new one already.

        Raises:
            NeedsOperatorError: it is neither the old nor the new one.
        """
        now = config_file.file_sha256(self.eye.source, path, sudo=self._sudo)
        if now not in (begun["before"], begun["after"]):
            raise NeedsOperatorError(
                f"{path} is neither what it was nor what leapprof wrote: somebody else changed it; look at it, then "
                f"--resume with --assume-done {step.id} or --run-again {step.id}",
                path=self.entry.host,
            )
        return bool(now == begun["after"])

    def _restore(self, step: Step, begun: Mapping[str, Any] | None) -> None:
        edit = last_edit(self.context, self.entry.host)
        if edit is None or edit.get("suffix") is None:
            self._done(step, path=None)
            return
        path, before, after = str(edit["path"]), str(edit["before"]), str(edit["after"])
        now = config_file.file_sha256(self.eye.source, path, sudo=self._sudo)
        if now == before:
            self._done(step, path=path, suffix=edit["suffix"])
            return
        del begun  # whether it was begun or not, the file says what is left to do
        self._intent(step, path=path, suffix=edit["suffix"], before=after, after=before)
        config_file.restore(self.eye.source, path, str(edit["suffix"]), (after, before), sudo=self._sudo)
        self._done(step, path=path, suffix=edit["suffix"])

    def _command(self, step: Step, begun: Mapping[str, Any] | None) -> None:
        command = self._command_of(step)
        if begun is not None and self._was_done(step, command):
            self._done(step, found=True)
            return
        self._intent(step, command=command.run)
        status = self._run(command.run, command)
        if status != 0:
            raise SourceError(self.entry.host, f"{step.id}: `{command.run}` ended with status {status}")
        if command.verify is not None and self._run(command.verify, command) != 0:
            raise SourceError(
                self.entry.host, f"{step.id}: ran, but `{command.verify}` says that it did not work"
            )
        self._done(step)

    def _command_of(self, step: Step) -> HostCommand:
        if step.kind is StepKind.PREPARE:
            return self.prepares[step.number]
        change = self.context.playbook.change
        assert change is not None and change.command is not None
        command = change.command.to_b if step.to == "b" else change.command.to_a
        assert command is not None
        return command

    def _was_done(self, step: Step, command: HostCommand) -> bool:
        """Return whether a command that was begun has done its work.

        Raises:
            NeedsOperatorError: the playbook has no verify for it.
        """
        if command.verify is None:
            raise NeedsOperatorError(
                f"`{command.run}` was begun and may or may not have done its work, and has no verify; look at "
                f"{self.entry.host}, then --resume with --assume-done {step.id} or --run-again {step.id}",
                path=self.entry.host,
            )
        return self._run(command.verify, command) == 0

    def _run(self, text: str, command: HostCommand) -> int:
        line = filled(text, self._names)
        if is_on_collector(command):
            return run_here(line, command.timeout)
        result = self.eye.source.run(line, command.timeout)
        if result.exit_status != 0 and command.on is Where.HOST and result.stderr:
            self.context.say(f"{self.entry.host}: {shown(result.stderr)}")
        return result.exit_status

    def _stop(self, step: Step, begun: Mapping[str, Any] | None) -> None:
        seen = self.eye.look()
        known = begun.get("identity") if begun else seen.identity
        if begun is not None and seen.identity not in (None, known):
            raise NeedsOperatorError(
                f"another nodeos runs than the one that was being stopped: something restarts it by itself; look, "
                f"then --resume with --assume-done {step.id} or --run-again {step.id}",
                path=self.entry.host,
            )
        if seen.identity is not None and not (begun is not None and self._shows(is_up=False)):
            self._stop_running(step, seen)
        if seen.identity is None and begun is None and not self._is_roll_back(step):
            raise SourceError(self.entry.host, "nodeos does not run any more; nothing was stopped")
        dirty = self._dirty(self._used_state_dir())
        if dirty and not self._is_roll_back(step):
            raise SourceError(self.entry.host, f"{_DIRTY}; it was not started again")
        self._done(step, identity=known, dirty=dirty)

    def _stop_running(self, step: Step, seen: Observation) -> None:
        refuse_if_producing(self.context.playbook, self.eye, seen)
        stop_s = float(self.facts.get("stop_s") or 0.0)
        self._intent(step, identity=seen.identity)
        run_checked(self.eye.source, self._service.stop, stop_s + STOP_MARGIN_S)
        gone = Gate(name="stopped", timeout_s=stop_s + STOP_MARGIN_S, check=_gone)
        wait_for(_uninterrupted(self.context), self.eye, gone)

    @property
    def _service(self) -> ServiceCommands:
        restart = self.context.playbook.restart
        assert restart is not None
        return service_commands(restart, self._names, float(self.facts.get("stop_s") or 0.0))

    def _dirty(self, state_dir: object) -> int | None:
        return read_dirty_flag(self.eye.source, str(state_dir), sudo=self._sudo) if state_dir else None

    def _used_state_dir(self) -> object:
        """Return the state directory of the nodeos that runs, or ran last."""
        started = [
            e.data for e in self.context.log.entries if e.kind == "done" and e.data.get("what") == "start"
        ]
        mine = [data for data in started if data.get("host") == self.entry.host and data.get("state_dir")]
        return mine[-1]["state_dir"] if mine else self.facts.get("state_dir")

    def _next_state_dir(self, step: Step) -> object:
        """Return the state directory with which nodeos will start: a change may move it."""
        change = self.context.playbook.change
        said = change.config.set.get("state-dir") if change and change.config and step.to == "b" else None
        if said is None:
            return self.facts.get("state_dir")
        return said if said.startswith("/") else f"{self.facts.get('data_dir')}/{said}"

    def _start(self, step: Step, begun: Mapping[str, Any] | None) -> None:
        restart = self.context.playbook.restart
        assert restart is not None
        if begun is None or not self._shows(is_up=True):
            if self.eye.look().identity is not None:
                raise NeedsOperatorError(
                    "a nodeos runs before it was started; who started it?", path=self.entry.host
                )
            if self._dirty(self._next_state_dir(step)):
                raise SourceError(self.entry.host, f"{_DIRTY}; it is not started")
            self._intent(step)
            run_checked(self.eye.source, self._service.start, restart.start_timeout)
        seen = wait_for(
            _uninterrupted(self.context),
            self.eye,
            up_gate(self.context, self.entry, step.to, restart.start_timeout),
        )
        state_dir = seen.nodeos.state_dir if seen.nodeos else None
        self._done(step, identity=seen.identity, state_dir=state_dir)

    def _shows(self, *, is_up: bool) -> bool:
        """Return whether nodeos runs, or has gone, within the grace."""
        context, waited_s = _uninterrupted(self.context), 0.0
        while (self.eye.look().identity is not None) is not is_up:
            if waited_s > max(LEAST_GRACE_S, GRACE_POLLS * context.poll_s):
                return False
            waited_s += context.poll_s
            context.pause(context.poll_s)
        return True

    def _manual(self, step: Step, begun: Mapping[str, Any] | None) -> None:
        change = self.context.playbook.change
        assert change is not None and change.manual is not None
        if begun is None:
            self._intent(step)
        self.context.say(f"{self.entry.host}: {step.title}")
        gate = up_gate(self.context, self.entry, step.to, change.manual.timeout)
        seen = wait_for(self.context, self.eye, gate)
        self._done(step, identity=seen.identity)


_DIRTY = "the state is dirty: nodeos was killed before it had written its state back; restore a snapshot, or replay"


def _gone(seen: Observation, now_s: float) -> str | None:
    del now_s
    return None if seen.nodeos is None and not seen.others else "nodeos to write its state back and end"


def _file_data(begun: Mapping[str, Any]) -> dict[str, object]:
    return {name: begun[name] for name in _FILE_DATA}


def _uninterrupted(context: RunContext) -> RunContext:
    """Return a context whose waits Ctrl-C does not end: what was begun is finished."""
    return replace(context, stop=StopEvent())


def last_edit(context: RunContext, host: str) -> Mapping[str, Any] | None:
    """Return the last edit towards b of a host; one that was begun counts."""
    found = [
        e.data for e in context.log.entries
        if e.kind in ("intent", "done") and e.data.get("host") == host and e.data.get("what") == "edit"
        and e.data.get("to") == "b"
    ]  # fmt: skip
    return found[-1] if found else None
