"""The shipped playbooks of delay, run from end to end against real parts on this machine, with times of seconds."""

import contextlib
import json
import os
import signal
import socket
import sys
import textwrap
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psutil
import pytest

from tests.experiment.harness import ROOT, log_entries, run_directory, running, started
from tests.importers.servers import missing, prometheus
from tests.support.program import leapprof
from tests.support.servers import serving
from tests.support.ship_server import Planned, ShipServer, frame, ship_serving, slot_at

SHORT = ("phase.duration=1500ms", "phase.warm_up=300ms", "phase.interval=200ms", "report.formats=[md, json]")
CANNOT_TELL = 13
SLOW_S = 0.02  # of a relay; a busy machine takes a millisecond for what takes none
RELAY = textwrap.dedent("""
    import socket, sys, time
    listen, to, delay_s, ready = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", listen))
    open(ready, "w").close()
    while True:
        data = sock.recv(65536)
        time.sleep(delay_s)
        sock.sendto(data, ("127.0.0.1", to))
""")


def run(tmp_path, playbook, *sets):
    """Run a shipped playbook of delay with shortened times."""
    words = [word for value in (*SHORT, *sets) for word in ("--set", value)]
    path = ROOT / "playbooks" / f"latency-{playbook}.yml"
    return leapprof("run", str(path), "--out", str(tmp_path / "runs"), "--apply", *words)


def on(node):
    """Return what makes a playbook mean a stand-in of this machine as its first host."""
    return (
        "hosts.0.host=local", node.overrides()[1], f"hosts.0.vars={{dir: {json.dumps(str(node.directory))}}}",
        "restart.systemd=null", "restart.sudo=false", "restart.stop_timeout=60s", "restart.start_timeout=60s",
        "restart.commands={stop: '{dir}/stop.sh', start: '{dir}/start.sh'}", "gates.settle.time=0s",
        "gates.head_lag={below_blocks: 100, lasting: 0s, timeout: 60s}",
    )  # fmt: skip


def report(tmp_path, pair):
    """Return the report of a pair."""
    directory = run_directory(tmp_path / "runs") / "report"
    return json.loads((directory / pair / "report.json").read_text(encoding="utf-8"))


def metric(document, name, operation=None):
    """Return a metric of a report."""
    return next(
        m for m in document["metrics"] if m["name"] == name and operation in (None, m["subject"]["operation"])
    )


def free_port(kind=socket.SOCK_DGRAM):
    """Return a port that nobody has now."""
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def test_request(tmp_path):
    """A stand-in's API is asked through both phases, restarted between them with another option."""
    with running(tmp_path / "node", lines=("http-threads = 2",)) as node:
        done = run(
            tmp_path, "request", *on(node), f"probes.0.of=['http://{node.address}']",
            "probes.0.options={operation: [get_info], rate: 50, block: 500ms}",
            "expectations={'latency.request.p99_s[get_info]': decrease >= 10 %, nodeos.cpu_percent: increase <= 20 %}",
        )  # fmt: skip
        assert done.code == CANNOT_TELL, done.err
        assert node.calls == ["stop", "start"]
    found = report(tmp_path, "request")
    assert [e["metric"] for e in found["expectations"]] == ["latency.request.p99_s"]
    assert [e["metric"] for e in report(tmp_path, "local")["expectations"]] == ["nodeos.cpu_percent"]
    sides = metric(found, "latency.request.p99_s", "get_info")
    assert 50 <= sides["before"]["samples"] <= 90
    assert 50 <= sides["after"]["samples"] <= 90
    assert "latency request" in "".join(found["before"]["commands"])


def test_rtt(tmp_path):
    """There and back twice: connections of four phases, and one report over both pairs."""
    route = tmp_path / "route"

    def command(word):
        return json.dumps({"run": f"echo {word} > {route}", "verify": f"grep -q {word} {route}"})

    with serving(lambda connection: connection.recv(1)) as port:
        done = run(
            tmp_path, "rtt", f"probes.0.of=['127.0.0.1:{port}']", "probes.0.options={rate: 40, block: 500ms}",
            f"change.command={{to_b: {command('new')}, to_a: {command('old')}}}",
            "gates.settle.time=0s",
        )  # fmt: skip
    assert done.code == CANNOT_TELL, done.err
    assert route.read_text() == "new\n"
    summary = json.loads((run_directory(tmp_path / "runs") / "report" / "summary.json").read_text())
    assert [pair["name"] for pair in summary["pairs"]] == ["local-1", "local-2", "rtt-1", "rtt-2", "rtt-all"]
    whole = report(tmp_path, "rtt-all")
    runs = next(r for r in whole["run_pairs"] if r["name"] == "latency.rtt.p50_s")
    assert len(runs["before"]) == len(runs["after"]) == 2


