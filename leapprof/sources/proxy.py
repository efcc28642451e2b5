"""A ProxyCommand as a socket.

paramiko's own (5.1) reads an ended command in a busy loop, never drains its stderr and starts no shell;
here the command's standard input and output are one end of a socket pair, as in OpenSSH (sshconnect.c,
ssh_proxy_connect).
"""

import contextlib
import os
import signal
import socket
import subprocess
from dataclasses import dataclass

from leapprof.errors import ConnectError, quoted

_END_WAIT_S = 2.0


@dataclass(frozen=True, slots=True)
class ProxyProcess:
    """The running command and our end of its socket."""

    command: str
    process: "subprocess.Popen[bytes]"
    socket: socket.socket

    def close(self) -> None:
        """End the command and whatever it started."""
        self.socket.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(_END_WAIT_S)

    @property
    def ending(self) -> str | None:
        """What became of the command, None while it runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self.process.wait(0.2)
            return f"the ProxyCommand {quoted(self.command)} ended with status {status}"
        return None


def start_proxy(host: str, command: str) -> ProxyProcess:
    """Run the command with the user's ``sh``; what it writes to stderr is not kept.

    Raises:
        ConnectError: it cannot be started.
    """
    ours, theirs = socket.socketpair()
    try:
        process = subprocess.Popen(  # noqa: S603 (a ProxyCommand is a shell line of the operator's own)
            ["/bin/sh", "-c", f"exec {command}"],
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        ours.close()
        raise ConnectError(host, f"cannot run the ProxyCommand: {error.strerror}") from error
    finally:
        theirs.close()
    return ProxyProcess(command, process, ours)
