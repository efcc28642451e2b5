"""Requests to an HTTP API over a kept connection, bounded in time and size (RFC 9112).

Written on a socket because http.client has a time-out for each read and none for the whole: a server that sends a byte
a second would hold it for hours.
"""

import socket
import ssl
from dataclasses import dataclass
from types import TracebackType

from leapprof.errors import quoted
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.wire import Address, Deadline, Failure, ProbeError, connect, translated, wrap_tls

MAX_HEAD_BYTES = 64 * 1024
MAX_BODY_BYTES = 16 * 2**20
_PIECE_BYTES = 64 * 1024
_TLS_ALERT = b"\x15\x03"
_MAX_CHUNK_DIGITS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked: bytes as they go over the wire."""

    name: str
    path: str
    body: bytes

    def encoded(self, endpoint: Endpoint) -> bytes:
        """Return head and body."""
        head = (
            f"POST {endpoint.prefix}{self.path} HTTP/1.1\r\nHost: {endpoint.authority}\r\n"
            "User-Agent: leapprof\r\nAccept: application/json\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode("ascii", "replace") + self.body


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What was answered."""

    status: int
    server: str
    body: bytes
    keeps: bool


class HttpConnection:
    """One connection that is made when it is needed and again after a failure. One thread uses it."""

    def __init__(self, endpoint: Endpoint, address: Address, context: ssl.SSLContext | None) -> None:
        """Keep where to; nothing is sent yet."""
        self._endpoint, self._address, self._context = endpoint, address, context
        self._socket: socket.socket | None = None
        self._rest = b""

    def __enter__(self) -> "HttpConnection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close; the next request connects again."""
        if self._socket is not None:
            self._socket.close()
        self._socket, self._rest = None, b""

    def open(self, deadline: Deadline) -> None:
        """Connect, where there is no connection.

        Raises:
            ProbeError: it cannot be made.
        """
        if self._socket is None:
            plain = connect(self._address, deadline)
            self._socket = (
                plain
                if self._context is None
                else wrap_tls(plain, self._endpoint.host, self._context, deadline)
            )

    def ask(self, request: bytes, deadline: Deadline) -> Response:
        """Return the answer to a request, whatever its status.

        A kept connection that the server had closed in the meantime is made again once, as every client does.

        Raises:
            ProbeError: no whole answer within the deadline; the connection is closed.
        """
        kept = self._socket is not None
        try:
            return self._asked(request, deadline)
        except ProbeError as error:
            self.close()
            if not (kept and error.failure is Failure.CLOSED):
                raise
        try:
            return self._asked(request, deadline)
        except ProbeError:
            self.close()
            raise

    def _asked(self, request: bytes, deadline: Deadline) -> Response:
        self.open(deadline)
        self._send(request, deadline)
        status, headers = self._head(deadline)
        body, keeps = self._body(headers, deadline)
        keeps = keeps and headers.get("connection", "").lower() != "close"
        if not keeps:
            self.close()
        return Response(status=status, server=headers.get("server", ""), body=body, keeps=keeps)

    def _send(self, request: bytes, deadline: Deadline) -> None:
        assert self._socket is not None
        try:
            self._socket.settimeout(deadline.left_s("answer"))
            self._socket.sendall(request)
        except OSError as error:
            raise translated(error, deadline, "request") from error

    def _more(self, deadline: Deadline) -> bytes:
        """Return the next bytes; none when the other side closed."""
        assert self._socket is not None
        try:
            self._socket.settimeout(deadline.left_s("whole answer"))
            return self._socket.recv(_PIECE_BYTES)
        except OSError as error:
            raise translated(error, deadline, "whole answer") from error

    def _head(self, deadline: Deadline) -> tuple[int, dict[str, str]]:
        data = self._rest
        while b"\r\n\r\n" not in data:
            piece = self._more(deadline)
            data += piece
            _check_start(data)
            if not piece:
                raise ProbeError(Failure.CLOSED, "the connection was closed before an answer")
            if len(data) > MAX_HEAD_BYTES:
                raise ProbeError(Failure.TOO_LARGE, f"the head of the answer is over {MAX_HEAD_BYTES} bytes")
        head, _, self._rest = data.partition(b"\r\n\r\n")
        return _parse_head(head)

    def _body(self, headers: dict[str, str], deadline: Deadline) -> tuple[bytes, bool]:
        """Return the body, and whether the connection can be used again."""
        if headers.get("transfer-encoding", "").lower() == "chunked":
            return self._chunks(deadline), True
        length = headers.get("content-length")
        if length is None:
            return self._until_closed(deadline), False
        if not (length.isascii() and length.isdigit()):
            raise ProbeError(Failure.PROTOCOL, f"the answer's Content-Length is {quoted(length)}")
        if len(length) > _MAX_CHUNK_DIGITS or int(length) > MAX_BODY_BYTES:
            raise ProbeError(Failure.TOO_LARGE, f"the answer is over {MAX_BODY_BYTES} bytes")
        return self._exactly(int(length), deadline), True

    def _exactly(self, count: int, deadline: Deadline) -> bytes:
        pieces, have = [self._rest], len(self._rest)
        while have < count:
            piece = self._more(deadline)
            if not piece:
                raise ProbeError(Failure.CLOSED, "the connection was closed within an answer")
            pieces.append(piece)
            have += len(piece)
        data = b"".join(pieces)
        self._rest = data[count:]
        return data[:count]

    def _until_closed(self, deadline: Deadline) -> bytes:
        data = bytearray(self._rest)
        while piece := self._more(deadline):
            data += piece
            if len(data) > MAX_BODY_BYTES:
                raise ProbeError(Failure.TOO_LARGE, f"the answer is over {MAX_BODY_BYTES} bytes")
        return bytes(data)

    def _line(self, deadline: Deadline) -> bytes:
        while b"\r\n" not in self._rest:
            piece = self._more(deadline)
            if not piece or len(self._rest) > MAX_HEAD_BYTES:
                raise ProbeError(Failure.PROTOCOL, "the answer's chunks are not well-formed")
            self._rest += piece
        line, _, self._rest = self._rest.partition(b"\r\n")
        return line

    def _chunks(self, deadline: Deadline) -> bytes:
        body = bytearray()
        while True:
            size_text = self._line(deadline).split(b";")[0].strip()
            try:
                size = int(size_text[: _MAX_CHUNK_DIGITS + 1], 16)
            except ValueError as error:
                raise ProbeError(Failure.PROTOCOL, "the answer's chunks are not well-formed") from error
            if size < 0 or len(body) + size > MAX_BODY_BYTES:
                raise ProbeError(Failure.TOO_LARGE, f"the answer is over {MAX_BODY_BYTES} bytes")
            if size == 0:
                while self._line(deadline):
                    pass
                return bytes(body)
            body += self._exactly(size, deadline)
            self._line(deadline)


def _check_start(data: bytes) -> None:
    """Refuse at the first bytes what is no HTTP answer, however much of it would come."""
    if data.startswith(_TLS_ALERT):
        raise ProbeError(Failure.TLS, "it speaks TLS: write https://")
    if not b"HTTP/1.".startswith(data[:7]):
        shown = data[:40].decode("latin-1")
        raise ProbeError(Failure.PROTOCOL, f"what answers is no HTTP: {quoted(shown)}")


def _parse_head(head: bytes) -> tuple[int, dict[str, str]]:
    lines = head.decode("latin-1").split("\r\n")
    fields = lines[0].split(" ", 2)
    if len(fields) < 2 or not (fields[1].isascii() and fields[1].isdigit() and len(fields[1]) == 3):
        raise ProbeError(Failure.PROTOCOL, f"what answers is no HTTP: {quoted(lines[0])}")
    headers = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return int(fields[1]), headers
