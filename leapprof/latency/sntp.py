"""How far this machine's wall clock is off: one question to a time server (SNTP, RFC 4330)."""

import socket
import struct
import time

from leapprof.model import ClockOffset
from leapprof.units import NS_PER_S

PORT = 123
_CLIENT_V4 = b"\x23" + bytes(47)
_TO_UNIX_S = 2_208_988_800
_PACKET_BYTES = 48
_SERVER_MODE = 4
_MOST_STRATUM = 15


def clock_offset(server: str, timeout_s: float, port: int = PORT) -> ClockOffset | None:
    """Return this machine's wall clock minus the server's; None when it does not answer, or not as a time server.

    Args:
        server: name or address.
        timeout_s: for the answer.
        port: of the server.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(server, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, protocol) as sock:
            sock.settimeout(timeout_s)
            sock.connect(address)
            sent_wall_ns, sent_ns = time.time_ns(), time.monotonic_ns()
            sock.send(_CLIENT_V4[:40] + _stamp(sent_wall_ns))
            answer = sock.recv(512)
            round_trip_ns = time.monotonic_ns() - sent_ns
    except (OSError, UnicodeError):
        return None
    return _offset(answer, sent_wall_ns, round_trip_ns)


def _stamp(wall_ns: int) -> bytes:
    seconds, rest = divmod(wall_ns, NS_PER_S)
    return struct.pack(">II", (seconds + _TO_UNIX_S) % 2**32, rest * 2**32 // NS_PER_S)


def _wall_ns(seconds: int, fraction: int) -> int:
    return (seconds - _TO_UNIX_S) * NS_PER_S + fraction * NS_PER_S // 2**32


def _offset(answer: bytes, sent_wall_ns: int, round_trip_ns: int) -> ClockOffset | None:
    if len(answer) < _PACKET_BYTES or answer[0] & 7 != _SERVER_MODE or not 0 < answer[1] <= _MOST_STRATUM:
        return None
    if answer[24:32] != _stamp(sent_wall_ns):
        return None
    received_ns = _wall_ns(*struct.unpack(">II", answer[32:40]))
    replied_ns = _wall_ns(*struct.unpack(">II", answer[40:48]))
    on_the_way_ns = round_trip_ns - (replied_ns - received_ns)
    middle_ns = sent_wall_ns + round_trip_ns // 2
    return ClockOffset(
        taken_wall_ns=sent_wall_ns,
        offset_s=(middle_ns - (received_ns + replied_ns) // 2) / NS_PER_S,
        round_trip_s=max(on_the_way_ns, 0) / NS_PER_S,
    )
