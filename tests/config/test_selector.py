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
    ],
)
def test_id_kind_and_value_are_told_apart(text, parts):
    """The id may be given, else it is made of the value."""
    selector = parse_selector(text)
    assert (selector.id, selector.kind, selector.value) == parts


@pytest.mark.parametrize(
    "text", ["", "what:x", "pid:x", "unit:", "a b=unit:x", "comm:longer-than-fifteen-chars"]
)
def test_what_is_no_selector_is_refused(text):
    """The message lists the kinds."""
    with pytest.raises(ConfigError):
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
