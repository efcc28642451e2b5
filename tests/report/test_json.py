"""report.json: its schema, and no number that JSON does not know."""

import json
import math
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from leapprof.model import Effect, Interval
from leapprof.report.json import render_json, to_json
from tests.support.comparisons import SCRIPT, sample

SCHEMA = json.loads((Path(__file__).parent / "report.schema.json").read_text())


def refuse(constant):
    """Fail on NaN and Infinity, which Python's reader would take."""
    raise AssertionError(constant)


@pytest.mark.parametrize("nasty", [False, True])
def test_report_follows_its_schema(nasty):
    """Every key of format 1 is there, with its type."""
    report = json.loads(render_json(sample(nasty=nasty)), parse_constant=refuse)
    jsonschema.Draft202012Validator(SCHEMA).validate(report)


def test_numbers_that_are_not_finite_become_null():
    """NaN and infinity of a computation never reach the file."""
    made = sample()
    first = replace(
        made.metrics[0],
        difference=Effect(value=math.nan, ci95=Interval(low=-math.inf, high=math.inf)),
        p_value=math.nan,
    )
    report = json.loads(render_json(replace(made, metrics=(first,))), parse_constant=refuse)
    assert report["metrics"][0]["difference"] == {"value": None, "ci95": [None, None]}
    assert report["metrics"][0]["p_value"] is None


def test_text_of_hosts_is_kept_as_it_was_seen():
    """JSON needs no other escaping than its own."""
    report = json.loads(render_json(sample(nasty=True)))
    assert any(SCRIPT in fact["before"] for fact in report["facts"] if fact["before"])


def test_a_lone_surrogate_of_a_host_can_be_written():
    """A file name that is no UTF-8 does not end the report."""
    made = sample()
    text = render_json(replace(made, title="odd \udc80 name"))
    assert json.loads(text)["title"] == "odd \udc80 name"


def test_reconstructed_is_a_key_of_its_own():
    """And the side says from what."""
    report = to_json(sample(reconstructed="drawn"))
    assert report["reconstructed"] is True
    assert report["before"]["reconstructed"] == "drawn"


def test_report_is_as_it_was(snapshot_file):
    """The golden report."""
    snapshot_file("report.json", render_json(sample()).decode())


def test_every_key_is_documented():
    """docs/report-json.md names each key of the report, of its metrics and of its wear rows."""
    text = (Path(__file__).parents[2] / "docs" / "report-json.md").read_text()
    report = to_json(sample(nasty=True))
    keys = {*report, *report["metrics"][0], *report["wear"][0], *report["before"], *report["cost"]["before"]}
    keys |= {*report["metrics"][0]["before"], *report["wear"][0]["before"], *report["findings"][0]}
    assert [key for key in sorted(keys) if f"`{key}`" not in text] == []
