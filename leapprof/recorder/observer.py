"""What a recorder tells whoever watches; it never knows who does."""

from pathlib import Path
from typing import Protocol

from leapprof.model import Frame, Gap, Recording


class Observer(Protocol):
    """Watches sessions; called from the thread of each host."""

    def started(self, host: str, directory: Path, manifest: Recording) -> None:
        """A host was surveyed and its recording begins."""

    def sampled(self, host: str, frame: Frame) -> None:
        """A frame was kept."""

    def gap(self, host: str, gap: Gap) -> None:
        """Samples are missing."""

    def trouble(self, host: str, problem: str) -> None:
        """Something went wrong and the session goes on, or tries again."""

    def ended(self, host: str, problem: str | None) -> None:
        """The session of a host is over; the problem says why when it failed."""


class NullObserver:
    """Nobody watches."""

    def started(self, host: str, directory: Path, manifest: Recording) -> None:
        """Do nothing."""

    def sampled(self, host: str, frame: Frame) -> None:
        """Do nothing."""

    def gap(self, host: str, gap: Gap) -> None:
        """Do nothing."""

    def trouble(self, host: str, problem: str) -> None:
        """Do nothing."""

    def ended(self, host: str, problem: str | None) -> None:
        """Do nothing."""
