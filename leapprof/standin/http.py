"""Answers get_info, db_size and prometheus metrics, in nodeos's form, from one thread.

Fields and names: chain_plugin, db_size_api_plugin and prometheus_plugin of Leap 5.0.3 (metrics.hpp) and
4.0.6 (prometheus_plugin.cpp, names without prefix, on an address of their own). A raw socket loop, because
http.server would double the program's memory.
"""

import json
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from leapprof.errors import ConfigError
from leapprof.standin.log import iso_time

SERVER = "leapprof-standin"
CHAIN_ID = "1ea9970f" + "0" * 56
_REQUEST_BYTES = 16 * 1024
_TIMEOUT_S = 1.0
_POLL_S = 0.5
_MAX_PORT = 65_535


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the server tells, taken once a block.

    Attributes:
        head_time_ns: wall time of the head block.
        transactions, blocks, cpu_us: since this start.
    """

    version: str
    head_block: int
    head_id: str
    head_time_ns: int
    size_bytes: int
    used_bytes: int
    transactions: int
    blocks: int
    cpu_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One HTTP answer."""

    status: int
    content_type: str
    body: bytes


Handler = Callable[[Status], Answer]


def _json(fields: object, status: int = 200) -> Answer:
    return Answer(status=status, content_type="application/json", body=json.dumps(fields).encode())


def answer_info(status: Status) -> Answer:
    """Return what /v1/chain/get_info says."""
    last_irreversible = max(0, status.head_block - 2)
    return _json(
        {
            "server_version": "1ea9970f",
            "chain_id": CHAIN_ID,
            "head_block_num": status.head_block,
            "last_irreversible_block_num": last_irreversible,
            "head_block_id": status.head_id,
            "head_block_time": iso_time(status.head_time_ns),
            "head_block_producer": "standin",
            "server_version_string": status.version,
            "server_full_version_string": f"{status.version}-standin",
            "fork_db_head_block_num": status.head_block,
            "earliest_available_block_num": 1,
        }
    )


def answer_db_size(status: Status) -> Answer:
    """Return what /v1/db_size/get says."""
    free = status.size_bytes - status.used_bytes
    rows = [{"index": "leapprof::standin::row_object", "row_count": status.used_bytes // 128}]
    return _json(
        {"free_bytes": free, "used_bytes": status.used_bytes, "size": status.size_bytes, "indices": rows}
    )


def _exposition(rows: list[tuple[str, str, str, int]]) -> Answer:
    lines: list[str] = []
    for name, kind, labels, value in rows:
        lines += [f"# HELP {name} of leapprof's stand-in", f"# TYPE {name} {kind}", f"{name}{labels} {value}"]
    return Answer(status=200, content_type="text/plain", body=("\n".join(lines) + "\n").encode())


def answer_metrics(status: Status) -> Answer:
    """Return metrics with the names of Leap 5.0 and later."""
    incoming, produced = '{block_type="incoming"}', '{block_type="produced"}'
    labels = f'{{server_version="1ea9970f",chain_id="{CHAIN_ID}",server_version_string="{status.version}"}}'
    return _exposition(
        [
            ("nodeos_info", "gauge", labels, 1),
            ("nodeos_p2p_peers", "gauge", "", 0),
            ("nodeos_p2p_clients", "gauge", "", 0),
            ("nodeos_head_block_num", "gauge", "", status.head_block),
            ("nodeos_last_irreversible", "gauge", "", max(0, status.head_block - 2)),
            ("nodeos_cpu_usage_us_total", "counter", incoming, status.cpu_us),
            ("nodeos_cpu_usage_us_total", "counter", produced, 0),
            ("nodeos_trxs_incoming_total", "counter", "", status.transactions),
            ("nodeos_trxs_produced_total", "counter", "", 0),
            ("nodeos_blocks_incoming", "counter", "", status.blocks),
            ("nodeos_blocks_produced", "counter", "", 0),
            ("nodeos_incoming_us_total", "counter", "", status.cpu_us),
        ]
    )


def answer_old_metrics(status: Status) -> Answer:
    """Return metrics with the names of Leap 4.0, which have no prefix."""
    return _exposition(
        [
            ("num_peers", "gauge", "", 0),
            ("num_clients", "gauge", "", 0),
            ("head_block_num", "gauge", "", status.head_block),
            ("last_irreversible", "gauge", "", max(0, status.head_block - 2)),
            ("blocks_produced", "counter", "", 0),
            ("trxs_produced", "counter", "", 0),
        ]
    )


_METRICS_PATH = "/v1/prometheus/metrics"
API: Mapping[str, Handler] = {"/v1/chain/get_info": answer_info, "/v1/db_size/get": answer_db_size}
API_WITH_METRICS: Mapping[str, Handler] = {**API, _METRICS_PATH: answer_metrics}
OLD_EXPORTER: Mapping[str, Handler] = {_METRICS_PATH: answer_old_metrics}


def _listener(address: str) -> socket.socket:
    host, colon, port = address.rpartition(":")
    if not (colon and port.isascii() and port.isdigit()) or int(port) > _MAX_PORT:
        raise ConfigError(f"expected host:port, found {address!r}", key="http-server-address")
    try:
        return socket.create_server((host.strip("[]") or "127.0.0.1", int(port)), backlog=16)
    except OSError as error:
        raise ConfigError(f"cannot listen on {address}: {error}", key="http-server-address") from error


class HttpServer:
    """Answers one connection after another in a thread of its own, until closed."""

    def __init__(self, address: str, handlers: Mapping[str, Handler], status: Callable[[], Status]) -> None:
        """Listen at once; ``address`` then holds the port really used."""
        self._listener = _listener(address)
        self._listener.settimeout(_POLL_S)
        name = self._listener.getsockname()
        self.address = f"{name[0]}:{name[1]}"
        self._handlers, self._status = handlers, status
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="http-0", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening and wait for the thread."""
        self._ended.set()
        self._thread.join(timeout=_TIMEOUT_S + _POLL_S)
        self._listener.close()

    def _serve(self) -> None:
        while not self._ended.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:  # the poll's time-out, or closed
                continue
            with connection:
                try:
                    connection.settimeout(_TIMEOUT_S)
                    connection.sendall(self._respond(connection))
                except OSError:  # a client that went away or never asked
                    continue

    def _respond(self, connection: socket.socket) -> bytes:
        request = b""
        while b"\r\n\r\n" not in request and len(request) < _REQUEST_BYTES:
            piece = connection.recv(4096)
            if not piece:
                break
            request += piece
        fields = request.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
        handler = self._handlers.get(fields[1]) if len(fields) > 1 else None
        status = self._status()
        answer = handler(status) if handler else _json({"code": 404, "message": "Not Found"}, 404)
        head = (
            f"HTTP/1.1 {answer.status} {'OK' if answer.status == 200 else 'Not Found'}\r\n"
            f"Server: {SERVER}/{status.version}\r\nContent-Type: {answer.content_type}\r\n"
            f"Content-Length: {len(answer.body)}\r\nConnection: close\r\n\r\n"
        )
        return head.encode() + answer.body
