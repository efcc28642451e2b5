"""Input that cannot be used: each case ends with its exit code and one message that says what to do, no traceback."""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from leapprof.cli.main import main
from leapprof.units import NS_PER_S
from tests.e2e.lab import CLI, Done

USAGE, HOST_FAILED, UNREADABLE, DAMAGED, NOTHING = 2, 3, 4, 5, 6
MS = ("--interval", "100ms", "--nodeos", "exe:leapprof-no-such-program")
"""Fast, and whatever nodeos or stand-in this machine runs is none of these tests' business."""


def program(*words: object) -> Done:
    """Run the program in this process; an error that is none of ours would pass through and fail the test."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv, code = ["leapprof", *map(str, words)], 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.argv = before
    return Done(code=code, out=out.getvalue(), err=err.getvalue())


def recorded(out: Path, phase: str, seconds: str = "1200ms") -> Path:
    """Record this machine for a moment."""
    done = program("record", "local", "--out", out, "--phase", phase, "--duration", seconds, *MS, "--json")
    assert done.code == 0, done.err
    return Path(json.loads(done.out)["recordings"][0]["recording"])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two good recordings, one after the other."""
    out = tmp_path_factory.mktemp("whole")
    return recorded(out, "before"), recorded(out, "after")


def change_manifest(path: Path, **changes: object) -> Path:
    """Rewrite keys of recording.json."""
    file = path / "recording.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
    return path


def rename_host(path: Path) -> Path:
    """Make a recording one of another machine."""
    host = json.loads((path / "recording.json").read_text())["host"]
    return change_manifest(path, host={**host, "name": "other", "machine_id": "x" * 32, "boot_id": "y" * 36})


def cut(path: Path, pattern: str) -> Path:
    """Cut files in half."""
    for file in path.glob(pattern):
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    return path


def without(path: Path, *patterns: str) -> Path:
    """Remove files."""
    for pattern in patterns:
        for file in path.glob(pattern):
            file.unlink()
    return path


def broken_journal(path: Path) -> Path:
    """Leave half of a journal where the samples were, as a disk that lost its end does."""
    without(path, "*.parquet")
    (path / "journal.sqlite").write_bytes(b"SQLite format 3\0" + b"\xff" * 3000)
    return path


def foreign(path: Path) -> Path:
    """Make a directory of something else."""
    shutil.rmtree(path)
    path.mkdir()
    (path / "notes.txt").write_text("no recording")
    return path


BEFORE = Callable[[Path], Path]
SPOILT: list[tuple[str, BEFORE, int, str]] = [
    ("newer", lambda p: change_manifest(p, format=999), DAMAGED, "update leapprof"),
    ("no-number", lambda p: change_manifest(p, format="x"), DAMAGED, "format"),
    ("manifest-gone", lambda p: without(p, "recording.json"), DAMAGED, "is gone; restore it from a copy"),
    ("manifest-cut", lambda p: cut(p, "recording.json"), DAMAGED, "recording.json"),
    ("parquet-cut", lambda p: cut(p, "*.parquet"), DAMAGED, "restore it from a copy"),
    ("parquet-gone-sqlite-cut", broken_journal, DAMAGED, "restore the recording from a copy"),
    ("foreign", foreign, USAGE, "give the directory that `leapprof record` printed"),
    ("empty", lambda p: without(p, "*.parquet", "journal*"), NOTHING, "no samples"),
]


@pytest.mark.parametrize(("spoil", "code", "said"), [c[1:] for c in SPOILT], ids=[c[0] for c in SPOILT])
def test_a_spoilt_recording_is_refused_with_what_to_do(
    whole: tuple[Path, Path], tmp_path: Path, spoil: BEFORE, code: int, said: str
) -> None:
    """Compare and wear end with the exit code; show does too, or shows what can be shown; no report is begun."""
    path = spoil(Path(shutil.copytree(whole[0], tmp_path / "copy")))
    done = program("compare", path, whole[1], "--out", tmp_path / "reports")
    assert (done.code, said in done.err) == (code, True), done
    assert not (tmp_path / "reports").exists()
    for command in ("show", "wear"):
        for option in ((), ("--json",)):
            told = program(command, path, *option)
            assert told.code in (code, 0)
            assert told.code == 0 or said in told.err
            assert told.code == 0 or told.out == ""


