r"""Frames as bytes: on the wire, and as bodies in a recording's journal.

The wire protocol, format 1. A stream is frames one after the other; whatever is between them is foreign
(a login banner) and is skipped. A frame is a header line and a payload::

    LPF1 <run> <seq> <boottime_ns> <wall_ns> <deadline_ns> <cpu_ns> <rss_bytes> <dropped>
         <kind> <key_seq> <raw_bytes> <payload_bytes> <crc32>\n            (one line)
    <payload>

``run`` is 8 hex digits, drawn when an agent starts; ``seq`` goes up by 1 a frame. ``cpu_ns`` and
``rss_bytes`` are ``-`` where not known. ``kind`` is

- ``k``: a key frame, raw deflate of the sections, decodable alone;
- ``d``: raw deflate with the sections of key frame ``key_seq`` (its last 32 KiB) as preset dictionary: a
  torn frame costs itself, a torn key frame those up to the next;
- ``p``: plain text from the sh agent. It ends with a line ``end <run> <seq>``; crc32 is ``-``.

crc32 (8 hex digits) covers the header up to and with the blank before it, and the payload. The sections:
``<name> TAB <status> TAB <bytes>\n<text>\n`` each, name and status without control characters.
"""

import zlib
from dataclasses import dataclass, field

from leapprof.errors import ParseError
from leapprof.model import Frame, ReadStatus, Section

MAGIC = b"LPF1 "
BODY_MAGIC = b"LPB1 "
HEADER_FIELDS = 13
MAX_HEADER_BYTES = 320
MAX_PAYLOAD_BYTES = 4 << 20
MAX_RAW_BYTES = 16 << 20
MAX_SECTIONS = 65_536
DICTIONARY_BYTES = 32_768  # deflate looks back no further (RFC 1951)
MAX_DIGITS = 19  # of any number in a header
MAX_NUMBER = 2**63 - 1  # what a counter, a table and the journal hold
MAX_RUNS = 64  # runs that a decoder remembers


@dataclass(frozen=True, slots=True, kw_only=True)
class _Header:
    run: bytes
    seq: int
    boottime_ns: int
    wall_ns: int
    deadline_ns: int
    cpu_ns: int | None
    rss_bytes: int | None
    dropped: int
    kind: bytes
    key_seq: int
    raw_bytes: int
    payload_bytes: int
    crc32: bytes
    checked: bytes


def _number(digits: bytes) -> int:
    if not digits.isdigit() or len(digits) > MAX_DIGITS:
        raise ParseError("frame", "a decimal number", line=repr(digits[:40]))
    number = int(digits)
    if number > MAX_NUMBER:
        raise ParseError("frame", "a number of 63 bits", line=repr(digits[:40]))
    return number


def _optional(digits: bytes) -> int | None:
    return None if digits == b"-" else _number(digits)


def _parse_header(line: bytes) -> _Header:
    """Return the parts of a header line (without its line end), or raise ParseError."""
    words = line[len(MAGIC) :].split(b" ")
    if len(words) != HEADER_FIELDS:
        raise ParseError("frame", f"{HEADER_FIELDS} header fields", line=repr(line[:80]))
    header = _Header(
        run=words[0],
        seq=_number(words[1]),
        boottime_ns=_number(words[2]),
        wall_ns=_number(words[3]),
        deadline_ns=_number(words[4]),
        cpu_ns=_optional(words[5]),
        rss_bytes=_optional(words[6]),
        dropped=_number(words[7]),
        kind=words[8],
        key_seq=_number(words[9]),
        raw_bytes=_number(words[10]),
        payload_bytes=_number(words[11]),
        crc32=words[12],
        checked=line[: len(line) - len(words[12])],
    )
    plain = header.kind == b"p"
    if header.kind not in (b"k", b"d", b"p") or plain != (header.crc32 == b"-"):
        raise ParseError("frame", "a kind k, d or p with its checksum", line=repr(line[:80]))
    if header.payload_bytes > MAX_PAYLOAD_BYTES or header.raw_bytes > MAX_RAW_BYTES:
        raise ParseError("frame", "a frame of bounded size", line=repr(line[:80]))
    return header


def encode_sections(sections: tuple[Section, ...]) -> bytes:
    """Return sections as text, the way that the agent writes them."""
    parts: list[bytes] = []
    for section in sections:
        name = section.name.encode("utf-8", "surrogateescape")
        parts += [b"%s\t%s\t%d\n" % (name, section.status.encode(), len(section.text)), section.text, b"\n"]
    return b"".join(parts)


