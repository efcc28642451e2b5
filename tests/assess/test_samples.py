"""What the comparisons of samples/ say: verdict, grade and reason of every headline metric, as reviewed.

``LEAPPROF_UPDATE_GOLDEN=1 pytest tests/assess/test_samples.py`` writes golden/samples.json anew; read the difference.
"""

import json
import os
import re
from functools import cache
from pathlib import Path

import pytest

from leapprof.assess.compare import compare_cut
from leapprof.assess.load import load
from leapprof.assess.material import CompareOptions
from leapprof.assess.sides import WindowChoice
from leapprof.model import Grade
from leapprof.report.json import to_json
from leapprof.units import DAY_S, NS_PER_S, format_duration, format_value
from samples.make_reports import CASES, EOS_CHANGE_NS

GOLDEN = Path(__file__).parent / "golden" / "samples.json"
SAMPLES = Path(__file__).parent.parent.parent / "samples"
FOLDERS = [case.folder for case in CASES]
TOKEN = re.compile(
    r"(?<![\w.,/-])(?P<text>[\d,]*\d(?:\.\d+)?"
    r"(?: (?:[kMGTP]?B(?:/s)?|[KMGT]iB|%|points|cores|/s|TB/year|(?:d|h|min|s)(?: \d+ (?:h|min|s))?)(?![\w/]))?)"
)
OWN_WORDS = {"20 min", "20", "95 %"}
"""The least length, the fewest independent samples, the level of intervals: constants that method names in words."""


@cache
def comparison(folder):
    """Return a comparison of the samples, made once."""
    return next(case for case in CASES if case.folder == folder).make()


def said(folder):
    """Return what the golden file keeps of a comparison."""
    found = comparison(folder)
    return {
        "title": found.title,
        "warnings": [f.code for f in found.findings if f.severity != "info"],
        "metrics": {
            f"{m.name} {m.subject.device or m.subject.nodeos or 'host'}": [m.verdict, m.grade, m.reason]
            for m in found.metrics
            if m.headline
        },
    }


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_pair_of_the_samples_says_what_was_reviewed(folder):
    """A change of a verdict is a change that somebody has to have looked at."""
    kept = json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
    if os.environ.get("LEAPPROF_UPDATE_GOLDEN"):
        kept[folder] = said(folder)
        GOLDEN.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert kept[folder] == said(folder)


def test_the_published_cases_end_as_they_deserve():
    """EOS: CPU and writes down, the silent default is named. WAX: CPU up, the thread options are named."""
    eos = comparison("eosphere-cpu")
    assert "v4.0.4 → v5.0.0" in eos.title
    assert verdicts(eos) == {"host.cpu_percent": "improved", "nodeos.cpu_cores": "improved"}
    assert "eos-vm-oc-enable" in message(eos, "version-defaults-differ")
    assert verdicts(comparison("eosphere-drive"))["device.write_bytes_per_s"] == "improved"
    wax = comparison("wax-cpu")
    assert verdicts(wax) == {"host.cpu_percent": "regressed", "nodeos.cpu_cores": "regressed"}
    assert "chain-threads, net-threads, producer-threads" in message(wax, "confounded-by-config")
    assert "eos-vm-oc-enable" in message(wax, "version-defaults-differ")


def test_two_weeks_in_which_nothing_was_changed_are_unchanged():
    """A continuous recording cut where nothing happened: seven days before, seven days after."""
    moment_ns = EOS_CHANGE_NS - 7 * DAY_S * NS_PER_S
    week = WindowChoice(from_s=0.0, to_s=7.0 * DAY_S - 3600)
    found = compare_cut(load(SAMPLES / "eosphere" / "month"), moment_ns, CompareOptions(window=week))
    assert "no change seen" in found.title
    assert verdicts(found) == {"host.cpu_percent": "unchanged", "nodeos.cpu_cores": "unchanged"}
    assert {m.grade for m in found.metrics if m.headline} == {Grade.FULL}


def test_room_for_peers_is_that_of_the_published_case():
    """85 % → 60 % at 180 to 195 peers: about 255 to 276."""
    room = comparison("eosphere-cpu").headroom
    assert (room.clients.low, room.clients.high) == pytest.approx((253, 275), abs=3)
    at = {point.clients: (point.percent.low, point.percent.high) for point in room.at}
    assert at[250] == pytest.approx((77, 83), abs=1.5)
    assert at[300] == pytest.approx((92, 100), abs=1.5)
    assert "in proportion to the number of incoming peers" in room.assumption


def verdicts(found):
    """Return the verdicts of the headline metrics."""
    return {m.name: m.verdict.value for m in found.metrics if m.headline}


def message(found, code):
    """Return the message of a finding."""
    return next(f.message for f in found.findings if f.code == code)


def test_the_headline_is_about_the_device_that_carries_the_state_most_directly():
    """The drive below comes second, with whose bytes are in it."""
    _, first, second, *_ = comparison("nodeos-v5-long").headline
    assert first.startswith("Writes to loop0 (state, blocks; part of what its drive takes)")
    assert first.endswith("improved (preliminary).")
    assert "below loop0, with the bytes of all other writers" in second


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_number_of_a_sentence_is_a_number_of_the_report(folder):
    """Headline and reasons say nothing that report.json does not hold."""
    document = to_json(comparison(folder))
    known = {text for metric in document["metrics"] for text in texts(metric)}
    known |= {text for wear in document["wear"] for text in yearly(wear)} | OWN_WORDS
    known |= {str(count) for count in counts(document)}
    sentences = [*document["headline"], *(m["reason"] for m in document["metrics"])]
    for name in sorted(names(document), key=len, reverse=True):
        sentences = [s.replace(name, "") for s in sentences]
    for sentence in sentences:
        untold = [m["text"] for m in TOKEN.finditer(sentence) if m["text"] not in known]
        assert untold == [], sentence


def names(document):
    """Return the names of what metrics are about: digits in them are no figures."""
    parts = [m["subject"] for m in document["metrics"]]
    return {v for part in parts for v in part.values() if v} | {m["name"] for m in document["metrics"]}


def texts(metric):
    """Yield the numbers of a metric as sentences write them."""
    unit = metric["unit"]
    for value in numbers([metric[k] for k in ("before", "after", "difference", "adjusted", "threshold")]):
        text = format_value(abs(value), unit)
        yield from (text, text.replace(" %", " points"), f"{value:.0f}")
    seconds = [metric["design_seconds"], metric["needed_seconds"]]
    seconds += [metric[side]["covered_seconds"] for side in ("before", "after") if metric[side]]
    yield from (format_duration(s) for s in seconds if s is not None)


def numbers(value):
    """Yield every number within a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value


def yearly(wear):
    """Yield the yearly amounts of a device."""
    for side in ("before", "after"):
        if wear[side]:
            yield format_value(wear[side]["tb_per_year"], "tb_per_year")


def counts(document):
    """Return the counts of metrics and of their verdicts in the headline."""
    headline = [m for m in document["metrics"] if m["headline"]]
    of = {v: sum(m["verdict"] == v for m in headline) for v in {m["verdict"] for m in headline}}
    return {len(headline), *of.values()}
