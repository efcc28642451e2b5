"""This machine as a source: the same agent as elsewhere, run as a child process."""

from typing import Self

from leapprof.sources.base import CommandResult
from leapprof.sources.process import ProcessChannel, run_process


class LocalSource:
    """This machine."""

    transport = "local"

    def __init__(self, name: str = "local") -> None:
        """Remember the name; nothing is started yet."""
        self.name = name
        self._channels: list[ProcessChannel] = []

    def open(self, command: str) -> ProcessChannel:
        """Start ``sh -c command``."""
        channel = ProcessChannel(self.name, ("/bin/sh", "-c", command))
        self._channels.append(channel)
        return channel

    def run(self, command: str, timeout_s: float) -> CommandResult:
        """Run ``sh -c command`` to its end."""
        return run_process(ProcessChannel(self.name, ("/bin/sh", "-c", command)), timeout_s)

    def close(self) -> None:
        """End all children."""
        for channel in self._channels:
            channel.close()
        self._channels.clear()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close."""
        self.close()