def _decode_section(raw: bytes, start: int) -> tuple[Section, int]:
    line_end = raw.find(b"\n", start)
    words = raw[start:line_end].split(b"\t") if line_end >= 0 else []
    if len(words) != 3 or not words[0]:
        raise ParseError("frame", "a section: name, status, size", line=repr(raw[start : start + 80]))
    size = _number(words[2])
    text_end = line_end + 1 + size
    if raw[text_end : text_end + 1] != b"\n":
        raise ParseError("frame", "a section that ends within its frame", line=repr(words[0][:80]))
    try:
        status = ReadStatus(words[1].decode("ascii"))
    except ValueError as error:
        raise ParseError("frame", "a known status", line=repr(words[1][:80])) from error
    name = words[0].decode("utf-8", "surrogateescape")
    return Section(name=name, status=status, text=raw[line_end + 1 : text_end]), text_end + 1


def decode_sections(raw: bytes) -> tuple[Section, ...]:
    """Return the sections of a frame's text.

    Raises:
        ParseError: for anything but what encode_sections returns.
    """
    sections: list[Section] = []
    at = 0
    while at < len(raw):
        if len(sections) >= MAX_SECTIONS:
            raise ParseError("frame", f"at most {MAX_SECTIONS} sections")
        section, at = _decode_section(raw, at)
        sections.append(section)
    return tuple(sections)


def _inflate(payload: bytes, raw_bytes: int, dictionary: bytes) -> bytes:
    """Return what deflate made of raw_bytes, never more than that."""
    inflater = zlib.decompressobj(-15, zdict=dictionary) if dictionary else zlib.decompressobj(-15)
    try:
        raw = inflater.decompress(payload, raw_bytes + 1)
    except zlib.error as error:
        raise ParseError("frame", "a deflate stream", line=str(error)) from error
    if len(raw) != raw_bytes or not inflater.eof or inflater.unused_data:
        raise ParseError("frame", "exactly the announced size")
    return raw


def _frame(header: _Header, raw: bytes) -> Frame:
    return Frame(
        seq=header.seq,
        boottime_ns=header.boottime_ns,
        wall_ns=header.wall_ns,
        deadline_ns=header.deadline_ns,
        agent_cpu_ns=header.cpu_ns,
        agent_rss_bytes=header.rss_bytes,
        dropped=header.dropped,
        sections=decode_sections(raw),
    )


def _header_words(frame: Frame, run: str) -> bytes:
    words: list[object] = [run, frame.seq, frame.boottime_ns, frame.wall_ns, frame.deadline_ns]
    words += ["-" if value is None else value for value in (frame.agent_cpu_ns, frame.agent_rss_bytes)]
    return " ".join(str(word) for word in [*words, frame.dropped]).encode("ascii")


def encode_frame(frame: Frame, *, run: str = "00000000", key: Frame | None = None) -> bytes:
    """Return a frame's bytes on the wire as the Python agent makes them.

    Args:
        frame: what to send.
        run: 8 hex digits that name the run of the agent.
        key: the key frame to compress against; None makes this one a key frame.
    """
    raw = encode_sections(frame.sections)
    dictionary = b"" if key is None else encode_sections(key.sections)[-DICTIONARY_BYTES:]
    if not dictionary:
        deflater = zlib.compressobj(6, zlib.DEFLATED, -15)
    else:
        deflater = zlib.compressobj(6, zlib.DEFLATED, -15, 8, zlib.Z_DEFAULT_STRATEGY, dictionary)
    payload = deflater.compress(raw) + deflater.flush()
    kind, key_seq = (b"k", frame.seq) if key is None else (b"d", key.seq)
    header = MAGIC + _header_words(frame, run)
    header += b" %s %d %d %d " % (kind, key_seq, len(raw), len(payload))
    return header + b"%08x\n" % zlib.crc32(payload, zlib.crc32(header)) + payload


def encode_body(frame: Frame) -> bytes:
    """Return a frame as one self-contained value for a recording's journal."""
    return zlib.compress(BODY_MAGIC + _header_words(frame, "-") + b"\n" + encode_sections(frame.sections), 6)


def decode_body(body: bytes) -> Frame:
    """Return the frame that encode_body() made a body of.

    Raises:
        ParseError: for any other bytes.
    """
    inflater = zlib.decompressobj()
    try:
        raw = inflater.decompress(body, MAX_RAW_BYTES + MAX_HEADER_BYTES)
    except zlib.error as error:
        raise ParseError("journal frame", "a zlib stream", line=str(error)) from error
    line, line_end, sections = raw.partition(b"\n")
    words = line[len(BODY_MAGIC) :].split(b" ")
    if not (line.startswith(BODY_MAGIC) and line_end and len(words) == 8):
        raise ParseError("journal frame", "a journal frame of format 1", line=repr(line[:80]))
    if not inflater.eof or inflater.unused_data:
        raise ParseError("journal frame", "one whole zlib stream of bounded size")
    return Frame(
        seq=_number(words[1]),
        boottime_ns=_number(words[2]),
        wall_ns=_number(words[3]),
        deadline_ns=_number(words[4]),
        agent_cpu_ns=_optional(words[5]),
        agent_rss_bytes=_optional(words[6]),
        dropped=_number(words[7]),
        sections=decode_sections(sections),
    )


