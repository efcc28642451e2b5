"""What every part of a run needs: playbook, log, clock, hosts, and how the operator is told."""

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event as StopEvent

from leapprof.config.playbook_schema import HostEntry, Playbook, Situation
from leapprof.config.playbook_types import Role
from leapprof.errors import InterruptedRunError
from leapprof.experiment.observe import HostEye, selectors_of
from leapprof.experiment.runlog import RunLog
from leapprof.model.access import HostConfig
from leapprof.recorder.clock import Clock
from leapprof.recorder.observer import Observer

MIN_POLL_S, MAX_POLL_S = 0.1, 5.0
POLLS_A_PHASE = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """One run.

    Attributes:
        hosts: by the name in the playbook.
        stop: set by Ctrl-C or SIGTERM: what was begun is finished, nothing new is begun.
        say: tells the operator one line.
        assumed_done, run_again: steps about which the operator decided.
    """

    playbook: Playbook
    run_id: str
    hosts: dict[str, HostConfig]
    log: RunLog
    clock: Clock
    stop: StopEvent
    say: Callable[[str], None]
    observer: Observer
    assumed_done: frozenset[str] = frozenset()
    run_again: frozenset[str] = frozenset()

    @property
    def poll_s(self) -> float:
        """Return how often a host is looked at while something is waited for."""
        return min(MAX_POLL_S, max(MIN_POLL_S, self.playbook.phase.duration / POLLS_A_PHASE))

    def eye(self, entry: HostEntry) -> HostEye:
        """Return what looks at a host."""
        host = self.hosts[entry.host]
        return HostEye(host, selectors_of(entry.nodeos, host), self.clock)

    def situation(self, entry: HostEntry, name: str) -> Situation:
        """Return what situation a or b means for a host; a control is only expected to run."""
        if entry.role is Role.CONTROL:
            return Situation()
        return self.playbook.a if name == "a" else self.playbook.b

    def pause(self, seconds: float) -> None:
        """Wait.

        Raises:
            InterruptedRunError: the operator ends the run.
        """
        if self.stop.wait(seconds):
            raise InterruptedRunError(str(self.log.directory))

    def go_on(self) -> None:
        """Return unless the operator ends the run.

        Raises:
            InterruptedRunError: he does.
        """
        self.pause(0.0)
