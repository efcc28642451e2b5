"""Tests of recording, showing, listing and exporting through the program itself, on this machine."""

import json
import os
from pathlib import Path

import pytest

from tests.support.program import leapprof


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a recording of half a second."""
    out = tmp_path_factory.mktemp("recordings")
    words = ("--phase", "before", "--interval", "100ms", "--duration", "700ms", "--json")
    done = leapprof("record", "local", "--out", str(out), *words)
    assert done.code == 0, done.err
    rows = json.loads(done.out)["recordings"]
    assert rows[0]["error"] is None
    return Path(rows[0]["recording"])


def test_show_tells_what_is_in_a_recording(recording: Path) -> None:
    """Facts, cost and summary are printed, without a control character."""
    done = leapprof("show", str(recording))
    assert done.code == 0, done.err
    assert "phase before, sampled every 0.1 s over local" in done.out
    assert "Cost of the sampling" in done.out
    assert "host.cpu_percent" in done.out
    assert all(c.isprintable() or c == "\n" for c in done.out)


def test_show_json_is_json(recording: Path) -> None:
    """Machines get the manifest and the summary."""
    document = json.loads(leapprof("show", str(recording), "--json").out)
    assert document["recording"]["phase"] == "before"
    assert {"host.cpu_percent", "host.mem_available_bytes"} <= {row["name"] for row in document["summary"]}


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_export_writes_each_table_once(recording: Path, tmp_path: Path, form: str) -> None:
    """One file a table; a second export over them is refused."""
    words = ("export", str(recording), "--out", str(tmp_path / "x"), "--format", form)
    done = leapprof(*words)
    assert done.code == 0, done.err
    assert (tmp_path / "x" / f"host.{form}").stat().st_size > 100
    again = leapprof(*words)
    assert again.code == 2
    assert "exists already" in again.err


def test_show_of_no_recording_says_what_to_give(tmp_path: Path) -> None:
    """Exit code 2 and what to do."""
    done = leapprof("show", str(tmp_path))
    assert done.code == 2
    assert "give the directory that `leapprof record` printed" in done.err
    assert "Traceback" not in done.err


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
    assert done.code == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert not (tmp_path / "r").exists()


def test_an_unwritable_directory_is_said(tmp_path: Path) -> None:
    """A file in the way is a usage error that names the path."""
    (tmp_path / "file").write_text("x")
    done = leapprof("record", "local", "--out", str(tmp_path / "file"), "--duration", "1s")
    assert done.code == 2
    assert "cannot write there" in done.err


def test_doctor_sees_this_machine() -> None:
    """Agent, host and clock are told; every finding has a hint."""
    done = leapprof("doctor", "local", "--json")
    assert done.code == 0, done.err
    host = json.loads(done.out)["hosts"][0]
    assert host["agent"] in ("python", "sh")
    assert host["facts"]["facts"]["cores"] == str(os.cpu_count())
    assert all(finding["hint"] for finding in host["findings"])


def test_agents_lists_what_is_left_behind(tmp_path: Path) -> None:
    """An empty directory has nothing; stop and clean at once are two steps."""
    done = leapprof("agents", "local", "--spool", str(tmp_path))
    assert done.out == f"local: nothing left behind in {tmp_path}\n"
    both = leapprof("agents", "local", "--stop", "/x", "--clean", "/x")
    assert both.code == 2
