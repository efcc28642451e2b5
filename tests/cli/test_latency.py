"""leapprof latency, as it is called: recordings that `compare` takes, errors with their exit codes, tables of runs."""

import json
import signal
import socket
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from leapprof.assess.load import load
from leapprof.cli.compare import command as compare_command
from leapprof.cli.latency import app
from leapprof.errors import ConfigError, NotEnoughDataError, SourceError, StoreError
from leapprof.standin.http import API, HttpServer, Status
from tests.support.servers import DelayedApi, read_request, serving
from tests.support.slow_network import FAR, NEAR, in_slow_network, missing

SHORT = ("--duration", "1s", "--rate", "60", "--block", "500ms", "--warm-up", "0s", "--timeout", "2s")


def run(*arguments, app=app):
    """Run the command; an error of ours is raised as main() would see it."""
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def compared(before, after, out):
    """Return the metrics of `leapprof compare --json` by name."""
    import typer

    program = typer.Typer(pretty_exceptions_enable=False)
    program.command()(compare_command)
    result = run(before, after, "--out", out, "--format", "json,md", "--json", "--across", app=program)
    return {m["name"]: m for m in json.loads(result.stdout)["metrics"]}


def test_a_planted_delay_of_requests_comes_back_through_compare(tmp_path):
    """100 ms more on the after side; the report names operation and target."""
    paths = []
    for phase, delay_s in (("before", 0.0), ("after", 0.1)):
        with serving(DelayedApi(lambda d=delay_s: d)) as port:
            result = run(
                "request", f"http://127.0.0.1:{port}", "--out", tmp_path, "--phase", phase, *SHORT, "--json"
            )
        document = json.loads(result.stdout)
        assert document["subjects"][0]["count"] == 60
        paths.append(document["recording"])
    metric = compared(*paths, tmp_path / "reports")["latency.request.p50_s"]
    assert metric["difference"]["value"] == pytest.approx(0.1, abs=0.05)
    assert metric["grade"] == "too_short"
    assert metric["subject"]["operation"] == "get_info"
    report = next((tmp_path / "reports").glob("*/report.md")).read_text(encoding="utf-8")
    assert "Requests: median delay" in report
    assert "get_info" in report


@pytest.mark.skipif(bool(missing()), reason=missing() or "-")
def test_a_planted_delay_of_the_network_comes_back_through_compare(tmp_path):
    """50 ms in each direction."""
    paths = []
    for phase, delay_s in (("before", 0.0), ("after", 0.05)):

        def work(network, phase=phase):
            with serving(lambda connection: connection.recv(1), NEAR) as port:
                return run(
                    "rtt", f"{FAR}:{port}", "--out", tmp_path, "--phase", phase, "--rate", "40", "--block", "300ms",
                    "--json",
                )  # fmt: skip

        paths.append(json.loads(in_slow_network(delay_s, work).stdout)["recording"])
    metric = compared(*paths, tmp_path / "reports")["latency.rtt.p50_s"]
    assert metric["before"]["samples"] == 30
    assert metric["difference"]["value"] == pytest.approx(0.1, abs=0.05)


def test_the_stand_in_answers_the_probe(tmp_path):
    """The form of get_info that nodeos has, a connection for each request."""
    status = Status(
        version="v5.0.3", head_block=9, head_id="00", head_time_ns=0, size_bytes=2, used_bytes=1, transactions=0,
        blocks=0, cpu_us=0,
    )  # fmt: skip
    server = HttpServer("127.0.0.1:0", API, lambda: status)
    try:
        result = run("request", server.address, "--out", tmp_path, *SHORT, "--connections", "2", "--json")
    finally:
        server.close()
    document = json.loads(result.stdout)
    assert document["subjects"][0]["errors"] == 0
    assert document["subjects"][0]["count"] == 60
    table = run("table", document["recording"], "--json")
    line = json.loads(table.stdout)[0]
    assert line["count"] == 60
    assert "60.0 requests/s, open loop" in line["configuration"]
    assert "leapprof-standin" in line["configuration"]


def test_a_table_joins_regions(tmp_path):
    """Each line has region, start, window, sample size and settings."""
    with serving(DelayedApi()) as port:
        for region in ("fra1", "nyc3"):
            run(
                "rtt",
                f"127.0.0.1:{port}",
                "--out",
                tmp_path,
                "--region",
                region,
                "--count",
                "5",
                "--rate",
                "50",
            )
    result = run("table", *sorted(tmp_path.iterdir()))
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[:3]] == ["region", "fra1", "nyc3"]
    assert "no clock offset enters" in lines[3]


