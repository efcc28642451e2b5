"""How long the commands take on long recordings, and how that grows with their length."""

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.figures import Figure, Section, at_most
from benchmarks.program import Run, best, memory_bytes, words_of
from leapprof.assess.load import load
from leapprof.model import Column, Recording, Table
from leapprof.store.manifest import write_manifest
from leapprof.store.segments import SegmentRange, concatenate, select, write_segment
from leapprof.units import NS_PER_S

TITLE = "Speed"
SAMPLE = Path(__file__).parent.parent / "samples" / "nodeos-v5-long"
SEGMENT_S, DAY_S = 3600, 86_400
DAYS = (1, 2, 4, 8)
WEEK_DAYS = 7
RUNS = 8
NEIGHBOUR = "nodeos-2"
DRIVES = ("nvme0n1", "nvme1n1")
HELP_S, SHOW_S, COMPARE_S, COMPARE_GB = 0.3, 1.5, 5.0, 1.5
FEWEST_METRICS = 60
LINEAR = 1.25
_EVERY_SAMPLE = "nothing derived is stored: each sample is decoded, made a rate and ranked anew"


def measure(*, long: bool) -> Section:
    """Measure everything of this section."""
    del long
    load_before = machine.load_now()
    with tempfile.TemporaryDirectory(prefix="leapprof-bench-", dir=Path.cwd()) as folder:
        figures = list(_figures(Path(folder)))
    text = (
        "Recordings of days at 1 Hz, made by repeating the tables of a real one (samples/nodeos-v5-long, a segment an "
        "hour, counters going on), with its nodeos twice and two drives more; each command as a program of its own, "
        f"the quickest of {RUNS} runs."
    )
    tail = (
        "Not measured: sadf, pmlogsummary and pmdiff on data of the same size: neither sysstat nor pcp can make a "
        "week's data at 1 Hz in less than a week."
    )
    return Section(
        title=TITLE, text=text, figures=tuple(figures), where=machine.describe(load_before), tail=tail
    )


def _figures(directory: Path) -> Iterator[Figure]:
    yield at_most("leapprof --help", best(words_of("--help"), 5).elapsed_s, "s", HELP_S)
    whole = {side: directory / side for side in ("mapped", "mapped_private")}
    for side, path in whole.items():
        make_recording(SAMPLE / side, path, max(DAYS))
    before, after = (cut(path, WEEK_DAYS) for path in whole.values())
    shown = best(words_of("show", before), RUNS)
    held = memory_bytes(words_of("show", before))
    note = f"{shown.cpu_s:.1f} s of CPU, {held / 1e6:.0f} MB in two processes; {_EVERY_SAMPLE}"
    yield at_most("show, 7 days", _checked(shown).elapsed_s, "s", SHOW_S, note)
    compared = best(_compare(before, after, directory), RUNS)
    note = f"{compared.cpu_s:.1f} s of CPU in two processes; {_EVERY_SAMPLE}"
    what = f"compare, 2 × 7 days, {_metrics(directory)} metrics"
    yield at_most(what, _checked(compared).elapsed_s, "s", COMPARE_S, note)
    held = memory_bytes(_compare(before, after, directory))
    note = "the most that each of its two processes held, added up"
    yield at_most("compare, 2 × 7 days, memory", held / 1e9, "GB", COMPARE_GB, note)
    sides = {days: [cut(path, days) for path in whole.values()] for days in DAYS}
    elapsed = dict.fromkeys(DAYS, float("inf"))
    for _ in range(RUNS):  # in turn: a slow minute of the machine is one of all lengths
        for days, paths in sides.items():
            took = _checked(best(_compare(*paths, directory), 1))
            elapsed[days] = min(elapsed[days], took.elapsed_s)
    per_day = (elapsed[8] - elapsed[1]) / 7
    shown_times = ", ".join(f"{days} d {seconds:.2f} s" for days, seconds in elapsed.items())
    bend = (elapsed[8] - elapsed[4]) / max(2 * (elapsed[4] - elapsed[2]), 1e-9)
    yield Figure(
        what="compare, growth: seconds from 4 to 8 days over twice those from 2 to 4",
        value=bend,
        unit="(1 is linear)",
        target=f"≤ {LINEAR}",
        met=bend <= LINEAR,
        note=f"{shown_times}; {per_day:.2f} s a day",
    )


