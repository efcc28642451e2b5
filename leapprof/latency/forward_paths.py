"""The two ways of a packet of the probe ``forward``: through the relay, and straight; by UDP, or by TCP.

TCP has no packets: messages of one length follow each other in a connection, and a relay that takes none holds up those
behind it.
"""

import select
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import Protocol

from leapprof.errors import SourceError
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.wire import Address, Deadline, ProbeError, connect, resolve
from leapprof.units import NS_PER_S

RELAYED_PATH, STRAIGHT_PATH = 0, 1
_TIMESTAMPNS = 35
"""SO_TIMESTAMPNS and SCM_TIMESTAMPNS of asm-generic/socket.h; Python names neither."""
_TIMESPEC = struct.Struct("@qq")
_POLL_S = 0.1
_BUFFER_BYTES = 4 * 2**20
_MORE_BYTES = 256
_MOST_CONNECTIONS = 8


@dataclass(frozen=True, slots=True)
class Arrived:
    """A packet that came, and when: by the kernel's stamp, or by ours."""

    data: bytes
    wall_ns: int
    by_kernel: bool


class Paths(Protocol):
    """What carries packets to where the probe listens."""

    holds_up: bool
    """A relay can keep the sender from sending: delays count from the planned moment."""

    def send(self, path: int, data: bytes) -> bool:
        """Send a packet; False when it could not be sent."""
        ...

    def receive(self) -> Arrived | None:
        """Return the next packet; None when none came for a moment."""
        ...

    def close(self) -> None:
        """Close all sockets."""
        ...


def stamped(data: bytes, more: list[tuple[int, int, bytes]]) -> Arrived:
    """Return what recvmsg(2) gave, with the kernel's stamp where there is one."""
    now_ns = time.time_ns()
    for level, kind, content in more:
        if (level, kind) == (socket.SOL_SOCKET, _TIMESTAMPNS) and len(content) >= _TIMESPEC.size:
            seconds, rest = _TIMESPEC.unpack_from(content)
            return Arrived(data, seconds * NS_PER_S + rest, by_kernel=True)
    return Arrived(data, now_ns, by_kernel=False)


def _listening(sock: socket.socket, listen: Address, name: str) -> None:
    """Bind a socket that stamps what comes.

    Raises:
        SourceError: it cannot; the socket is closed.
    """
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        sock.setsockopt(socket.SOL_SOCKET, _TIMESTAMPNS, 1)
        sock.bind(listen.sockaddr)
    except OSError as error:
        sock.close()
        raise SourceError(
            name, f"cannot listen there ({error.strerror}): it has to be a free port of this machine"
        ) from error


def _resolved(endpoint: Endpoint) -> Address:
    try:
        return resolve(endpoint)[0]
    except ProbeError as error:
        raise SourceError(endpoint.authority, error.problem) from error


class UdpPaths:
    """Datagrams."""

    holds_up = False

    def __init__(self, relay: Endpoint, listen: Endpoint, size_bytes: int) -> None:
        """Open a socket that listens, and one for each way.

        Raises:
            SourceError: an address cannot be used.
        """
        self._size_bytes = size_bytes
        self._to = (_resolved(relay), _resolved(listen))
        self._receiver = socket.socket(self._to[1].family, socket.SOCK_DGRAM)
        _listening(self._receiver, self._to[1], listen.authority)
        self._receiver.settimeout(_POLL_S)
        self._senders = tuple(socket.socket(address.family, socket.SOCK_DGRAM) for address in self._to)

    def send(self, path: int, data: bytes) -> bool:
        """Send a datagram; False when this machine's own network refused it."""
        try:
            self._senders[path].sendto(data, self._to[path].sockaddr)
        except OSError:
            return False
        return True

    def receive(self) -> Arrived | None:
        """Return the next datagram; None when none came for a moment."""
        try:
            data, more, _, _ = self._receiver.recvmsg(self._size_bytes, _MORE_BYTES)
        except OSError:
            return None
        return stamped(data, more)

    def close(self) -> None:
        """Close all sockets."""
        for sock in (self._receiver, *self._senders):
            sock.close()


@dataclass(slots=True)
class _Incoming:
    """One connection that was accepted, and what came of the message under way."""

    sock: socket.socket
    part: bytearray = field(default_factory=bytearray)


class TcpPaths:
    """Messages of one length over two connections; the relay connects to where the probe listens."""

    holds_up = True

    def __init__(self, relay: Endpoint, listen: Endpoint, size_bytes: int, timeout_s: float) -> None:
        """Listen, then connect both ways.

        Raises:
            SourceError: an address cannot be used, or nothing listens there.
        """
        self._size_bytes = size_bytes
        to = (_resolved(relay), _resolved(listen))
        self._incoming: list[_Incoming] = []
        self._senders: list[socket.socket | None] = []
        self._listener = socket.socket(to[1].family, socket.SOCK_STREAM)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _listening(self._listener, to[1], listen.authority)
        self._listener.listen()
        for address, endpoint in zip(to, (relay, listen), strict=True):
            try:
                sender = connect(address, Deadline.after(timeout_s))
            except ProbeError as error:
                self.close()
                raise SourceError(endpoint.authority, error.problem) from error
            sender.settimeout(timeout_s)
            self._senders.append(sender)

    def send(self, path: int, data: bytes) -> bool:
        """Send a message; False from when the connection is lost, or takes nothing within the time-out."""
        sender = self._senders[path]
        if sender is None:
            return False
        try:
            sender.sendall(data)
        except OSError:
            sender.close()
            self._senders[path] = None
            return False
        return True

    def receive(self) -> Arrived | None:
        """Return the next message of any connection; None when none was complete for a moment."""
        waiting = {one.sock: one for one in self._incoming}
        ready, _, _ = select.select([self._listener, *waiting], [], [], _POLL_S)
        for sock in ready:
            if sock is self._listener:
                self._accept()
            elif (found := self._more(waiting[sock])) is not None:
                return found
        return None

    def _accept(self) -> None:
        sock, _ = self._listener.accept()
        if len(self._incoming) >= _MOST_CONNECTIONS:
            sock.close()
            return
        sock.setblocking(False)
        self._incoming.append(_Incoming(sock))

    def _more(self, one: _Incoming) -> Arrived | None:
        """Read on in a message; the stamp is that of its last part."""
        try:
            data, more, _, _ = one.sock.recvmsg(self._size_bytes - len(one.part), _MORE_BYTES)
        except BlockingIOError:
            return None
        except OSError:
            data, more = b"", []
        if not data:
            one.sock.close()
            self._incoming.remove(one)
            return None
        one.part += data
        if len(one.part) < self._size_bytes:
            return None
        whole, one.part = bytes(one.part), bytearray()
        return stamped(whole, more)

    def close(self) -> None:
        """Close all sockets."""
        for sock in (self._listener, *(one.sock for one in self._incoming), *self._senders):
            if sock is not None:
                sock.close()
