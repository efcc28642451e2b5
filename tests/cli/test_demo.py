"""Tests of `leapprof demo`."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from leapprof.cli import demo
from leapprof.cli.demo_progress import PlainProgress, progress
from leapprof.errors import ConfigError, InterruptedRunError
from leapprof.standin.state import filesystem_type

SHARED_MEMORY = Path("/dev/shm")
SMALL = demo.DemoPlan(used_mb=8, transactions_per_s=20, record_s={"mapped": 4.0, "mapped_private": 3.0})
HUGE = demo.DemoPlan(used_mb=2**30, transactions_per_s=1, record_s={})


@pytest.mark.skipif(
    not SHARED_MEMORY.is_dir() or filesystem_type(SHARED_MEMORY) != "tmpfs", reason="no tmpfs at /dev/shm"
)
def test_a_directory_in_memory_is_refused_with_what_to_do():
    """Writes to tmpfs say nothing about a disk; the message names --dir."""
    with pytest.raises(ConfigError, match=r"tmpfs.*--dir"):
        demo.check_room(SHARED_MEMORY, SMALL)


def test_too_little_disk_is_refused_before_anything_is_written(tmp_path):
    """Both amounts are named, and no dated directory stays behind."""
    if filesystem_type(tmp_path) in demo.NOT_ON_DISK:
        pytest.skip("the temporary directory does not lie on a disk")
    with pytest.raises(ConfigError, match=r"free,.*needed"):
        demo.prepared_directory(tmp_path, HUGE)
    assert list(tmp_path.iterdir()) == []


def test_too_little_memory_is_refused(tmp_path):
    """A machine without the memory is not driven into swap."""
    if filesystem_type(tmp_path) in demo.NOT_ON_DISK:
        pytest.skip("the temporary directory does not lie on a disk")
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 100000 kB\nMemAvailable: 90000 kB\n", encoding="ascii")
    with pytest.raises(ConfigError, match="of memory available"):
        demo.check_room(tmp_path, SMALL, meminfo)


def test_the_state_is_removed_and_the_rest_kept_whatever_happens(tmp_path):
    """Ctrl-C ends with 130 and says where the recordings are."""
    state = tmp_path / "standin" / "state" / "shared_memory.bin"
    state.parent.mkdir(parents=True)
    state.write_bytes(b"x")
    (tmp_path / "standin.log").write_text("log", encoding="ascii")
    with pytest.raises(InterruptedRunError, match="kept in"), demo.cleaned_up(tmp_path):
        raise KeyboardInterrupt
    assert [path.name for path in tmp_path.iterdir()] == ["standin.log"]


def test_steps_are_lines_when_nobody_watches(capsys):
    """A log gets a line at the start of each step and now and then in it."""
    shown = PlainProgress({"mapped": 64.0})
    shown.begin("mapped")
    advance = shown.advancing("mapped")
    for _ in range(30):
        advance()
    shown.done("mapped")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "demo: recording mapped, 1 min 4 s",
        "demo: recording mapped: 15 of about 64 samples",
        "demo: recording mapped: 30 of about 64 samples",
    ]


def test_a_terminal_gets_bars(capsys, monkeypatch):
    """Each step has a bar on stderr; nothing goes to stdout."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress({"load": 1.0, "mapped": 2.0}) as shown:
        shown.begin("load")
        shown.done("load")
        shown.begin("mapped")
        shown.advancing("mapped")()
    printed = capsys.readouterr()
    assert "filling the state" in printed.err
    assert printed.out == ""


def test_the_whole_job_in_small(tmp_path):
    """Both modes are recorded with the real agent, known as the stand-in, compared and reported."""
    if filesystem_type(tmp_path) in demo.NOT_ON_DISK:
        pytest.skip("the temporary directory does not lie on a disk")
    with demo.cleaned_up(tmp_path):
        recordings = demo.record_phases(tmp_path, SMALL, PlainProgress({"load": 1.0, **SMALL.record_s}))
        page, headline = demo.write_report(tmp_path, recordings)
    report = json.loads((tmp_path / "report" / "report.json").read_text(encoding="utf-8"))
    assert page.read_text(encoding="utf-8").count("stand-in") > 1
    assert "stand-in" in headline[0]
    sides = [report[side]["nodeos"][0] for side in ("before", "after")]
    assert [side["stand_in"] for side in sides] == [True, True]
    assert [side["map_mode"] for side in sides] == ["mapped", "mapped_private"]
    assert {metric["grade"] for metric in report["metrics"]} == {"too_short"}
    assert not (tmp_path / "standin").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_program_with_130_and_no_stand_in_left(tmp_path, number):
    """A signal during a recording removes the state, keeps what was recorded and ends all children."""
    if filesystem_type(tmp_path) in demo.NOT_ON_DISK:
        pytest.skip("the temporary directory does not lie on a disk")
    program = "from leapprof.cli.main import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "demo", "--quick", "--dir", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    for line in process.stderr:
        if "recording mapped" in line:
            break
    end_s = time.monotonic() + 120
    while not list(tmp_path.glob("*/recordings/local-before-*/recording.json")):
        assert time.monotonic() < end_s
        time.sleep(0.1)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    root = next(tmp_path.iterdir())
    assert process.returncode == 130, errors
    assert str(root) in errors
    assert not (root / "standin").exists()
    assert list((root / "recordings").glob("local-before-*/recording.json"))
    assert not _commands_with(str(root))


def _commands_with(text):
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    line = file.read().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if text in line and "leapprof.standin" in line:
                found.append(line)
    return found
