"""Captures as files: real ones of tcpdump, rewritten in every form, and anything else."""

import io
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import ParseError
from leapprof.latency.capture import CaptureFile
from leapprof.latency.datagram import datagram_of

DATA = Path(__file__).parent / "data" / "captures"
FILES = sorted(DATA.glob("*.pcap"))


def frames_of(data):
    """Return the frames of a capture, and the capture."""
    capture = CaptureFile(stream=io.BytesIO(data), name="x.pcap")
    return list(capture.frames()), capture


def classic(frames, order="<", nano=False):
    """Return a pcap of frames."""
    magic, unit = (0xA1B23C4D, 1) if nano else (0xA1B2C3D4, 1000)
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, frames[0].link_type)]
    for frame in frames:
        seconds, rest = divmod(frame.wall_ns, 10**9)
        out.append(
            struct.pack(order + "IIII", seconds, rest // unit, len(frame.data), len(frame.data)) + frame.data
        )
    return b"".join(out)


def block(order, kind, body):
    """Return a block of a pcapng."""
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", len(body) + 12)
    return struct.pack(order + "I", kind) + length + body + length


def section(order):
    """Return the header of a section."""
    return block(order, 0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))


def ng(frames, order="<", resolution=9):
    """Return a pcapng of frames, with a block that nobody knows between them."""
    option = struct.pack(order + "HHB3x", 9, 1, resolution) + struct.pack(order + "HH", 0, 0)
    interface = struct.pack(order + "HHI", frames[0].link_type, 0, 0) + option
    out = [section(order), block(order, 1, interface)]
    units = 2 ** (resolution & 0x7F) if resolution >> 7 else 10**resolution
    for frame in frames:
        ticks = frame.wall_ns * units // 10**9
        head = struct.pack(
            order + "IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(frame.data), len(frame.data)
        )
        out += [block(order, 6, head + frame.data), block(order, 0x0BAD, b"what")]
    return b"".join(out)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_real_capture_is_the_same_in_every_form(path):
    """Both byte orders, micro- and nanoseconds, pcapng with three resolutions: the same frames."""
    frames, capture = frames_of(path.read_bytes())
    assert capture.resolution_ns == (1 if path.stem.endswith("-ns") else 1000)
    assert not capture.is_cut
    assert len(frames) > 40
    for order in "<>":
        assert frames_of(classic(frames, order, nano=True))[0] == frames
        assert frames_of(ng(frames, order))[0] == frames
        found, capture = frames_of(ng(frames, order, resolution=0x80 | 30))
        assert all(abs(a.wall_ns - b.wall_ns) <= 1 for a, b in zip(found, frames, strict=True))
        micro = frames_of(classic(frames, order))[0]
        assert [f.wall_ns for f in micro] == [f.wall_ns // 1000 * 1000 for f in frames]
        assert [f.wall_ns for f in frames_of(ng(frames, order, resolution=6))[0]] == [
            f.wall_ns for f in micro
        ]


@pytest.mark.parametrize(("make", "behind"), [(classic, 0), (ng, len(block("<", 0x0BAD, b"what")))])
def test_a_file_that_is_cut_gives_what_is_whole(make, behind):
    """A tcpdump that was killed, or still writes: at every byte of the end of the file."""
    frames, _ = frames_of(FILES[0].read_bytes())
    data = make(frames[:3])
    last = len(data) - len(make(frames[:2]))
    for missing in range(1, last):
        found, capture = frames_of(data[:-missing])
        assert found == frames[: 3 if missing <= behind else 2]
        assert capture.is_cut is (missing != behind)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xa1\xb2\xc3\xd4",
        b"HTTP/1.1 200 OK\r\n",
        struct.pack("<IHHiIIIIIII", 0xA1B2C3D4, 2, 4, 0, 0, 9, 1, 0, 0, 2**31, 2**31),
        section("<")[:8] + b"nope" + section("<")[12:],
        section("<") + struct.pack("<II", 1, 2**31),
        section("<") + struct.pack("<II", 1, 13),
        section("<") + struct.pack("<II", 1, 4),
        section("<") + block("<", 6, bytes(24)),
        section("<") + block("<", 1, struct.pack("<HHIHHB3x", 1, 0, 0, 9, 1, 100)),
        section("<") + block("<", 6, bytes(4)),
        section("<")[:-4] + b"\0\0\0\0",
        section("<")
        + block("<", 1, struct.pack("<HHIHHB3x", 1, 0, 0, 9, 1, 0))
        + block("<", 6, struct.pack("<IIIII", 0, 2**31, 0, 0, 0)),
        section("<")
        + block("<", 1, struct.pack("<HHIHHqHH", 1, 0, 0, 14, 8, -(2**62), 0, 0))
        + block("<", 6, bytes(20)),
        section("<") + block("<", 1, bytes(8)) * 1001,
    ],
)
def test_what_is_no_capture_is_a_parse_error(data):
    """Its message names the file."""
    with pytest.raises(ParseError, match=r"x\.pcap"):
        frames_of(data)