def test_forward(tmp_path):
    """Relays are torn down and built in turns; the slower one is seen, with the spread between its runs."""
    program, ready, pid = tmp_path / "relay.py", tmp_path / "ready", tmp_path / "pid"
    program.write_text(RELAY)
    relay, listen = free_port(), free_port()
    stop = f"kill $(cat {pid}); rm -f {ready}"

    def start(delay_s):
        argv = f"{sys.executable} {program} {relay} {listen} {delay_s} {ready}"
        return f"{argv} > /dev/null 2>&1 < /dev/null & echo $! > {pid}"

    def command(delay_s):
        return json.dumps({"run": f"{stop}; {start(delay_s)}", "verify": f"kill -0 $(cat {pid})"})

    assert leapprof_shell(start(SLOW_S)) == 0
    try:
        done = run(
            tmp_path, "forward", f"probes.0.of=['127.0.0.1:{relay}']", f"gates.file.path={ready}",
            f"probes.0.options={{listen: '127.0.0.1:{listen}', rate: 30, block: 500ms}}",
            f"change.command={{to_b: {command(0.0)}, to_a: {command(SLOW_S)}}}", "gates.settle.time=100ms",
        )  # fmt: skip
    finally:
        leapprof_shell(stop)
    assert done.code == CANNOT_TELL, done.err
    whole = report(tmp_path, "forward-all")
    runs = next(
        r
        for r in whole["run_pairs"]
        if r["name"] == "latency.forward.p50_s" and r["subject"]["operation"] == "relayed"
    )
    assert all(SLOW_S <= value < 1 for value in runs["before"]), runs
    assert all(value < SLOW_S for value in runs["after"]), runs
    listed = {r["name"] for r in whole["run_pairs"] if r["subject"].get("operation") == "relayed"}
    assert {f"latency.forward.{name}_s" for name in ("p50", "p90", "p95", "p99", "max")} <= listed
    assert metric(whole, "latency.forward.p50_s", "floor (no relay)")["before"]["mean"] < SLOW_S
    gates = [e["step"] for e in log_entries(run_directory(tmp_path / "runs")) if "gates" in e["step"]]
    assert len(set(gates)) == 4
    text = (run_directory(tmp_path / "runs") / "report" / "forward-all" / "report.md").read_text()
    assert "runs: Forwarding: median delay, relayed" in text


def leapprof_shell(command):
    """Run a command line as a playbook's would be; returns its status."""
    from leapprof.control.commands import run_here

    return run_here(command, 60)


