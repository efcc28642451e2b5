"""A Yellowstone gRPC server on loopback that replays updates at planned moments."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field

import grpc

from leapprof.latency import yellowstone_pb2 as pb

ACCOUNT = "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4"


@dataclass(slots=True, kw_only=True)
class Planned:
    """An update and when it is to be sent: seconds on time.monotonic()."""

    due_s: float
    slot: int
    update: pb.SubscribeUpdate


def transaction(slot: int, number: int, due_s: float = 0.0, stamp_ns: int | None = None) -> Planned:
    """Return a transaction of a slot, told apart by its number."""
    update = pb.SubscribeUpdate()
    update.transaction.slot = slot
    update.transaction.transaction.signature = number.to_bytes(64, "big")
    if stamp_ns is not None:
        update.created_at.FromNanoseconds(stamp_ns)
    return Planned(due_s=due_s, slot=slot, update=update)


def slot_seen(slot: int, parent: int, due_s: float = 0.0) -> Planned:
    """Return the update that a slot is processed."""
    update = pb.SubscribeUpdate()
    update.slot.slot, update.slot.parent = slot, parent
    return Planned(due_s=due_s, slot=slot, update=update)


def ping(due_s: float = 0.0) -> Planned:
    """Return a ping."""
    update = pb.SubscribeUpdate()
    update.ping.SetInParent()
    return Planned(due_s=due_s, slot=0, update=update)


@dataclass(slots=True, kw_only=True)
class YellowstoneServer:
    """What a server does and did.

    Attributes:
        plan: called at the first subscription.
        token: without it nobody is let in.
        drop_after: number of updates after which the first subscription is cut.
        kept_from: oldest slot that can be resumed from; None for none at all.
        sent_s: update's place in the plan → when it was handed over.
        requests: of each subscription, the first one.
        pings: answers to pings.
    """

    plan: Callable[[], Iterable[Planned]] = tuple
    token: str | None = None
    drop_after: int | None = None
    kept_from: int | None = 0
    sent_s: dict[int, float] = field(default_factory=dict)
    requests: list[pb.SubscribeRequest] = field(default_factory=list)
    pings: int = 0
    planned: Iterable[Planned] | None = None
    stopped: threading.Event = field(default_factory=threading.Event)

    def version(self, request: pb.GetVersionRequest, context: grpc.ServicerContext) -> pb.GetVersionResponse:
        """Answer GetVersion."""
        self._check_token(context)
        return pb.GetVersionResponse(version="test")

    def _check_token(self, context: grpc.ServicerContext) -> None:
        given = dict(context.invocation_metadata()).get("x-token")
        if self.token is not None and given != self.token:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "invalid token")

    def subscribe(
        self, requests: Iterator[pb.SubscribeRequest], context: grpc.ServicerContext
    ) -> Iterator[pb.SubscribeUpdate]:
        """Serve one subscription."""
        self._check_token(context)
        first = next(requests)
        self.requests.append(first)
        threading.Thread(target=self._count_pings, args=(requests,), daemon=True).start()
        start = first.from_slot if first.HasField("from_slot") else None
        if start is not None and (self.kept_from is None or start < self.kept_from):
            code = grpc.StatusCode.INTERNAL if self.kept_from is None else grpc.StatusCode.OUT_OF_RANGE
            context.abort(code, "from_slot is not supported")
        self.planned = self.planned or self.plan()
        begun_s = time.monotonic()
        for place, one in enumerate(self.planned):
            if one.slot < start if start is not None else 0 < one.due_s < begun_s - 0.1:
                continue
            if self.stopped.wait(max(one.due_s - time.monotonic(), 0)):
                return
            self.sent_s[place] = time.monotonic()
            yield one.update
            if place == self.drop_after:
                self.drop_after = None
                context.abort(grpc.StatusCode.UNAVAILABLE, "going away")
        self.stopped.wait(5)

    def _count_pings(self, requests: Iterator[pb.SubscribeRequest]) -> None:
        try:
            for request in requests:
                self.pings += request.HasField("ping")
        except Exception:  # noqa: BLE001 - the connection ends
            return


@contextmanager
def yellowstone_serving(
    server: YellowstoneServer, credentials: grpc.ServerCredentials | None = None
) -> Iterator[int]:
    """Serve on a free port of loopback; yields the port."""
    methods = {
        "Subscribe": grpc.stream_stream_rpc_method_handler(
            server.subscribe, pb.SubscribeRequest.FromString, pb.SubscribeUpdate.SerializeToString
        ),
        "GetVersion": grpc.unary_unary_rpc_method_handler(
            server.version, pb.GetVersionRequest.FromString, pb.GetVersionResponse.SerializeToString
        ),
    }
    with yellowstone_methods(methods, credentials) as port:
        try:
            yield port
        finally:
            server.stopped.set()


@contextmanager
def yellowstone_methods(
    methods: dict[str, grpc.RpcMethodHandler],
    credentials: grpc.ServerCredentials | None = None,
    service: str = "geyser.Geyser",
) -> Iterator[int]:
    """Serve methods of a service; yields the port."""
    running = grpc.server(ThreadPoolExecutor(8))
    running.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, methods),))
    address = "127.0.0.1:0"
    port = (
        running.add_insecure_port(address)
        if credentials is None
        else running.add_secure_port(address, credentials)
    )
    running.start()
    try:
        yield port
    finally:
        running.stop(0.5).wait(5)
