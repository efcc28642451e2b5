"""Every reader takes any bytes: what atheris has kept, and well-formed inputs with something changed in them."""

import random

import pytest

from tests.hostile.fuzz import CORPUS, MAX_CORPUS_BYTES, kept
from tests.hostile.seeds import seeds
from tests.hostile.targets import TARGETS, run

CHANGES = 60
PIECES = (
    b"", b"\0", b"\x1b[2J", b"-1", b"9" * 30, b"9" * 5000, b"1e999", b"nan", b"[" * 300, b'{"a":' * 300, b"\xff\xfe",
    b"\n" * 50, b"\t", b"=", b"..", "²½\u202e\U000e0001".encode(), b"\x1e", b"\x1f",
)  # fmt: skip


TABLE = (
    b'Time,"disk.dev.write_bytes-vda","mem.freemem","kernel.all.cpu.user","kernel.all.cpu.nice",'
    b'"kernel.all.cpu.sys","kernel.all.cpu.idle"\n'
)
OLD = b"%s-01-01T00:00:01Z " + b"1 " * 17 + b"\n%s-01-01T00:00:02Z " + b"1 " * 17
MAPPING = (
    b'host = "h"\n[time]\ncolumn = "t"\nzone = "%s"\n[[sections]]\n[[sections.columns]]\ncolumn = "v"\n'
    b'to = "mem_free_bytes"\nkind = "level"\n\x1et,v\n2026-01-01T00:00:00,1\n'
)
LATE = b'{"date":"9999-01-01T00:00:00Z","attrs":{}}'
FOUND = (
    ("imports", TABLE + b"1013-11-30T18:42:40,1,1,1,1,1,1\n2026-11-30T18:42:40,1,1,1,1,1,1\n"),
    ("imports", OLD % (b"1000", b"1000")),
    ("imports", OLD % (b"9999", b"9999")),
    ("drives", b'{"data":{"device":{"device_name":"sda"},"smart_results":[' + LATE + b"]}}"),
    ("words", b"h:" + b"9" * 5000),
    ("mappings", MAPPING % b"Europe"),
    ("mappings", MAPPING % (b"U" * 300)),
    ("mappings", MAPPING % b"+99999999999999:00"),
)
"""What was found by fuzzing, made small, and what is like it: times beyond 64 bits, zones that are no files."""


@pytest.mark.parametrize(("name", "data"), FOUND)
def test_what_fuzzing_found_gives_a_value_or_an_error_of_ours(name: str, data: bytes) -> None:
    """Each once ended in an error of Python's."""
    run(name, data)


@pytest.mark.parametrize("name", TARGETS)
def test_a_kept_input_gives_a_value_or_an_error_of_ours(name: str) -> None:
    """What once reached new code in this reader ends as it should."""
    for data in kept(name):
        run(name, data)


@pytest.mark.parametrize("name", TARGETS)
def test_a_changed_input_gives_a_value_or_an_error_of_ours(name: str) -> None:
    """Pieces that readers stumble over, put into well-formed inputs anywhere, instead of some bytes or beside them."""
    rng = random.Random(name)
    whole = [data for data in seeds(name) if len(data) < 20_000]
    assert whole, "a reader without a well-formed input is not tested"
    for _ in range(CHANGES):
        data = rng.choice(whole)
        first = rng.randrange(len(data) + 1)
        last = first + rng.choice((0, 1, 4, len(data)))
        run(name, data[:first] + rng.choice(PIECES) + data[last:])


def test_a_reader_is_heard_when_it_fails() -> None:
    """What is no error of ours comes through: else none of these tests could fail."""
    TARGETS["broken"] = lambda data: 1 // len(data)  # type: ignore[assignment,func-returns-value]
    try:
        with pytest.raises(ZeroDivisionError):
            run("broken", b"")
    finally:
        del TARGETS["broken"]


def test_the_corpus_is_small() -> None:
    """It is kept beside the code, so it stays below 200 kB."""
    assert CORPUS.stat().st_size <= MAX_CORPUS_BYTES
