"""The frame codec hands on whole frames, or none."""

import itertools
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leapprof.agent.frame import (
    MAX_PAYLOAD_BYTES,
    FrameDecoder,
    decode_body,
    decode_sections,
    encode_body,
    encode_frame,
    encode_sections,
)
from leapprof.errors import ParseError
from leapprof.model import Frame, ReadStatus, Section

NAMES = st.text(
    st.characters(min_codepoint=32, exclude_characters="\x7f", exclude_categories=["Cs"]), min_size=1
)
SECTIONS = st.builds(
    Section, name=NAMES, status=st.sampled_from(list(ReadStatus)), text=st.binary(max_size=300)
)
NUMBERS = st.integers(min_value=0, max_value=2**63 - 1)
FRAMES = st.builds(
    Frame,
    seq=st.integers(min_value=1, max_value=2**40),
    boottime_ns=NUMBERS,
    wall_ns=NUMBERS,
    deadline_ns=NUMBERS,
    agent_cpu_ns=st.none() | NUMBERS,
    agent_rss_bytes=st.none() | NUMBERS,
    dropped=st.integers(min_value=0, max_value=1000),
    sections=st.lists(SECTIONS, max_size=4).map(tuple),
)


def make_frame(seq: int, text: bytes = b"cpu 1 2 3\n") -> Frame:
    """Return a frame as an agent may send it."""
    status = Section(name="/proc/stat", status=ReadStatus.OK, text=text)
    return Frame(
        seq=seq,
        boottime_ns=seq * 10**9,
        wall_ns=17 * 10**17 + seq * 10**9,
        deadline_ns=seq * 10**9,
        agent_cpu_ns=seq * 100_000,
        agent_rss_bytes=9_000_000,
        dropped=0,
        sections=(status, Section(name="/proc/self/io", status=ReadStatus.DENIED, text=b"")),
    )


STREAM_FRAMES = [make_frame(n, b"cpu %d %d\n" % (n, n * n)) for n in range(1, 9)]
STREAM = [
    encode_frame(f, key=None if f.seq in (1, 5) else STREAM_FRAMES[4 * (f.seq > 5)]) for f in STREAM_FRAMES
]


def make_plain(seq: int, body: bytes, run: bytes = b"0a0b0c0d") -> bytes:
    """Return a frame of the sh agent."""
    payload = body + b"end %s %d\n" % (run, seq)
    return b"LPF1 %s %d 1 2 3 - - 0 p 0 %d %d -\n" % (run, seq, len(body), len(payload)) + payload


@given(frame=FRAMES)
def test_a_frame_comes_back_from_wire_and_journal_as_it_was(frame: Frame) -> None:
    """Encoding and decoding is the identity, for key frames and for bodies."""
    assert FrameDecoder("x").feed(encode_frame(frame)) == [frame]
    assert decode_body(encode_body(frame)) == frame
    assert decode_sections(encode_sections(frame.sections)) == frame.sections


@given(cuts=st.lists(st.integers(min_value=0, max_value=len(b"".join(STREAM))), max_size=20))
def test_the_stream_may_be_cut_anywhere(cuts: list[int]) -> None:
    """How the network cuts the stream changes nothing."""
    data = b"".join(STREAM)
    places = [0, *sorted(cuts), len(data)]
    decoder = FrameDecoder("x")
    frames = [f for start, end in itertools.pairwise(places) for f in decoder.feed(data[start:end])]
    assert frames == STREAM_FRAMES
    assert decoder.rejected == 0
    assert decoder.bytes_received == len(data)


@given(data=st.binary(max_size=2000) | st.text(alphabet="LPF1 0123456789abkdp-\n").map(str.encode))
def test_any_bytes_give_no_frame_and_no_error(data: bytes) -> None:
    """Whatever a host sends, the decoder does not raise."""
    assert FrameDecoder("x").feed(b"LPF1 " + data) == []


@given(data=st.binary(max_size=500))
def test_any_body_is_a_frame_or_a_parse_error(data: bytes) -> None:
    """A damaged journal row raises ParseError and nothing else."""
    for body in (data, zlib.compress(data), zlib.compress(b"LPB1 - " + data)):
        with pytest.raises(ParseError):
            decode_body(body)


