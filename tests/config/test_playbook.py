"""Tests of reading playbooks: strict, with line and path in every message."""

import contextlib
import json
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from leapprof.config.playbook import json_schema, playbook_of, read_playbook
from leapprof.config.playbook_yaml import parse_document, plain_scalar, with_override
from leapprof.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
GOOD = """\
playbook: 1
title: one line
hosts:
  - host: eos-1
    nodeos: unit:nodeos.service
phase: {duration: 6h, warm_up: 1h30m}
change:
  config:
    set: {database-map-mode: mapped_private, net-threads: 4, p2p-accept-transactions: false}
restart: {systemd: nodeos.service}
guards:
  memory_available: {below: 1 GiB}
expectations:
  nodeos.cpu_percent: decrease >= 10 %
"""


def written(tmp_path: Path, text: str) -> Path:
    """Write a playbook."""
    path = tmp_path / "book.yml"
    path.write_text(text)
    return path


def test_a_playbook_becomes_base_units_and_texts(tmp_path):
    """Durations are seconds, sizes bytes, config values the texts that nodeos reads."""
    playbook = read_playbook(written(tmp_path, GOOD))
    assert (playbook.phase.duration, playbook.phase.warm_up) == (21_600.0, 5400.0)
    assert playbook.guards.memory_available.below == 2**30
    assert playbook.change.config.set == {
        "database-map-mode": "mapped_private", "net-threads": "4", "p2p-accept-transactions": "false"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after", "line", "key", "says"),
    [
        ("duration: 6h", "duration: 20:00", 6, "phase.duration", "a duration has a unit"),
        ("duration: 6h", "duration: 6", 6, "phase.duration", "a duration has a unit"),
        ("{systemd: nodeos.service}", "{systemd: a.service, sudo: off}", 10, "restart.sudo", "true or false"),
        ("below: 1 GiB", "below: 1000", 12, "guards.memory_available.below", "a size has a unit"),
        ("below: 1 GiB", "under: 1 GiB", 12, "guards.memory_available.under", "not known here"),
        ("title: one line\n", "", 1, "title", "is missing"),
        ("title: one line", "title: one line\ntitle: two", 3, "title", "is there twice"),
        ("title: one line", "title: !!python/name:os.system x", 2, "title", "tags are not accepted"),
        ("title: one line", "title: !secret x", 2, "title", "tags are not accepted"),
        ("title: one line", "title: &a x\ninventory: *a", 2, "inventory", "anchors and aliases"),
        ("nodeos: unit:nodeos.service", "nodeos: nope:x", 5, "hosts[0].nodeos", "nope:x"),
        ("nodeos: unit:nodeos.service", "password: x", 5, "hosts[0].password", "no passwords"),
        ("decrease >= 10 %", "decrease by ten", 14, "expectations.nodeos.cpu_percent", "expected `decrease"),
        ("{systemd: nodeos.service}", "{}", 10, "restart", "exactly one of systemd"),
        ("restart: {systemd: nodeos.service}\n", "", 8, "change.config", "needs restart"),
        ("set: {", "remove: [net-threads]\n    set: {", 9, "change.config.remove", "is in set too"),
        ("net-threads: 4", "net-threads: '4 # x'", 9, "change.config.set.net-threads", "pattern"),
        ("below: 1 GiB", "below: 1 GiB, then: roll_back", 12, "guards.memory_available.then", "needs the section"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_line_and_path(tmp_path, before, after, line, key, says):
    """The message holds the file, the line, the path and what to write instead."""
    assert before in GOOD
    path = written(tmp_path, GOOD.replace(before, after))
    with pytest.raises(ConfigError) as caught:
        read_playbook(path)
    assert caught.value.path == f"{path}, line {line}"
    assert caught.value.key == key
    assert says in str(caught.value)


def test_other_designs_need_what_leads_back(tmp_path):
    """A crossover needs hosts on both sides, a manual change words for the way back."""
    with pytest.raises(ConfigError, match="a crossover needs"):
        read_playbook(written(tmp_path, GOOD), ["design=crossover"])
    with pytest.raises(ConfigError, match="design"):
        read_playbook(written(tmp_path, GOOD), ["design=BA"])
    manual = ["change={manual: {say: x}}", "restart=null", "b={version: v5.0.3}", "design=ABAB"]
    with pytest.raises(ConfigError, match=r"change.manual.say_back: is missing"):
        read_playbook(written(tmp_path, GOOD), manual)


def test_a_manual_change_must_be_seen(tmp_path):
    """The run waits for situation b: it has to say something that a does not."""
    with pytest.raises(ConfigError, match="must tell a from b"):
        read_playbook(written(tmp_path, GOOD), ["change={manual: {say: x}}", "restart=null"])


@pytest.mark.parametrize("assignment", ["phase.duration=4s", "hosts.0.host=eos-9", "b={version: v5.0.3}"])
def test_a_value_can_be_replaced(tmp_path, assignment):
    """--set reaches every value; the rest stays."""
    assert read_playbook(written(tmp_path, GOOD), [assignment]) != read_playbook(written(tmp_path, GOOD))


@pytest.mark.parametrize("assignment", ["nonsense", "hosts.7.host=x", "title.x=1"])
def test_a_path_that_leads_nowhere_is_refused(assignment):
    """--set says what is wrong with it."""
    with pytest.raises(ConfigError):
        with_override(parse_document(GOOD, "book.yml"), assignment)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("20:00", "20:00"), ("off", "off"), ("yes", "yes"), ("0700", "0700"), ("1_000", "1_000"), ("7", 7),
        ("-3", -3), ("1.5", 1.5), ("true", True), ("null", None), ("2024-05-01", "2024-05-01"), ("0x10", "0x10"),
    ],
)  # fmt: skip
def test_a_plain_scalar_is_never_guessed(text, value):
    """What YAML 1.1 turns into numbers, dates and switches stays text."""
    assert plain_scalar(text) == value


@given(st.text(max_size=300))
def test_any_text_is_a_document_or_an_error(text):
    """Nothing but ConfigError leaves the reader, and the playbook's check."""
    with contextlib.suppress(ConfigError):
        playbook_of(parse_document(text, "book.yml"))


@given(st.dictionaries(st.sampled_from(["playbook", "title", "hosts", "phase", "design", "change", "restart"]),
       st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=9),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
                    max_leaves=8)))  # fmt: skip
def test_any_document_is_a_playbook_or_an_error(value):
    """Whatever stands where, the error says so."""
    with contextlib.suppress(ConfigError):
        playbook_of(parse_document(yaml.safe_dump(value, allow_unicode=True), "book.yml"))


def test_the_json_schema_in_the_docs_is_current():
    """docs/playbook.schema.json is what the code says; and the shipped playbooks fit it."""
    kept = json.loads((ROOT / "docs" / "playbook.schema.json").read_text())
    assert kept == json_schema(), (
        "write it again: python -m leapprof.config.playbook_json > docs/playbook.schema.json"
    )
    for path in sorted((ROOT / "playbooks").glob("*.yml")):
        jsonschema.validate(parse_document(path.read_text(), path.name).value, kept)
