"""A subscription to blocks of a nodeos over its state history websocket, with a time-out for everything.

Needs the package websockets (extra ``latency``).
"""

import json
import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from leapprof.errors import ConfigError, ParseError, quoted
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.message import Arrival, Clock
from leapprof.latency.ship import (
    STATUS_REQUEST,
    ack_request,
    blocks_request,
    parse_block,
    parse_status,
)
from leapprof.latency.wire import Deadline, Failure, ProbeError, tls_context, translated

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

MAX_MESSAGE_BYTES = 64 * 2**20
"""A large block is below 2 MiB; nodeos's own limit of a message is larger than any."""
_POLL_S = 0.25
_CLOSE_S = 1.0
_TOO_BIG = 1009
"""Close code of RFC 6455: message too big."""
_QUIET = logging.Logger("websockets", logging.CRITICAL + 1)
"""It would write tracebacks of its own to standard error."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShipSubscription:
    """Blocks of a nodeos, from its state history.

    Attributes:
        endpoint: of the state history.
        ca_file: certificates to trust instead of the system's.
    """

    endpoint: Endpoint
    ca_file: Path | None = None
    can_end = False

    @property
    def name(self) -> str:
        """Return how it is called."""
        return self.endpoint.authority

    def close(self) -> None:
        """Nothing is open between connections."""

    def check(self, timeout_s: float) -> None:
        """Ask for its head block.

        Raises:
            ProbeError: it is no state history, or cannot be reached.
        """
        with ShipStream(self, timeout_s, threading.Event()) as stream:
            stream.head()

    def arrivals(self, after: int | None, timeout_s: float, stopped: threading.Event) -> Iterator[Arrival]:
        """Yield blocks as they come: those after a number, or after the head block.

        Raises:
            ProbeError: the connection was lost, or nothing came within the time-out.
        """
        with ShipStream(self, timeout_s, stopped) as stream:
            yield from stream.blocks(1 + (stream.head() if after is None else after))


class ShipStream:
    """One connection. Use with ``with``."""

    def __init__(self, subscription: ShipSubscription, timeout_s: float, stopped: threading.Event) -> None:
        """Keep what to do.

        Args:
            subscription: where.
            timeout_s: for the connection, and for each message.
            stopped: ends the wait for a message.
        """
        self._subscription, self._timeout_s, self._stopped = subscription, timeout_s, stopped
        self._open = ExitStack()
        self._connection: ClientConnection | None = None

    def __enter__(self) -> "ShipStream":
        """Connect and read the ABI.

        Raises:
            ProbeError: it cannot be reached, or is no state history.
        """
        connect = _websockets()
        endpoint = self._subscription.endpoint
        url = f"{'wss' if endpoint.tls else 'ws'}://{endpoint.authority}{endpoint.prefix or '/'}"
        with _translated(self._timeout_s):
            self._connection = self._open.enter_context(
                connect(
                    url,
                    ssl=tls_context(self._subscription.ca_file) if endpoint.tls else None,
                    open_timeout=self._timeout_s,
                    close_timeout=_CLOSE_S,
                    ping_interval=None,
                    compression=None,
                    max_size=MAX_MESSAGE_BYTES,
                    proxy=None,
                    logger=_QUIET,
                )
            )
        try:
            _check_abi(self._receive())
        except ProbeError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._connection = None
        self._open.close()

    def head(self) -> int:
        """Return the number of the head block.

        Raises:
            ProbeError: no answer, or none of a state history.
        """
        self._send(STATUS_REQUEST)
        return _parsed(parse_status, self._receive())

    def blocks(self, start_block: int) -> Iterator[Arrival]:
        """Yield blocks as they come, until the run is stopped.

        Raises:
            ProbeError: the connection was lost, or nothing came within the time-out.
        """
        self._send(blocks_request(start_block))
        while not self._stopped.is_set():
            data = self._receive()
            came = Clock()
            if data is None:
                return
            self._send(ack_request(1))
            message = _parsed(parse_block, data)
            if message is not None:
                yield came.arrival(message)

    def _send(self, data: bytes) -> None:
        assert self._connection is not None
        with _translated(self._timeout_s):
            self._connection.send(data)

    def _receive(self) -> str | bytes | None:
        """Return the next message; None when the run was stopped."""
        assert self._connection is not None
        end_s = time.monotonic() + self._timeout_s
        while (left_s := end_s - time.monotonic()) > 0:
            if self._stopped.is_set():
                return None
            try:
                with _translated(self._timeout_s):
                    data: str | bytes = self._connection.recv(timeout=min(left_s, _POLL_S))
                    return data
            except ProbeError as error:
                if error.failure is not Failure.TIMEOUT:
                    raise
        raise ProbeError(Failure.TIMEOUT, f"no message within {self._timeout_s:g} s")


def _websockets() -> "Callable[..., AbstractContextManager[ClientConnection]]":
    try:
        from websockets.sync.client import connect
    except ImportError as error:
        raise ConfigError(
            "the probe of streams needs the package websockets: pip install 'leapprof[latency]'"
        ) from error
    found: Callable[..., AbstractContextManager[ClientConnection]] = connect
    return found


def _check_abi(data: str | bytes | None) -> None:
    """Refuse a server whose first message is no ABI."""
    try:
        found = json.loads(data) if isinstance(data, str) else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or not str(found.get("version", "")).startswith("eosio::abi"):
        shown = data if isinstance(data, str) else "" if data is None else data[:40].decode("latin-1")
        raise ProbeError(
            Failure.PROTOCOL, f"its first message is no ABI of a state history: {quoted(shown[:40])}"
        )


def _parsed(parse: Callable[[bytes], T], data: str | bytes | None) -> T:
    """Return a binary message as its parser reads it.

    Raises:
        ProbeError: it is none of the state history.
    """
    if not isinstance(data, bytes):
        raise ProbeError(Failure.PROTOCOL, f"a message is no binary one: {quoted(str(data)[:40])}")
    try:
        return parse(data)
    except ParseError as error:
        raise ProbeError(Failure.PROTOCOL, f"a message is none of a state history ({error})") from error


@contextmanager
def _translated(timeout_s: float) -> Iterator[None]:
    """Turn what websockets raises into a ProbeError."""
    from websockets.exceptions import ConnectionClosed, WebSocketException

    try:
        yield
    except TimeoutError as error:
        raise ProbeError(Failure.TIMEOUT, f"no answer within {timeout_s:g} s") from error
    except ConnectionClosed as error:
        if error.sent is not None and error.sent.code == _TOO_BIG:
            raise ProbeError(Failure.TOO_LARGE, f"a message is over {MAX_MESSAGE_BYTES} bytes") from error
        raise ProbeError(Failure.CLOSED, "the connection was closed") from error
    except (WebSocketException, AssertionError) as error:
        # websockets 17.4 asserts that a server does not close before it has read the handshake
        said = str(error.__cause__ or error) or "closed before the handshake"
        raise ProbeError(Failure.PROTOCOL, f"it speaks no websocket: {quoted(said)}") from error
    except socket.gaierror as error:
        raise ProbeError(Failure.NAME, f"the name has no address ({error})") from error
    except OSError as error:
        raise translated(error, Deadline(0, timeout_s), "connection") from error
