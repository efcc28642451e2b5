"""Messages of nodeos's state history (SHiP): what is asked, and the few fields of an answer that say which block it is.

state_history_plugin of Leap 5.0.3: the server sends its ABI as JSON text first, then binary variants. Variant numbers
and fields: state_history_plugin_abi.cpp. A block's bytes begin with its timestamp, in half seconds since 2000.
"""

import struct

from leapprof.errors import ParseError
from leapprof.latency.message import Message
from leapprof.units import NS_PER_MS

_PROBE = "ship"
_STATUS, _BLOCKS = 0, 1
_EPOCH_MS = 946_684_800_000
_SLOT_MS = 500
_ID_BYTES = 32
_POSITION_BYTES = 4 + _ID_BYTES
_FOREVER = 2**32 - 1
_MOST_VARINT_BYTES = 5
STATUS_REQUEST = b"\x00"
IN_FLIGHT = 1000


def blocks_request(start_block: int) -> bytes:
    """Return the request for blocks from a number on, as they come, without traces and deltas."""
    return b"\x01" + struct.pack("<IIIB4B", start_block, _FOREVER, IN_FLIGHT, 0, 0, 1, 0, 0)


def ack_request(messages: int) -> bytes:
    """Return the acknowledgement of messages, so that more may come."""
    return b"\x02" + struct.pack("<I", messages)


class _Reader:
    """Reads fields in order."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        found = self._data[self._at : self._at + count]
        if len(found) < count:
            raise ParseError(_PROBE, f"{count} more bytes", line=self._data[:16].hex())
        self._at += count
        return found

    def byte(self) -> int:
        return self.take(1)[0]

    def number(self) -> int:
        return int.from_bytes(self.take(4), "little")

    def position(self) -> tuple[int, bytes]:
        return self.number(), self.take(_ID_BYTES)

    def optional(self) -> bool:
        flag = self.byte()
        if flag > 1:
            raise ParseError(_PROBE, "an optional field", line=self._data[:16].hex())
        return flag == 1

    def varint(self) -> int:
        value = 0
        for place in range(_MOST_VARINT_BYTES):
            byte = self.byte()
            value |= (byte & 0x7F) << 7 * place
            if byte < 0x80:
                return value
        raise ParseError(_PROBE, "a varuint32", line=self._data[:16].hex())


def parse_status(data: bytes) -> int:
    """Return the head block's number of a status answer.

    Raises:
        ParseError: it is none.
    """
    reader = _Reader(data)
    if reader.byte() != _STATUS:
        raise ParseError(_PROBE, "get_status_result_v0", line=data[:16].hex())
    head = reader.number()
    reader.take(_ID_BYTES + _POSITION_BYTES)
    return head


def parse_block(data: bytes) -> Message | None:
    """Return the block of an answer; None of one that has none yet.

    Raises:
        ParseError: it is no get_blocks_result_v0.
    """
    reader = _Reader(data)
    if reader.byte() != _BLOCKS:
        raise ParseError(_PROBE, "get_blocks_result_v0", line=data[:16].hex())
    reader.take(2 * _POSITION_BYTES)
    if not reader.optional():
        return None
    number, block_id = reader.position()
    if reader.optional():
        reader.take(_POSITION_BYTES)
    stamp_ns = None
    if reader.optional() and reader.varint() >= 4:
        stamp_ns = (_EPOCH_MS + reader.number() * _SLOT_MS) * NS_PER_MS
    return Message(number=number, before=number - 1, key=block_id, stamp_ns=stamp_ns)