@given(st.binary(max_size=400), st.sampled_from([b"", *(p.read_bytes()[:200] for p in FILES), section(">")]))
def test_any_bytes_are_frames_or_a_parse_error(data, before):
    """Also behind a good beginning."""
    try:
        frames, _ = frames_of(before + data)
    except ParseError:
        return
    for frame in frames:
        datagram_of(frame.link_type, frame.data)


@given(
    st.integers(0, 2000), st.integers(0, 255),
    st.sampled_from([ng(frames_of(FILES[0].read_bytes())[0][:4]), FILES[0].read_bytes()[:600]]),
)  # fmt: skip
def test_a_capture_with_one_byte_changed_is_frames_or_a_parse_error(position, byte, data):
    """At any place."""
    position %= len(data)
    try:
        frames, _ = frames_of(data[:position] + bytes([byte]) + data[position + 1 :])
    except ParseError:
        return
    assert all(len(frame.data) <= len(data) for frame in frames)


@given(st.sampled_from([0, 1, 12, 101, 113, 228, 276, 147]), st.binary(max_size=200))
def test_any_frame_is_a_datagram_or_none(link_type, data):
    """Of any link type."""
    found = datagram_of(link_type, data)
    assert found is None or (found.payload and 0 <= found.port <= 65_535)


def ipv4(segment, protocol=17, *, options=b"", fragment=0, length=None):
    """Return a packet of IPv4."""
    header = 20 + len(options)
    total = header + len(segment) if length is None else length
    head = struct.pack("!BBHHHBBH", 0x40 | header // 4, 0, total, 0, fragment, 64, protocol, 0)
    return head + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + options + segment


def ipv6(segment, protocol=17):
    """Return a packet of IPv6."""
    return (
        struct.pack("!IHBB", 6 << 28, len(segment), protocol, 64)
        + bytes(15)
        + b"\1"
        + bytes(15)
        + b"\2"
        + segment
    )


def udp(payload):
    """Return a datagram."""
    return struct.pack("!HHHH", 5, 9000, 8 + len(payload), 0) + payload


def tcp(payload, options=b""):
    """Return a segment."""
    return (
        struct.pack("!HHIIBBHHH", 5, 9000, 1, 1, (20 + len(options)) // 4 << 4, 0, 0, 0, 0)
        + options
        + payload
    )


@pytest.mark.parametrize(
    ("link_type", "data", "destination"),
    [
        (101, ipv4(udp(b"pay")), "10.0.0.2:9000"),
        (228, ipv4(tcp(b"pay", bytes(12)), 6, options=bytes(4)), "10.0.0.2:9000"),
        (12, ipv6(udp(b"pay")), "[::2]:9000"),
        (229, ipv6(bytes([17, 0]) + bytes(6) + udp(b"pay"), 0), "[::2]:9000"),
        (1, bytes(12) + b"\x08\x00" + ipv4(udp(b"pay")) + bytes(11), "10.0.0.2:9000"),
        (1, bytes(12) + b"\x81\x00\x00\x05\x08\x00" + ipv4(udp(b"pay")), "10.0.0.2:9000"),
        (1, bytes(12) + b"\x88\xa8\x00\x05\x81\x00\x00\x06\x86\xdd" + ipv6(udp(b"pay")), "[::2]:9000"),
        (0, b"\2\0\0\0" + ipv4(udp(b"pay")), "10.0.0.2:9000"),
        (113, bytes(14) + b"\x08\x00" + ipv4(udp(b"pay")), "10.0.0.2:9000"),
        (276, b"\x86\xdd" + bytes(18) + ipv6(tcp(b"pay"), 6), "[::2]:9000"),
    ],
)  # fmt: skip
def test_the_payload_is_found_below_every_header(link_type, data, destination):
    """Link types, VLAN tags, options, extension headers; padding of Ethernet is none of it."""
    found = datagram_of(link_type, data)
    assert (found.payload, found.destination, found.is_whole) == (b"pay", destination, True)


@pytest.mark.parametrize(
    "packet",
    [
        ipv4(udp(b"pay"), fragment=0x2000),
        ipv4(udp(b"pay"), fragment=5),
        ipv4(udp(b"")),
        ipv4(tcp(b""), 6),
        ipv4(udp(b"pay"), 1),
        ipv6(bytes(8) + udp(b"pay"), 44),
        ipv6(bytes([60, 0]) + bytes(6) + bytes([60, 0] + [0] * 6) * 9, 60),
        ipv4(bytes([0] * 12 + [0x10] + [0] * 7) + b"pay", 6),
    ],
)
def test_what_carries_no_whole_payload_is_none(packet):
    """Fragments, bare acknowledgements, other protocols, headers shorter than they can be."""
    assert datagram_of(101, packet) is None


def test_a_payload_that_was_cut_by_the_capture_is_marked():
    """A snap length keeps less than was sent; it could not be told from another payload with the same beginning."""
    assert not datagram_of(101, ipv4(udp(b"payload"))[:-2]).is_whole
    assert not datagram_of(1, (bytes(12) + b"\x86\xdd" + ipv6(tcp(b"payload"), 6))[:-1]).is_whole
