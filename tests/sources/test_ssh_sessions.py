"""Programs on a host over a real sshd, by both transports."""

import contextlib
import os
import pathlib
import signal
import threading
from dataclasses import replace

import pytest

from leapprof.errors import SourceTimeoutError
from leapprof.sources import ChannelClosedError, Timeouts, open_source
from leapprof.sources.base import RUN_OUTPUT_BYTES, STDERR_TAIL_BYTES
from tests.support.reading import read_until, read_until_closed
from tests.support.sshd import needs_sshd, sshd, unprivileged_user

pytestmark = needs_sshd
both = pytest.mark.parametrize("transport", ["ssh", "openssh"])


@both
def test_a_long_lived_program_is_spoken_with(shared, transport):
    """Messages go there and frames come back over one channel, silence in between is no error."""
    with open_source(shared.host(transport=transport)) as source:
        channel = source.open('while read line; do echo "got $line"; done; echo bye')
        for number in range(20):
            channel.write(b"beat %d\n" % number)
            read_until(channel, b"got beat %d\n" % number)
        assert channel.read(0.05) == b""
        assert channel.read(0) == b""


@both
def test_binary_data_of_a_megabyte_arrives_unchanged(shared, transport):
    """Neither transport touches a byte (no terminal, no conversion)."""
    sent = bytes(range(256)) * 4096
    with open_source(shared.host(transport=transport)) as source:
        channel = source.open(f"head -c {len(sent)} | cat; echo; echo -n end")
        got = bytearray()
        writer = threading.Thread(target=channel.write, args=(sent,))
        writer.start()
        while len(got) < len(sent):
            got += channel.read(5)
        writer.join()
        assert bytes(got[: len(sent)]) == sent


@pytest.mark.parametrize(("said", "used"), [("yes", "zlib@openssh.com"), ("no", "none")])
def test_compression_is_used_where_it_is_configured(shared, said, used):
    """`Compression yes` of ssh_config holds for our own transport too; what arrives is the same."""
    with open_source(replace(shared.host(), options=(f"Compression={said}",))) as source:
        channel = source.open("yes leapprof | head -n 10000; cat >/dev/null")
        assert read_until(channel, b"leapprof\n" * 10_000)
        assert source._transports[-1].local_compression == used


@both
def test_the_end_of_a_program_is_said_with_status_and_stderr(shared, transport):
    """A closed channel says why."""
    with open_source(shared.host(transport=transport)) as source:
        output, error = read_until_closed(source.open("echo out; echo why >&2; exit 3"))
    assert output == b"out\n"
    assert isinstance(error, ChannelClosedError)
    assert "status 3: why" in str(error)


@both
def test_stderr_that_floods_is_bounded_and_stops_nothing(shared, transport):
    """A chatty program costs no memory and its output still comes."""
    with open_source(shared.host(transport=transport)) as source:
        channel = source.open("head -c 5000000 /dev/zero | tr '\\0' e >&2; echo done; cat >/dev/null")
        assert read_until(channel, b"done\n") == b"done\n"
        assert len(channel.stderr_tail) <= STDERR_TAIL_BYTES


@both
def test_short_commands_come_back_with_status_and_bounded_output(shared, transport):
    """Status, output, errors; too much output is cut and marked."""
    with open_source(shared.host(transport=transport)) as source:
        result = source.run("echo a; echo b >&2; exit 4", 10)
        assert (result.exit_status, result.stdout, result.stderr) == (4, b"a\n", b"b\n")
        result = source.run("head -c 3000000 /dev/zero", 20)
        assert (len(result.stdout), result.truncated) == (RUN_OUTPUT_BYTES, True)
        assert source.run("cat", 10).stdout == b""


@both
def test_a_command_that_takes_too_long_is_a_timeout(shared, transport):
    """The source is usable afterwards."""
    with open_source(shared.host(transport=transport)) as source:
        with pytest.raises(SourceTimeoutError):
            source.run("sleep 60", 1.0)
        assert source.run("echo ok", 10).stdout == b"ok\n"


@both
def test_closing_ends_the_program_on_the_host(shared, transport, tmp_path):
    """The program's input ends; one that reads it, as the agent does, ends with it."""
    left = tmp_path / "left"
    source = open_source(shared.host(transport=transport))
    channel = source.open(f"echo here; cat; touch {left}")
    read_until(channel, b"here\n")
    source.close()
    waited = threading.Event()
    for _ in range(3000):
        if left.exists():
            break
        waited.wait(0.02)
    assert left.exists()
    with pytest.raises(ChannelClosedError):
        read_until_closed(channel)[1].host and channel.write(b"x" * 10)
        raise ChannelClosedError("target", "closed")


