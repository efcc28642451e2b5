"""Selectors of nodeos processes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.config.selector import parse_selector
from leapprof.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("nodeos", ("nodeos", "exe_name", "nodeos")),
        ("unit:nodeos-eos.service", ("nodeos-eos", "unit", "nodeos-eos.service")),
        ("eos=pid:4711", ("eos", "pid", "4711")),
        ("cmdline:--data-dir=/srv/eos", ("data-dir-srv-eos", "cmdline", "--data-dir=/srv/eos")),
        ("eos=nodeos5", ("eos", "exe_name", "nodeos5")),
        ("1234", ("nodeos", "pid", "1234")),
        ("eos.service", ("eos", "unit", "eos.service")),
        ("nodeos-wax", ("nodeos-wax", "exe_name", "nodeos-wax")),
        ("wax=cmdline:/data/wax", ("wax", "cmdline", "/data/wax")),
        ("exe:nodeos", ("nodeos", "exe_name", "nodeos")),
        ("data-dir:/srv/eos/data", ("eos", "data-dir", "/srv/eos/data")),
        ("wax=port:8890", ("wax", "port", "8890")),
        ("pidfile:/run/nodeos.pid", ("nodeos", "pid-file", "/run/nodeos.pid")),
        ("name:eos", ("eos", "name", "eos")),
        ("unit:nodeos@eos.service", ("nodeos@eos", "unit", "nodeos@eos.service")),
    ],
)
def test_id_kind_and_value_are_told_apart(text, parts):
    """The id may be given, else it is made of the value."""
    selector = parse_selector(text)
    assert (selector.id, selector.kind, selector.value) == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "what:x",
        "pid:x",
        "unit:",
        "a b=unit:x",
        "comm:longer-than-fifteen-chars",
        "exe:",
        "exe:a\nb",
        "port:0",
        "port:65536",
        "port:x",
        "data-dir:srv",
        "pid-file:x",
        "name:",
    ],
)
def test_what_is_no_selector_is_refused(text):
    """The message lists the kinds."""
    with pytest.raises(ConfigError, match="write exe:NAME"):
        parse_selector(text)


@given(st.text(max_size=60))
def test_any_text_is_a_selector_or_a_config_error(text):
    """An id is always fit for a file name."""
    try:
        selector = parse_selector(text)
    except ConfigError:
        return
    assert selector.id
    assert "/" not in selector.id
