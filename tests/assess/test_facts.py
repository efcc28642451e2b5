"""What was changed, in a few words."""

import pytest

from leapprof.assess.facts import change_text
from leapprof.model import ConfigChange


def changed(option: str, nodeos: str = "eos") -> ConfigChange:
    """Return a change of an option."""
    return ConfigChange(nodeos=nodeos, option=option, before="a", after="b")


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ((), "no change seen in facts or config"),
        ((changed("chain-threads"),), "1 config option"),
        ((changed("chain-threads"), changed("chain-threads", "eos-2")), "1 config option"),
        ((changed("chain-threads"), changed("net-threads"), changed("data-dir")), "2 config options"),
        ((changed("http-server-address"), changed("data-dir")), "2 config options that move no metric"),
    ],
)
def test_options_are_counted_that_can_move_a_metric(changes, text) -> None:
    """Another port or directory is no change that a title names beside others."""
    assert change_text((), changes) == text
