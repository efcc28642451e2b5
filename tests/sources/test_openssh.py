"""What the system's ssh says, and how it is called."""

import pytest

from leapprof.errors import ConnectError, HostKeyError, SourceTimeoutError
from leapprof.model.access import HostConfig
from leapprof.sources import ChannelClosedError
from leapprof.sources.openssh import OpensshSource, explain


@pytest.mark.parametrize(
    ("stderr", "kind"),
    [
        ("No ED25519 host key is known for [h]:1 and you have requested strict checking.", HostKeyError),
        ("@@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n@@@@", HostKeyError),
        ("Host key verification failed.", HostKeyError),
        ("@ WARNING: REVOKED HOST KEY DETECTED! @", HostKeyError),
        ("root@h: Permission denied (publickey).", ConnectError),
        ("ssh: connect to host h port 1: Connection refused", ConnectError),
        ("ssh: Could not resolve hostname h: Name or service not known", ConnectError),
        ("ssh: connect to host h port 1: Connection timed out", SourceTimeoutError),
        ("Connection timed out during banner exchange", SourceTimeoutError),
        ("Connection to h closed by remote host.", ChannelClosedError),
        ("client_loop: send disconnect: Broken pipe", ChannelClosedError),
        ("Timeout, server h not responding.", ChannelClosedError),
        ("", ChannelClosedError),
    ],
)
def test_messages_of_ssh_become_errors_of_ours(stderr, kind):
    """Each message leads to the kind of error that paramiko's transport would raise."""
    assert type(explain("web-1", 255, stderr)) is kind


def test_other_statuses_are_those_of_the_program():
    """A program that prints `Permission denied` itself is not mistaken for ssh."""
    assert type(explain("web-1", 1, "cat: x: Permission denied")) is ChannelClosedError


def test_ssh_is_told_to_ask_nothing_and_to_forward_nothing():
    """Our options stand before the operator's, so they count; the address cannot be an option."""
    argv = OpensshSource(HostConfig(name="w", address="web", options=("BatchMode=no",), port=2222)).argv(
        "agent"
    )
    joined = " ".join(argv)
    for option in ("BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no", "PermitLocalCommand=no"):
        assert f"-o {option}" in joined
    assert joined.index("BatchMode=yes") < joined.index("BatchMode=no")
    assert argv[-3:] == ["--", "web", "agent"]
