"""Tests of leapprof.standin.options."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import ConfigError, ParseError
from leapprof.standin.options import MapMode, parse_command_line, parse_config, read_options


def test_the_command_line_takes_both_forms_and_bare_switches():
    """``--a b``, ``--a=b`` and ``--a`` are all options."""
    assert parse_command_line(["--a", "b", "--c=d", "--e", "--f"]) == {
        "a": "b",
        "c": "d",
        "e": "true",
        "f": "true",
    }


def test_an_argument_without_an_option_is_refused():
    """A stray word is a usage error, not ignored."""
    with pytest.raises(ConfigError):
        parse_command_line(["stray"])


@given(st.text())
def test_any_config_text_gives_values_or_a_parse_error(text):
    """No text makes the reader of config.ini fail in another way."""
    try:
        found = parse_config(text)
    except ParseError:
        return
    assert all(name == name.strip() for name in found)


def test_the_command_line_wins_over_the_file(tmp_path):
    """A value given twice is the command line's; a file's value without rival counts."""
    (tmp_path / "config.ini").write_text(
        "database-map-mode = mapped_private # why\nused-mb=7\n", encoding="utf-8"
    )
    options = read_options(["--data-dir", str(tmp_path), "--config-dir", str(tmp_path), "--used-mb", "9"])
    assert (options.map_mode, options.used_mb) == (MapMode.MAPPED_PRIVATE, 9)


def test_options_of_nodeos_without_effect_are_accepted_and_listed(tmp_path):
    """A real config.ini can be tried on the stand-in."""
    options = read_options(["--data-dir", str(tmp_path), "--chain-threads", "4"])
    assert options.unused == ("chain-threads",)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--database-map-mode", "heap"],
        ["--used-mb", "many"],
        ["--hot-share", "2"],
        ["--chain-state-db-size-mb", "99999999"],
    ],
)
def test_a_value_that_cannot_be_used_is_a_config_error(arguments, tmp_path):
    """Each wrong value is refused before anything is opened."""
    with pytest.raises(ConfigError):
        read_options(["--data-dir", str(tmp_path), *arguments])


def test_the_data_directory_is_required():
    """Nothing is written to a place that nobody named."""
    with pytest.raises(ConfigError):
        read_options([])
