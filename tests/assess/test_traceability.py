"""Every number of every sentence of a report is a number of its report.json, printed as units.py prints it."""

import re
import runpy
from pathlib import Path

import pytest

from leapprof.report.json import to_json
from leapprof.report.view_checks import check_rows
from leapprof.units import format_duration, format_memory, format_value, significant
from tests.support.sample_comparisons import FOLDERS, comparison

MAKE_DOCS = Path(__file__).parents[2] / "scripts" / "make_docs.py"
TEMPLATES = {found.code: found for found in runpy.run_path(str(MAKE_DOCS))["found_findings"]()}
"""What the source writes of each finding: its own numbers are constants, those in place of ``…`` are figures."""
TOKEN = re.compile(
    r"(?<![\w.,/-])(?P<text>[\d,]*\d(?:\.\d+)?(?: "
    r"(?:[kMGTP]?B(?:/s)?|[KMGT]iB|%|points|cores|/s|TB/year|years|[mµ]s|(?:d|h|min|s)(?: \d+ (?:h|min|s))?)"
    r"(?![\w/]))?)"
)
CONSTANTS = {"20 min", "20", "95 %", "2 MiB", "1 % point 1.628", "1 %", "1.628", "99"}
"""The least length, the fewest independent samples, the level of intervals, a huge page, the 1 % point of the change
test, a percentile: what method names in words."""
UNITS = {"cpu_seconds": "s"}
COSTS = {**UNITS, "bytes": "moved_bytes"}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_number_of_a_sentence_is_a_number_of_the_report(folder):
    """Title, headline, reasons, notes, checks and findings say nothing that report.json does not hold."""
    document = to_json(comparison(folder))
    known = known_numbers(document)
    sentences = [document["title"], *document["headline"], *reasons(document)]
    sentences += [said for _, said in check_rows(comparison(folder))]
    for finding in (
        f for side in (document, document["before"], document["after"]) for f in side["findings"]
    ):
        sentences += [*variable_parts(finding, "message"), *variable_parts(finding, "hint")]
    assert sentences
    untold = {s: found for s in sentences if (found := untold_numbers(s, known, names(document)))}
    assert untold == {}


def test_a_number_that_is_nowhere_is_found():
    """The test itself can fail: a level that no key holds, in a headline, a reason and a finding."""
    document = to_json(comparison("eosphere-cpu"))
    known, called = known_numbers(document), names(document)
    assert untold_numbers("CPU of the host: 61.4 % before.", known, called) == ["61.4 %"]
    assert untold_numbers("too little data: 17 min 3 s.", known, called) == ["17 min 3 s"]
    finding = {
        "code": "large-folios",
        "message": "before: 348 MiB of file pages are mapped in 2 MiB pieces, so …",
    }
    parts = variable_parts(finding, "message")
    assert [n for part in parts for n in untold_numbers(part, known, called)] == ["348 MiB"]


def untold_numbers(sentence, known, called):
    """Return the numbers of a sentence that are not known; digits within names are none."""
    for name in called:
        sentence = re.sub(rf"(?<![\w.]){re.escape(name)}(?![\w])", "", sentence)
    plain = sentence.replace("\u00a0", " ").replace("−", " ")
    return [m["text"] for m in TOKEN.finditer(plain) if m["text"] not in known | CONSTANTS]


def variable_parts(finding, field):
    """Return what stands in place of the ``…`` of a finding's source; all of it where the source says nothing."""
    text, found = finding[field], TEMPLATES.get(finding["code"])
    template = getattr(found, field, "") if found else ""
    match = (
        re.fullmatch("(.*)".join(re.escape(part) for part in template.split("…")), text) if template else None
    )
    return [part for part in match.groups() if part] if match else [text]


def reasons(document):
    """Yield the sentences beside metrics and drives."""
    for metric in document["metrics"]:
        yield from (metric[key] for key in ("reason", "refused", "adjusted_for") if metric[key])
        yield from metric["confounded"]
    yield from (wear["note"] for wear in document["wear"] if wear["note"])
    yield from (result["reason"] for result in document["expectations"])
    yield from (figure["ours"] for figure in document["published"])


def names(document):
    """Return what things are called, the longest first: digits in them are no figures."""
    found = {v for m in document["metrics"] for v in m["subject"].values() if v} | {
        m["name"] for m in document["metrics"]
    }
    for row in (*document["facts"], *document["config"]["changed"], *document["config"]["defaults"]):
        found |= {text for key in ("before", "after", "option", "name") if (text := row.get(key))}
    found |= {(document["change_point"] or {}).get("stated", "")}
    for side in (document["before"], document["after"]):
        found |= {side["host"]["name"], (side["reconstructed"] or "").rstrip(".")}
        found |= {text for nodeos in side["nodeos"] for text in (nodeos["id"], nodeos["version"] or "")}
        found |= {device["name"] for device in side["devices"]}
    return sorted((name for name in found if re.search(r"[^\d.,\s]", name)), key=len, reverse=True)