PAIRS: list[tuple[str, Callable[[Path, Path], tuple[object, ...]], int, str]] = [
    ("one-recording", lambda a, b: (a,), USAGE, "--change-at"),
    ("three-recordings", lambda a, b: (a, b, a), USAGE, "an even number"),
    ("change-of-two", lambda a, b: (a, b, "--change-at", "auto"), USAGE, "name one"),
    (
        "change-outside",
        lambda a, b: (a, "--change-at", "2020-01-01T00:00:00Z"),
        USAGE,
        "not inside the recording",
    ),
    ("change-nonsense", lambda a, b: (a, "--change-at", "yesterday"), USAGE, "write 2026-03-01T14:05:00Z"),
    ("change-without-zone", lambda a, b: (a, "--change-at", "2024-05-01T12:00:00"), USAGE, "add Z for UTC"),
    ("change-not-seen", lambda a, b: (a, "--change-at", "auto"), USAGE, "say when the change was made"),
    ("same-time", lambda a, b: (a, a), USAGE, "--across"),
    ("other-host", lambda a, b: (rename_host(a), b), USAGE, "--across"),
    ("window", lambda a, b: (a, b, "--window", "soon"), USAGE, "write 90s"),
    ("format", lambda a, b: (a, b, "--format", "pdf"), USAGE, "html"),
    ("fail-on", lambda a, b: (a, b, "--fail-on", "rain"), USAGE, "regression"),
    ("a-file", lambda a, b: (a / "recording.json", b), USAGE, "give the directory"),
    ("nothing-there", lambda a, b: (a.parent / "gone", b), USAGE, "give the directory"),
]


@pytest.mark.parametrize(("words", "code", "said"), [c[1:] for c in PAIRS], ids=[c[0] for c in PAIRS])
def test_what_cannot_be_compared_is_refused_with_what_to_do(
    whole: tuple[Path, Path],
    tmp_path: Path,
    words: Callable[[Path, Path], tuple[object, ...]],
    code: int,
    said: str,
) -> None:
    """Exit code, message, and no report; the same with --json."""
    before = Path(shutil.copytree(whole[0], tmp_path / "copy"))
    for option in ((), ("--json",)):
        done = program("compare", *words(before, whole[1]), "--out", tmp_path / "reports", *option)
        assert (done.code, said in done.err, done.out) == (code, True, ""), done
        assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("spoil", [rename_host, lambda path: path], ids=["other-host", "same-time"])
def test_across_says_that_it_is_meant(whole: tuple[Path, Path], tmp_path: Path, spoil: BEFORE) -> None:
    """Two hosts, or one time, are compared with --across."""
    before = Path(shutil.copytree(whole[0], tmp_path / "copy"))
    after = whole[1] if spoil is rename_host else whole[0]
    done = program("compare", spoil(before), after, "--across", "--format", "json", "--out", tmp_path / "r")
    assert done.code == 0, done.err


def test_a_metric_that_one_recording_lacks_is_not_compared(whole: tuple[Path, Path], tmp_path: Path) -> None:
    """Without any drive's counters before, the report says nothing of drives and the rest is there."""
    before = without(Path(shutil.copytree(whole[0], tmp_path / "copy")), "device-*.parquet")
    done = program("compare", before, whole[1], "--out", tmp_path / "r", "--format", "json", "--json")
    assert done.code == 0, done.err
    metrics = {m["name"]: m for m in json.loads(done.out)["metrics"]}
    assert metrics["host.cpu_percent"]["difference"] is not None
    assert metrics.get("device.write_bytes_per_s", {"difference": None})["difference"] is None


RECORDS: list[tuple[str, tuple[str, ...], int, str]] = [
    ("no-tick", ("local", "--interval", "0"), USAGE, "write 90s"),
    ("negative-tick", ("local", "--interval=-1"), USAGE, "write 90s"),
    ("negative-tick-word", ("local", "--interval", "-1"), USAGE, "-1"),
    ("hourly-tick", ("local", "--interval", "1h"), USAGE, "0.1s to 60s"),
    ("nonsense-duration", ("local", "--duration", "nonsense"), USAGE, "write 90s"),
    ("no-host", (), USAGE, "HOST"),
    ("odd-host", ("-oProxyCommand=x",), USAGE, "o"),
    ("odd-name", ("a b",), USAGE, "user@host:port"),
    ("odd-port", ("me@host:99999",), USAGE, "65535"),
    ("unknown-host", ("no-such-host.invalid", "--duration", "1s"), HOST_FAILED, "no-such-host.invalid"),
    ("inventory-is-a-directory", ("x", "--inventory", "/"), USAGE, "/"),
    ("inventory-is-missing", ("x", "--inventory", "/no/such.toml"), USAGE, "No such file"),
    ("transport", ("local", "--transport", "telnet"), USAGE, "ssh, openssh, local"),
]


@pytest.mark.parametrize(("words", "code", "said"), [c[1:] for c in RECORDS], ids=[c[0] for c in RECORDS])
def test_what_cannot_be_recorded_is_refused_with_what_to_do(
    tmp_path: Path, words: tuple[str, ...], code: int, said: str
) -> None:
    """Exit code and message, and no recording is begun."""
    done = program("record", *words, "--out", tmp_path / "r")
    assert (done.code, said in done.err) == (code, True), done
    assert not list(tmp_path.glob("r/*"))


