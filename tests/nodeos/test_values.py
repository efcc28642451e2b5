"""Values as nodeos reads them."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.nodeos.options import load_tables, table_for
from leapprof.nodeos.values import read_value
from leapprof.nodeos.versions import parse_version

ROWS = json.loads((Path(__file__).parent / "data" / "values.json").read_text(encoding="utf-8"))


def option(release, name):
    """Return an option of a release."""
    return table_for(parse_version(release), load_tables()).options[name]


@pytest.mark.parametrize(("release", "name", "text", "value", "code", "refused"), ROWS)
def test_each_value_reads_as_nodeos_reads_it(release, name, text, value, code, refused):
    """A text gives the value that nodeos uses, or the reason why it refuses it."""
    read = read_value(option(release, name), text)
    assert (read.value, read.code, read.refused) == (value, code, refused)
    assert type(read.value) is type(value)


ALL_OPTIONS = [o for table in load_tables() for o in table.options.values()]


@given(st.sampled_from(ALL_OPTIONS), st.text(max_size=50))
def test_any_text_is_read_or_refused(one, text):
    """No text raises for any option of any version, and a refusal always says why."""
    read = read_value(one, text)
    assert (read.value is None) == read.refused
    assert bool(read.code) == bool(read.problem)


@pytest.mark.parametrize("table", load_tables(), ids=lambda table: table.version.name)
def test_every_default_is_a_value_that_its_version_takes(table):
    """The default of each option is one that nodeos would accept from the file."""
    for one in table.options.values():
        if one.default is not None:
            assert not read_value(one, one.default).refused, one.name
