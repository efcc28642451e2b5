"""One TCP or TLS connection with a deadline for everything: no endpoint can hold a probe longer than its time-out."""

import errno
import socket
import ssl
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from leapprof.errors import ConfigError, LeapprofError
from leapprof.latency.endpoint import Endpoint
from leapprof.units import NS_PER_S

_UNREACHABLE = (errno.EHOSTUNREACH, errno.ENETUNREACH, errno.EACCES, errno.EPERM, errno.EADDRNOTAVAIL)


class Failure(StrEnum):
    """Why a probe of an endpoint failed."""

    NAME = "name"
    REFUSED = "refused"
    UNREACHABLE = "unreachable"
    TIMEOUT = "timeout"
    CLOSED = "closed"
    TLS = "tls"
    PROTOCOL = "protocol"
    TOO_LARGE = "too-large"
    STATUS = "status"
    LOST = "lost"


class ProbeError(LeapprofError):
    """One attempt failed; a run counts it, the first attempt of a run ends it.

    Attributes:
        failure: kind, as it is counted.
        problem: one clause for a person.
    """

    exit_code = 3

    def __init__(self, failure: Failure, problem: str) -> None:
        """Keep the kind beside what is said."""
        self.failure, self.problem = failure, problem
        super().__init__(problem)


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of the monotonic clock by which something has to be done."""

    at_ns: int
    timeout_s: float

    @classmethod
    def after(cls, timeout_s: float) -> "Deadline":
        """Return the deadline this many seconds from now."""
        return cls(time.monotonic_ns() + round(timeout_s * NS_PER_S), timeout_s)

    def left_s(self, doing: str) -> float:
        """Return the seconds that are left.

        Raises:
            ProbeError: none is left.
        """
        left = self.at_ns - time.monotonic_ns()
        if left <= 0:
            raise ProbeError(Failure.TIMEOUT, f"no {doing} within {self.timeout_s:g} s")
        return left / NS_PER_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """One address that a name stands for."""

    family: socket.AddressFamily
    sockaddr: tuple[str, int] | tuple[str, int, int, int]

    @property
    def text(self) -> str:
        """Return the bare IP address."""
        return self.sockaddr[0]


def resolve(endpoint: Endpoint, family: socket.AddressFamily = socket.AF_UNSPEC) -> tuple[Address, ...]:
    """Return the addresses of an endpoint, in the order of the system's resolver.

    Raises:
        ProbeError: the name is not known, or has no address of this family.
    """
    try:
        found = socket.getaddrinfo(endpoint.host, endpoint.port, family, socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError) as error:
        raise ProbeError(Failure.NAME, f"the name {endpoint.host} has no address ({error})") from error
    unique = dict.fromkeys((socket.AddressFamily(row[0]), row[4]) for row in found)
    return tuple(Address(family=f, sockaddr=a) for f, a in unique)  # type: ignore[arg-type]


def connect(address: Address, deadline: Deadline) -> socket.socket:
    """Return a connected TCP socket without Nagle's delay.

    Raises:
        ProbeError: refused, unreachable, or not within the deadline.
    """
    sock = socket.socket(address.family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.settimeout(deadline.left_s("TCP connection"))
        sock.connect(address.sockaddr)
    except OSError as error:
        sock.close()
        raise translated(error, deadline, "TCP connection (filtered, or the host is down)") from error
    except ProbeError:
        sock.close()
        raise
    return sock


def tls_context(ca_file: Path | None) -> ssl.SSLContext:
    """Return how TLS is spoken: with the system's certificates, or those of a file.

    Raises:
        ConfigError: the file holds none.
    """
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise ConfigError("holds no certificates", path=str(ca_file), key="--ca-file") from error


def wrap_tls(
    sock: socket.socket, server_name: str, context: ssl.SSLContext, deadline: Deadline
) -> ssl.SSLSocket:
    """Return the socket after a TLS handshake; it is closed on failure.

    Raises:
        ProbeError: the other side speaks no TLS, its certificate is not valid, or it is silent.
    """
    try:
        sock.settimeout(deadline.left_s("TLS handshake"))
        return context.wrap_socket(sock, server_hostname=server_name)
    except OSError as error:
        sock.close()
        raise translated(error, deadline, "TLS handshake (it may speak without TLS)") from error
    except ProbeError:
        sock.close()
        raise


def translated(error: OSError, deadline: Deadline, doing: str) -> ProbeError:
    """Return what an error of a socket means for a probe."""
    what = doing.split(" (")[0].removeprefix("whole ")
    if isinstance(error, ssl.SSLCertVerificationError):
        found = ProbeError(Failure.TLS, f"its certificate is not valid: {error.verify_message}")
    elif isinstance(error, ssl.SSLError):
        found = ProbeError(
            Failure.TLS,
            f"TLS failed ({error.reason or 'no reason'}): it may speak plain HTTP, or other versions of TLS",
        )
    elif isinstance(error, TimeoutError):
        found = ProbeError(Failure.TIMEOUT, f"no {doing} within {deadline.timeout_s:g} s")
    elif isinstance(error, ConnectionRefusedError):
        found = ProbeError(Failure.REFUSED, "the connection was refused: nothing listens there")
    elif error.errno in _UNREACHABLE:
        found = ProbeError(Failure.UNREACHABLE, f"it cannot be reached ({error.strerror})")
    else:
        found = ProbeError(
            Failure.CLOSED, f"the connection was lost during the {what} ({error.strerror or error})"
        )
    return found
