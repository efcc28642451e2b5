"""A host that sends without end, or sends rubbish, costs bounded memory and no error."""

import random
import tracemalloc
import zlib

from leapprof.agent.frame import MAX_PAYLOAD_BYTES, FrameDecoder, encode_frame
from leapprof.ingest.rows import FrameIngest
from leapprof.model import Frame, ReadStatus, Section
from tests.hostile.targets import frame_of

MIB = 2**20
CHUNK_BYTES = 64 * 1024


def held_bytes(decoder: FrameDecoder, chunk: bytes, total_bytes: int) -> int:
    """Feed a chunk again and again; return the most memory that was held."""
    tracemalloc.start()
    try:
        for _ in range(total_bytes // len(chunk)):
            assert decoder.feed(chunk) == []
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_line_without_end_is_not_kept() -> None:
    """100 MB without a line end: the decoder holds less than 1 MB."""
    assert held_bytes(FrameDecoder("h"), b"A" * CHUNK_BYTES, 100 * MIB) < MIB


def test_a_frame_without_end_is_not_kept() -> None:
    """Headers that begin and never end: less than 1 MB."""
    assert held_bytes(FrameDecoder("h"), b"LPF1 " * (CHUNK_BYTES // 5), MIB // 8) < MIB


def test_nul_bytes_are_not_kept() -> None:
    """100 MB of NUL: less than 1 MB."""
    assert held_bytes(FrameDecoder("h"), b"\0" * CHUNK_BYTES, 100 * MIB) < MIB


def test_a_frame_of_100_mb_is_refused_at_its_header() -> None:
    """Its payload is skipped, and a good frame after it is taken."""
    header = b"LPF1 00000000 1 1 1 1 - - 0 k 1 100000000 100000000 00000000\n"
    decoder = FrameDecoder("h")
    assert decoder.feed(header) == []
    assert held_bytes(decoder, b"x" * CHUNK_BYTES, 100 * MIB) < 2 * MAX_PAYLOAD_BYTES
    frames = decoder.feed(b"\n" + encode_frame(frame_of(b"/proc/uptime\x1f1.0 1.0\n")))
    assert [frame.seq for frame in frames] == [1]


def test_a_frame_that_inflates_to_much_is_refused() -> None:
    """A small payload of gigabytes is not inflated beyond what its header says."""
    payload = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = payload.compress(b"\0" * (64 * MIB)) + payload.flush()
    head = b"LPF1 00000000 1 1 1 1 - - 0 k 1 100 %d " % len(packed)
    crc = zlib.crc32(packed, zlib.crc32(head))
    tracemalloc.start()
    assert FrameDecoder("h").feed(head + b"%08x\n" % crc + packed) == []
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * MIB


HOSTILE_TEXTS = (
    b"",
    b"\0" * 1000,
    b"\x1b[2J" * 100,
    b"-1 " * 5000,
    b"9" * 5000,
    b"9" * 30 + b" " + b"9" * 30,
    b"cpu  " + b"1 " * 10000,
    b"a" * 100_000,
    b"\n" * 100_000,
    b"\xff\xfe" * 1000,
    b"{" * 50_000,
    b"[" * 50_000,
    b"200 1 x\n" + b"[" * 200_000,
    b"200 1 x\n" + b'{"a":' * 50_000,
    b"200 1 x\n1e999999999",
    "².½".encode() * 100,
)


def section_names(rng: random.Random) -> list[str]:
    """Return the names of all kinds of sections, and some that nobody knows."""
    process = [
        f"nodeos/e/1/2/{name}"
        for name in ("stat", "status", "io", "schedstat", "threads", "cmdline", "limits")
    ]
    child = ["child/e/3/4/stat", "child/e/3/4/status", "nodeos/e/x/y/stat", "nodeos/////", "cgroup//"]
    cgroup = [
        f"cgroup/e/{name}"
        for name in ("cpu.stat", "io.stat", "memory.stat", "memory.current", "cpuacct.usage")
    ]
    http = [f"http/e/v1/{path}" for path in ("chain/get_info", "db_size/get", "prometheus/metrics")]
    host = [
        "/proc/uptime", "/proc/stat", "/proc/meminfo", "/proc/vmstat", "/proc/diskstats", "/proc/pressure/io",
        "/proc/swaps", "/proc/sys/kernel/random/boot_id", "/sys/devices/system/cpu/online",
    ]  # fmt: skip
    names = [*host, *process, *child, *cgroup, *http, "../../etc/passwd", "\udcff", "x" * 5000]
    rng.shuffle(names)
    return names


def test_hostile_texts_in_every_section_give_missing_values() -> None:
    """Whatever stands in any section, rows are made of what can be read, and nothing is raised."""
    rng = random.Random(1)
    ingest = FrameIngest()
    for seq in range(1, 120):
        sections = tuple(
            Section(name=name, status=rng.choice(list(ReadStatus)), text=rng.choice(HOSTILE_TEXTS))
            for name in section_names(rng)
        )
        ingest.add(
            Frame(
                seq=seq, boottime_ns=seq, wall_ns=seq, deadline_ns=seq, agent_cpu_ns=None,
                agent_rss_bytes=None, dropped=0, sections=sections,
            )
        )  # fmt: skip
    for table in ingest.tables().values():
        assert table.rows < 120 * 100
    assert len(ingest.unreadable) < 100
