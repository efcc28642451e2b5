"""A host over SSH with paramiko: one connection, one long-lived channel, and short commands beside it.

Settings are those that ``ssh -G`` resolves, host keys are checked strictly, keys alone log in, no agent
is forwarded and no port opened. What paramiko cannot do (certificates, FIDO keys, GSSAPI) goes
through ``--transport openssh``.
"""

import contextlib
import socket
import time
from typing import Self

import paramiko  # noqa: TID253 (imported lazily by sources/__init__.py)

from leapprof.errors import ConnectError, HostKeyError, SourceError, SourceTimeoutError
from leapprof.model.access import HostConfig
from leapprof.model.finding import Finding
from leapprof.sources.base import (
    READ_BYTES,
    RUN_OUTPUT_BYTES,
    STDERR_TAIL_BYTES,
    WRITE_TIMEOUT_S,
    ChannelClosedError,
    CommandResult,
    Timeouts,
)
from leapprof.sources.jump import resolve_chain
from leapprof.sources.liveness import Liveness, watchdog
from leapprof.sources.proxy import ProxyProcess, start_proxy
from leapprof.sources.ssh_errors import translated
from leapprof.sources.ssh_hop import close_hop, connect_tcp, open_hop, open_tunnel, place
from leapprof.sources.ssh_settings import SshSettings

_POLL_S = 0.1
_CLOSE_WAIT_S = 2.0


class SshChannel:
    """One program on the host."""

    def __init__(self, host: str, channel: paramiko.Channel, liveness: Liveness) -> None:
        """Wrap a channel whose program has been started."""
        self.host = host
        self._channel = channel
        self._liveness = liveness
        self._stderr = bytearray()

    @property
    def stderr_tail(self) -> str:
        """The last bytes of the program's standard error."""
        self._drain_stderr()
        return self._stderr.decode("utf-8", "backslashreplace")

    def _drain_stderr(self) -> None:
        while self._channel.recv_stderr_ready():
            self._stderr += self._channel.recv_stderr(READ_BYTES)
            del self._stderr[:-STDERR_TAIL_BYTES]

    def read(self, timeout_s: float) -> bytes:
        """Return what has arrived, see Channel.read."""
        self._drain_stderr()
        self._channel.settimeout(max(0.0, timeout_s))
        with translated(self.host, "reading", timeout_s):
            try:
                data = self._channel.recv(READ_BYTES)
            except TimeoutError:
                self._liveness.check()
                return b""
        if not data:
            raise ChannelClosedError(self.host, self._ending())
        return data

    def _ending(self) -> str:
        transport = self._channel.get_transport()
        if not transport.is_active():
            error = transport.get_exception()
            return f"the connection was lost ({str(error or '') or 'closed by the host'})"
        self._channel.status_event.wait(_CLOSE_WAIT_S)
        status = self._channel.exit_status
        tail = self.stderr_tail.strip()
        what = f"the program ended with status {status}" if status >= 0 else "the program ended"
        return f"{what}: {tail}" if tail else what

    def write(self, data: bytes) -> None:
        """Send all of data, see Channel.write."""
        deadline_s = time.monotonic() + WRITE_TIMEOUT_S
        with watchdog(self._channel.get_transport(), WRITE_TIMEOUT_S) as barked:
            try:
                self._send_all(memoryview(data), deadline_s)
            except (OSError, EOFError, paramiko.SSHException) as error:
                if barked.is_set():
                    raise self._not_taken() from error
                raise ChannelClosedError(self.host, self._ending()) from error

    def _not_taken(self) -> SourceTimeoutError:
        return SourceTimeoutError(self.host, "reading of our input by the program", WRITE_TIMEOUT_S)

    def _send_all(self, view: memoryview, deadline_s: float) -> None:
        while view:
            try:
                view = view[self._channel.send(bytes(view[:READ_BYTES])) :]
            except TimeoutError:
                # the channel's time-out is that of the last read; ours is the deadline
                if time.monotonic() > deadline_s:
                    raise self._not_taken() from None
                time.sleep(_POLL_S / 10)

    def close_stdin(self) -> None:
        """Tell the program that nothing more will come."""
        with contextlib.suppress(OSError, EOFError):
            self._channel.shutdown_write()

    def finish(self, deadline_s: float) -> CommandResult | None:
        """Read the program to its end; None when the deadline (monotonic, seconds) comes first."""
        stdout, truncated = bytearray(), False
        try:
            while time.monotonic() < deadline_s:
                stdout += self.read(min(_POLL_S, max(0.0, deadline_s - time.monotonic())))
                truncated = truncated or len(stdout) > RUN_OUTPUT_BYTES
                del stdout[RUN_OUTPUT_BYTES:]
        except ChannelClosedError:
            if not self._channel.get_transport().is_active():
                raise
        if not self._channel.status_event.wait(max(0.0, deadline_s - time.monotonic())):
            return None
        return CommandResult(
            exit_status=self._channel.exit_status,
            stdout=bytes(stdout),
            stderr=self.stderr_tail.encode(),
            truncated=truncated,
        )

    def close(self) -> None:
        """Close the channel; sshd ends the program's input, which ends the agent."""
        with contextlib.suppress(OSError, EOFError, paramiko.SSHException):
            self._channel.close()


