"""Which values may leave a host."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.nodeos.options import load_tables
from leapprof.nodeos.privacy import (
    HIDDEN,
    IDENTIFYING_OPTIONS,
    SECRET_OPTIONS,
    allowed_option_names,
    is_key_shaped,
    shown_name,
    shown_value,
)

DEV_KEY = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"


def test_no_secret_option_is_allowed_and_all_of_them_are_known():
    """Secret options are options of some version, and none of them may leave."""
    known = {name for table in load_tables() for name in table.options}
    assert known >= SECRET_OPTIONS
    assert not allowed_option_names() & SECRET_OPTIONS
    assert allowed_option_names() >= IDENTIFYING_OPTIONS


def test_every_option_whose_name_speaks_of_a_private_key_is_secret():
    """No version has an option named after private keys that would be allowed."""
    assert not [name for name in allowed_option_names() if "private" in name or "signature-provider" in name]


@pytest.mark.parametrize(
    "value",
    [
        DEV_KEY,
        f"EOS6M=KEY:{DEV_KEY}",
        f"name{DEV_KEY}x",
        f'["EOS6M","{DEV_KEY}"]',
        "PVT_K1_2bfGi9rYsXQSXXTvJbDAPhHLQUojjaNLomdm3cEJ1XTzMqUt3V",
        "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn",
        "e" * 64,
    ],
)
def test_key_shaped_values_are_hidden_whatever_their_option(value):
    """A value that looks like a key is hidden even for an option that may be shown."""
    assert is_key_shaped(value)
    assert shown_value("agent-name", value) == HIDDEN
    assert shown_name(value) == HIDDEN


@pytest.mark.parametrize(
    "value",
    [
        "peer.example:9876",
        "0.0.0.0:9876:1MB/s",
        "131072",
        "/var/lib/nodeos/state",
        "eosio::chain_api_plugin",
        "EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV",
    ],
)
def test_ordinary_values_are_shown(value):
    """Addresses, numbers and paths are not taken for keys."""
    assert not is_key_shaped(value)
    assert shown_value("p2p-peer-address", value) == value


def test_values_of_unknown_options_are_hidden():
    """What no version knows keeps its name and loses its value."""
    assert shown_value("my-own-option", "1") == HIDDEN


@given(st.text(), st.text())
def test_what_is_shown_is_one_printable_line(name, value):
    """No value and no name brings control characters or a second line into a message."""
    for shown in (shown_value("agent-name", value), shown_name(name)):
        assert "\n" not in shown and "\x1b" not in shown and len(shown) <= 120
