"""Hosts as written on the command line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.config.targets import parse_target
from leapprof.errors import ConfigError


@pytest.mark.parametrize(
    ("target", "user", "address", "port"),
    [
        ("eos-1", None, "eos-1", None),
        ("ops@eos-1", "ops", "eos-1", None),
        ("ops@eos-1.example:2222", "ops", "eos-1.example", 2222),
        ("10.0.0.1:22", None, "10.0.0.1", 22),
        ("[2001:db8::1]", None, "2001:db8::1", None),
        ("root@[fe80::1%eth0]:2200", "root", "fe80::1%eth0", 2200),
        ("first.last@corp@bastion", "first.last@corp", "bastion", None),
    ],
)
def test_user_address_and_port_are_told_apart(target, user, address, port):
    """Every form that ssh knows is understood."""
    host = parse_target(target)
    assert (host.user, host.address, host.port) == (user, address, port)
    assert host.name == target


@pytest.mark.parametrize(
    "target",
    [
        "",
        "-oProxyCommand=touch /tmp/x",
        "-l root",
        "@host",
        "user@",
        "host:",
        "host:0",
        "host:65536",
        "host:ab",
        "2001:db8::1",
        "[2001:db8::1",
        "[x]",
        "[::1]22",
        "a b",
        "host;reboot",
        "-x@host",
        "$(x)",
        "a\nb",
        "host:²",
    ],
)
def test_what_is_no_host_is_refused(target):
    """Nothing reaches ssh that it could take for an option or a shell for a command."""
    with pytest.raises(ConfigError):
        parse_target(target)


@given(st.text(max_size=60))
def test_any_text_is_a_host_or_a_config_error(target):
    """Whatever is typed, the address never begins with a dash nor holds blanks."""
    try:
        host = parse_target(target)
    except ConfigError:
        return
    assert not host.address.startswith("-")
    assert not any(c.isspace() for c in host.address)
