"""The probe ``request``: HTTP requests to nodeos's API in an open loop.

Paths and bodies: chain_api_plugin of Leap 5.0.3 (plugins/chain_api_plugin/chain.swagger.yaml).
"""

import json
import ssl
import threading
from dataclasses import dataclass

from leapprof.errors import ConfigError, SourceError, quoted
from leapprof.latency.blocks import Blocks, Subject
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.http import HttpConnection, Request, Response
from leapprof.latency.open_loop import Pace, Schedule, work
from leapprof.latency.recording import RunWriter
from leapprof.latency.wire import Address, Deadline, Failure, ProbeError, resolve

PROBE = "request"
MAX_REQUEST_BYTES = 2**20
_LEAST_ERROR_STATUS = 300
"""A redirection is no answer either: where it leads to is another endpoint."""
_BODIES: dict[str, dict[str, object]] = {
    "get_info": {},
    "get_block": {"block_num_or_id": 1},
    "get_account": {"account_name": "eosio"},
    "get_table_rows": {"code": "eosio", "scope": "eosio", "table": "global", "json": True, "limit": 10},
}
OPERATIONS = (*_BODIES, "send_read_only_transaction")


def request_of(operation: str, body: bytes | None) -> Request:
    """Return the request of an operation of the chain API, or of any path.

    Args:
        operation: one of OPERATIONS, or a path that begins with a slash.
        body: instead of the ready one.

    Raises:
        ConfigError: the operation is not known, or needs a body.
    """
    is_path = operation.startswith("/")
    if is_path and not all(c.isascii() and c.isprintable() and c != " " for c in operation):
        raise ConfigError("a path has no spaces or control characters", key="--operation")
    if not is_path and operation not in OPERATIONS:
        raise ConfigError(
            f"{operation!r} is none of {', '.join(OPERATIONS)}, and no path such as /v1/chain/get_info",
            key="--operation",
        )
    if body is None and not is_path and operation not in _BODIES:
        raise ConfigError(f"{operation} needs a body: --body FILE", key="--body")
    if body is not None and len(body) > MAX_REQUEST_BYTES:
        raise ConfigError(f"is over {MAX_REQUEST_BYTES} bytes", key="--body")
    ready = json.dumps(_BODIES.get(operation, {})).encode()
    path = operation if is_path else f"/v1/chain/{operation}"
    return Request(name=operation, path=path, body=ready if body is None else body)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPlan:
    """What is asked of whom, and how often.

    Attributes:
        requests: asked in turns.
        connections: kept open, a thread each; so many requests can be under way at once.
    """

    endpoint: Endpoint
    address: Address
    requests: tuple[Request, ...]
    pace: Pace
    connections: int

    @property
    def context(self) -> ssl.SSLContext | None:
        """Return how TLS is spoken; None for plain HTTP."""
        return ssl.create_default_context() if self.endpoint.tls else None

    @property
    def subjects(self) -> tuple[Subject, ...]:
        """Return what the delays are of, in the order of the requests."""
        return tuple(
            Subject(probe=PROBE, operation=r.name, target=self.endpoint.authority) for r in self.requests
        )


def check(endpoint: Endpoint, requests: tuple[Request, ...], timeout_s: float) -> tuple[Address, Response]:
    """Ask each request once, so that an endpoint that is no such API ends the run before it begins.

    Returns:
        The address that answered first, and its last answer.

    Raises:
        SourceError: none of the addresses answers every request with success.
    """
    problem = "it has no address"
    try:
        for address in resolve(endpoint):
            try:
                return address, _asked_once(endpoint, address, requests, timeout_s)
            except ProbeError as error:
                problem = f"{address.text}: {error.problem}{_hint(endpoint, error)}"
                if error.failure is Failure.STATUS:
                    break
    except ProbeError as error:
        problem = error.problem
    raise SourceError(endpoint.authority, problem)


def _hint(endpoint: Endpoint, error: ProbeError) -> str:
    is_maybe_tls = error.failure is Failure.CLOSED and not endpoint.tls
    return "; it may want TLS: https://…" if is_maybe_tls else ""


def _asked_once(
    endpoint: Endpoint, address: Address, requests: tuple[Request, ...], timeout_s: float
) -> Response:
    context = ssl.create_default_context() if endpoint.tls else None
    with HttpConnection(endpoint, address, context) as connection:
        for request in requests:
            response = connection.ask(request.encoded(endpoint), Deadline.after(timeout_s))
            _check_status(request, response)
            _check_form(request, response)
    return response


def _check_form(request: Request, response: Response) -> None:
    """Refuse what answers a call of the chain API with something else than JSON, a web page for one."""
    if request.name not in OPERATIONS:
        return
    try:
        found = json.loads(response.body)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        said = response.body[:60].decode("utf-8", "replace")
        raise ProbeError(
            Failure.PROTOCOL,
            f"{request.path} is answered with no JSON object, so this is no API of nodeos: {quoted(said)}",
        )


def _check_status(request: Request, response: Response) -> None:
    if response.status >= _LEAST_ERROR_STATUS:
        said = response.body[:200].decode("utf-8", "replace")
        said = "".join(c if c.isprintable() else " " for c in said)
        raise ProbeError(Failure.STATUS, f"{request.path} is answered with status {response.status}: {said}")


def run(plan: RequestPlan, writer: RunWriter, start_ns: int) -> None:
    """Make the requests; returns when all are answered or the run is interrupted.

    Args:
        plan: what to do.
        writer: where results go; complete blocks are sealed now and then.
        start_ns: CLOCK_MONOTONIC of the first request.

    Raises:
        KeyboardInterrupt: the operator ended it; what was measured is in the writer.
    """
    schedule = Schedule(plan.pace, start_ns)
    context = plan.context
    threads = [
        threading.Thread(target=_worker, args=(plan, schedule, context, writer.blocks), daemon=True)
        for _ in range(plan.connections)
    ]
    for thread in threads:
        thread.start()
    try:
        writer.wait(threads, plan.pace.timeout_s)
    finally:
        schedule.stopped.set()
        for thread in threads:
            thread.join(plan.pace.timeout_s + 1.0)


def _worker(plan: RequestPlan, schedule: Schedule, context: ssl.SSLContext | None, blocks: Blocks) -> None:
    encoded = [request.encoded(plan.endpoint) for request in plan.requests]
    with HttpConnection(plan.endpoint, plan.address, context) as connection:

        def attempt(number: int, deadline: Deadline) -> None:
            which = number % len(encoded)
            _check_status(plan.requests[which], connection.ask(encoded[which], deadline))

        work(schedule, plan.pace, attempt, blocks, plan.subjects)
