"""A subscription to a Yellowstone gRPC server, with a time-out for everything.

Needs the packages grpcio and protobuf (extra ``latency``).
"""

import os
import queue
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leapprof.errors import ConfigError, quoted
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.message import Arrival, Clock
from leapprof.latency.wire import Deadline, Failure, ProbeError, connect, resolve, tls_context, wrap_tls
from leapprof.latency.yellowstone import message_of, ping_request, subscribe_request

if TYPE_CHECKING:
    import grpc

MAX_MESSAGE_BYTES = 16 * 2**20
"""A transaction with its logs is far below 1 MiB."""
_POLL_S = 0.25
_KEEPALIVE_MS = 30_000
_OPTIONS = (
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.keepalive_time_ms", _KEEPALIVE_MS),
    ("grpc.enable_http_proxy", 0),
    ("grpc.enable_retries", 0),
    ("grpc.use_local_subchannel_pool", 1),  # a channel of its own each time: no back-off of the one before
)


@dataclass(frozen=True, slots=True, kw_only=True)
class YellowstoneSubscription:
    """Transactions of one account, from a Yellowstone server.

    Attributes:
        account: public key, base58.
        token: sent as ``x-token``; None for none.
        ca_file: certificates to trust instead of the system's.
    """

    endpoint: Endpoint
    account: str
    token: str | None = field(default=None, repr=False)
    ca_file: Path | None = None
    can_end = False

    @property
    def name(self) -> str:
        """Return how it is called."""
        return self.endpoint.authority

    def close(self) -> None:
        """Nothing is open between connections."""

    def check(self, timeout_s: float) -> None:
        """Connect, and ask for its version.

        Raises:
            ProbeError: it cannot be reached, refuses the token, or is no Yellowstone server.
        """
        pb = _protocol()
        _grpc()  # what is missing here is said before what is wrong there
        deadline = Deadline.after(timeout_s)
        context = self._context()
        with connect(
            resolve(self.endpoint)[0], deadline
        ) as sock:  # says more of what is wrong than gRPC does
            if context is not None:
                wrap_tls(sock, self.endpoint.host, context, deadline).close()
        with self._channel() as channel, self._translated(timeout_s):
            ask = channel.unary_unary(
                "/geyser.Geyser/GetVersion",
                request_serializer=pb.GetVersionRequest.SerializeToString,
                response_deserializer=pb.GetVersionResponse.FromString,
            )
            ask(pb.GetVersionRequest(), timeout=deadline.left_s("answer"), metadata=self._metadata())

    def arrivals(self, after: int | None, timeout_s: float, stopped: threading.Event) -> Iterator[Arrival]:
        """Yield transactions and slots as they come; from a slot on where the server keeps it.

        Raises:
            ProbeError: the connection was lost, or nothing came within the time-out.
        """
        with self._channel() as channel:
            if after is not None:
                came = 0
                try:
                    for arrival in self._subscribed(channel, after, timeout_s, stopped):
                        came += 1
                        yield arrival
                except ProbeError as error:
                    if came or error.failure is not Failure.STATUS:
                        raise
                else:
                    return
            yield from self._subscribed(channel, None, timeout_s, stopped)

    def _subscribed(
        self, channel: "grpc.Channel", from_slot: int | None, timeout_s: float, stopped: threading.Event
    ) -> Iterator[Arrival]:
        pb = _protocol()
        requests: queue.SimpleQueue[Any] = queue.SimpleQueue()
        requests.put(subscribe_request(self.account, from_slot))
        subscribe = channel.stream_stream(
            "/geyser.Geyser/Subscribe",
            request_serializer=pb.SubscribeRequest.SerializeToString,
            response_deserializer=pb.SubscribeUpdate.FromString,
        )
        call = subscribe(iter(requests.get, None), metadata=self._metadata())
        with _Watch(call, timeout_s, stopped) as watch, self._translated(timeout_s, watch):
            try:
                for update in call:
                    came = Clock()
                    watch.heard()
                    if update.WhichOneof("update_oneof") == "ping":
                        requests.put(ping_request())
                    message = message_of(update)
                    if message is not None:
                        yield came.arrival(message)
            finally:
                requests.put(None)
                call.cancel()
        if not stopped.is_set():
            raise ProbeError(Failure.CLOSED, "the server ended the subscription")

    def _context(self) -> ssl.SSLContext | None:
        if not self.endpoint.tls:
            return None
        context = tls_context(self.ca_file)
        context.set_alpn_protocols(["h2"])
        return context

    def _channel(self) -> "grpc.Channel":
        grpc, authority = _grpc(), self.endpoint.authority
        context = self._context()
        if context is None:
            return grpc.insecure_channel(authority, options=_OPTIONS)
        roots = "".join(ssl.DER_cert_to_PEM_cert(c) for c in context.get_ca_certs(binary_form=True))
        credentials = grpc.ssl_channel_credentials(root_certificates=roots.encode() or None)
        return grpc.secure_channel(authority, credentials, options=_OPTIONS)

    def _metadata(self) -> tuple[tuple[str, str], ...]:
        return () if self.token is None else (("x-token", self.token),)

    @contextmanager
    def _translated(self, timeout_s: float, watch: "_Watch | None" = None) -> Iterator[None]:
        """Turn what gRPC raises into a ProbeError; the end of a run is none."""
        grpc = _grpc()
        try:
            yield
        except grpc.RpcError as error:
            if watch is not None and watch.stopped.is_set():
                return
            if watch is not None and watch.is_silent:
                raise ProbeError(Failure.TIMEOUT, f"no message within {timeout_s:g} s") from error
            raise self._problem(error.code().name, error.details() or "", timeout_s) from error

    def _problem(self, code: str, details: str, timeout_s: float) -> ProbeError:
        """Return what a status of gRPC means (grpc.io, "Status codes and their use in gRPC")."""
        said = f"{code}: {quoted(details.rpartition('last error: ')[2])}"
        token = "asks for a token" if self.token is None else "refuses the token"
        meanings = {
            "DEADLINE_EXCEEDED": (Failure.TIMEOUT, f"no answer within {timeout_s:g} s"),
            "UNAUTHENTICATED": (Failure.STATUS, f"the server {token} ({said})"),
            "PERMISSION_DENIED": (Failure.STATUS, f"the server {token} ({said})"),
            "UNIMPLEMENTED": (Failure.PROTOCOL, f"it speaks gRPC, but is no Yellowstone server ({said})"),
            "UNAVAILABLE": (Failure.CLOSED, f"the connection was lost, or it speaks no gRPC ({said})"),
            "UNKNOWN": (Failure.PROTOCOL, f"it answers otherwise than Yellowstone does ({said})"),
        }
        if code == "RESOURCE_EXHAUSTED" and "larger than max" in details:
            return ProbeError(Failure.TOO_LARGE, f"a message is over {MAX_MESSAGE_BYTES} bytes")
        return ProbeError(*meanings.get(code, (Failure.STATUS, f"the server refuses ({said})")))


