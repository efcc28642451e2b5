"""What the agent lets through: functions of agent.py called with any text."""

import fnmatch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.agent import agent

WIF = b"5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"
PUBLIC = b"EOS6MRyAjQq8ud7hVNYcfnVPJqcVpscN5So8BhtHuGYqET5GDW5CV"
KEYS = st.sampled_from(
    [WIF, PUBLIC, b"PVT_K1_2bfGi9rYsXQSXXTvJbDAPhHLQUojjaNLomdm3cEJ1XTzMqUt3V", b"a1" * 32, b"KEY:" + WIF]
)
ALLOWED = frozenset([b"plugin", b"data-dir", b"x", b"d"])
PIECES = st.sampled_from(
    [
        b"plugin",
        b"=",
        b" ",
        b"#",
        b"\n",
        b"[x]",
        b"--",
        b"-",
        b"-d",
        b"x",
        b"\0",
        b"data-dir",
        b'"',
        b"\t",
        b"/",
        b"ab",
    ]
)
TEXTS = st.lists(PIECES | KEYS, max_size=30).map(b"".join)


@given(text=TEXTS, key=KEYS)
def test_no_text_of_a_config_file_lets_a_key_through(text: bytes, key: bytes) -> None:
    """Wherever a key stands, under whatever name, it stays on the host."""
    shown = agent.filter_config(text + key, ALLOWED)
    for secret in (WIF, PUBLIC, b"a1" * 32, b"PVT_", b"KEY:"):
        assert secret not in shown
    assert all(len(line.split(b"\t")) == 3 for line in shown.splitlines())


@given(text=TEXTS, key=KEYS)
def test_no_command_line_lets_a_key_through(text: bytes, key: bytes) -> None:
    """The same of command lines, also of attached values and of keys in place of options."""
    shown = agent.filter_cmdline(text + key, ALLOWED)
    for secret in (WIF, PUBLIC, b"a1" * 32, b"PVT_", b"KEY:"):
        assert secret not in shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("plugin = eosio::chain_plugin # why", "1\tplugin\teosio::chain_plugin\n"),
        ("plugin=a=b\r", "1\tplugin\ta=b\n"),
        ("  plugin\t=  a  ", "1\tplugin\ta\n"),
        ("# plugin = a", ""),
        ("[plugin]", ""),
        ("Plugin = a", "1\tPlugin\t\n"),
        ("secret-thing = a", "1\tsecret-thing\t\n"),
        ("just words", "1\t?\t\n"),
        ("odd name = a", "1\t?\t\n"),
        ("plugin = " + "a " * 600, "1\tplugin\t\n"),
        ("plugin = http://u:p@h/x", "1\tplugin\t\n"),
        ("plugin = http://h/x@y", "1\tplugin\thttp://h/x@y\n"),
        ("\ufeffplugin = a", "1\t?\t\n"),
    ],
)
def test_config_lines_follow_the_grammar_of_nodeos(line: str, shown: str) -> None:
    """Comments, sections, blanks and names as boost's config_file_iterator takes them."""
    assert agent.filter_config(line.encode(), ALLOWED).decode() == shown


@given(data=st.binary(max_size=200))
def test_any_chunked_body_is_read_without_error(data: bytes) -> None:
    """A server may send anything."""
    body, complete = agent.dechunk(data)
    assert len(body) <= len(data)
    assert agent.dechunk(b"%x\r\n%s\r\n0\r\n\r\n" % (len(data), data) if data else b"0\r\n\r\n") == (
        data,
        True,
    )
    assert complete in (True, False)


@given(name=st.text("ab.", min_size=1, max_size=6), pattern=st.text("ab.*", min_size=1, max_size=6))
def test_stars_fit_as_in_a_shell(name: str, pattern: str) -> None:
    """A pattern with stars means what fnmatch says, hidden names apart."""
    if "*" not in pattern or (name.startswith(".") and not pattern.startswith(".")):
        return
    assert agent.fits(name.encode(), pattern.encode()) == fnmatch.fnmatchcase(name, pattern)


@given(comm=st.binary(min_size=1, max_size=15).filter(lambda b: b"\n" not in b))
def test_a_name_may_hold_blanks_and_parentheses(comm: bytes) -> None:
    """The last parenthesis ends the name."""
    stat = b"7 (" + comm + b") S 3 " + b"0 " * 17 + b"99 0 0\n"
    assert agent.parse_stat(stat) == (comm, 3, 99)


@given(data=st.binary(max_size=300), size=st.integers(min_value=0, max_value=50))
def test_a_plan_of_any_bytes_is_taken_or_refused(data: bytes, size: int) -> None:
    """Nothing but BadPlanError comes of a bad plan."""
    for text in (
        data,
        b"leapprof-plan\t1\n" + data + b"\nend\n",
        b"leapprof-plan\t1\nread\t" + data[:size] + b"\nend\n",
    ):
        try:
            agent.Plan(text)
        except agent.BadPlanError:
            continue
