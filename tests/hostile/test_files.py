"""Files that somebody else made: bombs, nesting, tags and paths."""

import csv
import json
import subprocess
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from leapprof.assess.load import load
from leapprof.cli.export_files import export_tables
from leapprof.config.inventory import resolve_hosts
from leapprof.config.playbook_yaml import parse_document
from leapprof.errors import LeapprofError, ParseError
from leapprof.model import Column, Host, Recording, SamplingCost, Table, Topology
from leapprof.nodeos.grammar import parse_config
from leapprof.recorder.naming import recording_directory
from leapprof.store import RecordingWriter, open_recording, reading

DEEP = 100_000
MANIFEST = Recording(
    host=Host(name="h", boot_id="b"), nodeos=(), topology=Topology(), phase="", interval_s=1.0, started_wall_ns=1,
    ended_wall_ns=2, transport="ssh",
    cost=SamplingCost(agent="python", samples=1, cpu_s=None, rss_bytes=None, wire_bytes=0),
)  # fmt: skip


def recording(path: Path, **changes: object) -> Path:
    """Write an empty recording."""
    with RecordingWriter.create(path, replace(MANIFEST, **changes)):  # type: ignore[arg-type]
        pass
    return path


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEEP,
        '{"a":' * DEEP,
        '{"format": 1, "host": ' + "[" * DEEP,
        "9" * DEEP,
        '{"format": 1e999}',
        '{"format": ' + "9" * 5000 + "}",
        "\0" * 1000,
        "NaN",
    ],
    ids=["array", "object", "inside", "number", "infinite", "long", "nul", "nan"],
)
def test_a_hostile_manifest_is_an_error_of_ours(tmp_path: Path, text: str) -> None:
    """Deep nesting and endless numbers end with a message, not with a traceback or a dead program."""
    path = recording(tmp_path / "r")
    (path / "recording.json").write_text(text)
    with pytest.raises(LeapprofError):
        load(path)


def test_a_parquet_bomb_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file of many rows is refused by what its footer says; memory stays small."""
    path = recording(tmp_path / "r")
    bomb = path / "host-0001.parquet"
    monkeypatch.setattr(reading, "MAX_VALUES", 2**20)
    rows, groups = 100_000, 20
    table = pa.table(
        {name: pa.array([0], pa.int64()).take(pa.array([0] * rows)) for name in ("seq", "boot", "wall_ns")}
    )
    with pq.ParquetWriter(bomb, table.schema, compression="zstd") as writer:
        for _ in range(groups):
            writer.write_table(table)
    assert bomb.stat().st_size < 2_000_000
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    try:
        with pytest.raises(LeapprofError, match="rows"):
            open_recording(path).read("host")
        assert pa.total_allocated_bytes() - before < 10_000_000
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


BOMB_READER = """
import resource, sys
from pathlib import Path
from leapprof.assess.load import load
from leapprof.errors import LeapprofError
from leapprof.store import open_recording
import pyarrow.parquet
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
told = ""
try:
    found = open_recording(Path(sys.argv[1])).read("host")
except LeapprofError as error:
    told = str(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, told)
