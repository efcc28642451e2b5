"""The disk is full while something else than a recording is written: exports, reports, imports, probes."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from leapprof.assess.load import load
from tests.experiment.harness import running, started, write_inventory
from tests.support.own_mounts import fill, small_disk
from tests.support.program import Done, leapprof
from tests.support.servers import DelayedApi, serving
from tests.support.sshd import needs_sshd, sshd

ROOT = Path(__file__).parent.parent.parent
BEFORE, AFTER = (str(ROOT / "samples" / "nodeos-v5" / name) for name in ("mapped", "mapped_private"))
IMPORTS = str(ROOT / "tests" / "importers" / "data")
PLAYBOOK = """
playbook: 1
title: mapped, then mapped_private
inventory: leapprof.toml
hosts: [{{host: eos-1, nodeos: "{selector}"}}]
phase: {{duration: 4s, interval: 200ms}}
a: {{map_mode: mapped}}
b: {{map_mode: mapped_private}}
change: {{config: {{set: {{database-map-mode: mapped_private}}}}}}
restart:
  stop_timeout: 60s
  start_timeout: 60s
  commands: {{stop: "{stop}", start: "{start}"}}
report: {{formats: [json]}}
"""
ROOM_BYTES = (0, 20_000, 60_000)


@pytest.fixture(params=ROOM_BYTES)
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Lend a disk that has so little room."""
    with small_disk(tmp_path / "disk", "16m") as path:
        fill(path, request.param)
        yield path


def check_told(done: Done) -> None:
    """It ended as an error of the disk, in one line."""
    assert done.code == 5, done
    assert "full" in done.err or "No space left" in done.err, done.err
    assert len(done.err.strip().splitlines()) == 1, done.err


def files(disk: Path) -> list[Path]:
    """Return what was left."""
    return [path for path in disk.rglob("*") if path.is_file() and path.name != "ballast"]


@pytest.mark.parametrize("form", ["csv", "parquet", "openmetrics"])
def test_the_disk_is_full_while_exporting(disk: Path, form: str) -> None:
    """Exit code 5 in one line, and no file is left that is not whole: with room the same command succeeds."""
    words = ("export", BEFORE, "--format", form, "--out", str(disk / "out"))
    check_told(leapprof(*words))
    for path in files(disk):
        assert path.read_bytes().endswith(b"PAR1"), path
        path.unlink()
    (disk / "ballast").unlink()
    done = leapprof(*words)
    assert done.code == 0, done.err


@pytest.mark.parametrize("form", ["html", "csv", "png"])
def test_the_disk_is_full_while_a_report_is_written(disk: Path, form: str) -> None:
    """Exit code 5 in one line before the work is done, and nothing of the report is left."""
    if form == "png":
        pytest.importorskip("matplotlib")
    check_told(leapprof("compare", BEFORE, AFTER, "--format", form, "--out", str(disk / "out")))
    assert files(disk) == []


@pytest.mark.parametrize(
    "words",
    [
        ("sysstat", f"{IMPORTS}/sadf-12.6.json"),
        ("csv", f"{IMPORTS}/pmrep-6.0.csv", "--mapping", f"{IMPORTS}/pmrep.toml"),
    ],
    ids=["sysstat", "csv"],
)
def test_the_disk_is_full_while_importing(disk: Path, words: tuple[str, ...]) -> None:
    """Exit code 5 in one line, or all of it is there."""
    done = leapprof("import", *words, "--phase", "before", "--out", str(disk / "out"))
    if done.code == 0:
        (made,) = (disk / "out").iterdir()
        assert load(made).table("host").rows
    else:
        check_told(done)


def test_the_disk_is_full_while_a_probe_of_delay_records(disk: Path) -> None:
    """Exit code 5 in one line, or all of it is there."""
    with serving(DelayedApi()) as port:
        url = f"http://127.0.0.1:{port}"
        words = ("--duration", "2s", "--rate", "20", "--phase", "before", "--out", str(disk / "out"))
        done = leapprof("latency", "request", url, *words)
    if done.code == 0:
        (made,) = (disk / "out").iterdir()
        assert load(made).table("latency").rows
    else:
        check_told(done)


@needs_sshd
@pytest.mark.parametrize("moment", ["before the run", "within the first phase"])
def test_the_disk_is_full_while_an_experiment_runs(tmp_path: Path, moment: str) -> None:
    """Exit code 5 and an untouched node; with room again, --resume ends the experiment with one change."""
    with (
        sshd(tmp_path) as server,
        running(tmp_path / "node", lines=("database-map-mode = mapped",)) as node,
        small_disk(tmp_path / "disk", "16m") as disk,
    ):
        write_inventory(tmp_path / "leapprof.toml", server.ssh_config, server.alias, ("eos-1",))
        book = tmp_path / "book.yml"
        book.write_text(
            PLAYBOOK.format(selector=node.selector, stop=node.stop_command, start=node.start_command)
        )
        words = ("run", str(book), "--out", str(disk / "runs"), "--apply")
        if moment == "before the run":
            fill(disk, 0)
        with started(*words) as process:
            if moment != "before the run":
                _wait_for_samples(disk)
                fill(disk, 0)
            _, err = process.communicate(timeout=240)
        assert process.returncode == 5, err
        assert "Traceback" not in err
        assert (
            node.calls == []
            and "database-map-mode = mapped\n" in node.config.read_text()
            and node.is_running()
        )
        (disk / "ballast").unlink()
        done = leapprof(*words, *(["--resume"] if moment != "before the run" else []))
        assert done.code == 0, done.err
        assert node.calls == ["stop", "start"]
        assert len(list(disk.glob("runs/*/**/report.json"))) == 1


def _wait_for_samples(disk: Path) -> None:
    deadline = time.monotonic() + 180
    while not any(path.stat().st_size for path in disk.glob("runs/*/recordings/**/journal.sqlite-wal")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
