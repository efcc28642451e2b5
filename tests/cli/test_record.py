"""Tests of recording, showing, listing and exporting through the program itself, on this machine."""

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path

import pytest

from leapprof.cli.main import main


@dataclass(frozen=True)
class Done:
    """How the program ended."""

    returncode: int
    stdout: str
    stderr: str


def leapprof(*words: str) -> Done:
    """Run the program in this process."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["leapprof", *words]
    code: object = 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv = before
    return Done(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording of half a second."""
    out = tmp_path_factory.mktemp("recordings")
    words = ("--phase", "before", "--interval", "100ms", "--duration", "700ms", "--json")
    done = leapprof("record", "local", "--out", str(out), *words)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["recordings"]
    assert rows[0]["error"] is None
    return Path(rows[0]["recording"])


def test_show_tells_what_is_in_a_recording(recording: Path) -> None:
    """Facts, cost and summary are printed, without a control character."""
    done = leapprof("show", str(recording))
    assert done.returncode == 0, done.stderr
    assert "phase before, sampled every 0.1 s over local" in done.stdout
    assert "Cost of the sampling" in done.stdout
    assert "host.cpu_percent" in done.stdout
    assert all(c.isprintable() or c == "\n" for c in done.stdout)


def test_show_json_is_json(recording: Path) -> None:
    """Machines get the manifest and the summary."""
    document = json.loads(leapprof("show", str(recording), "--json").stdout)
    assert document["recording"]["phase"] == "before"
    assert {"host.cpu_percent", "host.mem_available_bytes"} <= {row["name"] for row in document["summary"]}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_export_writes_each_table_once(recording: Path, tmp_path: Path, form: str) -> None:
    """One file a table; a second export over them is refused."""
    words = ("export", str(recording), "--out", str(tmp_path / "x"), "--format", form)
    done = leapprof(*words)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "x" / f"host.{form}").stat().st_size > 100
    again = leapprof(*words)
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_show_of_no_recording_says_what_to_give(tmp_path: Path) -> None:
    """Exit code 5 and what to do."""
    done = leapprof("show", str(tmp_path))
    assert done.returncode == 5
    assert "give the directory that `leapprof record` printed" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--interval", "0"), "write 90s"),
        (("--interval", "-1s"), "write 90s"),
        (("--interval", "1h"), "give 0.1s to 60s"),
        (("--duration", "0s"), "not longer than 0"),
        (("--phase", "../x"), "letters, digits"),
        (("--nodeos", "what:x"), "write exe:NAME"),
        (("--transport", "telnet"), "ssh, openssh, local"),
        (("--retention", "x"), "write 90s"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(
    tmp_path: Path, words: tuple[str, str], said: str
) -> None:
    """Exit code 2, what is accepted, no traceback, nothing written."""
    done = leapprof("record", "local", "--out", str(tmp_path / "r"), *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "r").exists()


def test_an_unwritable_directory_is_said(tmp_path: Path) -> None:
    """A file in the way is a usage error that names the path."""
    (tmp_path / "file").write_text("x")
    done = leapprof("record", "local", "--out", str(tmp_path / "file"), "--duration", "1s")
    assert done.returncode == 2
    assert "cannot write there" in done.stderr


def test_doctor_sees_this_machine() -> None:
    """Agent, host and clock are told; every finding has a hint."""
    done = leapprof("doctor", "local", "--json")
    assert done.returncode == 0, done.stderr
    host = json.loads(done.stdout)["hosts"][0]
    assert host["agent"] in ("python", "sh")
    assert host["facts"]["facts"]["cores"] == str(os.cpu_count())
    assert all(finding["hint"] for finding in host["findings"])


def test_agents_lists_what_is_left_behind(tmp_path: Path) -> None:
    """An empty directory has nothing; stop and clean at once are two steps."""
    done = leapprof("agents", "local", "--spool", str(tmp_path))
    assert done.stdout == f"local: nothing left behind in {tmp_path}\n"
    both = leapprof("agents", "local", "--stop", "/x", "--clean", "/x")
    assert both.returncode == 2