"""


@pytest.mark.parametrize("has_dictionary", [False, True], ids=["plain", "dictionary"])
def test_a_parquet_bomb_of_text_takes_little_memory(tmp_path: Path, has_dictionary: bool) -> None:
    """A file of some kilobytes that unpacks to a gigabyte of zeros, or to a thousand gigabytes by a dictionary."""
    path = recording(tmp_path / "r")
    word, times = ("\0" * 2**20, 10**6) if has_dictionary else ("\0" * 2**20, 1024)
    texts = pa.DictionaryArray.from_arrays(pa.array(np.zeros(times, np.int32)), pa.array([word]))
    texts = texts if has_dictionary else texts.cast(pa.string())
    table = pa.table({"seq": pa.array(np.arange(times)), "device": texts})
    pq.write_table(
        table, path / "host-0001.parquet", compression="zstd", use_dictionary=["device"] if has_dictionary else False,
        write_statistics=False, store_schema=False, row_group_size=times,
    )  # fmt: skip
    assert (path / "host-0001.parquet").stat().st_size < 9_000_000
    words = [sys.executable, "-c", BOMB_READER, str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=200)
    grown_kb, _, told = done.stdout.partition(" ")
    assert int(grown_kb) < 200_000
    assert has_dictionary or "bytes of text" in told


@pytest.mark.parametrize(
    "name",
    [
        "../../etc",
        "/etc/passwd",
        "..",
        ".",
        "",
        "a/../../b",
        "a\0b",
        "\n",
        "-rf",
        "~root",
        "$(id)",
        "é" * 500,
    ],
)
def test_a_host_cannot_choose_where_it_is_recorded(tmp_path: Path, name: str) -> None:
    """Whatever a host is called, its recording is a plain folder below the directory that was given."""
    made = recording_directory(tmp_path, name, "before", 10**18)
    assert made.parent == tmp_path
    assert made.name.isascii()
    assert len(made.name) < 200
    assert not made.name.startswith((".", "-"))


def test_tags_in_a_playbook_build_nothing(tmp_path: Path) -> None:
    """A YAML tag that would run a program in another reader is an error with its line."""
    ran = tmp_path / "ran"
    text = f'name: !!python/object/apply:os.system ["touch {ran}"]\n'

    with pytest.raises(LeapprofError):
        parse_document(text, "playbook.yml")
    assert not ran.exists()


@pytest.mark.parametrize("text", ["[" * DEEP, "\0", "a = " + "[" * 5000, "[hosts.'../../x']\n", "\ufeff\x1b"])
def test_a_hostile_inventory_is_an_error_of_ours(tmp_path: Path, text: str) -> None:
    """No traceback, whatever leapprof.toml holds."""
    path = tmp_path / "leapprof.toml"
    path.write_text(text)
    try:
        resolve_hosts(("wax-1",), path)
    except LeapprofError as error:
        assert "\x1b" not in str(error)


@pytest.mark.parametrize(
    "text", ["=" * DEEP, "a=" + "b" * 10**6, "[" * DEEP, "\0" * 1000, "a\x1b[2J = 1\n" * 1000]
)
def test_a_hostile_config_gives_a_value_or_an_error_of_ours(text: str) -> None:
    """The grammar is linear and bounded: any text gives options or ParseError."""
    try:
        parse_config(text)
    except ParseError as error:
        assert len(str(error)) < 1000


def test_a_manifest_of_a_host_that_says_too_much_is_bounded_on_reading(tmp_path: Path) -> None:
    """A hundred thousand facts are read, and nothing of them is evaluated."""
    path = recording(tmp_path / "r")
    document = json.loads((path / "recording.json").read_text())
    document["host"]["facts"] = {f"f{n}": "=cmd()" for n in range(DEEP)}
    (path / "recording.json").write_text(json.dumps(document))
    assert len(load(path).manifest.host.facts) == DEEP


def test_a_formula_in_a_name_is_text_in_an_exported_table(tmp_path: Path) -> None:
    """A thread that is called like a formula is exported with an apostrophe; numbers stay numbers."""
    columns = {"boottime_ns": 1, "wall_ns": 1, "boot": 0, "utime_ticks_total": -5}
    one = {
        name: Column(values=np.array([value]), present=np.array([True])) for name, value in columns.items()
    }
    one["seq"] = Column(values=np.array([1]), present=np.array([True]))
    texts = {
        "nodeos": np.array(["@SUM(1)"], dtype=object),
        "thread": np.array(['=HYPERLINK("http://evil")'], dtype=object),
    }
    with RecordingWriter.create(tmp_path / "r", MANIFEST) as writer:
        writer.seal({"thread": Table(name="thread", rows=1, integers=one, texts=texts)})
    (made,) = export_tables(load(tmp_path / "r"), tmp_path / "out", "csv")
    row = next(iter(csv.DictReader(made.read_text().splitlines())))
    assert row["thread"].startswith("'=HYPERLINK")
    assert row["nodeos"] == "'@SUM(1)"
    assert row["utime_ticks_total"] == "-5"
