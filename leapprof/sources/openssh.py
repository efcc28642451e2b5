"""A host over the system's own ``ssh``, for what paramiko cannot do: certificates, FIDO keys, GSSAPI, PKCS#11.

ssh is told never to ask anything (BatchMode), to check host keys strictly and to forward nothing. Its
messages on stderr are what there is to know why it failed; they are those of OpenSSH 8.4 to 10.
"""

import os
import re
import shutil
from typing import Self

from leapprof.errors import ConnectError, HostKeyError, SourceError, SourceTimeoutError
from leapprof.model.access import HostConfig
from leapprof.sources.base import ChannelClosedError, CommandResult, Timeouts
from leapprof.sources.process import ProcessChannel, ended_with_status, run_process
from leapprof.sources.ssh_settings import by_hand, ssh_arguments

SSH_FAILED = 255
_MESSAGE_CHARS = 1500
_HOST_KEY = re.compile(
    r"HOST IDENTIFICATION HAS CHANGED|Host key verification failed|host key is known|"
    r"REVOKED HOST KEY|revoked by file|host key .* revoked",
    re.IGNORECASE,
)
_TIMEOUT = re.compile(r"Connection timed out|Operation timed out|banner exchange.*timed out", re.IGNORECASE)
_LOST = re.compile(r"client_loop:|Connection to \S+ closed by remote host|Timeout, server .* not responding")
_CONNECT = re.compile(
    r"Permission denied|Too many authentication failures|Could not resolve hostname|Connection refused|"
    r"No route to host|Network is unreachable|kex_exchange_identification|Connection closed by|"
    r"Connection reset by|Unable to negotiate|stdio forwarding failed|Bad configuration option|"
    r"Bad owner or permissions|jumphost loop|ssh: connect to host|banner exchange|Connection to .* port",
    re.IGNORECASE,
)


def explain(
    host: str, status: int | None, stderr: str, *, connect_s: float = Timeouts().connect_s
) -> SourceError:
    """Return the error that ssh's status and messages mean."""
    message = " ".join(line for line in stderr.split("\n") if line.strip("@\r "))[-_MESSAGE_CHARS:]
    printable = "".join(c if c.isprintable() else " " for c in message)
    if status != SSH_FAILED:
        return ended_with_status(host, status, printable)
    if _HOST_KEY.search(stderr):
        return HostKeyError(
            host,
            f"ssh refuses the host's key: {printable} (compare the fingerprint with the host's own, "
            "then connect once by hand)",
        )
    if _TIMEOUT.search(stderr):
        return SourceTimeoutError(host, f"connection (ssh says: {printable})", connect_s)
    if _CONNECT.search(stderr) and not _LOST.search(stderr):
        return ConnectError(host, f"ssh says: {printable}")
    return ended_with_status(host, status, printable)


class OpensshSource:
    """A host through the system's ssh; each channel is a connection of its own."""

    transport = "openssh"

    def __init__(self, host: HostConfig, timeouts: Timeouts | None = None) -> None:
        """Connect nothing yet."""
        self.name = host.name
        self._host = host
        self._limits = timeouts or Timeouts()
        self._channels: list[ProcessChannel] = []

    def argv(self, command: str) -> list[str]:
        """Return the command line that runs a command on the host; it bears no secret."""
        program = shutil.which("ssh")
        if program is None:
            raise ConnectError(self.name, "no ssh program is installed here; use --transport ssh")
        limits = self._limits
        # the first value that ssh sees counts, so these stand before the operator's own
        ours = (
            "BatchMode=yes",
            "StrictHostKeyChecking=yes",
            "UpdateHostKeys=no",
            "ForwardAgent=no",
            "ForwardX11=no",
            "ClearAllForwardings=yes",
            "PermitLocalCommand=no",
            "RemoteCommand=none",
            "RequestTTY=no",
            "ControlMaster=no",
            "ControlPath=none",
            f"ConnectTimeout={max(1, round(limits.connect_s))}",
            f"ServerAliveInterval={max(1, round(limits.keepalive_s))}",
            "ServerAliveCountMax=3",
            "LogLevel=ERROR",
        )
        options = [part for option in ours for part in ("-o", option)]
        return [program, "-T", *options, *ssh_arguments(self._host), "--", self._host.address, command]

    def _start(self, command: str) -> ProcessChannel:
        # a jump host's own ssh does not inherit BatchMode: let it not open a window to ask
        env = {**os.environ, "SSH_ASKPASS_REQUIRE": "never"}
        return ProcessChannel(self.name, self.argv(command), env=env, explain=self._explain)

    def _explain(self, host: str, status: int | None, stderr: str) -> SourceError:
        error = explain(host, status, stderr, connect_s=self._limits.connect_s)
        if isinstance(error, HostKeyError):
            return HostKeyError(host, f"{error.problem}: {by_hand(self._host)}")
        return error

    def open(self, command: str) -> ProcessChannel:
        """Start ssh with a long-lived program; that the host is not reached shows at the first read."""
        channel = self._start(command)
        self._channels.append(channel)
        return channel

    def run(self, command: str, timeout_s: float) -> CommandResult:
        """Run a short command over a connection of its own."""
        result = run_process(self._start(command), timeout_s)
        if result.exit_status == SSH_FAILED:
            error = self._explain(self.name, SSH_FAILED, result.stderr.decode("utf-8", "replace").strip())
            if not isinstance(error, ChannelClosedError):
                raise error
        return result

    def close(self) -> None:
        """End every ssh that was started."""
        for channel in self._channels:
            channel.close()
        self._channels.clear()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close."""
        self.close()
