"""When a host must not or cannot be spoken with: keys, log-ins, silence. Both transports, a real sshd."""

import contextlib
import socket
import subprocess
import threading

import pytest

from leapprof.errors import ConfigError, ConnectError, HostKeyError, SourceError, SourceTimeoutError
from leapprof.sources import open_source
from tests.support.sshd import free_port, make_key, needs_sshd, silent_server, ssh_agent, sshd

pytestmark = needs_sshd
both = pytest.mark.parametrize("transport", ["ssh", "openssh"])


def fails(host, kind, timeouts=None) -> str:
    """Return the message with which running a command on the host fails."""
    with open_source(host, timeouts=timeouts) as source, pytest.raises(kind) as caught:
        source.run("echo must not run", 10)
    assert type(caught.value) is kind
    return str(caught.value)


@both
def test_an_unknown_key_is_refused_with_the_way_to_accept_it(server, transport):
    """The message shows type, fingerprint and the commands to compare and accept."""
    server.known_hosts.write_text("")
    message = fails(server.host(transport=transport), HostKeyError)
    assert f"ssh -F {server.ssh_config} target" in message
    assert server.known_hosts.read_text() == ""
    if transport == "ssh":
        printed = subprocess.run(
            ["ssh-keygen", "-lf", str(server.host_key())], capture_output=True, text=True, check=True
        ).stdout.split()[1]
        assert f"the ssh-ed25519 key {printed}" in message
        assert "ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub" in message
    assert "Accepted" not in server.log.read_text()


@both
def test_a_changed_key_is_refused_and_its_line_named(server, transport):
    """The message says CHANGED and where the listed key stands."""
    other = make_key(server.directory / "other")
    key = " ".join(other.with_suffix(".pub").read_text().split()[:2])
    server.known_hosts.write_text(f"# one\n[127.0.0.1]:{server.port} {key}\n")
    message = fails(server.host(transport=transport), HostKeyError)
    assert "CHANGED" in message
    if transport == "ssh":
        assert f"{server.known_hosts} line 2" in message
        assert f"ssh-keygen -R '[127.0.0.1]:{server.port}'" in message


@both
def test_a_revoked_key_is_refused_even_if_it_is_listed(server, transport):
    """@revoked counts beside an ordinary line of the same key."""
    with server.known_hosts.open("a") as file:
        file.write(f"@revoked * {server.public_host_key()}\n")
    message = fails(server.host(transport=transport), HostKeyError)
    assert "revoked" in message.lower()


@both
def test_keys_of_a_revoked_host_keys_file_are_refused(server, transport):
    """RevokedHostKeys of ssh's configuration is honoured."""
    revoked = server.directory / "revoked"
    revoked.write_text(server.public_host_key() + "\n")
    server.ssh_config.write_text(server.config_block(f"RevokedHostKeys {revoked}"))
    assert "revoked" in fails(server.host(transport=transport), HostKeyError).lower()


@both
def test_strict_checking_cannot_be_turned_off(server, transport):
    """StrictHostKeyChecking no in ssh's configuration does not make an unknown key acceptable."""
    server.known_hosts.write_text("")
    server.ssh_config.write_text(server.config_block("StrictHostKeyChecking no"))
    fails(server.host(transport=transport, options=("StrictHostKeyChecking=no",)), HostKeyError)
    assert server.known_hosts.read_text() == ""


def test_hosts_known_through_an_authority_need_openssh(server):
    """An @cert-authority line breaks nothing and the message says what to use."""
    server.known_hosts.write_text(f"@cert-authority * {server.public_host_key()}\n")
    assert "--transport openssh" in fails(server.host(), HostKeyError)


@both
def test_hashed_lines_aliases_and_several_files_are_honoured(server, transport):
    """A hashed line in the second file, under HostKeyAlias, lets the host be known."""
    more = server.directory / "more_known_hosts"
    more.write_text(
        f"the-alias {server.public_host_key()}\n@cert-authority *.example {server.public_host_key()}\n"
    )
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(more)], capture_output=True, check=True)
    assert "the-alias" not in more.read_text()
    server.ssh_config.write_text(
        server.config_block("HostKeyAlias the-alias", f"UserKnownHostsFile {server.directory}/none {more}")
    )
    with open_source(server.host(transport=transport)) as source:
        assert source.run("echo ok", 10).stdout == b"ok\n"


@both
def test_a_known_key_type_is_asked_for(tmp_path, transport):
    """A host with several keys is known by the one that is listed, though another is usually preferred."""
    with sshd(tmp_path, key_types=("ed25519", "ecdsa", "rsa")) as server:
        for kind in ("rsa", "ecdsa"):
            server.known_hosts.write_text(f"[127.0.0.1]:{server.port} {server.public_host_key(kind)}\n")
            with open_source(server.host(transport=transport)) as source:
                assert source.run("echo ok", 10).stdout == b"ok\n"