class SshSource:
    """A host over SSH. Connects at the first ``open`` or ``run``, and anew when the connection was lost."""

    transport = "ssh"

    def __init__(self, host: HostConfig, timeouts: Timeouts | None = None) -> None:
        """Connect nothing yet."""
        self.name = host.name
        self.findings: tuple[Finding, ...] = ()
        self._host = host
        self._limits = timeouts or Timeouts()
        self._transports: list[paramiko.Transport] = []
        self._proxy: ProxyProcess | None = None

    def open(self, command: str) -> SshChannel:
        """Start a long-lived program.

        Raises:
            HostKeyError, ConnectError, SourceTimeoutError: the host cannot be reached.
        """
        transport = self._connected()
        limit_s = self._limits.channel_s
        with translated(self.name, "starting a program", limit_s), watchdog(transport, limit_s) as barked:
            try:
                channel = transport.open_session(timeout=limit_s)
                channel.exec_command(command)
            except (OSError, EOFError, paramiko.SSHException) as error:
                if barked.is_set():
                    raise SourceTimeoutError(self.name, "start of the program", limit_s) from error
                raise
        return SshChannel(self.name, channel, Liveness(self.name, transport, self._limits.keepalive_s))

    def run(self, command: str, timeout_s: float) -> CommandResult:
        """Run a short command in a channel of its own."""
        deadline_s = time.monotonic() + timeout_s
        channel = self.open(command)
        try:
            channel.close_stdin()
            result = channel.finish(max(deadline_s, time.monotonic() + _POLL_S))
        finally:
            channel.close()
        if result is None:
            raise SourceTimeoutError(self.name, "end of the command", timeout_s)
        return result

    def _connected(self) -> paramiko.Transport:
        if self._transports and all(transport.is_active() for transport in self._transports):
            return self._transports[-1]
        self.close()
        chain = resolve_chain(self._host)
        self.findings = chain[-1].findings
        try:
            for number, settings in enumerate(chain):
                self._add_hop(chain, number, settings)
        except BaseException:
            self.close()
            raise
        return self._transports[-1]

    def _add_hop(self, chain: tuple[SshSettings, ...], number: int, settings: SshSettings) -> None:
        try:
            link = self._link(chain, number, settings)
            transport = open_hop(
                link, self.name, settings, self._limits, proxy=None if number else self._proxy
            )
        except SourceError as error:
            if number == len(chain) - 1:
                raise
            kind = HostKeyError if isinstance(error, HostKeyError) else ConnectError
            raise kind(
                self.name, f"jump host {settings.alias} ({place(settings)}): {error.problem}"
            ) from error
        self._transports.append(transport)

    def _link(
        self, chain: tuple[SshSettings, ...], number: int, settings: SshSettings
    ) -> paramiko.Channel | socket.socket:
        if number:
            return open_tunnel(self._transports[-1], chain[number - 1], self.name, settings, self._limits)
        if settings.proxy_command is not None:
            self._proxy = start_proxy(self.name, settings.proxy_command)
            return self._proxy.socket
        return connect_tcp(self.name, settings, self._limits)

    def close(self) -> None:
        """Close every hop, the farthest first."""
        for transport in reversed(self._transports):
            close_hop(transport)
        self._transports.clear()
        if self._proxy is not None:
            self._proxy.close()
            self._proxy = None

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close."""
        self.close()