@settings(max_examples=300)
@given(
    places=st.lists(
        st.tuples(st.integers(0, len(b"".join(STREAM)) - 1), st.integers(1, 255)), min_size=1, max_size=8
    )
)
def test_a_damaged_stream_yields_only_frames_that_were_sent(places: list[tuple[int, int]]) -> None:
    """Random damage costs frames; it never changes one."""
    data = bytearray(b"".join(STREAM))
    for place, change in places:
        data[place] ^= change
    decoder = FrameDecoder("x")
    frames = decoder.feed(bytes(data)) + decoder.feed(b"".join(STREAM[:0]))
    assert all(frame in STREAM_FRAMES for frame in frames)


def test_a_torn_frame_costs_itself_alone() -> None:
    """After a frame that is cut short the next is found."""
    decoder = FrameDecoder("x")
    frames = decoder.feed(STREAM[0] + STREAM[1][:-9] + STREAM[2] + STREAM[3])
    assert [f.seq for f in frames] == [1, 3, 4]
    assert decoder.rejected == 1


def test_a_lost_key_frame_costs_the_frames_up_to_the_next() -> None:
    """Frames whose key frame is missing are refused and counted, the next key frame goes on."""
    decoder = FrameDecoder("x")
    assert [f.seq for f in decoder.feed(b"".join(STREAM[1:]))] == [5, 6, 7, 8]
    assert decoder.rejected == 3


def test_a_banner_before_the_first_frame_is_skipped() -> None:
    """What a login shell prints is counted once and harms nothing."""
    decoder = FrameDecoder("x")
    assert decoder.feed(b"Welcome!\nLPF is not a header\n" + STREAM[0]) == STREAM_FRAMES[:1]
    assert decoder.rejected == 1


def test_a_repeated_frame_is_refused() -> None:
    """A sequence number comes once in a run; another run starts anew."""
    decoder = FrameDecoder("x")
    frames = decoder.feed(STREAM[0] + STREAM[0] + encode_frame(STREAM_FRAMES[0], run="00000001"))
    assert [f.seq for f in frames] == [1, 1]
    assert decoder.rejected == 1
    assert decoder.run == "00000001"


def test_a_frame_that_is_too_large_is_refused_at_its_header() -> None:
    """A header that announces more than 4 MiB is not waited for."""
    decoder = FrameDecoder("x")
    header = b"LPF1 00000000 1 1 1 1 - - 0 k 1 100 %d 00000000\n" % (MAX_PAYLOAD_BYTES + 1)
    assert decoder.feed(header + STREAM[0]) == STREAM_FRAMES[:1]
    assert decoder.rejected == 1


def test_a_bomb_is_not_inflated() -> None:
    """Output beyond the announced size is refused, however small the input."""
    deflater = zlib.compressobj(9, zlib.DEFLATED, -15)
    payload = deflater.compress(bytes(50_000_000)) + deflater.flush()
    head = b"LPF1 00000000 1 1 1 1 - - 0 k 1 100 %d " % len(payload)
    crc = zlib.crc32(payload, zlib.crc32(head))
    decoder = FrameDecoder("x")
    assert decoder.feed(head + b"%08x\n" % crc + payload) == []
    assert decoder.rejected == 1


def test_a_plain_frame_needs_its_last_line() -> None:
    """The sh agent's frames have no checksum; a cut one lacks the line that ends it."""
    body = encode_sections(STREAM_FRAMES[0].sections)
    good = make_plain(1, body)
    assert FrameDecoder("x").feed(good)[0].sections == STREAM_FRAMES[0].sections
    decoder = FrameDecoder("x")
    assert decoder.feed(good[:-20] + make_plain(2, body))[0].seq == 2
    assert decoder.rejected == 1


def test_a_run_with_checksums_takes_no_plain_frame() -> None:
    """A frame without checksum is foreign in a run whose frames have one."""
    decoder = FrameDecoder("x")
    forged = make_plain(2, encode_sections(STREAM_FRAMES[1].sections), b"00000000")
    assert [f.seq for f in decoder.feed(STREAM[0] + forged)] == [1]
    assert decoder.rejected == 1