@both
def test_known_hosts_files_of_the_inventory_replace_those_of_ssh(server, transport):
    """A file with a blank in its name, named by the operator, is the only one that counts."""
    mine = server.directory / "my known hosts"
    server.known_hosts.rename(mine)
    with open_source(server.host(transport=transport, known_hosts=(str(mine),))) as source:
        assert source.run("echo ok", 10).stdout == b"ok\n"


@both
def test_a_key_that_is_not_accepted_is_a_connect_error(server, transport):
    """The message names the user; nothing is asked."""
    other = make_key(server.directory / "other")
    server.ssh_config.write_text(server.config_block(f"IdentityFile {other}", "IdentitiesOnly yes"))
    message = fails(server.host(transport=transport), ConnectError)
    assert server.user in message
    if transport == "ssh":
        assert str(other) in message


def test_an_encrypted_key_without_agent_names_ssh_add(server):
    """The way on is named; no passphrase is asked for."""
    locked = make_key(server.directory / "locked", passphrase="correct horse")
    server.ssh_config.write_text(server.config_block(f"IdentityFile {locked}"))
    assert f"ssh-add {locked}" in fails(server.host(), ConnectError)


def test_missing_identity_files_are_skipped_and_rubbish_is_named(server):
    """Ssh's default list names files that are not there; that is no error."""
    rubbish = server.directory / "rubbish"
    rubbish.write_text("no key")
    lines = f"IdentityFile {server.directory}/missing\n  IdentityFile {rubbish}"
    server.ssh_config.write_text(server.config_block(lines))
    message = fails(server.host(), ConnectError)
    assert "missing" not in message.replace(str(rubbish), "")
    assert f"cannot be read as keys: {rubbish}" in message


@both
def test_a_key_of_the_ssh_agent_lets_us_in(server, transport, tmp_path):
    """The agent signs; the private key file is gone."""
    with ssh_agent(tmp_path, server.user_key) as sock:
        server.user_key.unlink()
        server.ssh_config.write_text(server.config_block(f"IdentityAgent {sock}"))
        with open_source(server.host(transport=transport)) as source:
            assert source.run("echo ok", 10).stdout == b"ok\n"


@both
def test_the_configured_key_is_found_among_many_of_the_agent(server, transport, tmp_path):
    """Eight other keys in the agent do not use up the server's six attempts."""
    others = [make_key(tmp_path / f"k{number}") for number in range(8)]
    with ssh_agent(tmp_path, *others, server.user_key) as sock:
        server.ssh_config.write_text(server.config_block(f"IdentityAgent {sock}"))
        with open_source(server.host(transport=transport)) as source:
            assert source.run("echo ok", 10).stdout == b"ok\n"


def test_an_agent_that_is_gone_is_named(server):
    """A stale SSH_AUTH_SOCK is a usual reason."""
    other = make_key(server.directory / "other")
    server.ssh_config.write_text(server.config_block("IdentityAgent /no/such/agent", f"IdentityFile {other}"))
    assert "/no/such/agent does not answer" in fails(server.host(), ConnectError)


@both
def test_a_closed_port_is_a_connect_error(server, transport):
    """Connection refused, said plainly."""
    server.stop()
    assert "refused" in fails(server.host(transport=transport), ConnectError).lower()


@both
def test_a_host_that_never_speaks_is_a_timeout(server, transport, short):
    """TCP is accepted and nothing follows: the time-out ends the wait."""
    with silent_server() as port:
        fails(server.host(transport=transport, port=port), SourceTimeoutError, short)


@contextlib.contextmanager
def saying(words):
    """Yield the port of a server that says these words to whoever comes, and hangs up."""

    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        connection.recv(256)
        connection.sendall(words)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(5)


@both
def test_a_host_that_speaks_something_else_is_an_error(server, transport):
    """A web server on the port is told apart from silence or at least refused in time."""
    with saying(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 100) as port:
        source = open_source(server.host(transport=transport, port=port))
        with source, pytest.raises(SourceError) as caught:
            source.run("true", 30)
    assert transport == "openssh" or "does not speak SSH" in str(caught.value)


def test_a_host_that_hangs_up_at_once_is_no_timeout(server):
    """What was never waited for is not said to have run out."""
    with saying(b"") as port:
        message = fails(server.host(port=port), ConnectError)
    assert "closed the connection before it said it speaks SSH" in message


@both
def test_a_name_that_does_not_resolve_is_a_connect_error(server, transport):
    """The name is in the message."""
    server.ssh_config.write_text(server.config_block("HostName no-such-host.invalid"))
    assert "no-such-host.invalid" in fails(server.host(transport=transport), ConnectError)


def test_algorithms_that_paramiko_does_not_know_are_named(server):
    """A configured list without any usable algorithm says what to use instead."""
    server.ssh_config.write_text(server.config_block("HostKeyAlgorithms sk-ssh-ed25519@openssh.com"))
    assert "--transport openssh" in fails(server.host(), ConfigError)


def test_an_unused_port_is_free():
    """The support's ports are not handed out twice in a row to a listener that holds one."""
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        assert free_port() != port
