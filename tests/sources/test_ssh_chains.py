"""ProxyJump, ProxyCommand, Include and aliases over two real sshds."""

import shlex
import shutil
import sys

import pytest

from leapprof.errors import ConnectError, HostKeyError
from leapprof.sources import open_source
from tests.support.reading import read_until, read_until_closed
from tests.support.sshd import needs_sshd, sshd

pytestmark = needs_sshd
both = pytest.mark.parametrize("transport", ["ssh", "openssh"])
RELAY = (
    "import os,select,socket,sys\n"
    "s=socket.create_connection((sys.argv[1],int(sys.argv[2])))\n"
    "while 1:\n"
    " for f in select.select([0,s],[],[])[0]:\n"
    "  d=os.read(0,65536) if f==0 else s.recv(65536)\n"
    "  if not d: sys.exit()\n"
    "  s.sendall(d) if f==0 else os.write(1,d)\n"
)


@both
def test_a_host_behind_a_jump_host_is_reached(pair, transport):
    """The target sees a connection that the jump host opened."""
    jump, target = pair
    with open_source(target.host(transport=transport)) as source:
        channel = source.open("echo one; cat")
        read_until(channel, b"one\n")
        channel.write(b"two\n")
        read_until(channel, b"two\n")
    assert "Accepted publickey" in jump.log.read_text()
    assert "Accepted publickey" in target.log.read_text()


@both
def test_a_chain_of_two_jump_hosts_works(pair, transport, tmp_path):
    """Hops of a comma-joined list are gone through in order."""
    jump, target = pair
    with sshd(tmp_path, alias="first") as first:
        target.ssh_config.write_text(
            target.config_block("ProxyJump first,jump") + jump.config_block() + first.config_block()
        )
        with open_source(target.host(transport=transport)) as source:
            assert source.run("echo ok", 20).stdout == b"ok\n"
        assert all("Accepted publickey" in hop.log.read_text() for hop in (first, jump, target))


@both
def test_a_jump_of_the_inventory_replaces_that_of_ssh(pair, transport):
    """`jump` works like `ssh -J`."""
    jump, target = pair
    target.ssh_config.write_text(target.config_block() + jump.config_block())
    with open_source(target.host(transport=transport, jump="jump")) as source:
        assert source.run("echo ok", 20).stdout == b"ok\n"
    assert "Accepted publickey" in jump.log.read_text()


@both
def test_a_dead_jump_host_is_named(pair, transport):
    """The message says that it is the jump host that fails."""
    jump, target = pair
    jump.stop()
    with open_source(target.host(transport=transport)) as source, pytest.raises(ConnectError) as caught:
        source.run("true", 20)
    if transport == "ssh":
        assert f"jump host jump (127.0.0.1:{jump.port})" in str(caught.value)
    assert "refused" in str(caught.value).lower()


@both
def test_a_target_that_the_jump_host_cannot_reach_is_named(pair, transport):
    """The message names both."""
    _, target = pair
    target.stop()
    with open_source(target.host(transport=transport)) as source, pytest.raises(ConnectError) as caught:
        source.run("true", 20)
    if transport == "ssh":
        assert f"jump host jump cannot connect to 127.0.0.1:{target.port}" in str(caught.value)


@both
def test_the_key_of_every_hop_is_checked(pair, transport):
    """An unknown key of the jump host is refused, and the target is never spoken with."""
    jump, target = pair
    jump.known_hosts.write_text("")
    with open_source(target.host(transport=transport)) as source, pytest.raises(HostKeyError) as caught:
        source.run("true", 20)
    assert "Accepted" not in jump.log.read_text()
    if transport == "ssh":
        assert "jump host jump" in str(caught.value)
        assert f"ssh -F {target.ssh_config} jump" in str(caught.value)


@both
def test_the_end_of_a_jump_host_closes_the_channel(pair, transport):
    """A channel through a jump host that dies is closed, and works again when it is back."""
    jump, target = pair
    with open_source(target.host(transport=transport)) as source:
        channel = source.open("echo one; cat")
        read_until(channel, b"one\n")
        jump.stop()
        read_until_closed(channel)
        jump.start()
        assert source.run("echo ok", 20).stdout == b"ok\n"


@both
def test_a_proxy_command_carries_the_connection(server, transport, tmp_path):
    """A ProxyCommand with quotes and tokens is run by a shell."""
    relay = tmp_path / "relay.py"
    relay.write_text(RELAY)
    command = f"{shlex.quote(sys.executable)} '{relay}' %h %p"
    server.ssh_config.write_text(server.config_block(f"ProxyCommand {command}"))
    with open_source(server.host(transport=transport)) as source:
        channel = source.open("echo one; cat")
        read_until(channel, b"one\n")
        assert source.run("echo ok", 10).stdout == b"ok\n"


@both
def test_a_proxy_command_of_none_connects_directly(server, transport):
    """`none` is no command."""
    server.ssh_config.write_text(server.config_block("ProxyCommand none", "ProxyJump none"))
    with open_source(server.host(transport=transport)) as source:
        assert source.run("echo ok", 10).stdout == b"ok\n"


@both
def test_a_proxy_command_that_fails_is_a_connect_error(server, transport):
    """Its status is said at once, not after a time-out."""
    server.ssh_config.write_text(server.config_block("ProxyCommand sh -c 'exit 7'"))
    with open_source(server.host(transport=transport)) as source, pytest.raises(ConnectError) as caught:
        source.run("true", 20)
    if transport == "ssh":
        assert "ended with status 7" in str(caught.value)


@both
def test_included_configuration_and_aliases_are_followed(server, transport):
    """The alias stands in an included file, matched by a pattern."""
    more = server.directory / "more"
    more.write_text(server.config_block(alias="eos-*"))
    server.ssh_config.write_text(f"Include {more}\n")
    with open_source(server.host(transport=transport, address="eos-1")) as source:
        assert source.run("echo ok", 10).stdout == b"ok\n"


@both
@pytest.mark.skipif(shutil.which("true") is None, reason="needs true")
def test_match_exec_is_evaluated(server, transport):
    """Configuration that depends on a command is resolved by ssh itself."""
    block = server.config_block().replace("Host target", "Match exec true")
    server.ssh_config.write_text(block)
    with open_source(server.host(transport=transport)) as source:
        assert source.run("echo ok", 10).stdout == b"ok\n"
