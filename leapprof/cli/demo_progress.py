"""What `leapprof demo` shows while it works: bars on a terminal, a line now and then elsewhere; on stderr."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

from leapprof.units import format_duration

PLAIN_EVERY = 15
_TITLES = {
    "load": "filling the state",
    "mapped": "recording mapped",
    "mapped_private": "recording mapped_private",
    "report": "comparing",
}


class Progress(Protocol):
    """The steps of the demo."""

    def begin(self, step: str) -> None:
        """Say that a step begins."""

    def advancing(self, step: str) -> Callable[[], None]:
        """Return what to call at each sample of a step, one a second."""

    def done(self, step: str) -> None:
        """Say that a step is over."""


class PlainProgress:
    """Lines, for logs and pipes."""

    def __init__(self, seconds: Mapping[str, float]) -> None:
        """Remember how long each step takes."""
        self._seconds = seconds

    def begin(self, step: str) -> None:
        """Write a line."""
        seconds = self._seconds[step]
        _write(_title(step) + (f", {format_duration(seconds)}" if seconds > 1 else ""))

    def advancing(self, step: str) -> Callable[[], None]:
        """Return a counter that writes a line now and then."""
        samples = 0

        def advance() -> None:
            nonlocal samples
            samples += 1
            if samples % PLAIN_EVERY == 0:
                _write(f"{_title(step)}: {samples} of about {self._seconds[step]:.0f} samples")

        return advance

    def done(self, step: str) -> None:
        """Say nothing: the next step does."""


@contextmanager
def progress(seconds: Mapping[str, float]) -> Iterator[Progress]:
    """Show steps on stderr while the context lasts.

    Args:
        seconds: step → how many samples it takes, one a second.
    """
    if not sys.stderr.isatty():
        yield PlainProgress(seconds)
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with RichProgress(*columns, console=Console(file=sys.stderr)) as bars:
        tasks = {step: bars.add_task(_title(step), total=s, start=False) for step, s in seconds.items()}
        yield _Bars(
            begin_task=lambda step: bars.start_task(tasks[step]),
            advance_task=lambda step: bars.advance(tasks[step]),
            end_task=lambda step: bars.update(tasks[step], completed=seconds[step]),
        )


class _Bars:
    """Bars on a terminal."""

    def __init__(
        self,
        *,
        begin_task: Callable[[str], None],
        advance_task: Callable[[str], None],
        end_task: Callable[[str], None],
    ) -> None:
        self.begin, self._advance, self.done = begin_task, advance_task, end_task

    def advancing(self, step: str) -> Callable[[], None]:
        return lambda: self._advance(step)


def _title(step: str) -> str:
    return _TITLES.get(step, step)


def _write(text: str) -> None:
    sys.stderr.write(f"demo: {text}\n")
    sys.stderr.flush()
