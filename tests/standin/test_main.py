"""Tests of the stand-in as a program."""

import os
import signal
import subprocess
import sys
import time

import pytest

from leapprof.standin.state import filesystem_type

COMMON = ["--chain-state-db-size-mb", "8", "--used-mb", "2", "--http-server-address", "127.0.0.1:0"]


def started(data_dir, *arguments):
    """Start a stand-in and wait until it applies blocks."""
    process = subprocess.Popen(
        [sys.executable, "-m", "leapprof.standin", "--data-dir", str(data_dir), *COMMON, *arguments],
        stderr=subprocess.PIPE,
        text=True,
    )
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "Received block" in line:
            break
    return process, lines


def ended(process, number=signal.SIGTERM):
    """End a stand-in; return its exit code and what else it said."""
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


@pytest.mark.parametrize("mode", ["mapped", "mapped_private"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_runs_and_ends_cleanly(tmp_path, mode, number):
    """Either signal ends it with 0, and the state is clean afterwards."""
    if mode == "mapped_private" and filesystem_type(tmp_path) == "tmpfs":
        pytest.skip("the temporary directory lies on tmpfs, which mapped_private refuses")
    process, lines = started(tmp_path, "--database-map-mode", mode)
    code, errors = ended(process, number)
    assert code == 0, errors
    assert any("Finished initialization from snapshot" in line for line in lines)
    assert ('CHAINBASE: Writing "state" database file' in errors) is (mode == "mapped_private")
    assert (tmp_path / "state" / "shared_memory.bin").read_bytes()[8] == 0


def test_a_killed_run_is_refused_at_the_next_start(tmp_path):
    """Kill -9 leaves the dirty flag; the next start ends with 2 and says why."""
    process, _ = started(tmp_path)
    ended(process, signal.SIGKILL)
    process, lines = started(tmp_path)
    process.communicate(timeout=120)
    assert process.returncode == 2
    assert any("Database dirty flag set" in line for line in lines)


def test_a_mode_it_does_not_know_ends_with_254(tmp_path):
    """A wrong option is refused as nodeos refuses it."""
    process, lines = started(tmp_path, "--database-map-mode", "heap")
    process.communicate(timeout=120)
    assert process.returncode == 254
    assert any("database-map-mode" in line for line in lines)


def test_it_can_end_with_the_program_that_started_it(tmp_path):
    """A killed demo leaves no stand-in behind, and the state is clean."""
    code = (
        "import sys, time; from pathlib import Path; from leapprof.standin.runner import Running\n"
        f"r = Running(Path({str(tmp_path)!r}), {COMMON!r}, Path({str(tmp_path / 'log')!r}))\n"
        "r.wait_until_ready(); print(r.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as starter:
        pid = int(starter.stdout.readline())
        starter.kill()
    for _ in range(600):
        if not os.path.exists(f"/proc/{pid}/exe"):
            break
        time.sleep(0.1)
    assert not os.path.exists(f"/proc/{pid}/exe")
    assert (tmp_path / "state" / "shared_memory.bin").read_bytes()[8] == 0


def test_private_pages_become_anonymous_and_shared_ones_do_not(tmp_path):
    """The kernel's counters show what the mode does to memory."""
    if filesystem_type(tmp_path) == "tmpfs":
        pytest.skip("the temporary directory lies on tmpfs, which mapped_private refuses")
    big = ["--chain-state-db-size-mb", "128", "--used-mb", "64"]
    found = {}
    for mode in ("mapped", "mapped_private"):
        process, _ = started(tmp_path / mode, "--database-map-mode", mode, *big)
        status = _status(process.pid)
        ended(process)
        found[mode] = status
    assert found["mapped_private"]["RssAnon"] - found["mapped"]["RssAnon"] > 50_000
    assert found["mapped"]["RssFile"] - found["mapped_private"]["RssFile"] > 50_000


def test_it_imports_little(tmp_path):
    """Its memory is its state: no numpy, no typer, no http.server."""
    code = "import sys, leapprof.standin.main; print(sorted(m for m in sys.modules))"
    modules = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}
    ).stdout
    for heavy in ("'numpy'", "'typer'", "'http.server'", "'email'", "'asyncio'"):
        assert heavy not in modules


def _status(pid):
    for _ in range(50):
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            fields = dict(line.split(":", 1) for line in file)
        if "RssAnon" in fields:
            break
        time.sleep(0.1)
    return {name: int(fields[name].split()[0]) for name in ("RssAnon", "RssFile")}
