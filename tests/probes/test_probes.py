"""Every parser against its data folder, against mutated data and against any text at all."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leapprof.errors import ParseError
from leapprof.probes import PROBES, Probe
from tests.probes.parsers import PARSERS, as_json, outcome

DATA = Path(__file__).parent / "data"
CASES = sorted(DATA.glob("*/*.txt"))
TOKENS = st.sampled_from(
    [
        "0",
        "1",
        "-1",
        "99999999999999999999",
        "18446744073709551615",
        "kB",
        "x",
        "٣",
        "²",
        "1_0",
        "",
        "(",
        ")",
        "=",
        ":",
    ]
)


def case_id(path: Path) -> str:
    """Return folder and name of a case."""
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", CASES, ids=case_id)
def test_text_gives_what_its_expectation_says(path: Path) -> None:
    """Each text of a data folder gives the value, or the error, beside it."""
    expected = json.loads(path.with_suffix(".json").read_text())
    assert outcome(path.parent.name, path.read_bytes().decode()) == expected


def test_every_parser_has_a_data_folder() -> None:
    """No parser is without cases, and no case without a parser."""
    assert {path.parent.name for path in CASES} == set(PARSERS)


def test_every_sampled_file_is_parsed_by_a_tested_parser() -> None:
    """PROBES names no parser that the data folders leave out."""
    assert {probe.parse for probe in PROBES} <= set(PARSERS.values())


@pytest.mark.parametrize("probe", sorted(PARSERS))
@settings(max_examples=60, deadline=None)
@given(text=st.text())
def test_any_text_gives_a_value_or_a_parse_error(probe: str, text: str) -> None:
    """No text brings any exception but ParseError."""
    outcome(probe, text)


@pytest.mark.parametrize("path", CASES, ids=case_id)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_damaged_text_gives_a_value_or_a_parse_error(path: Path, data: st.DataObject) -> None:
    """A word replaced, or an end cut off, brings no exception but ParseError, and no number beyond 64 bits."""
    text = path.read_bytes().decode()
    words = text.split(" ")
    position = data.draw(st.integers(0, len(words) - 1))
    words[position] = data.draw(TOKENS)
    damaged = " ".join(words)[: data.draw(st.integers(0, len(text) + 1))]
    assert all(-(2**63) <= number < 2**63 for number in numbers_in(outcome(path.parent.name, damaged)))


def numbers_in(value: object) -> list[int]:
    """Return all integers within plain data."""
    if isinstance(value, dict):
        return [number for item in value.values() for number in numbers_in(item)]
    if isinstance(value, list):
        return [number for item in value for number in numbers_in(item)]
    return [value] if isinstance(value, int) else []


def probe_of(path: Path) -> list[Probe]:
    """Return the probes that read the format of a case."""
    return [probe for probe in PROBES if probe.parse is PARSERS[path.parent.name]]


@pytest.mark.parametrize("path", [path for path in CASES if probe_of(path)], ids=case_id)
def test_lines_that_the_plan_keeps_are_enough(path: Path) -> None:
    """The text cut to a probe's ``keep`` gives the same value, number of CPUs apart."""
    text = path.read_bytes().decode()
    try:
        whole = as_json(PARSERS[path.parent.name](text))
    except ParseError:
        return
    for probe in probe_of(path):
        kept = "".join(f"{line}\n" for line in text.split("\n") if line.startswith(probe.keep))
        cut = as_json(probe.parse(kept if probe.keep else text))
        if isinstance(whole, dict) and path.parent.name == "stat":
            whole.pop("cpus_online", None)
        assert cut == whole


def test_probes_read_each_file_once_under_a_known_scope() -> None:
    """No two probes read the same section, and each belongs to a host, a nodeos, its child or its cgroup."""
    assert len({probe.section for probe in PROBES}) == len(PROBES)
    assert {probe.scope for probe in PROBES} == {"host", "nodeos", "child", "cgroup"}


def test_probe_names_the_file_of_its_section() -> None:
    """The plan asks for a file by the last part of a process's or cgroup's section."""
    files = {probe.section: probe.file for probe in PROBES}
    assert files["nodeos/*/*/*/status"] == "status"
    assert files["cgroup/*/io.stat"] == "io.stat"
    assert files["/proc/stat"] == "/proc/stat"
