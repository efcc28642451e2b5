"""What an option does and how it changed."""

from leapprof.nodeos.explain import GROUPS, _effects, explain, group_of
from leapprof.nodeos.options import load_tables


def test_an_option_that_was_removed_says_when():
    """cpu-effort-percent was there from the first release on, and gone with Leap 5.0."""
    found = explain("cpu-effort-percent")
    assert (found.added_in, found.removed_in, found.unit) == (None, "leap-5.0", "%")
    assert [(s.first, s.last, s.default) for s in found.stretches] == [("eosio-2.0", "leap-4.0", "80")]


def test_an_option_whose_default_changed_has_two_stretches():
    """net-threads went from 2 to 4 with Leap 4.0."""
    found = explain("net-threads")
    assert [(s.first, s.last, s.default) for s in found.stretches] == [
        ("eosio-2.0", "leap-3.2", "2"),
        ("leap-4.0", "spring-2.0", "4"),
    ]


def test_an_option_that_came_back_has_a_hole():
    """blocks-log-stride was in EOSIO 2.1, not in Leap 3, and is there again from 4.0 on."""
    found = explain("blocks-log-stride")
    assert [(s.first, s.last) for s in found.stretches] == [
        ("eosio-2.1", "eosio-2.1"),
        ("leap-4.0", "spring-2.0"),
    ]


def test_the_default_key_is_never_explained():
    """The default of signature-provider is not shown."""
    assert all(s.default is None for s in explain("signature-provider").stretches)


def test_an_unknown_option_is_none():
    """No version has it, so there is nothing to say."""
    assert explain("no-such-option") is None


def test_every_effect_is_of_a_known_option_and_group():
    """The effects name only options that exist, with one of the groups and whole sentences."""
    known = {name for table in load_tables() for name in table.options}
    assert set(_effects()) <= known
    assert len(_effects()) >= 80
    for row in _effects().values():
        assert row["group"] in GROUPS
        assert row["effect"].endswith(".")


def test_the_options_of_the_published_comparisons_can_move_what_was_measured():
    """Map mode moves writes, state size memory, threads CPU."""
    assert group_of("database-map-mode") == "disk_writes"
    assert group_of("chain-state-db-size-mb") == "memory"
    assert {group_of(f"{pool}-threads") for pool in ("chain", "net", "producer")} == {"cpu"}
    assert group_of("agent-name") == "none"