def known_numbers(document):
    """Return every number of a report as sentences write it."""
    known = {text for metric in document["metrics"] for text in of_metric(metric)}
    known |= {text for wear in document["wear"] for text in of_wear(wear)}
    for finding in (
        f for side in (document, document["before"], document["after"]) for f in side["findings"]
    ):
        known |= {text for one in finding["evidence"] for text in in_unit(one["value"], one["unit"])}
    for one in (document["change_point"] or {}).get("evidence", []):
        known |= {*in_unit(one["value"], one["unit"]), f"{one['value']:.2f}"}
    for one in (document["control"] or {}).get("effects", []):
        known |= {t for v in numbers([one["control"], one["beyond"]]) for t in in_unit(v, one["unit"])}
    for one in document["per_unit"]:
        values = numbers([one[key] for key in ("before", "after", "ratio")])
        known |= {text for value in values for text in in_unit(value, COSTS[one["unit"]])}
    for one in document["run_pairs"]:
        values = numbers(
            [one[key] for key in ("before", "after", "difference", "between", "ratio") if key in one]
        )
        known |= {text for value in values for text in in_unit(value, UNITS.get(one["unit"], one["unit"]))}
    known |= {significant(v) for one in document["per_unit"] for v in numbers(one["ratio"])}
    known |= {text for run in document["starts"] for text in of_start(run)}
    config = document["config"]
    known |= {
        text for row in (*document["facts"], *config["changed"], *config["defaults"]) for text in of_fact(row)
    }
    known |= {f"{value:.0f}" for value in numbers(document["headroom"])} | {
        text for value in numbers(document["headroom"]) for text in in_unit(value, "percent")
    }
    return known | {str(count) for count in counts(document)}


def in_unit(value, unit):
    """Yield a number as units.py prints it: a difference without sign, a share also as points, a time as a duration."""
    if value is None:
        return
    if unit in {"hour", "count"}:
        yield f"{abs(value):.0f}"
        return
    try:
        text = format_value(abs(value), unit)
    except KeyError:
        text = significant(abs(value))
    yield from (text, text.replace(" %", " points"), text.rpartition(" ")[0])
    if unit == "s":
        thousandths = significant(1000 * abs(value))
        yield from (
            format_duration(abs(value)),
            thousandths,
            f"{thousandths} ms",
            thousandths.replace(",", ""),
        )
        yield f"{thousandths.replace(',', '')} ms"


def of_metric(metric):
    """Yield the numbers of a metric."""
    for value in numbers([metric[key] for key in ("before", "after", "difference", "adjusted", "threshold")]):
        yield from in_unit(value, metric["unit"])
    for side in filter(None, (metric["before"], metric["after"])):
        worth = (side["effective_samples"], max(side["bursts"], 1) if side["bursts"] is not None else None)
        yield from (f"{number:.0f}" for number in worth if number is not None)
    if metric["ratio"]:
        yield f"{significant(100 * metric['ratio']['value'])} %"
        yield from (significant(value) for value in numbers(metric["ratio"]))
    seconds = [metric["design_seconds"], metric["needed_seconds"]]
    seconds += [metric[side]["covered_seconds"] for side in ("before", "after") if metric[side]]
    yield from (format_duration(s) for s in seconds if s is not None)


def of_wear(wear):
    """Yield the rates and yearly amounts of a device."""
    for side in filter(None, (wear["before"], wear["after"])):
        yield format_value(side["tb_per_year"], "tb_per_year")
        yield format_value(side["bytes_per_s"], "bytes_per_s")


def of_start(run):
    """Yield the sizes and times of a run of nodeos."""
    for key, value in run.items():
        if value is not None and key.endswith("_bytes"):
            yield format_memory(value)
        elif value is not None and key.endswith("_s"):
            yield format_duration(value)


def of_fact(row):
    """Yield the numbers of a fact, which are texts."""
    unit = " kB" if row.get("name", "").endswith("_kb") else ""
    yield from (m["text"] + unit for side in ("before", "after") for m in TOKEN.finditer(row[side] or ""))


def counts(document):
    """Return the counts of metrics, of their verdicts in the headline, of options and of pairs."""
    headline = [m["verdict"] for m in document["metrics"] if m["headline"]]
    config, runs = document["config"], document["run_pairs"]
    of_options = (
        len(config["changed"]),
        len([c for c in config["changed"] if c["option"] != "database-map-mode"]),
    )
    return {
        len(headline),
        *map(headline.count, headline),
        *of_options,
        *(len(one["difference"]) for one in runs),
    }


def numbers(value):
    """Yield every number within a JSON value."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from numbers(item)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield value
