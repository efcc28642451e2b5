"""What happens to the collector: it is killed, stopped, doubled, or its disk is full or read-only."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from leapprof.assess.load import load
from leapprof.store import open_recording
from tests.support.own_mounts import fill, small_disk

CLI = "import sys; from leapprof.cli.main import main; main()"
KILLS = int(os.environ.get("LEAPPROF_FAULT_KILLS", "5"))
AT_ONCE = 5
TICK_S = 0.1
LIMIT_S = 180.0


def start(out: Path, *words: str) -> "subprocess.Popen[str]":
    """Start a recording of this machine at ten ticks a second."""
    command = ["record", "local", "--out", str(out), "--phase", "before", "--interval", "100ms", *words]
    return subprocess.Popen(
        [sys.executable, "-c", CLI, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def wait_for(condition: Callable[[], object]) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


def directory_of(out: Path) -> Path | None:
    """Return the recording below out, once it has a manifest."""
    return next((path.parent for path in out.glob("*/recording.json")), None)


def frames(out: Path) -> int:
    """Return how many frames the journal holds."""
    found = directory_of(out)
    return len(open_recording(found).journal.frames) if found else 0


def journal_bytes(out: Path) -> int:
    """Return the size of the journal that is being written: cheap to ask for often."""
    return sum(path.stat().st_size for path in out.glob("*/journal.sqlite-wal"))


def kill_at_a_random_moment(out: Path, number: int) -> tuple[Path, int, int]:
    """Return a recording whose recorder was killed, how many samples it had a moment before, and when that was.

    Every other one may be killed before its first sample.
    """
    rng, is_late = random.Random(number), number % 2
    with start(out) as process:
        wait_for(lambda: frames(out) if is_late else journal_bytes(out) > 0)
        time.sleep(rng.uniform(0, 4.0))
        held = frames(out)
        killed_ns = time.time_ns()
        process.send_signal(signal.SIGKILL)
    directory = directory_of(out)
    assert directory is not None
    return directory, held, killed_ns


@pytest.mark.timeout(300 + 10 * KILLS)
def test_kill_9_at_random_moments(tmp_path: Path, figure: Callable[[str], None]) -> None:
    """The recording opens; what had arrived is read without a hole (an agent keeps back a second at most)."""
    numbers = range(KILLS)
    with ThreadPoolExecutor(AT_ONCE) as pool:
        killed = list(pool.map(kill_at_a_random_moment, [tmp_path / str(n) for n in numbers], numbers))
    missing_s = []
    for directory, held, killed_ns in killed:
        loaded = load(directory)
        sequence = loaded.table("host", ()).integers["seq"].values.tolist()
        assert sequence == list(range(1, len(sequence) + 1))
        assert len(sequence) >= held
        walls_ns = loaded.table("host", ()).integers["wall_ns"].values[-1:] if sequence else []
        missing_s += [(killed_ns - int(wall_ns)) / 1e9 for wall_ns in walls_ns]
        assert "recording-not-closed" in [finding.code for finding in loaded.manifest.findings]
    assert missing_s, "all kills came before the first sample"
    middle_s, most_s = sorted(missing_s)[len(missing_s) // 2], max(missing_s)
    before = KILLS - len(missing_s)
    figure(
        f"{KILLS} kills at {1 / TICK_S:.0f} samples a second, {before} of them before the first sample: the last one "
        f"kept was taken {middle_s:.2f} s before the kill in the middle, {most_s:.2f} s at most"
    )


def test_stopped_and_continued_like_a_laptop_asleep(tmp_path: Path) -> None:
    """The recorder goes on; what its agent could not send meanwhile is there, or is a gap with a reason."""
    with start(tmp_path) as process:
        wait_for(lambda: frames(tmp_path) >= 5)
        process.send_signal(signal.SIGSTOP)
        time.sleep(2.0)
        process.send_signal(signal.SIGCONT)
        held = frames(tmp_path)
        wait_for(lambda: frames(tmp_path) >= held + 10)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 130, err
    directory = directory_of(tmp_path)
    assert directory is not None
    manifest = load(directory).manifest
    host = load(directory).table("host", ())
    times_ns = host.integers["boottime_ns"].values.tolist()
    told = {(gap.start_ns, gap.end_ns) for gap in manifest.gaps}
    assert {step for step in pairwise(times_ns) if step[1] - step[0] > 5 * TICK_S * 1e9} <= told


@pytest.mark.parametrize("leave_bytes", [0, 40_000, 300_000], ids=["create", "append", "later"])
def test_the_disk_is_full(tmp_path: Path, leave_bytes: int) -> None:
    """Wherever the disk fills up, exit code 5 or 2 says so in one line, and what was recorded before is read."""
    with small_disk(tmp_path / "disk", "2m") as disk:
        fill(disk, leave_bytes)
        with start(disk) as process:
            out, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode in (2, 5), err
        assert "Traceback" not in err
        assert "full" in err or "No space left" in err, err
        directory = directory_of(disk)
        if directory is not None and leave_bytes > 40_000:
            sequence = load(directory).table("host", ()).integers["seq"].values.tolist()
            assert sequence == list(range(1, len(sequence) + 1))
            assert sequence
        assert "journal" not in out


def test_the_disk_is_full_when_it_is_sealed(tmp_path: Path) -> None:
    """The frames stay in the journal and are read from there; exit code 5."""
    with small_disk(tmp_path / "disk", "3m") as disk:
        with start(disk) as process:
            wait_for(lambda: frames(disk) >= 10)
            fill(disk, 0)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=LIMIT_S)
        directory = directory_of(disk)
        assert directory is not None
        assert process.returncode == 5, err
        assert "the disk is full" in err
        assert load(directory).table("host", ()).rows >= 10


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes into a read-only directory")
def test_a_directory_that_may_not_be_written(tmp_path: Path) -> None:
    """Exit code 2 before anything is sampled."""
    tmp_path.chmod(0o500)
    try:
        with start(tmp_path / "out") as process:
            _, err = process.communicate(timeout=LIMIT_S)
    finally:
        tmp_path.chmod(0o700)
    assert process.returncode == 2, err
    assert "cannot write there" in err


def test_a_read_only_file_system(tmp_path: Path) -> None:
    """Exit code 2 before anything is sampled, with the directory in the message."""
    with small_disk(tmp_path / "disk", "1m") as disk:
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with start(disk / "out") as process:
            _, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 2, err
        assert "cannot write there" in err
        assert str(disk) in err
