"""Version strings of nodeos."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.nodeos.options import load_tables, table_for
from leapprof.nodeos.versions import parse_version


@pytest.mark.parametrize(
    ("text", "name", "fork", "table"),
    [
        ("v5.0.3", "leap-5.0.3", None, "leap-5.0.3"),
        ("5.0.1wax01", "leap-5.0.1", "wax", "leap-5.0.3"),
        ("v5.0.1wax01", "leap-5.0.1", "wax", "leap-5.0.3"),
        ("wax_2.0.13wax03", "eosio-2.0.13", "wax", "eosio-2.0.13"),
        ("spring-1.2", "spring-1.2", None, "spring-1.2.2"),
        ("leap-3.1", "leap-3.1", None, "leap-3.1.5"),
        ("leap 4.0.4", "leap-4.0.4", None, "leap-4.0.6"),
        ("1.1.5", "spring-1.1.5", None, "spring-1.1.5"),
        ("antelope-spring_1.0.1", "spring-1.0.1", None, "spring-1.0.5"),
        ("v2.0.0-dev1.3", "spring-2.0.0", None, "spring-2.0.0"),
        ("v5.0.3-d133c6413ce8ce2e96096a0513ec25b4a8dbe837-dirty", "leap-5.0.3", None, "leap-5.0.3"),
    ],
)
def test_a_version_string_names_family_numbers_and_fork(text, name, fork, table):
    """Releases, full versions, package names and chain forks all find their table."""
    version = parse_version(text)
    assert (version.name, version.fork) == (name, fork)
    assert table_for(version, load_tables()).version.name == table


@pytest.mark.parametrize(
    "text", ["", "latest", "leap", "5", "leap-", "9.9", "v5", "x" * 10_000, "5.0!!", "leap-5.0\n!"]
)
def test_an_unknown_string_says_what_to_write(text):
    """What names no version is refused with examples of what does."""
    with pytest.raises(ValueError, match="write leap-"):
        parse_version(text)


def test_a_release_without_a_table_names_those_that_there_are():
    """A version of a known family without table is refused with the list of tables."""
    with pytest.raises(ValueError, match=r"there are eosio-2\.0, .*spring-1\.2"):
        table_for(parse_version("leap-5.1"), load_tables())


def test_versions_sort_by_age_across_families():
    """EOSIO is older than Leap, and Leap than Spring, whatever the numbers."""
    names = ["eosio-2.1", "leap-3.1.5", "leap-4.0", "leap-5.0.3", "spring-1.0", "spring-1.2.2"]
    assert sorted(names, key=lambda n: parse_version(n).order) == names
    assert parse_version("leap-5.0.3").is_before("spring-1.0")


@given(st.text(max_size=200))
def test_any_text_is_a_version_or_a_value_error(text):
    """No text makes the reader raise anything but ValueError."""
    for candidate in (text, f"v5.0.3{text}", f"{text}-1.2"):
        try:
            parse_version(candidate)
        except ValueError:
            continue