@both
def test_a_restart_of_sshd_closes_the_channel_and_the_source_connects_again(server, transport):
    """The channel says that it is closed; open() on the same source makes a new connection."""
    with open_source(server.host(transport=transport)) as source:
        channel = source.open("echo one; cat")
        read_until(channel, b"one\n")
        server.stop()
        assert isinstance(read_until_closed(channel)[1], ChannelClosedError)
        server.start()
        read_until(source.open("echo two; cat"), b"two\n")


@both
def test_killed_connections_close_the_channel(server, transport):
    """Writing to a lost connection is an error of ours, sooner or later."""
    with open_source(server.host(transport=transport)) as source:
        channel = source.open("echo one; cat")
        read_until(channel, b"one\n")
        server.kill_connections()
        error = read_until_closed(channel)[1]
        assert isinstance(error, ChannelClosedError)
        with pytest.raises(ChannelClosedError):
            for _ in range(50):
                channel.write(b"beat\n" * 1000)


@both
def test_banner_and_chatter_before_the_program_do_no_harm(tmp_path, transport):
    """A banner is not part of the output; what a login script prints is handed on as received."""
    (tmp_path / "banner").write_text("Authorised use only\n" * 20)
    chatter = (
        f"Banner {tmp_path}/banner",
        'ForceCommand echo "welcome to the host"; eval "$SSH_ORIGINAL_COMMAND"',
    )
    with sshd(tmp_path, options=chatter) as server, open_source(server.host(transport=transport)) as source:
        assert source.run("echo data", 10).stdout == b"welcome to the host\ndata\n"


@both
def test_no_agent_is_forwarded_whatever_is_configured(server, transport):
    """Even with ForwardAgent yes the host gets no socket of ours."""
    server.ssh_config.write_text(server.config_block("ForwardAgent yes", "ForwardX11 yes"))
    with open_source(server.host(transport=transport)) as source:
        result = source.run("env; echo sock=$SSH_AUTH_SOCK", 10)
    assert b"sock=\n" in result.stdout
    assert b"DISPLAY=localhost" not in result.stdout


@both
def test_programs_may_run_without_python_on_the_path(tmp_path, transport):
    """The support sshd can hide python3, as the sh agent's tests need it."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "cat"):
        (tools / name).symlink_to(f"/bin/{name}")
    with sshd(tmp_path, path=str(tools)) as server, open_source(server.host(transport=transport)) as source:
        assert source.run("command -v python3", 10).exit_status != 0
        assert source.run("command -v cat", 10).stdout == f"{tools}/cat\n".encode()


@both
@pytest.mark.skipif(os.getuid() != 0, reason="needs root to let another user in")
def test_another_user_may_log_in(tmp_path, transport):
    """As root the tests can be somebody who may not read everything."""
    user = unprivileged_user()
    with sshd(tmp_path, user=user) as server, open_source(server.host(transport=transport)) as source:
        assert source.run("id -un", 10).stdout.decode().strip() == user


@both
def test_a_host_that_stops_answering_without_a_word_closes_the_channel(server, transport):
    """Its sshd is stopped: TCP is up, nothing comes. Three keepalive intervals later the channel closes."""
    with open_source(server.host(transport=transport), timeouts=Timeouts(keepalive_s=1.0)) as source:
        channel = source.open("echo one; cat")
        read_until(channel, b"one\n")
        pids = server.connection_pids()
        try:
            for pid in pids:
                os.kill(pid, signal.SIGSTOP)
            assert isinstance(read_until_closed(channel)[1], ChannelClosedError)
        finally:
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):  # one may end with another
                    os.kill(pid, signal.SIGKILL)


@both
def test_a_quiet_program_is_not_taken_for_a_dead_host(server, transport):
    """Silence of the program alone closes nothing: sshd answers for it."""
    with open_source(server.host(transport=transport), timeouts=Timeouts(keepalive_s=2.0)) as source:
        channel = source.open("sleep 7; echo late; cat")
        assert read_until(channel, b"late\n") == b"late\n"


def test_one_connection_serves_channel_and_commands(server):
    """The paramiko transport opens no second connection beside the channel."""
    with open_source(server.host()) as source:
        channel = source.open("echo one; cat")
        read_until(channel, b"one\n")
        for _ in range(15):
            assert source.run("true", 10).exit_status == 0
    assert server.log.read_text().count("Accepted publickey") == 1


def test_help_does_not_import_paramiko():
    """The package can be imported without loading any SSH library."""
    import subprocess
    import sys

    code = "import sys, leapprof.sources, leapprof.config.targets; print('paramiko' in sys.modules)"
    root = pathlib.Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout == "False\n"
