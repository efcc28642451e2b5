"""A state history server on loopback: frames of a real nodeos, restamped, sent at planned moments."""

import base64
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

CAPTURED = json.loads(
    (Path(__file__).parent.parent / "latency" / "data" / "ship-v5.0.3.json").read_text(encoding="utf-8")
)
ABI = json.dumps({"version": "eosio::abi/1.1", "types": []})
LIVE = base64.b64decode(CAPTURED["blocks"][-1])
STATUS = base64.b64decode(CAPTURED["status"])
_THIS_BLOCK = 1 + 36 + 36
_BLOCK_TIME = _THIS_BLOCK + 37 + 37 + 1 + 2
_EPOCH_NS = 946_684_800 * 10**9
SLOT_NS = 500_000_000


def frame(number: int, slot: int = 0, fork: int = 0) -> bytes:
    """Return the captured live block as another: number, id and timestamp replaced."""
    assert LIVE[_THIS_BLOCK] == 1
    block_id = number.to_bytes(4, "big") + fork.to_bytes(4, "big") + bytes(24)
    position = number.to_bytes(4, "little") + block_id
    out = LIVE[: _THIS_BLOCK + 1] + position + LIVE[_THIS_BLOCK + 37 :]
    return out[:_BLOCK_TIME] + slot.to_bytes(4, "little") + out[_BLOCK_TIME + 4 :]


def slot_at(wall_ns: int) -> int:
    """Return the slot that holds a moment."""
    return (wall_ns - _EPOCH_NS) // SLOT_NS


@dataclass(slots=True, kw_only=True)
class Planned:
    """A block and when it is to be sent: seconds on time.monotonic()."""

    due_s: float
    number: int
    data: bytes


@dataclass(slots=True, kw_only=True)
class ShipServer:
    """What a server does and did.

    Attributes:
        plan: called at the first subscription.
        sent_s, sent_wall_ns: number → when it was handed to the socket.
        drop_after: closes the connection after this block, once.
        starts: start block of each subscription.
    """

    plan: Callable[[], Sequence[Planned]]
    sent_s: dict[int, float] = field(default_factory=dict)
    sent_wall_ns: dict[int, int] = field(default_factory=dict)
    drop_after: int | None = None
    starts: list[int] = field(default_factory=list)
    planned: Sequence[Planned] | None = None

    def __call__(self, connection) -> None:
        """Serve one connection."""
        connection.send(ABI)
        while True:
            data = connection.recv()
            if data[0] == 0:
                connection.send(STATUS)
            elif data[0] == 1:
                self._stream(connection, int.from_bytes(data[1:5], "little"))
                return

    def _stream(self, connection, start: int) -> None:
        self.starts.append(start)
        threading.Thread(target=_drain, args=(connection,), daemon=True).start()
        self.planned = self.planned or self.plan()
        for one in self.planned:
            if one.number < start:
                continue
            time.sleep(max(one.due_s - time.monotonic(), 0))
            connection.send(one.data)
            self.sent_s[one.number] = time.monotonic()
            self.sent_wall_ns[one.number] = time.time_ns()
            if one.number == self.drop_after:
                self.drop_after = None
                connection.close()
                return
        time.sleep(0.3)


def _drain(connection) -> None:
    try:
        while True:
            connection.recv()
    except Exception:  # noqa: BLE001 - the connection ends
        return


@contextmanager
def ship_serving(handler: Callable[..., None], port: int = 0) -> Iterator[int]:
    """Serve websockets by a handler, on a free port or on this one; yields the port."""
    from websockets.sync.server import serve

    with serve(handler, "127.0.0.1", port, compression=None, close_timeout=0.5) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server.socket.getsockname()[1]
        finally:
            server.shutdown()
            thread.join(5)
