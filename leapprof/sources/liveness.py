"""Whether the host still answers: a connection may be dead, or its sshd stopped, without any error.

paramiko's keepalive (5.1) asks for no answer, so silence tells it nothing. Here a question that must be
answered (RFC 4254, section 4: a global request with want-reply; OpenSSH's ServerAliveInterval does the same)
is sent when nothing has come for a while, and three intervals without a byte end the connection.
"""

import contextlib
import threading
import time
from collections.abc import Iterator
from typing import Any

import paramiko  # noqa: TID253 (imported lazily by sources/__init__.py)
from paramiko.common import cMSG_GLOBAL_REQUEST  # noqa: TID253

from leapprof.sources.base import ChannelClosedError

INTERVALS_OF_SILENCE = 3
PROBE_TIMEOUT_S = 10.0


@contextlib.contextmanager
def watchdog(transport: paramiko.Transport, timeout_s: float) -> Iterator[threading.Event]:
    """Close the transport when the body takes too long; the event says that it did.

    paramiko's requests and writes have no time-out of their own.
    """
    barked = threading.Event()

    def bark() -> None:
        barked.set()
        transport.close()

    timer = threading.Timer(timeout_s, bark)
    timer.daemon = True
    timer.start()
    try:
        yield barked
    finally:
        timer.cancel()


class WatchedLink:
    """A socket or channel that remembers when it last received something."""

    def __init__(self, link: Any) -> None:  # noqa: ANN401 (a socket, or paramiko's channel that acts as one)
        """Wrap a link."""
        self._link = link
        self.received_s = time.monotonic()

    def recv(self, size: int) -> bytes:
        """Receive, and note when."""
        data: bytes = self._link.recv(size)
        if data:
            self.received_s = time.monotonic()
        return data

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 (whatever paramiko asks a socket for)
        return getattr(self._link, name)


class Liveness:
    """Watches one connection, asked in passing by whoever reads from it."""

    def __init__(self, host: str, transport: paramiko.Transport, interval_s: float) -> None:
        """Watch a transport that runs over a WatchedLink."""
        self._host, self._transport, self._interval_s = host, transport, interval_s
        self._probed_s = 0.0

    def check(self) -> None:
        """Ask the host for a sign of life when it has been silent for an interval.

        Raises:
            ChannelClosedError: it has been silent for three; the connection is closed.
        """
        link = self._transport.sock
        now_s = time.monotonic()
        if not isinstance(link, WatchedLink) or now_s - link.received_s < self._interval_s:
            return
        if now_s - link.received_s > INTERVALS_OF_SILENCE * self._interval_s:
            self._transport.close()
            raise ChannelClosedError(
                self._host, f"no sign of life for {INTERVALS_OF_SILENCE * self._interval_s:g} s"
            )
        if now_s - self._probed_s >= self._interval_s:
            self._probed_s = now_s
            self._probe()

    def _probe(self) -> None:
        message = paramiko.Message()
        message.add_byte(cMSG_GLOBAL_REQUEST)
        message.add_string("keepalive@openssh.com")
        message.add_boolean(True)
        with (
            contextlib.suppress(OSError, EOFError, paramiko.SSHException),
            watchdog(self._transport, PROBE_TIMEOUT_S),
        ):
            self._transport._send_user_message(message)  # type: ignore[attr-defined]
