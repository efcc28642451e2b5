"""The rules as a whole: published pitfalls, real default files, hosts, and what is never printed."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.model import Severity
from leapprof.nodeos.grammar import parse_config
from leapprof.nodeos.host_facts import HostFacts
from leapprof.nodeos.options import load_tables
from leapprof.nodeos.rules import RULES, check_config, would_start
from leapprof.nodeos.versions import parse_version

DATA = Path(__file__).parents[1] / "data"
PITFALLS = json.loads((DATA / "pitfalls.json").read_text(encoding="utf-8"))
DEV_KEY = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"


def check(text, target, **kwargs):
    """Return the findings about a text for a version."""
    return check_config(parse_config(text), parse_version(target), **kwargs)


def default_config(version):
    """Return the default file of a real nodeos with every line that has a value switched on."""
    lines = (DATA / f"default-{version}.ini").read_text(encoding="utf-8").splitlines()
    return "\n".join(line.removeprefix("# ") for line in lines if not line.endswith("="))


@pytest.mark.parametrize("pitfall", PITFALLS, ids=[p["says"] for p in PITFALLS])
def test_each_published_pitfall_is_found_with_its_line(pitfall):
    """A config with one mistake gives exactly that finding, at its line."""
    findings = check(pitfall["config"], pitfall["target"])
    assert [[f.code, f.line] for f in findings] == pitfall["expect"]


@pytest.mark.parametrize("version", ["4.0.6", "5.0.3"])
def test_a_real_default_config_is_clean_for_its_own_version(version):
    """Nothing is wrong with the file that nodeos wrote itself but that it repeats the defaults."""
    findings = check(default_config(version), f"leap-{version}")
    assert [f.code for f in findings] == ["default-restated"]
    assert would_start(findings)


def test_the_default_config_of_4_0_has_nine_lines_that_5_0_refuses():
    """Exactly the options that 5.0 removed are refused, and the compiler's silent switch is told."""
    findings = check(default_config("4.0.6"), "leap-5.0", source=parse_version("leap-4.0"))
    removed = {f.option for f in findings if f.code == "option-removed"}
    assert removed == {
        "cpu-effort-percent",
        "disable-subjective-billing",
        "incoming-defer-ratio",
        "last-block-cpu-effort-percent",
        "last-block-time-offset-us",
        "max-nonprivileged-inline-action-size",
        "max-scheduled-transaction-time-per-block-ms",
        "produce-time-offset-us",
        "prometheus-exporter-address",
    }
    rest = {(f.code, f.option) for f in findings if f.code != "option-removed"}
    assert rest == {
        ("default-restated", None),
        ("default-changed", "eos-vm-oc-enable"),
        ("snapshot-needed", None),
    }


def test_the_default_config_of_5_0_has_one_line_that_spring_refuses():
    """Spring 1.0 refuses producer-threads alone."""
    findings = check(default_config("5.0.3"), "spring-1.0")
    assert [f.option for f in findings if f.severity is Severity.ERROR] == ["producer-threads"]


def test_silent_changes_of_defaults_are_told_for_lines_that_are_absent():
    """An empty config going from 4.0 to 5.0 changes five settings without a word."""
    findings = check("", "leap-5.0", source=parse_version("leap-4.0"))
    changed = {f.option: f.message for f in findings if f.code == "default-changed"}
    assert set(changed) == {
        "eos-vm-oc-enable",
        "http-max-response-time-ms",
        "max-transaction-time",
        "sync-fetch-span",
    }
    assert "30 in leap-4.0, 499 in leap-5.0" in changed["max-transaction-time"]


def test_4_0_changed_threads_and_read_mode_silently():
    """Going from 3.2 to 4.0 the number of net threads and the read mode change."""
    findings = check("", "leap-4.0", source=parse_version("leap-3.2"))
    assert {f.option for f in findings if f.code == "default-changed"} == {"net-threads", "read-mode"}


def test_a_line_that_is_there_changes_nothing_silently():
    """An option that the file sets is not told as a changed default."""
    findings = check("net-threads = 3\nread-mode = head", "leap-4.0", source=parse_version("leap-3.2"))
    assert not [f for f in findings if f.code == "default-changed"]


@pytest.mark.parametrize("target", ["leap-3.2", "leap-4.0", "leap-5.0", "spring-1.2"])
@pytest.mark.parametrize(
    "line",
    [
        f"signature-provider = EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV=KEY:{DEV_KEY}",
        f'signature-provider = "{DEV_KEY}"',
        f'peer-private-key = ["EOS6M","{DEV_KEY}"]',
        f"private-key = {DEV_KEY}",
        f'agent-name = "{DEV_KEY}"',
        f"net-threads = {DEV_KEY}",
        f"blocks-dir = {DEV_KEY} x",
        f"plugin = {DEV_KEY}",
        f"{DEV_KEY} = 1",
        f"KEY:{DEV_KEY}",
        f"[{DEV_KEY}]\na = 1",
        f"signatur-provider = KEY:{DEV_KEY}",
        f"max-clients = 1\nmax-clients = {DEV_KEY}",
        f"read-mode = {DEV_KEY}",
        f"http-category-address = {DEV_KEY},1",
    ],
)
def test_a_planted_key_never_shows_up_in_a_finding(line, target):
    """Wherever a private key stands in the file, no finding repeats it."""
    assert DEV_KEY not in repr(check(line, target, source=parse_version("leap-4.0")))


def test_every_rule_has_a_source_and_every_finding_a_hint():
    """No rule is there without saying where it is from and what to do next."""
    assert all(rule.source and rule.hint and rule.message for rule in RULES)
    assert len({rule.code for rule in RULES}) == len(RULES)


def test_every_finding_code_is_documented():
    """Every code that the rules and the grammar can give stands in docs/config-findings.md."""
    text = (Path(__file__).parents[3] / "docs" / "config-findings.md").read_text(encoding="utf-8")
    codes = [rule.code for rule in RULES] + ["config-section", "config-line-invalid"]
    assert [code for code in codes if f"`{code}`" not in text] == []


NAMES = sorted({name for table in load_tables() for name in table.options})
LINES = st.lists(st.tuples(st.sampled_from([*NAMES, "plugin", "x"]), st.text(max_size=20)), max_size=12)
FACTS = st.builds(
    HostFacts,
    ram_bytes=st.none() | st.integers(0, 2**50),
    swap_bytes=st.none() | st.integers(0, 2**50),
    cores=st.none() | st.integers(1, 256),
    state_filesystem=st.sampled_from([None, "tmpfs", "ext4"]),
    state_filesystem_bytes=st.none() | st.integers(0, 2**50),
    state_used_bytes=st.none() | st.integers(0, 2**50),
    stop_timeout_s=st.none() | st.floats(0, 1e6),
)


@given(LINES, FACTS, st.sampled_from(load_tables()), st.none() | st.sampled_from(load_tables()))
def test_no_config_and_no_host_makes_a_rule_fail(lines, facts, target, source):
    """Any values in any version on any host give findings, and never an exception."""
    text = "\n".join(f"{name} = {value}" for name, value in lines).replace("\0", "")
    findings = check_config(
        parse_config(text), target.version, source=source.version if source else None, facts=facts
    )
    assert all(f.message and f.hint for f in findings)
