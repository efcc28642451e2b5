"""Bytes of a sealed sample, and bytes written to the collector's disk a tick while recording."""

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import lab, machine
from benchmarks.figures import Figure, Section, at_most
from benchmarks.program import words_of
from leapprof.assess.load import load

TITLE = "Storage"
SAMPLE = Path(__file__).parent.parent / "samples" / "nodeos-v5-long"
SEALED_BYTES, WRITTEN_BYTES = 150.0, 8000.0
RECORD_S = 45


def measure(*, long: bool) -> Section:
    """Measure everything of this section."""
    del long
    load_before = machine.load_now()
    figures = [*sealed(), *written()]
    text = (
        "Sealed: the recordings of a real nodeos 5.0.3 in samples/. Written: `leapprof record local` at 1 Hz with one "
        "nodeos, what the kernel charges to the recorder's account (/proc/PID/io, write_bytes) up to the last second "
        "before it is sealed."
    )
    return Section(title=TITLE, text=text, figures=tuple(figures), where=machine.describe(load_before))


def sealed() -> Iterator[Figure]:
    """Yield what a sample takes when it is sealed."""
    for path in sorted(SAMPLE.iterdir()):
        loaded = load(path)
        size_bytes = sum(file.stat().st_size for file in path.glob("*.parquet"))
        samples = loaded.table("host", ()).rows
        values = sum(
            int(column.present.sum())
            for name in loaded.table_names
            for column in loaded.table(name).integers.values()
        )
        note = f"{values / samples:.0f} values a sample, {size_bytes / values:.2f} bytes a value; {samples:,} samples"
        yield at_most(f"sealed, {path.name}", size_bytes / samples, "bytes a sample", SEALED_BYTES, note)


def written() -> Iterator[Figure]:
    """Yield what a tick writes while a recording goes on, and what it holds in the journal then."""
    with tempfile.TemporaryDirectory(prefix="leapprof-bench-", dir=Path.cwd()) as folder:
        directory = Path(folder)
        with lab.standin(directory, "one") as nodeos:
            out = directory / "recordings"
            words = words_of(
                "record", "local", "--out", out, "--phase", "before", "--nodeos",
                f"n0=cmdline:{nodeos.data_dir}", "--json",
            )  # fmt: skip
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                wait_for_samples(out, 3)
                before, first = write_bytes(process.pid), samples(out)
                time.sleep(RECORD_S)
                ticks = samples(out) - first
                per_tick = (write_bytes(process.pid) - before) / max(ticks, 1)
            finally:
                process.terminate()
                process.wait(60)
    yield at_most("written to the disk, each tick", per_tick, "bytes", WRITTEN_BYTES, f"{ticks} ticks")


def write_bytes(pid: int) -> int:
    """Return what a process has caused to be written, bytes."""
    rows = Path(f"/proc/{pid}/io").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("write_bytes"))


def samples(out: Path) -> int:
    """Return how many samples the one recording below out has by now."""
    found = list(out.glob("*/recording.json")) if out.is_dir() else []
    return load(found[0].parent).table("host", ()).rows if found else 0


def wait_for_samples(out: Path, count: int) -> None:
    """Wait until the recording has so many samples."""
    deadline = time.monotonic() + lab.READY_S
    while samples(out) < count:
        if time.monotonic() > deadline:
            raise RuntimeError(f"no samples in {os.fspath(out)}")
        time.sleep(0.2)
