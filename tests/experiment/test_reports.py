"""Tests of reports of a run, on recordings of a real nodeos that are long enough for verdicts."""

import json

import pytest

from leapprof.config.playbook import playbook_of
from leapprof.config.playbook_yaml import parse_document, with_override
from leapprof.experiment.reports import write_reports
from leapprof.model import Outcome
from tests.experiment.harness import ROOT

LONG = ROOT / "samples" / "nodeos-v5-long"
TEXT = """
playbook: 1
title: the long pair
hosts: [{host: secret-host, nodeos: unit:n}, {host: other-host, first: b}]
design: crossover
phase: {duration: 25m, warm_up: 2m}
change: {config: {set: {database-map-mode: mapped_private}}}
restart: {systemd: n}
report: {formats: [json, md]}
"""


def reported(tmp_path, *overrides: str):
    """Return the result of a run of which one host was recorded: mapped, then mapped_private."""
    document = parse_document(TEXT, "book.yml")
    for override in overrides:
        document = with_override(document, override)
    recordings = [{"secret-host": str(LONG / "mapped")}, {"secret-host": str(LONG / "mapped_private")}]
    return write_reports(tmp_path, playbook_of(document), recordings, "run-1")


@pytest.mark.parametrize(
    ("expectations", "outcome", "code"),
    [
        ("{nodeos.cpu_percent: <= 90 %}", Outcome.MET, 0),
        ("{nodeos.cpu_cores: decrease >= 90 %}", Outcome.NOT_MET, 12),
        ("{nodeos.cpu_percent: <= 90 %, nodeos.rss_anon_bytes: <= 1 MB}", Outcome.NOT_MET, 12),
        (
            "{nodeos.cpu_percent: <= 90 %, nodeos.dirtied_bytes_per_s: decrease >= 90 %}",
            Outcome.CANNOT_TELL,
            13,
        ),
        ("{}", None, 0),
    ],
)
def test_the_outcome_is_the_exit_code(tmp_path, expectations, outcome, code):
    """All met 0, one not met 12, one that nobody can tell 13."""
    result = reported(tmp_path, f"expectations={expectations}")
    assert (result.outcome, result.exit_code) == (outcome, code), [pair.results for pair in result.pairs]


def test_expectations_are_the_first_lines_of_every_report(tmp_path):
    """Of the summary, of the post and of the document."""
    result = reported(tmp_path, "expectations={nodeos.cpu_percent: <= 90 %}")
    assert result.summary.read_text().splitlines()[2] == "**Expectations: met.**"
    post = (tmp_path / "report" / "secret-host" / "report.md").read_text().splitlines()
    assert post[2].startswith("- Expectation met: nodeos.cpu_percent")
    document = json.loads((tmp_path / "report" / "secret-host" / "report.json").read_text())
    assert document["expectations"][0]["outcome"] == "met"


def test_a_partial_report_of_a_killed_run_is_replaced(tmp_path):
    """Writing again gives the same one report."""
    (tmp_path / "report.part" / "x").mkdir(parents=True)
    (tmp_path / "report" / "old").mkdir(parents=True)
    reported(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report"]
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == [
        "secret-host", "summary.json", "summary.md"
    ]  # fmt: skip


def test_a_public_report_names_no_host(tmp_path):
    """Neither files nor folders hold its name."""
    reported(tmp_path, "report.public=true", "expectations={nodeos.cpu_percent: decrease >= 1 %}")
    paths = list((tmp_path / "report").rglob("*"))
    assert not [path for path in paths if "secret-host" in path.name]
    assert not [path for path in paths if path.is_file() and "secret-host" in path.read_text()]
