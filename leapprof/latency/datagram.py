"""What a captured frame carries: the payload of UDP or TCP, whatever the headers around it say. Pure.

Sources: RFC 791, 8200, 768, 9293; link types of https://www.tcpdump.org/linktypes.html.
"""

import ipaddress
import struct
from dataclasses import dataclass

_ETHERNET, _NULL, _SLL, _SLL2 = 1, 0, 113, 276
_RAW = frozenset({12, 14, 101, 228, 229})
_TYPE_AT = {_ETHERNET: 12, _SLL: 14, _SLL2: 0}
"""Link type → where the EtherType stands."""
_HEADER_BYTES = {_ETHERNET: 14, _SLL: 16, _SLL2: 20, _NULL: 4}
_VLAN = frozenset({0x8100, 0x88A8})
_IP_TYPES = frozenset({0x0800, 0x86DD})
_TCP, _UDP = 6, 17
_EXTENSIONS = frozenset({0, 43, 60})
"""Hop-by-hop options, routing, destination options: 8 bytes and as many eights as the second byte says."""
_MOST_EXTENSIONS = 8
_TCP_OFFSET_AT = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Datagram:
    """One payload on its way.

    Attributes:
        transport: ``udp`` or ``tcp``.
        address, port: where it goes to.
        is_whole: the capture kept all of it.
    """

    transport: str
    address: str
    port: int
    payload: bytes
    is_whole: bool

    @property
    def destination(self) -> str:
        """Return ``address:port``, IPv6 in brackets."""
        return f"[{self.address}]:{self.port}" if ":" in self.address else f"{self.address}:{self.port}"


def datagram_of(link_type: int, data: bytes) -> Datagram | None:
    """Return the payload of a frame; None for anything but whole, unfragmented packets of UDP or TCP with a payload."""
    packet = _network(link_type, data)
    if not packet:
        return None
    version = packet[0] >> 4
    if version == 4:
        return _ipv4(packet)
    return _ipv6(packet) if version == 6 else None


def _network(link_type: int, data: bytes) -> bytes | None:
    """Return a frame without its link's header; None when that carries no IP."""
    if link_type in _RAW:
        return data
    start = _HEADER_BYTES.get(link_type)
    if start is None or len(data) < start:
        return None
    if link_type == _NULL:
        return data[start:]
    ether_type = int.from_bytes(data[_TYPE_AT[link_type] :][:2], "big")
    while ether_type in _VLAN and len(data) >= start + 4:
        ether_type, start = int.from_bytes(data[start + 2 : start + 4], "big"), start + 4
    return data[start:] if ether_type in _IP_TYPES else None


def _ipv4(packet: bytes) -> Datagram | None:
    header = 4 * (packet[0] & 0x0F)
    if header < 20 or len(packet) < header:
        return None
    total, fragment = struct.unpack_from("!2xH2xH", packet)
    if fragment & 0x3FFF:  # more fragments, or an offset
        return None
    address = str(ipaddress.IPv4Address(packet[16:20]))
    return _transport(packet[9], address, packet[header : total or None], (total or len(packet)) - header)


def _ipv6(packet: bytes) -> Datagram | None:
    if len(packet) < 40:
        return None
    length, protocol = struct.unpack_from("!4xHB", packet)
    address = str(ipaddress.IPv6Address(packet[24:40]))
    rest = packet[40 : 40 + length] if length else packet[40:]
    left = length or len(rest)
    for _ in range(_MOST_EXTENSIONS):
        if protocol not in _EXTENSIONS:
            return _transport(protocol, address, rest, left)
        if len(rest) < 8:
            return None
        protocol, size = rest[0], 8 * (rest[1] + 1)
        rest, left = rest[size:], left - size
    return None


def _transport(protocol: int, address: str, segment: bytes, length: int) -> Datagram | None:
    """Return the payload of a segment that has this length on the wire."""
    header = 8
    if protocol == _TCP and len(segment) >= 20:
        header = 4 * (segment[_TCP_OFFSET_AT] >> 4)
    elif protocol != _UDP or len(segment) < header:
        return None
    if length <= header or header < 8:
        return None
    return Datagram(
        transport="tcp" if protocol == _TCP else "udp",
        address=address,
        port=int.from_bytes(segment[2:4], "big"),
        payload=segment[header:],
        is_whole=len(segment) >= length,
    )