class _Watch:
    """Ends a subscription that is silent for too long, or when the run ends. Use with ``with``."""

    def __init__(self, call: Any, timeout_s: float, stopped: threading.Event) -> None:  # noqa: ANN401 - of grpc
        """Begin to watch."""
        self._call, self._timeout_s, self.stopped = call, timeout_s, stopped
        self._heard_s = time.monotonic()
        self._done = threading.Event()
        self.is_silent = False
        threading.Thread(target=self._run, name="watch", daemon=True).start()

    def __enter__(self) -> "_Watch":
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()

    def heard(self) -> None:
        """Say that a message came."""
        self._heard_s = time.monotonic()

    def _run(self) -> None:
        while not self._done.wait(min(_POLL_S, self._timeout_s)):
            self.is_silent = time.monotonic() - self._heard_s > self._timeout_s
            if self.is_silent or self.stopped.is_set():
                self._call.cancel()
                return


def _grpc() -> Any:  # noqa: ANN401 - grpcio has no types
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # it writes what it makes of errors to standard error
    try:
        import grpc
    except ImportError as error:
        raise _missing() from error
    return grpc


def _protocol() -> Any:  # noqa: ANN401 - made by protoc
    try:
        from leapprof.latency import yellowstone_pb2
    except ImportError as error:
        raise _missing() from error
    return yellowstone_pb2


def _missing() -> ConfigError:
    return ConfigError(
        "--yellowstone needs the packages grpcio and protobuf: pip install 'leapprof[latency]'"
    )