@dataclass(slots=True)
class FrameDecoder:
    """Turns a stream of bytes into frames; a frame is handed on whole or not at all.

    Attributes:
        source_name: where the bytes come from, for people.
        rejected: torn, repeated and foreign pieces so far.
        bytes_received: bytes fed so far.
        run: the run id of the last frame; None before the first.
    """

    source_name: str
    rejected: int = 0
    bytes_received: int = 0
    run: str | None = None
    _buffer: bytearray = field(default_factory=bytearray, repr=False)
    _last_seq: dict[bytes, int] = field(default_factory=dict, repr=False)
    _plain_runs: set[bytes] = field(default_factory=set, repr=False)
    _key: tuple[bytes, int, bytes] = field(default=(b"", 0, b""), repr=False)
    _in_garbage: bool = field(default=False, repr=False)

    def feed(self, data: bytes) -> list[Frame]:
        """Take the next bytes of the stream, cut anywhere, and return the frames that became whole."""
        self.bytes_received += len(data)
        self._buffer += data
        frames: list[Frame] = []
        at = 0
        while True:
            found, at, waits = self._next(at)
            if found is not None:
                frames.append(found)
            if waits:
                break
        del self._buffer[:at]
        return frames

    def _next(self, at: int) -> tuple[Frame | None, int, bool]:
        """Return (a frame or None, where to go on, whether more bytes are needed first)."""
        start = self._buffer.find(MAGIC, at)
        if start < 0:
            keep = max(at, len(self._buffer) - len(MAGIC) + 1)
            self._note_garbage(keep - at)
            return None, keep, True
        self._note_garbage(start - at)
        line_end = self._buffer.find(b"\n", start, start + MAX_HEADER_BYTES)
        if line_end < 0 and len(self._buffer) < start + MAX_HEADER_BYTES:
            return None, start, True
        try:
            header = _parse_header(bytes(self._buffer[start : max(line_end, start)]))
            end = line_end + 1 + header.payload_bytes
            if end > len(self._buffer):
                return None, start, True
            frame = self._decode(header, bytes(self._buffer[line_end + 1 : end]))
        except ParseError:
            self.rejected += 1
            self._in_garbage = True  # the rest of this piece is not counted again
            return None, start + len(MAGIC), False
        self._in_garbage = False
        return frame, end, False

    def _note_garbage(self, length: int) -> None:
        if length and not self._in_garbage:
            self.rejected += 1
            self._in_garbage = True

    def _decode(self, header: _Header, payload: bytes) -> Frame:
        raw = self._plain(header, payload) if header.kind == b"p" else self._compressed(header, payload)
        frame = _frame(header, raw)
        if header.seq <= self._last_seq.get(header.run, 0):
            raise ParseError("frame", "a sequence number that goes up")
        if header.run not in self._last_seq and len(self._last_seq) >= MAX_RUNS:
            del self._last_seq[next(iter(self._last_seq))]
        self._last_seq[header.run] = header.seq
        if header.kind == b"k":
            self._key = (header.run, header.seq, raw[-DICTIONARY_BYTES:])
        self.run = header.run.decode("ascii", "replace")
        return frame

    def _plain(self, header: _Header, payload: bytes) -> bytes:
        trailer = b"end %s %d\n" % (header.run, header.seq)
        known = header.run in self._plain_runs
        if not payload.endswith(trailer) or (header.run in self._last_seq and not known):
            raise ParseError("frame", "a plain frame with its last line")
        self._plain_runs.add(header.run)
        return payload[: -len(trailer)]

    def _compressed(self, header: _Header, payload: bytes) -> bytes:
        expected = b"%08x" % zlib.crc32(payload, zlib.crc32(header.checked))
        if header.crc32 != expected:
            raise ParseError("frame", "the checksum of its bytes")
        if header.kind == b"k":
            return _inflate(payload, header.raw_bytes, b"")
        run, seq, dictionary = self._key
        if (run, seq) != (header.run, header.key_seq):
            raise ParseError("frame", "its key frame before it")
        return _inflate(payload, header.raw_bytes, dictionary)