def test_a_host_that_is_not_known_is_told_to_machines_too(tmp_path: Path) -> None:
    """--json says which host failed and why; doctor does the same."""
    done = program("record", "no-such-host.invalid", "--out", tmp_path, "--duration", "1s", "--json")
    (row,) = json.loads(done.out)["recordings"]
    assert (done.code, row["recording"], "no-such-host.invalid" in row["error"]) == (HOST_FAILED, None, True)
    asked = program("doctor", "no-such-host.invalid", "--json")
    (host,) = json.loads(asked.out)["hosts"]
    assert (asked.code, host["findings"][0]["code"]) == (HOST_FAILED, "connect-failed")


WEARS: list[tuple[str, tuple[str, ...], int, str]] = [
    ("rating-word", ("--rated-tbw", "many"), USAGE, "no number above 0"),
    ("rating-zero", ("--rated-tbw", "0"), USAGE, "no number above 0"),
    ("rating-nan", ("--rated-tbw", "nan"), USAGE, "no number above 0"),
    ("dwpd", ("--dwpd", "-1"), USAGE, "no number above 0"),
    ("no-such-device", ("--rated-tbw", "nosuch=600"), USAGE, "there are"),
    ("no-such-model", ("--drive", "Nosuch 9000"), USAGE, "--rated-tbw"),
    ("smart-missing", ("--smart", "/no/such.json"), USAGE, "cannot be read"),
    ("smart-directory", ("--smart", "/"), USAGE, "cannot be read"),
    ("smart-rubbish", ("--smart", "/proc/version"), UNREADABLE, "JSON"),
    ("ratings-directory", ("--ratings", "/"), USAGE, "cannot be read"),
    ("ratings-rubbish", ("--ratings", "/proc/version"), UNREADABLE, "expected"),
    ("volume", ("--volume", "gp99"), USAGE, "gp3"),
    ("what-if-foreign", ("--what-if", "/proc", "/proc"), USAGE, "give the directory"),
]


@pytest.mark.parametrize(("words", "code", "said"), [c[1:] for c in WEARS], ids=[c[0] for c in WEARS])
def test_what_cannot_be_a_rating_is_refused_with_what_to_do(
    whole: tuple[Path, Path], words: tuple[str, ...], code: int, said: str
) -> None:
    """Exit code and message; the same with --json."""
    for option in ((), ("--json",)):
        done = program("wear", whole[0], *words, *option)
        assert (done.code, said in done.err, done.out) == (code, True, ""), done


CONFIGS: list[tuple[str, tuple[str, ...], int, str]] = [
    ("directory", ("check", "/", "--target", "leap-5.0"), USAGE, "/"),
    ("missing", ("check", "/no/such.ini", "--target", "leap-5.0"), USAGE, "No such file"),
    ("version", ("check", "/dev/null", "--target", "leap-99"), USAGE, "leap-5.0"),
    ("diff-directory", ("diff", "/", "/dev/null"), USAGE, "/"),
    ("option", ("explain", "no-such-option"), USAGE, "no-such-option"),
]


@pytest.mark.parametrize(("words", "code", "said"), [c[1:] for c in CONFIGS], ids=[c[0] for c in CONFIGS])
def test_what_cannot_be_a_config_is_refused_with_what_to_do(
    words: tuple[str, ...], code: int, said: str
) -> None:
    """Exit code and message; the same with --json."""
    for option in ((), ("--json",)):
        done = program("config", *words, *option)
        assert (done.code, said in done.err) == (code, True), done


@contextlib.contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    """Mount a small tmpfs; skips where that is not permitted."""
    path.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(path)]
    if os.geteuid() != 0 or subprocess.run(words, capture_output=True, check=False).returncode:
        pytest.skip("needs root and mount, for a small disk")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def test_a_full_disk_ends_a_recording_with_what_to_do(tmp_path: Path) -> None:
    """Exit code 5 and a message; what was recorded is shown."""
    with small_disk(tmp_path / "disk", "400k") as disk:
        words = ("--out", disk, "--phase", "before", "--duration", "60s", *MS)
        run = subprocess.run(
            [sys.executable, "-c", CLI, "record", "local", *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert (run.returncode, "Traceback" in run.stderr) == (DAMAGED, False), run.stderr
        assert "disk is full" in run.stderr
        (path,) = disk.glob("local-*")
        shown = json.loads(program("show", path, "--json").out)
        assert shown["recording"]["ended_wall_ns"] - shown["recording"]["started_wall_ns"] > NS_PER_S


def test_a_full_disk_leaves_no_half_report(whole: tuple[Path, Path], tmp_path: Path) -> None:
    """Exit code 5 and a message that names the folder."""
    with small_disk(tmp_path / "disk", "100k") as disk:
        done = program("compare", *whole, "--out", disk / "reports")
        assert done.code == DAMAGED, done
        assert "No space left" in done.err or "disk is full" in done.err
        assert not list((disk / "reports").glob("*/report.html"))