def blocks_without_end():
    """Return blocks of half a second's slots that are sent every 50 ms."""
    start_s, start_slot = time.monotonic(), slot_at(time.time_ns())
    return [
        Planned(due_s=start_s + 0.05 * i, number=100 + i, data=frame(100 + i, start_slot + i // 10))
        for i in range(400)
    ]


def test_stream(tmp_path):
    """Blocks of a state history server arrive through both phases, while the node beside it is changed."""
    pytest.importorskip("websockets")

    def serve(connection):
        ShipServer(plan=blocks_without_end)(connection)

    with running(tmp_path / "node", lines=("net-threads = 4",)) as node, ship_serving(serve) as port:
        done = run(
            tmp_path, "stream", *on(node), f"probes.0.of=['ws://127.0.0.1:{port}']",
            "probes.0.options={block: 500ms}",
        )  # fmt: skip
        assert done.code == CANNOT_TELL, done.err
        assert "net-threads = 8" in node.config.read_text()
    sides = metric(report(tmp_path, "stream"), "latency.stream.p90_s", "behind the fastest")
    assert sides["before"]["samples"] > 10
    assert sides["after"]["samples"] > 10


class Exporter(BaseHTTPRequestHandler):
    """A histogram of Temporal's SDKs that counts a call of 60 ms every millisecond since it began."""

    began_s = time.monotonic()

    def do_GET(self):
        """Answer a scrape."""
        calls = int((time.monotonic() - self.began_s) * 1000)
        name, labels = "temporal_request_latency_seconds", 'operation="StartWorkflowExecution"'
        lines = [
            f'{name}_bucket{{{labels},le="{le}"}} {count}'
            for le, count in (("0.05", 0), ("0.1", calls), ("+Inf", calls))
        ]
        body = "\n".join([*lines, ""]).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@contextlib.contextmanager
def exporting():
    """Yield the address of an exporter."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Exporter) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@pytest.mark.quiet
@pytest.mark.skipif(bool(missing("prometheus")), reason=f"not installed: {missing('prometheus')}")
def test_histogram(tmp_path):
    """A real Prometheus that scrapes a service is asked for the time of both phases."""
    state = tmp_path / "state"
    change = json.dumps({"run": f"touch {state}", "verify": f"test -e {state}"})
    with exporting() as address:
        config = (
            "{global: {scrape_interval: 250ms, scrape_timeout: 250ms}, scrape_configs: "
            f"[{{job_name: bench, static_configs: [{{targets: ['{address}'], labels: {{namespace: bench}}}}]}}]}}"
        )
        with prometheus(tmp_path / "prometheus", config=config) as url:
            done = run(
                tmp_path, "histogram", f"probes.0.of=['{url}']", "probes.0.options.block=1s",
                "phase.duration=6s", "gates.settle.time=1s", f"change.command.to_b={change}",
                f"change.command.to_a={change}",
            )  # fmt: skip
    assert done.code == CANNOT_TELL, done.err
    sides = metric(report(tmp_path, "histogram"), "latency.histogram.p90_s", "StartWorkflowExecution")
    assert sides["before"]["mean"] == pytest.approx(0.095)
    assert sides["after"]["mean"] == pytest.approx(0.095)


@pytest.mark.parametrize(
    ("sets", "said"),
    [
        (("probes.0.options.rat=5",), "No such option"),
        (("probes.0.options.rate=often",), "Invalid value for '--rate'"),
        (("probes.0.options.duration=5s",), "comes from the phase"),
        (("probes.0.latency=ping",), "Input should be 'request', 'rtt'"),
        (("probes.0.name=local",), "is the name of another one"),
        (("phase.spool=/var/tmp",), "a probe ends with the collector"),
        (("restart={systemd: x}",), "there is none to restart"),
        (("expectations={latency.request.p50_s: increase <= 5 %}",), "needs a probe of it"),
        (("expectations={latency.rtt.p51_s: increase <= 5 %}",), "there is no such metric"),
    ],
)
def test_what_a_probe_cannot_do_is_said_before_anything_is_begun(tmp_path, sets, said):
    """The dry run and the run itself refuse it, exit code 2, and no run is made."""
    done = run(tmp_path, "rtt", *sets)
    assert (done.code, said in done.err) == (2, True), done.err
    assert not (tmp_path / "runs").exists()


def processes(text):
    """Return the processes whose command line holds a text."""
    return [
        p for p in psutil.process_iter(["cmdline"]) if any(text in word for word in p.info["cmdline"] or ())
    ]


def wait_until(condition, timeout_s=120):
    """Wait for something to be so."""
    end_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end_s, "did not happen"
        time.sleep(0.1)


def test_a_killed_run_leaves_no_probe_behind(tmp_path):
    """Kill -9 in the middle of a phase: the probe, which had ten minutes to go, ends too."""
    with serving(lambda connection: connection.recv(1)) as port:
        playbook = tmp_path / "rtt.yml"
        playbook.write_text(
            "playbook: 1\ntitle: x\nhosts: [{host: local, nodeos: none}]\nphase: {duration: 10m}\n"
            f"probes: [{{latency: rtt, of: ['127.0.0.1:{port}'], options: {{rate: 20, block: 500ms}}}}]\n"
        )
        out = str(tmp_path / "runs")
        process = started("run", str(playbook), "--out", out, "--apply")
        wait_until(lambda: list(tmp_path.glob("runs/*/recordings/*-probes/rtt/*/recording.json")))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        wait_until(lambda: not processes(f"{out}/"))


def test_a_probe_that_fails_ends_the_phase_at_once(tmp_path):
    """Its own message is the run's, and nothing was changed."""
    began_s = time.monotonic()
    done = run(
        tmp_path, "rtt", f"probes.0.of=['127.0.0.1:{free_port(socket.SOCK_STREAM)}']", "phase.duration=10m",
        "gates.settle.time=0s",
    )  # fmt: skip
    assert done.code == 3
    assert "probe rtt: " in done.err
    assert "the connection was refused" in done.err
    assert "local: as it was, nothing was changed" in done.err
    assert time.monotonic() - began_s < 120
