"""What differs between two configurations."""

from leapprof.nodeos.diff import diff_options, options_of
from leapprof.nodeos.grammar import parse_config

DEV_KEY = "5KQwrPbwdL6PhXujxW37FSSQZ1JiwsST4cqQzDeyXtP79zkvFD3"


def changes(before, after):
    """Return the differences between two texts as tuples."""
    found = diff_options(options_of(parse_config(before)), options_of(parse_config(after)))
    return [(c.group, c.option, c.before, c.after) for c in found]


def test_changes_are_grouped_by_what_they_can_move():
    """CPU comes first, then memory, disk writes, network, and what moves nothing."""
    before = "agent-name = a\nmax-clients = 1\ndatabase-map-mode = mapped\nchain-threads = 2"
    after = "agent-name = b\nmax-clients = 2\ndatabase-map-mode = heap\nchain-threads = 4"
    assert [c[0] for c in changes(before, after)] == ["cpu", "disk_writes", "network", "none"]


def test_an_option_that_came_or_went_has_no_value_on_that_side():
    """Not being there is not an empty value."""
    assert changes("", "net-threads = 8") == [("cpu", "net-threads", None, "8")]
    assert changes("trace-history =", "") == [("disk_writes", "trace-history", "", None)]


def test_repeated_options_are_compared_in_order():
    """All values count, in their order."""
    assert changes("plugin = a\nplugin = b", "plugin = b\nplugin = a") == [("none", "plugin", "a, b", "b, a")]
    assert changes("plugin = a", "plugin = a") == []


def test_secrets_differ_without_being_shown():
    """A changed key is a change, and neither key is shown."""
    found = changes(f"signature-provider = A=KEY:{DEV_KEY}", "signature-provider = B=KEY:x")
    assert found == [("none", "signature-provider", "***", "***")]


def test_values_that_were_not_allowed_to_leave_are_hidden():
    """A recording's value that stayed on its host reads as hidden."""
    found = diff_options({"agent-name": (None,)}, {"agent-name": ("a",)})
    assert (found[0].before, found[0].after) == ("***", "a")
