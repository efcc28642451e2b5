"""Small servers for tests of delay, each in threads of its own on loopback, closed with the ``with`` block."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

ANSWER_BODY = b'{"head_block_num": 7, "server_version_string": "v5.0.3"}'
OK = (
    b"HTTP/1.1 200 OK\r\nServer: test/1\r\nContent-Type: application/json\r\nContent-Length: "
    + str(len(ANSWER_BODY)).encode()
    + b"\r\n\r\n"
    + ANSWER_BODY
)


def read_request(connection: socket.socket, rest: bytes) -> tuple[bytes, bytes, bytes]:
    """Return path, body and what follows of the next request; an empty path at the end."""
    while b"\r\n\r\n" not in rest:
        piece = connection.recv(4096)
        if not piece:
            return b"", b"", b""
        rest += piece
    head, _, rest = rest.partition(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    lengths = [int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length:")]
    length = lengths[0] if lengths else 0
    while len(rest) < length:
        rest += connection.recv(4096)
    return lines[0].split(b" ")[1], rest[:length], rest[length:]


def no_such_page(connection: socket.socket) -> None:
    """Answer as a web server does that has something else."""
    read_request(connection, b"")
    connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")


def silent(connection: socket.socket) -> None:
    """Take everything, say nothing."""
    while connection.recv(4096):
        pass


class _Listener:
    """Accepts connections and serves each by a function in a thread."""

    def __init__(self, serve: Callable[[socket.socket], None], host: str) -> None:
        """Listen on a free port."""
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._serve = serve
        self._listener = socket.create_server((host, 0), family=family, backlog=128)
        self.port: int = self._listener.getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._connections: list[socket.socket] = []
        self._start(self._accept)

    def _start(self, target: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._connections.append(connection)
                self._start(self._one, connection)

    def _one(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            self._serve(connection)

    def close(self) -> None:
        """Close everything and wait for the threads."""
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(2)


@contextmanager
def serving(serve: Callable[[socket.socket], None], host: str = "127.0.0.1") -> Iterator[int]:
    """Serve each connection by a function in a thread; yields the port."""
    listener = _Listener(serve, host)
    try:
        yield listener.port
    finally:
        listener.close()


class Together:
    """A moment from which several servers send: when the last of them has somebody to send to."""

    def __init__(self, servers: int) -> None:
        """Wait for so many."""
        self._barrier = threading.Barrier(servers, action=self._begin)
        self._start_s = 0.0

    def _begin(self) -> None:
        self._start_s = time.monotonic() + 0.3

    def start_s(self) -> float:
        """Wait for the others, and return the moment on time.monotonic()."""
        self._barrier.wait(60)
        return self._start_s


class DelayedApi:
    """An HTTP API that answers after a delay, and keeps how long each answer really took inside the server."""

    def __init__(self, delay_s: Callable[[], float] = lambda: 0.0) -> None:
        """Answer each request after what the function says at that moment."""
        self._delay_s = delay_s
        self.took_s: list[float] = []
        self.asked: list[tuple[bytes, bytes]] = []

    def __call__(self, connection: socket.socket) -> None:
        """Serve one connection."""
        rest = b""
        while True:
            path, body, rest = read_request(connection, rest)
            if not path:
                return
            began_s = time.monotonic()
            wanted_s = self._delay_s()
            if wanted_s > 0:
                time.sleep(wanted_s)
            self.asked.append((path, body))
            connection.sendall(OK)
            self.took_s.append(time.monotonic() - began_s)
