"""Tests of planning: which steps, in which order, and what --dry-run prints."""

from pathlib import Path

import pytest

from leapprof.config.playbook import playbook_of
from leapprof.config.playbook_yaml import parse_document, with_override
from leapprof.experiment.dry_run import dry_run_lines
from leapprof.experiment.pairs import pairs_of
from leapprof.experiment.rollback import prove_roll_back
from leapprof.experiment.steps import StepKind, plan_steps, situations_of, way_back

TEXT = """
playbook: 1
title: a plan
hosts:
  - {host: eos-1, vars: {dir: /srv/e 1}}
  - {host: eos-2, role: control}
phase: {duration: 1h, warm_up: 10m}
change: {config: {set: {chain-threads: 4}}}
restart:
  commands: {stop: "{dir}/stop", start: "{dir}/start"}
  prepare: [{run: "prepare {host}", verify: "verify {host}"}]
gates: {settle: {time: 5m}}
"""


def planned(*overrides: str):
    """Return the playbook with some values replaced."""
    document = parse_document(TEXT, "book.yml")
    for override in overrides:
        document = with_override(document, override)
    return playbook_of(document)


def kinds(playbook) -> list[tuple[str, str | None]]:
    """Return kind and host of each step."""
    return [(step.kind.value, step.host) for step in plan_steps(playbook)]


def test_ab_records_changes_and_records_again():
    """The changed host alone is changed, both pass the gates, one report ends it."""
    assert kinds(planned()) == [
        ("check", None),
        ("gates", "eos-1"), ("gates", "eos-2"), ("record", None),
        ("edit", "eos-1"), ("stop", "eos-1"), ("prepare", "eos-1"), ("start", "eos-1"),
        ("gates", "eos-1"), ("gates", "eos-2"), ("record", None),
        ("report", None),
    ]  # fmt: skip


def test_names_of_steps_are_unique_and_stable():
    """The log knows steps by name."""
    names = [step.id for step in plan_steps(planned("design=ABAB"))]
    assert len(set(names)) == len(names)
    assert names == [step.id for step in plan_steps(planned("design=ABAB"))]
    assert names[0] == "001-check"


def test_abab_goes_back_in_between():
    """Four periods, three changes, and the prepare commands only on the way to b."""
    playbook = planned("design=ABAB")
    edits = [step.to for step in plan_steps(playbook) if step.kind is StepKind.EDIT]
    assert edits == ["b", "a", "b"]
    assert [s.to for s in plan_steps(playbook) if s.kind is StepKind.PREPARE] == ["b", "b"]
    assert situations_of(playbook, playbook.hosts[1]) == ("a", "a", "a", "a")


def test_a_crossover_begins_on_both_sides():
    """One host is taken to b before the first period; each pair compares a with b, whichever came first."""
    playbook = planned("design=crossover", "hosts=[{host: e1}, {host: e2, first: b}]", "restart.prepare=[]")
    edits = [(s.host, s.to) for s in plan_steps(playbook) if s.kind is StepKind.EDIT]
    assert edits == [("e2", "b"), ("e1", "b"), ("e2", "a")]
    found = pairs_of(playbook, [{"e1": "e1-a", "e2": "e2-b"}, {"e1": "e1-b", "e2": "e2-a"}])
    assert [(p.before, p.after, p.periods) for p in found] == [
        ("e1-a", "e1-b", (0, 1)), ("e2-a", "e2-b", (1, 0))
    ]  # fmt: skip


def test_a_second_start_waits_in_between():
    """Times: 2 stops and starts again after a while; the prepare commands run once."""
    steps = plan_steps(planned("restart.times=2", "restart.between=5m"))
    chain = [(s.kind.value, s.number) for s in steps if s.host == "eos-1" and s.kind is not StepKind.GATES]
    assert chain == [
        ("edit", 0), ("stop", 0), ("prepare", 0), ("start", 0), ("wait", 1), ("stop", 1), ("start", 1)
    ]  # fmt: skip


def test_dry_run_shows_every_command_in_order_with_times():
    """Commands are shown as they would run, with names filled in and quoted."""
    lines = dry_run_lines(planned())
    text = "\n".join(lines)
    shown = [
        text.index(part) for part in ("'/srv/e 1'/stop", "prepare eos-1", "verify eos-1", "'/srv/e 1'/start")
    ]
    assert shown == sorted(shown)
    assert "line of chain-threads" in text
    assert "1:15:00+" in text
    assert lines[-1] == "nothing was asked of any host and nothing was changed"


def test_without_a_change_nothing_is_marked():
    """An A-A run changes nothing."""
    playbook = planned("change=null", "restart=null")
    assert not [step for step in plan_steps(playbook) if step.changes_host]
    assert situations_of(playbook, playbook.hosts[0]) == ("a", "a")


def test_the_way_back_is_one_restart():
    """Edit, stop, start: no second start, no wait."""
    playbook = planned("restart.times=2", "restart.prepare=[]")
    steps = way_back(playbook, playbook.hosts[0], "rollback-x")
    assert [step.id for step in steps] == ["rollback-x-01-edit", "rollback-x-02-stop", "rollback-x-03-start"]


@pytest.mark.parametrize(
    ("overrides", "holds", "says"),
    [
        (["restart.prepare=[]"], True, "both sides read the same state"),
        ([], False, "cannot be proved"),
        (["a={version: v5.0.1}", "b={version: v5.0.3}"], True, "same state"),
        (["a={version: v4.0.6}", "b={version: v5.0.3}"], False, "different state formats"),
        (["a={version: v5.0.3}", "b={version: v1.2.2}"], False, "different state formats"),
        (["a={version: v5.0.3, state_on: tmpfs}", "b={version: v5.0.3}"], False, "tmpfs"),
        (["restart.prepare=[]", "change.config.set={state-dir: /x}"], False, "state directory"),
        (["change={manual: {say: x}}", "restart=null", "b={version: v5.0.3}"], False, "by hand"),
        (["change={command: {to_b: {run: x}}}", "restart=null"], False, "to_a is missing"),
        (["change=null", "restart=null"], False, "nothing is changed"),
        (
            ["a={version: v4.0.6}", "b={version: v5.0.3}",
             "roll_back={snapshot: /s, snapshot_version: v4.0.6, prepare: [{run: x}]}"], True, "loads the snapshot /s",
        ),
        (
            ["a={version: v4.0.6}", "b={version: v5.0.3}",
             "roll_back={snapshot: /s, snapshot_version: v4.0.6}"], False, "roll_back.prepare",
        ),
        (
            ["a={version: v5.0.3}", "b={version: v1.2.2}",
             "roll_back={snapshot: /s, snapshot_version: v1.2.2, prepare: [{run: x}]}"], False, "does not load",
        ),
    ],
)  # fmt: skip
def test_a_roll_back_is_offered_only_where_it_is_proved(overrides, holds, says):
    """The same state format and a state that stays, or a snapshot that a loads."""
    proof = prove_roll_back(planned(*overrides))
    assert proof.holds is holds
    assert says in proof.reason


def test_playbooks_are_shipped_with_their_explanations():
    """There are thirteen, five of them about delay."""
    names = [path.stem for path in (Path(__file__).resolve().parents[2] / "playbooks").glob("*.yml")]
    assert len(names) == 13
    assert sum(name.startswith("latency-") for name in names) == 5
