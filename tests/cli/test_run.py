"""Tests of the command line of `leapprof run`: what needs no host."""

import json
from pathlib import Path

import pytest

from tests.experiment.harness import ROOT
from tests.support.program import leapprof

BOOK = ROOT / "playbooks" / "mapped-to-mapped-private.yml"


def test_dry_run_asks_and_changes_nothing(tmp_path):
    """Every step is printed; no directory is made."""
    out = tmp_path / "runs"
    done = leapprof("run", str(BOOK), "--dry-run", "--out", str(out), "--set", "hosts.0.host=host.invalid")
    assert done.code == 0, done.err
    assert "sudo -n systemctl stop -- nodeos.service" in done.out
    assert "roll-back: offered" in done.out
    assert not out.exists()


def test_a_mistake_in_the_playbook_is_a_usage_error(tmp_path):
    """2, with file and line."""
    path = tmp_path / "book.yml"
    path.write_text(BOOK.read_text().replace("duration: 6h", "duration: 6"))
    done = leapprof("run", str(path), "--dry-run")
    assert done.code == 2
    assert f"{path}, line 21: phase.duration" in done.err


def test_an_expectation_about_no_metric_is_refused():
    """2, with what may have been meant."""
    done = leapprof(
        "run", str(BOOK), "--dry-run", "--set", "expectations={nodeos.cpu_percnt: decrease >= 1 %}"
    )
    assert done.code == 2
    assert "nodeos.cpu_percent" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ("--dry-run", "--resume"),
        ("--status", "--set", "phase.duration=1s"),
        ("--assume-done", "x"),
        ("--resume",),
        ("--status",),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path, words):
    """2, before any host is asked."""
    assert leapprof("run", str(BOOK), "--out", str(tmp_path), *words).code == 2


def test_a_change_needs_apply_or_typed_names(tmp_path, monkeypatch):
    """Other words than the hosts' names change nothing."""

    class Terminal:
        def __init__(self, line: str) -> None:
            self.line = line

        def isatty(self) -> bool:
            return True

        def readline(self) -> str:
            return self.line

    monkeypatch.setattr("sys.stdin", Terminal("yes\n"))
    done = leapprof("run", str(BOOK), "--out", str(tmp_path / "runs"))
    assert done.code == 2
    assert "nothing was changed" in done.err
    assert not (tmp_path / "runs").exists()


def test_status_is_there_for_machines(tmp_path):
    """A run that has just begun is described as JSON; its directory may stand for the playbook."""
    run = tmp_path / "runs" / "mapped-to-mapped-private-20260101T000000Z"
    run.mkdir(parents=True)
    from leapprof.config.playbook_yaml import parse_document

    value = parse_document(BOOK.read_text(), "book").value
    (run / "run.json").write_text(json.dumps({"format": 1, "playbook": value, "playbook_file": str(BOOK)}))
    for words in ((str(BOOK), "--out", str(tmp_path / "runs")), (str(run),)):
        done = leapprof("run", *words, "--status", "--json")
        assert done.code == 0, done.err
        found = json.loads(done.out)
        assert Path(found["run"]) == run
        assert found["hosts"] == ["eos-1: as it was, nothing was changed"]
