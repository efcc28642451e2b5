"""Packet captures as files: pcap (both byte orders, micro- and nanoseconds) and pcapng. They are not trusted.

Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng, https://www.tcpdump.org/linktypes.html.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from leapprof.errors import ParseError
from leapprof.units import NS_PER_S

MOST_FRAME_BYTES = 2**20
"""libpcap takes 262,144 at most, but for USB."""
_MOST_BLOCK_BYTES = 2**24
_LATEST_NS = 2**62
_MOST_INTERFACES = 1000
_MAGICS = {
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\x3c\x4d": (">", 1),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
}
"""Magic number as it stands in the file → byte order, nanoseconds a unit of the fraction."""
_NG_SECTION, _NG_INTERFACE, _NG_PACKET = b"\x0a\x0d\x0d\x0a", 1, 6
_NG_MAGICS = {b"\x1a\x2b\x3c\x4d": ">", b"\x4d\x3c\x2b\x1a": "<"}
_OPTION_RESOLUTION, _OPTION_OFFSET = 9, 14
_MOST_DIGITS = 63
_LINK_MASK = 0xFFFF


@dataclass(frozen=True, slots=True)
class CapturedFrame:
    """One frame: when it was seen, its link type, the bytes that were kept."""

    wall_ns: int
    link_type: int
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Interface:
    """What a pcapng says of an interface: link type, units of time a second, seconds to add."""

    link_type: int
    units_per_s: int = 1_000_000
    offset_s: int = 0


@dataclass(slots=True, kw_only=True)
class CaptureFile:
    """A capture that is read once, from its beginning.

    Attributes:
        name: for messages.
        resolution_ns: smallest step of its stamps; 0 before the first frame.
        is_cut: its last frame is not whole: whoever wrote it was ended, or still writes.
    """

    stream: BinaryIO
    name: str
    resolution_ns: int = 0
    is_cut: bool = False
    _interfaces: list[_Interface] = field(default_factory=list)

    def frames(self) -> Iterator[CapturedFrame]:
        """Yield the frames in the order of the file.

        Raises:
            ParseError: it is no capture, or damaged.
        """
        magic = self.stream.read(4)
        if magic in _MAGICS:
            yield from self._classic(*_MAGICS[magic])
        elif magic == _NG_SECTION:
            yield from self._sections()
        else:
            raise self._error("a capture: pcap or pcapng", magic)

    def _error(self, expected: str, found: bytes) -> ParseError:
        return ParseError("capture", f"{expected} in {self.name}", line=found.hex())

    def _take(self, count: int) -> bytes | None:
        """Return so many bytes; None at the end of the file, also in the middle of them."""
        data = self.stream.read(count)
        self.is_cut = self.is_cut or 0 < len(data) < count
        return data if len(data) == count else None

    def _classic(self, order: str, unit_ns: int) -> Iterator[CapturedFrame]:
        head = self._take(20)
        if head is None:
            raise self._error("a whole header", b"")
        link_type = struct.unpack_from(order + "I", head, 16)[0] & _LINK_MASK
        self.resolution_ns = unit_ns
        record = struct.Struct(order + "IIII")
        while (one := self._take(record.size)) is not None:
            seconds, fraction, kept, _ = record.unpack(one)
            if kept > MOST_FRAME_BYTES:
                raise self._error(f"frames of at most {MOST_FRAME_BYTES} bytes", one)
            data = self._take(kept)
            if data is None:
                self.is_cut = True
                return
            yield self._frame(seconds * NS_PER_S + fraction * unit_ns, link_type, data)

    def _frame(self, wall_ns: int, link_type: int, data: bytes) -> CapturedFrame:
        if not 0 <= wall_ns < _LATEST_NS:
            raise self._error("a time from 1970 to 2116", str(wall_ns).encode())
        return CapturedFrame(wall_ns, link_type, data)

    def _sections(self) -> Iterator[CapturedFrame]:
        order = self._section()
        while (kind_bytes := self._take(4)) is not None:
            if kind_bytes == _NG_SECTION:
                order = self._section()
                continue
            kind = struct.unpack(order + "I", kind_bytes)[0]
            body = self._block(order, self._take(4))
            if body is None:
                return
            if kind == _NG_INTERFACE:
                self._add_interface(order, body)
            elif kind == _NG_PACKET:
                yield self._packet(order, body)

    def _section(self) -> str:
        """Read a section's header, which says the byte order of what follows, and return that."""
        length, magic = self._take(4), self._take(4)
        order = _NG_MAGICS.get(magic or b"")
        if length is None or order is None:
            raise self._error("a section's byte order", magic or b"")
        self._interfaces.clear()
        if self._block(order, length, already=4) is None:
            raise self._error("a whole section header", b"")
        return order

    def _block(self, order: str, length: bytes | None, already: int = 0) -> bytes | None:
        """Return what is in a block behind its length, without what was read already; None at the end of the file."""
        if length is None:
            self.is_cut = True
            return None
        total = struct.unpack(order + "I", length)[0]
        if total % 4 or not 12 + already <= total <= _MOST_BLOCK_BYTES:
            raise self._error("a block's length", length)
        body = self._take(total - 12 - already)
        again = None if body is None else self._take(4)
        if again is None:
            self.is_cut = True
            return None
        if again != length:
            raise self._error("the same length at both ends of a block", again)
        return body

    def _add_interface(self, order: str, body: bytes) -> None:
        if len(body) < 8 or len(self._interfaces) >= _MOST_INTERFACES:
            raise self._error("an interface", body[:16])
        link_type = struct.unpack_from(order + "H", body)[0]
        options = dict(_options(order, body[8:]))
        resolution = options.get(_OPTION_RESOLUTION, b"\x06")[:1] or b"\x06"
        exponent, is_binary = resolution[0] & 0x7F, resolution[0] >> 7
        if exponent > _MOST_DIGITS:
            raise self._error("a resolution of time", resolution)
        offset = options.get(_OPTION_OFFSET, b"")
        interface = _Interface(
            link_type=link_type,
            units_per_s=2**exponent if is_binary else 10**exponent,
            offset_s=struct.unpack(order + "q", offset)[0] if len(offset) == 8 else 0,
        )
        self._interfaces.append(interface)

    def _packet(self, order: str, body: bytes) -> CapturedFrame:
        if len(body) < 20:
            raise self._error("a packet", body)
        number, high, low, kept, _ = struct.unpack_from(order + "IIIII", body)
        if number >= len(self._interfaces) or kept > min(len(body) - 20, MOST_FRAME_BYTES):
            raise self._error("a packet of a known interface", body[:20])
        interface = self._interfaces[number]
        self.resolution_ns = max(self.resolution_ns, NS_PER_S // interface.units_per_s, 1)
        wall_ns = (high << 32 | low) * NS_PER_S // interface.units_per_s + interface.offset_s * NS_PER_S
        return self._frame(wall_ns, interface.link_type, body[20 : 20 + kept])


def _options(order: str, data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield code and value of the options of a block; a list that is cut ends."""
    at = 0
    while at + 4 <= len(data):
        code, length = struct.unpack_from(order + "HH", data, at)
        if code == 0:
            return
        yield code, data[at + 4 : at + 4 + length]
        at += 4 + length + -length % 4