def test_a_body_from_a_file_is_sent(tmp_path):
    """As it is."""
    (tmp_path / "body.json").write_text('{"account_name": "alice"}')
    api = DelayedApi()
    with serving(api) as port:
        run(
            "request", f"http://127.0.0.1:{port}/eos/", "--out", tmp_path / "rec", "--operation",
            "/v1/chain/get_account", "--body", tmp_path / "body.json", *SHORT,
        )  # fmt: skip
    assert set(api.asked) == {(b"/eos/v1/chain/get_account", b'{"account_name": "alice"}')}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("request", "http://127.0.0.1:{closed}"), SourceError),
        (("request", "http://no-such-name.invalid"), SourceError),
        (("request", "ftp://127.0.0.1"), ConfigError),
        (("request", "http://127.0.0.1:1", "--operation", "send_read_only_transaction"), ConfigError),
        (("request", "http://127.0.0.1:1", "--body", "/nowhere/at/all"), ConfigError),
        (("request", "http://127.0.0.1:1", "--phase", "../x"), ConfigError),
        (("request", "http://127.0.0.1:1", "--duration", "soon"), ConfigError),
        (("rtt", "127.0.0.1:{closed}"), SourceError),
        (("rtt", "127.0.0.1"), ConfigError),
        (("rtt", "127.0.0.1:80", "--family", "5"), ConfigError),
    ],
)
def test_what_cannot_be_done_ends_before_a_recording_is_made(tmp_path, arguments, error):
    """Within its time-out, and nothing is left behind."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = listener.getsockname()[1]
    began_s = time.monotonic()
    with pytest.raises(error):
        run(*(a.format(closed=closed) for a in arguments), "--timeout", "1s", "--out", tmp_path / "rec")
    assert not (tmp_path / "rec").exists()
    assert time.monotonic() - began_s < 30


def answering(head, body=b""):
    """Return a server that answers each request with these bytes."""

    def serve(connection):
        rest = b""
        while True:
            path, _, rest = read_request(connection, rest)
            if not path:
                return
            connection.sendall(b"HTTP/1.1 " + head + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    return serve


@pytest.mark.parametrize(
    ("serve", "said"),
    [
        (answering(b"200 OK", b"<html>hello</html>"), "no JSON object, so this is no API of nodeos: '<html>"),
        (answering(b"302 Found\r\nLocation: http://127.0.0.1/"), "answered with status 302"),
        (lambda connection: connection.recv(1), "it may want TLS: https://"),
        (lambda connection: connection.sendall(b"SSH-2.0-x\r\n"), "what answers is no HTTP: 'SSH-2.0-x"),
    ],
)
def test_what_is_no_api_of_nodeos_is_no_endpoint(tmp_path, serve, said):
    """A web page, a redirection, a port that wants TLS, another protocol: said before a recording is made."""
    with serving(serve) as port, pytest.raises(SourceError) as caught:
        run("request", f"http://127.0.0.1:{port}", "--timeout", "30s", "--out", tmp_path / "rec")
    assert said in str(caught.value)
    assert not (tmp_path / "rec").exists()


def test_any_path_may_answer_what_it_likes(tmp_path):
    """Only calls of the chain API have to be answered with JSON; a path without a body is asked with {}."""
    with serving(answering(b"200 OK", b"<html>hello</html>")) as port:
        run("request", f"http://127.0.0.1:{port}", "--operation", "/status", "--out", tmp_path, *SHORT)


def endless(connection):
    """Answer and never come to an end."""
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
    while True:
        connection.sendall(b"x" * 65536)
        time.sleep(0.001)  # or its size would be noticed first


@pytest.mark.parametrize(
    ("serve", "said"),
    [
        (endless, "no whole answer within 0.5 s"),
        (lambda connection: connection.sendall(b"SSH-2.0-x\r\n"), "what answers is no HTTP"),
        (
            lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n1"),
            "the connection was lost in the middle of its answer",
        ),
    ],
)  # fmt: skip
def test_what_is_no_server_of_histograms_ends_the_command(tmp_path, serve, said):
    """Endless, another protocol, cut in the middle."""
    timeout = "500ms" if serve is endless else "30s"
    times = ("--start", "2024-01-01T00:00:00Z", "--end", "2024-01-01T00:03:00Z", "--timeout", timeout)
    with serving(serve) as port, pytest.raises(SourceError) as caught:
        run("histogram", f"http://127.0.0.1:{port}", "--metric", "x", *times, "--out", tmp_path / "rec")
    assert said in str(caught.value)
    assert not (tmp_path / "rec").exists()


def test_endpoints_that_cannot_be_reached_are_named_once(tmp_path):
    """One is not named twice, of several each is."""
    with pytest.raises(SourceError) as one:
        run("rtt", "127.0.0.1:1", "--out", tmp_path)
    assert str(one.value).count("127.0.0.1:1") == 1
    with pytest.raises(SourceError) as two:
        run("rtt", "127.0.0.1:1", "[::1]:1", "--out", tmp_path)
    assert "; [::1]:1: ::1: " in str(two.value)


def test_a_recording_without_delays_is_no_line_of_the_table(tmp_path):
    """It says what is needed."""
    from pathlib import Path

    sample = Path(__file__).parent.parent.parent / "samples" / "nodeos-v5" / "mapped"
    with pytest.raises(NotEnoughDataError, match="leapprof latency"):
        run("table", sample)


def test_a_busy_host_is_named(tmp_path):
    """Another host's recording of the same time is looked at; of another time it is refused."""
    from pathlib import Path

    sample = Path(__file__).parent.parent.parent / "samples" / "nodeos-v5" / "mapped"
    with serving(DelayedApi()) as port, pytest.raises(StoreError, match="no samples of the time of this run"):
        run("request", f"http://127.0.0.1:{port}", "--out", tmp_path, *SHORT, "--host-recording", sample)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_keeps_what_was_measured(tmp_path, number):
    """Exit code 130, the recording is closed and holds the requests so far."""
    program = "import sys; from leapprof.cli.main import main; main()"
    api = DelayedApi()
    with serving(api) as port:
        words = ["latency", "request", f"http://127.0.0.1:{port}", "--out", str(tmp_path), "--rate", "50"]
        process = subprocess.Popen(
            [sys.executable, "-c", program, *words, "--duration", "10m", "--warm-up", "0s", "--timeout", "1s"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        end_s = time.monotonic() + 120
        while len(api.asked) < 50:
            assert time.monotonic() < end_s
            time.sleep(0.1)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "what was recorded is kept" in said
    recording = load(next(tmp_path.iterdir()))
    assert recording.manifest.ended_wall_ns is not None
    assert int(recording.table("latency").integers["count"].values.sum()) >= 10
