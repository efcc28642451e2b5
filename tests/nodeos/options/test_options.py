"""Option tables: data files, and what adding a version takes."""

import json

import pytest

from leapprof.nodeos.explain import explain
from leapprof.nodeos.grammar import parse_config
from leapprof.nodeos.options import load_tables, table_for
from leapprof.nodeos.rules import check_config
from leapprof.nodeos.versions import parse_version

OPTION = {
    "composing": False,
    "default": "4",
    "multi": False,
    "plugin": "net_plugin",
    "scope": "file",
    "type": "uint16",
}
PLUGIN = OPTION | {"default": None, "multi": True, "type": "string"}
FICTIONAL = {
    "version": "spring-1.9.0",
    "plugins": ["chain_plugin"],
    "options": {"plugin": PLUGIN, "turbo-threads": OPTION},
}


def test_the_package_has_ten_versions_oldest_first():
    """Ten releases are known, in the order of their age."""
    assert [table.release for table in load_tables()] == [
        "eosio-2.0",
        "eosio-2.1",
        "leap-3.1",
        "leap-3.2",
        "leap-4.0",
        "leap-5.0",
        "spring-1.0",
        "spring-1.1",
        "spring-1.2",
        "spring-2.0",
    ]


def test_adding_a_version_is_adding_a_file(tmp_path):
    """A directory with one more file makes the version known to rules and explanations."""
    (tmp_path / "spring-1.9.0.json").write_text(json.dumps(FICTIONAL), encoding="utf-8")
    tables = load_tables(tmp_path)
    config = parse_config("turbo-threads = 70000\nplugin = eosio::net_plugin\nchain-threads = 2")
    findings = check_config(config, parse_version("spring-1.9"), tables=tables)
    assert [f.code for f in findings] == ["value-out-of-range", "plugin-unknown", "option-unknown"]
    assert explain("turbo-threads", tables).stretches[0].default == "4"


@pytest.mark.parametrize(
    "text", ['{"version": "spring-1.9"}', "[]", '{"version": "x", "plugins": [], "options": {}}']
)
def test_a_file_of_another_form_is_a_value_error(tmp_path, text):
    """A data file that is no option table is refused by name or by its version."""
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.json|no version"):
        load_tables(tmp_path)


def test_map_modes_are_those_of_each_version():
    """mapped_private is a mode from Leap 5.0 on."""
    modes = {t.release: "mapped_private" in t.options["database-map-mode"].values for t in load_tables()}
    assert next(release for release, has in modes.items() if has) == "leap-5.0"
    assert sum(modes.values()) == 5


def test_the_four_published_default_changes_are_in_the_tables():
    """Defaults before and after agree with the release they changed in."""

    def default(release, name):
        return table_for(parse_version(release), load_tables()).options[name].default

    assert (default("leap-3.2", "net-threads"), default("leap-4.0", "net-threads")) == ("2", "4")
    assert (default("leap-3.2", "read-mode"), default("leap-4.0", "read-mode")) == ("speculative", "head")
    assert (default("leap-4.0", "sync-fetch-span"), default("leap-5.0", "sync-fetch-span")) == ("100", "1000")
    assert (default("leap-4.0", "max-transaction-time"), default("leap-5.0", "max-transaction-time")) == (
        "30",
        "499",
    )


def test_no_table_holds_a_key():
    """The key that nodeos prints as a default is in no table."""
    for table in load_tables():
        assert table.options["signature-provider"].default == "***"
