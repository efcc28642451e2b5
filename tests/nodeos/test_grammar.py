"""config.ini as nodeos reads it."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.errors import ParseError
from leapprof.nodeos.grammar import MAX_CONFIG_CHARS, parse_config

ROWS = json.loads((Path(__file__).parent / "data" / "grammar.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", ROWS, ids=[row["says"] for row in ROWS])
def test_each_row_of_the_grammar_reads_as_nodeos_reads_it(row):
    """A text gives the entries, and the lines to complain about, that nodeos sees."""
    config = parse_config(row["text"])
    assert [[e.line, e.name, e.value] for e in config.entries] == row["entries"]
    assert [finding.line for finding in config.findings] == row["bad_lines"]


@pytest.mark.parametrize("text", ["\0", "a" * (MAX_CONFIG_CHARS + 1), "a" * 70_000])
def test_what_is_no_text_of_a_config_is_a_parse_error(text):
    """A binary file, or one of another size than any config, is refused as unreadable."""
    with pytest.raises(ParseError):
        parse_config(text)


@given(st.text(alphabet=st.characters(), max_size=400))
def test_any_text_gives_entries_or_a_parse_error(text):
    """No text makes the parser raise anything else, and no entry holds a comment."""
    try:
        config = parse_config(text)
    except ParseError:
        return
    assert all("#" not in entry.value for entry in config.entries)
    assert all(finding.hint for finding in config.findings)
