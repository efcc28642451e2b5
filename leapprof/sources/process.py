"""A child process as a Channel: what ``local`` and ``openssh`` are made of."""

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Callable, Sequence

from leapprof.errors import SourceError, SourceTimeoutError
from leapprof.sources.base import (
    READ_BYTES,
    RUN_OUTPUT_BYTES,
    STDERR_TAIL_BYTES,
    WRITE_TIMEOUT_S,
    ChannelClosedError,
    CommandResult,
)

END_WAIT_S = 2.0
Explain = Callable[[str, int | None, str], SourceError]


def ended_with_status(host: str, status: int | None, stderr: str) -> SourceError:
    """Return the error that says how a child ended; status None: it closed its output and lives on."""
    what = "its output was closed" if status is None else f"the program ended with status {status}"
    return ChannelClosedError(host, f"{what}: {stderr}" if stderr else what)


class ProcessChannel:
    """A child process in a group of its own; its pipes never block us."""

    def __init__(
        self,
        host: str,
        argv: Sequence[str],
        *,
        env: dict[str, str] | None = None,
        explain: Explain = ended_with_status,
    ) -> None:
        """Start the child.

        Args:
            host: name of the host in messages.
            argv: program and arguments.
            env: environment; None: ours.
            explain: makes the error that says how the child ended.

        Raises:
            SourceError: the program cannot be started.
        """
        self.host = host
        self._explain = explain
        self._stderr = bytearray()
        self._closed = False
        try:
            self._process = subprocess.Popen(  # noqa: S603 (argv is ours or the operator's)
                list(argv),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env=env,
            )
        except OSError as error:
            raise SourceError(host, f"cannot start {argv[0]}: {error.strerror}") from error
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._in = self._process.stdin.fileno()
        self._out = self._process.stdout.fileno()
        self._err = self._process.stderr.fileno()
        self._readable = {self._out, self._err}
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)

    @property
    def stderr_tail(self) -> str:
        """The last bytes of the child's standard error."""
        return self._stderr.decode("utf-8", "backslashreplace")

    @property
    def exit_status(self) -> int | None:
        """The child's exit status, None while it runs; minus the signal's number when a signal ended it."""
        return self._process.poll()

    @property
    def ended(self) -> bool:
        """Whether both outputs of the child are closed."""
        return self._closed or not self._readable

    def _take(self, descriptor: int) -> bytes | None:
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            data = b""
        if not data:
            self._readable.discard(descriptor)
        return data

    def _take_stderr(self) -> None:
        self._stderr += self._take(self._err) or b""
        del self._stderr[:-STDERR_TAIL_BYTES]

    def read(self, timeout_s: float) -> bytes:
        """Return what has arrived, see Channel.read."""
        if self._closed:
            raise ChannelClosedError(self.host, "the channel is closed")
        deadline_s = time.monotonic() + timeout_s
        while self._out in self._readable:
            left_s = max(0.0, deadline_s - time.monotonic())
            ready, _, _ = select.select(list(self._readable), [], [], left_s)
            if self._err in ready:
                self._take_stderr()
            if self._out in ready:
                data = self._take(self._out)
                if data:
                    return data
            if not ready or time.monotonic() >= deadline_s:
                return b""
        raise self._ending()

    def _ending(self) -> SourceError:
        """Return the error that says how the child ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_WAIT_S)
        while self._err in self._readable and select.select([self._err], [], [], 0)[0]:
            self._take_stderr()
        return self._explain(self.host, self._process.poll(), self.stderr_tail.strip())

    def write(self, data: bytes) -> None:
        """Send all of data, see Channel.write."""
        if self._closed:
            raise ChannelClosedError(self.host, "the channel is closed")
        view = memoryview(data)
        deadline_s = time.monotonic() + WRITE_TIMEOUT_S
        while view:
            left_s = deadline_s - time.monotonic()
            if left_s <= 0 or not select.select([], [self._in], [], left_s)[1]:
                raise SourceTimeoutError(self.host, "reading of our input by the program", WRITE_TIMEOUT_S)
            try:
                view = view[os.write(self._in, view) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise self._ending() from error

    def close_stdin(self) -> None:
        """Tell the child that nothing more will come."""
        assert self._process.stdin
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def close(self) -> None:
        """End the child and everything in its process group."""
        if self._closed:
            return
        self._signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_WAIT_S)
        self._signal(signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(END_WAIT_S)
        self.release()

    def release(self) -> None:
        """Let go of a child that has ended: a service that it left behind in its process group lives on."""
        self._closed = True
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)


def run_process(channel: ProcessChannel, timeout_s: float) -> CommandResult:
    """Read a child to its end and return what it left; ends it when it takes longer than timeout_s.

    Raises:
        SourceTimeoutError: it did not end in time.
    """
    deadline_s = time.monotonic() + timeout_s
    stdout = bytearray()
    truncated = False
    try:
        channel.close_stdin()
        while (left_s := deadline_s - time.monotonic()) > 0:
            try:
                stdout += channel.read(left_s)
            except ChannelClosedError:
                break
            truncated = truncated or len(stdout) > RUN_OUTPUT_BYTES
            del stdout[RUN_OUTPUT_BYTES:]
        status = channel.exit_status
        if status is None:
            raise SourceTimeoutError(channel.host, "end of the command", timeout_s)
        channel.release()
        return CommandResult(
            exit_status=status,
            stdout=bytes(stdout),
            stderr=channel.stderr_tail.encode(),
            truncated=truncated,
        )
    finally:
        channel.close()