def _compare(before: Path, after: Path, directory: Path) -> list[str]:
    return words_of("compare", before, after, "--out", directory / "reports", "--across")


def _metrics(directory: Path) -> int:
    """Return how many metrics the reports hold."""
    report = next((directory / "reports").glob("*/report.json"))
    count = len(json.loads(report.read_text(encoding="utf-8"))["metrics"])
    if count < FEWEST_METRICS:
        raise RuntimeError(f"a comparison of {count} metrics is none of {FEWEST_METRICS}")
    return count


def _checked(run: Run) -> Run:
    if run.status != 0:
        raise RuntimeError(f"a command ended with {run.status}")
    return run


def make_recording(sample: Path, path: Path, days: int) -> None:
    """Write a recording of so many days that repeats a real one."""
    loaded = load(sample)
    stored = {name: loaded.stored.read(name) for name in loaded.table_names}
    tables = {name: _whole_hour(_larger(table)) for name, table in stored.items() if table is not None}
    growths = {name: _growths(table) for name, table in tables.items()}
    host = tables["host"]
    start_ns = int(host.integers["wall_ns"].values[0])
    path.mkdir(mode=0o700)
    _write_manifest(path, _larger_host(loaded.manifest), start_ns, days)
    for number in range(days * DAY_S // SEGMENT_S):
        shifted = [_shifted(table, growths[name], number) for name, table in tables.items()]
        first = number * SEGMENT_S
        covered = SegmentRange(
            first_seq=first + 1,
            last_seq=first + SEGMENT_S,
            first_wall_ns=start_ns + first * NS_PER_S,
            last_wall_ns=start_ns + (first + SEGMENT_S - 1) * NS_PER_S,
        )
        write_segment(path, number + 1, shifted, covered)


def _larger_host(manifest: Recording) -> Recording:
    """Return a host with a second nodeos and more drives: copies of those that are there."""
    nodeos, topology = manifest.nodeos[0], manifest.topology
    drive = next(device for device in topology.devices if not device.parents)
    drives = (replace(drive, name=name, major_minor=f"259:{i}", mounts=()) for i, name in enumerate(DRIVES))
    return replace(
        manifest,
        nodeos=(nodeos, replace(nodeos, id=NEIGHBOUR, pid=nodeos.pid + 1)),
        topology=replace(topology, devices=(*topology.devices, *drives)),
    )


def _larger(table: Table) -> Table:
    """Return a table of the larger host."""
    copies = []
    if "device" in table.texts:
        copies = [_renamed(table, "device", "vda", name) for name in DRIVES]
    elif "nodeos" in table.texts:
        copies = [_renamed(table, "nodeos", "nodeos", NEIGHBOUR)]
    return concatenate(table.name, [table, *copies])


def _renamed(table: Table, column: str, old: str, new: str) -> Table:
    """Return the rows of one subject under another name."""
    own = select(table, {column: old})
    return replace(own, texts={**own.texts, column: np.full(own.rows, new, dtype=object)})


def _write_manifest(path: Path, manifest: Recording, start_ns: int, days: int) -> None:
    ended_ns = start_ns + days * DAY_S * NS_PER_S
    changed = replace(manifest, started_wall_ns=start_ns, ended_wall_ns=ended_ns, gaps=(), events=())
    write_manifest(path, changed)


def _subjects(table: Table) -> "np.ndarray":
    names = [texts for name, texts in sorted(table.texts.items()) if name != "stage"]
    rows = zip(*names, strict=True) if names else iter([()] * table.rows)
    _, inverse = np.unique(["\t".join(str(word) for word in row) for row in rows], return_inverse=True)
    return np.asarray(inverse)


def _whole_hour(table: Table) -> Table:
    """Return a table whose rows are spread evenly over an hour: what is there, again and again."""
    subjects = _subjects(table)
    parts = [_stretched(table, np.flatnonzero(subjects == number)) for number in np.unique(subjects)]
    integers = {
        name: Column(
            values=np.concatenate([p.integers[name].values for p in parts]),
            present=np.concatenate([p.integers[name].present for p in parts]),
        )
        for name in table.integers
    }
    texts = {name: np.concatenate([p.texts[name] for p in parts]) for name in table.texts}
    return Table(name=table.name, rows=sum(p.rows for p in parts), integers=integers, texts=texts)


def _stretched(table: Table, rows: "np.ndarray") -> Table:
    """Return one subject's rows as an hour: counters go on where the rows begin again."""
    seq = table.integers["seq"].values[rows]
    step = max(1, round(float(np.median(np.diff(seq))))) if rows.size > 1 else SEGMENT_S
    count = SEGMENT_S // step
    turn, at = np.divmod(np.arange(count), rows.size)
    integers = {}
    for name, column in table.integers.items():
        values = column.values[rows]
        taken = values[at]
        if name.endswith("_total") and rows.size > 1:
            grown = int(values[-1] - values[0]) + int(values[-1] - values[-2])
            taken = taken + turn * max(grown, 0)
        integers[name] = Column(values=taken, present=column.present[rows][at])
    ticks = np.arange(count, dtype=np.int64) * step
    full = np.ones(count, dtype=bool)
    first = {name: int(table.integers[name].values.min()) for name in ("boottime_ns", "wall_ns")}
    integers["seq"] = Column(values=ticks + 1, present=full)
    for name, start in first.items():
        integers[name] = Column(values=start + ticks * NS_PER_S, present=full)
    texts = {name: values[rows][at] for name, values in table.texts.items()}
    return Table(name=table.name, rows=count, integers=integers, texts=texts)


def _growths(table: Table) -> dict[str, "np.ndarray"]:
    """Return by how much each counter of an hour grows, by row."""
    subjects = _subjects(table)
    return {n: _growth(c, subjects) for n, c in table.integers.items() if n.endswith("_total")}


def _shifted(table: Table, growths: dict[str, "np.ndarray"], hours: int) -> Table:
    """Return the table of a later hour."""
    integers = {}
    for name, column in table.integers.items():
        values = column.values
        if name in ("boottime_ns", "wall_ns"):
            values = values + hours * SEGMENT_S * NS_PER_S
        elif name == "seq":
            values = values + hours * SEGMENT_S
        elif name in growths:
            values = values + hours * growths[name]
        integers[name] = Column(values=values, present=column.present)
    return replace(table, integers=integers)


def _growth(column: Column, subjects: "np.ndarray") -> "np.ndarray":
    growth = np.zeros(column.values.size, dtype=np.int64)
    for number in np.unique(subjects):
        rows = np.flatnonzero(subjects == number)
        values = column.values[rows]
        growth[rows] = max(int(values[-1] - values[0]), 0)
    return growth


def cut(path: Path, days: int) -> Path:
    """Return a recording of the first days of another, its files linked."""
    made = path.with_name(f"{path.name}-{days}d")
    if made.exists():
        return made
    made.mkdir(mode=0o700)
    last = days * DAY_S // SEGMENT_S
    for file in path.glob("*.parquet"):
        if int(file.stem.rpartition("-")[2]) <= last:
            os.link(file, made / file.name)
    loaded = load(path)
    assert loaded.manifest.started_wall_ns is not None
    _write_manifest(made, loaded.manifest, loaded.manifest.started_wall_ns, days)
    return made
