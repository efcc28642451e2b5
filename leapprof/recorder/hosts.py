"""Many hosts at once: a thread each; one that fails ends nobody else's recording."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import BoundedSemaphore, Thread
from threading import Event as StopEvent

from leapprof.errors import LeapprofError
from leapprof.recorder.session import HostSession

JOIN_POLL_S = 0.2
CONNECTS_AT_ONCE = 8
"""Below the 10 connections without login at which sshd begins to refuse (MaxStartups 10:30:100, sshd_config(5)):
many hosts may be reached through one jump host."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionResult:
    """How the session of one host ended.

    Attributes:
        host: its name.
        directory: of its recording; None when none was begun.
        error: what ended it; None when it ended as asked.
    """

    host: str
    directory: Path | None
    error: LeapprofError | None


def record_hosts(sessions: Sequence[HostSession], stop: StopEvent) -> tuple[SessionResult, ...]:
    """Run all sessions to their end and return how each ended, in their order.

    Args:
        sessions: one a host, all with the same stop.
        stop: set by a signal handler; waited for in short steps so that signals are handled.
    """
    results: dict[int, SessionResult] = {}
    connecting = BoundedSemaphore(CONNECTS_AT_ONCE)
    for session in sessions:
        session.connecting = connecting
    threads = [
        Thread(target=_run, args=(index, session, results), name=f"record-{session.host.name}", daemon=True)
        for index, session in enumerate(sessions)
    ]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(JOIN_POLL_S)
    except BaseException:
        stop.set()
        for thread in threads:
            if thread.ident is not None:
                thread.join(JOIN_POLL_S * 50)
        raise
    return tuple(results[index] for index in sorted(results))


def _run(index: int, session: HostSession, results: dict[int, SessionResult]) -> None:
    error: LeapprofError | None = None
    try:
        session.run()
    except LeapprofError as known:
        error = known
    except Exception as unknown:  # noqa: BLE001 - a bug in one host's session must not end the others
        error = LeapprofError(f"{session.host.name}: {type(unknown).__name__}: {unknown}")
        error.__cause__ = unknown
    results[index] = SessionResult(host=session.host.name, directory=session.directory, error=error)
    session.observer.ended(session.host.name, None if error is None else str(error))
