"""This machine as a source."""

import time

import psutil
import pytest

from leapprof.errors import SourceError, SourceTimeoutError
from leapprof.sources import ChannelClosedError, open_source
from leapprof.sources.base import RUN_OUTPUT_BYTES, STDERR_TAIL_BYTES
from leapprof.sources.local import LocalSource
from leapprof.sources.process import ProcessChannel
from tests.support.reading import read_until, read_until_closed


def test_a_program_is_spoken_with_over_one_channel():
    """What is written arrives, what comes back is read, silence is no error."""
    with LocalSource() as source:
        channel = source.open("cat")
        assert channel.read(0.01) == b""
        channel.write(b"plan 3\nabc")
        assert read_until(channel, b"abc") == b"plan 3\nabc"


def test_more_than_a_pipe_holds_goes_through_both_ways():
    """Reading and writing do not block each other for good."""
    with LocalSource() as source:
        channel = source.open("head -c 300000 /dev/zero; wc -c >&2; echo; echo done")
        assert len(read_until(channel, b"\0" * 300000)) >= 300000


def test_the_end_of_a_program_is_said_with_status_and_stderr():
    """A closed channel says why it closed."""
    with LocalSource() as source:
        channel = source.open("echo out; echo why >&2; exit 3")
        output, error = read_until_closed(channel)
        assert output == b"out\n"
        assert "status 3" in str(error)
        assert "why" in str(error)
        with pytest.raises(ChannelClosedError):
            channel.write(b"x" * 100_000)


def test_stderr_is_kept_bounded():
    """A program that floods its stderr costs no memory."""
    with LocalSource() as source:
        channel = source.open("head -c 1000000 /dev/zero | tr '\\0' x >&2; echo end >&2")
        read_until_closed(channel)
        assert len(channel.stderr_tail) <= STDERR_TAIL_BYTES
        assert channel.stderr_tail.endswith("end\n")


def test_a_command_is_run_to_its_end():
    """Status, output and errors come back; a status other than 0 is a result."""
    result = LocalSource().run("echo a; echo b >&2; exit 7", 10)
    assert (result.exit_status, result.stdout, result.stderr) == (7, b"a\n", b"b\n")


def test_the_output_of_a_command_is_bounded():
    """Output beyond the bound is dropped and the result says so."""
    result = LocalSource().run("head -c 3000000 /dev/zero", 20)
    assert len(result.stdout) == RUN_OUTPUT_BYTES
    assert result.truncated


def test_a_command_that_takes_too_long_is_ended():
    """The time-out is an error that names it."""
    with pytest.raises(SourceTimeoutError, match=r"0\.2 s"):
        LocalSource().run("sleep 600", 0.2)


def is_running(pid):
    """Return whether a process is there and no zombie: who inherits it need not ask for its end."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_closing_ends_the_program_and_its_children():
    """Nothing is left running."""
    with LocalSource() as source:
        channel = source.open("sleep 600 & echo $!; wait")
        child = int(read_until(channel, b"\n"))
    deadline = time.monotonic() + 60
    while is_running(child):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    with pytest.raises(ChannelClosedError):
        channel.read(0)
    channel.close()


def test_a_program_that_is_not_there_is_an_error_of_ours():
    """An OSError does not get out."""
    with pytest.raises(SourceError, match="cannot start"):
        ProcessChannel("here", ["/no/such/program"])


def test_the_local_transport_is_opened_by_its_name():
    """open_source knows `local`."""
    from leapprof.config.inventory import resolve_hosts

    (host,) = resolve_hosts(["local"], None)
    source = open_source(host)
    assert (source.name, source.transport) == ("local", "local")
