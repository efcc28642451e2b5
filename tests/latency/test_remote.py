"""Round trips from other hosts: made there over a real ssh, read whatever is printed, one host's failure its own."""

import contextlib
import json
import shutil
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from leapprof.assess.load import load
from leapprof.cli.latency import app
from leapprof.cli.latency_from import run_remote
from leapprof.config.inventory import resolve_hosts
from leapprof.errors import ConfigError, ParseError, SourceError
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.remote import RemotePlan, RemoteRun
from leapprof.latency.wire import Failure
from leapprof.model import Frame, ReadStatus, Section
from leapprof.sources import open_source
from tests.support.servers import serving
from tests.support.sshd import sshd


def idle(connection):
    """Accept, and wait for the end."""
    connection.recv(1)


def plan(port, host="127.0.0.1", count=20):
    """Return a plan for a server on loopback."""
    return RemotePlan(
        endpoint=Endpoint(host=host, port=port), family=0, count=count, rate_per_s=50.0, timeout_s=2.0
    )


def run(*arguments):
    """Run the command; an error of ours is raised as main() would see it."""
    result = CliRunner().invoke(app, ["rtt", *(str(a) for a in arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.mark.skipif(shutil.which("sshd", path="/usr/sbin:/usr/bin") is None, reason="needs the program sshd")
def test_a_host_makes_its_connections_over_ssh(tmp_path):
    """Twenty of them, with its own clock and its CPU."""
    with sshd(tmp_path) as server, serving(idle) as port, open_source(server.host()) as source:
        found = run_remote(source, plan(port))
    assert len(found.tries) == 20
    assert all(isinstance(delay, int) and 0 < delay < 2 * 10**9 for _, delay in found.tries)
    assert len(found.samples) >= 2
    table, blocks = found.blocks(Endpoint(host="127.0.0.1", port=port), 0.2)
    assert int(table.integers["count"].values.sum()) == 20
    assert [s.operation for s in blocks.whole] == ["tcp connect IPv4"]
    assert found.host_table().integers["cpu_idle_ticks_total"].present.all()


@pytest.mark.skipif(shutil.which("sshd", path="/usr/sbin:/usr/bin") is None, reason="needs the program sshd")
def test_a_host_without_python_says_so(tmp_path):
    """Its PATH holds nothing."""
    empty = tmp_path / "empty"
    empty.mkdir()
    with (
        sshd(tmp_path, path=str(empty)) as server,
        open_source(server.host()) as source,
        pytest.raises(SourceError, match="python3"),
    ):
        run_remote(source, plan(1))


def test_a_run_from_a_host_is_an_ordinary_recording(tmp_path):
    """`local` is a host like any other; the table names it as the region."""
    with serving(idle) as port:
        result = run(
            f"127.0.0.1:{port}", "--from", "local", "--out", tmp_path, "--count", 10, "--rate", 50, "--json"
        )
    (line,) = json.loads(result.stdout)
    assert (line["region"], line["count"], line["errors"]) == ("local", 10, 0)
    assert "one clock of the host itself" in line["clock"]
    recording = load(tmp_path / line["recording"])
    assert recording.manifest.transport == "latency"
    assert recording.table("host").rows >= 2


def test_one_host_that_fails_does_not_take_the_others(tmp_path):
    """The recording of the good one is there, and the error of the bad one ends the command."""
    with serving(idle) as port, pytest.raises(SourceError):
        run(
            f"127.0.0.1:{port}", "--from", "local", "--from", "no-such-host.invalid", "--out", tmp_path, "--count", 5,
            "--rate", 50,
        )  # fmt: skip
    assert len(list(tmp_path.iterdir())) == 1


def test_each_recording_is_named_behind_the_table(tmp_path):
    """What `leapprof compare` needs next."""
    with serving(idle) as port:
        result = run(f"127.0.0.1:{port}", "--from", "local", "--out", tmp_path, "--count", 3, "--rate", 50)
    (made,) = tmp_path.iterdir()
    assert result.stdout.endswith(f"\n{made}\n")


def test_what_cannot_be_reached_from_there_is_said(tmp_path):
    """Refused, unknown, and options that are for this machine alone."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = listener.getsockname()[1]
    with pytest.raises(SourceError, match="was made: refused"):
        run(f"127.0.0.1:{closed}", "--from", "local", "--out", tmp_path, "--count", 2)
    with pytest.raises(SourceError, match="was made: name"):
        run("no-such-name.invalid:1", "--from", "local", "--out", tmp_path, "--count", 2)
    with pytest.raises(ConfigError, match="neither --tls"):
        run("127.0.0.1:1", "--from", "local", "--out", tmp_path, "--tls")
    with pytest.raises(ConfigError, match="'5' is none of 4, 6, both"):
        run("127.0.0.1:1", "--from", "local", "--out", tmp_path, "--family", "5")
    assert not list(Path(tmp_path).iterdir())


def frame(status=ReadStatus.OK, text=b"", **sections):
    """Return a frame of a host at boottime 1000, wall clock 5000."""
    told = (Section(name="connect/a:1", status=status, text=text),)
    return Frame(
        seq=1,
        boottime_ns=1000,
        wall_ns=5000,
        deadline_ns=1000,
        agent_cpu_ns=None,
        agent_rss_bytes=None,
        dropped=0,
        sections=(*sections.values(), *told),
    )


@given(st.binary(max_size=80))
def test_any_answer_is_taken_or_a_parse_error(text):
    """Whatever a host sends."""
    with contextlib.suppress(ParseError):
        RemoteRun().add(frame(text=text))


def test_answers_of_the_agent_are_read():
    """A sample, the family, an attempt, failures of each kind; moments lie on the host's wall clock."""
    found = RemoteRun()
    stat = Section(name="/proc/stat", status=ReadStatus.OK, text=b"cpu  1 2 3 4 5 6 7 8 0 0\n")
    lines = b"family 6\n400 500\n500 timeout\n600 ECONNREFUSED\n700 EHOSTUNREACH\n800 name\n900 else\n"
    assert not found.add(frame(text=lines, stat=stat))
    assert found.family == 6
    kinds = [Failure.TIMEOUT, Failure.REFUSED, Failure.UNREACHABLE, Failure.NAME, Failure.CLOSED]
    assert [what for _, what in found.tries] == [500, *kinds]
    assert found.tries[0][0].wall_ns == 4400
    assert found.samples[0][1].cpu_idle_ticks_total == 4
    with pytest.raises(ParseError, match="failed"):
        found.add(frame(status=ReadStatus.FAILED, text=b"did not end within 3 s"))


@pytest.mark.parametrize(("host", "family"), [("127.0.0.1", 4), ("::1", 6)])
def test_both_families_are_measured(host, family):
    """IPv6 in brackets is an address as any other."""
    with serving(idle, host) as port, open_source(resolve_hosts(["local"], None)[0]) as source:
        found = run_remote(source, plan(port, host, count=3))
    assert found.family == family
    assert len([what for _, what in found.tries if isinstance(what, int)]) == 3


def test_an_address_that_does_not_answer_times_out():
    """A full queue of connections drops the SYN, as a filter does: each try ends at its time-out."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        port = listener.getsockname()[1]
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.1", port))
        slow = RemotePlan(
            endpoint=Endpoint(host="127.0.0.1", port=port), family=4, count=2, rate_per_s=50.0, timeout_s=0.2
        )
        source = stack.enter_context(open_source(resolve_hosts(["local"], None)[0]))
        with pytest.raises(SourceError, match="was made: timeout"):
            run_remote(source, slow)
