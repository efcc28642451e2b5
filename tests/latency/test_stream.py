"""The probe of streams: planted delays of a state history come back, alone and head to head; losses are counted."""

import json
import socket
import statistics
import threading
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("websockets", reason="needs the package websockets (extra latency)")

from leapprof.assess.load import load
from leapprof.cli.compare import command as compare_command
from leapprof.cli.latency import app
from leapprof.errors import ConfigError, SourceError
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.ship import parse_block
from leapprof.latency.ship_stream import ShipSubscription
from leapprof.latency.standings import standings
from leapprof.latency.stream import Received, StreamPlan, receive
from leapprof.latency.wire import Failure, ProbeError
from tests.support.servers import Together, no_such_page, serving, silent
from tests.support.ship_server import ABI, SLOT_NS, Planned, ShipServer, frame, ship_serving, slot_at
from tests.support.steady import steady

FIRST = 50
"""The captured status says that 49 is the head."""


def paced(blocks, every_s, late_s=lambda number: 0.0):
    """Return a plan of blocks at even moments from now on, each late by what a function says."""

    def plan():
        start_s = time.monotonic() + 0.1
        return [
            Planned(
                due_s=start_s + i * every_s + late_s(FIRST + i), number=FIRST + i, data=frame(FIRST + i, 1)
            )
            for i in range(blocks)
        ]

    return plan


def stamped(per_slot, slots, late_s):
    """Return a plan of several blocks in each slot of the real clock, each late by what a function says."""

    def plan():
        wall_ns, now_s = time.time_ns(), time.monotonic()
        first = slot_at(wall_ns) + 1
        found = []
        for number in range(per_slot * slots):
            slot = first + number // per_slot
            at_ns = 946_684_800 * 10**9 + slot * SLOT_NS
            due_s = now_s + (at_ns - wall_ns) / 1e9 + late_s(number)
            found.append(Planned(due_s=due_s, number=FIRST + number, data=frame(FIRST + number, slot)))
        return sorted(found, key=lambda p: p.due_s)

    return plan


def run(*arguments, program=app):
    """Run a command; an error of ours is raised as main() would see it."""
    result = CliRunner().invoke(program, [str(a) for a in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def plan_of(*ports, most=20, timeout_s=30.0):
    """Return a plan for servers on loopback."""
    return StreamPlan(
        subscriptions=tuple(ship(port) for port in ports), most=most, duration_s=100.0, timeout_s=timeout_s
    )


def ship(port):
    """Return a state history on loopback."""
    return ShipSubscription(endpoint=Endpoint(host="127.0.0.1", port=port))


def received_of(plan):
    """Run a plan; returns what came."""
    received = tuple(Received(name=one.name) for one in plan.subscriptions)
    receive(plan, received, threading.Event())
    return received


@pytest.mark.quiet
def test_blocks_late_by_a_planted_time_come_back_at_their_quantiles(tmp_path):
    """Four in five come 20 ms after their stamp, one in five 120 ms: p50 and p90 say so."""
    server = ShipServer(plan=stamped(10, 4, lambda n: 0.12 if n % 5 == 4 else 0.02 + (n % 5) * 0.001))
    with ship_serving(server) as port:
        result = run(
            "stream", f"ws://127.0.0.1:{port}", "--count", "40", "--out", tmp_path, "--block", "1s", "--json"
        )
    document = json.loads(result.stdout)
    rows = {row["operation"]: row for row in document["subjects"]}
    assert rows["since its stamp"]["count"] == 40
    sent_s = [
        (server.sent_wall_ns[p.number] - parse_block(p.data).stamp_ns) / 1e9 for p in server.planned or ()
    ]
    assert rows["since its stamp"]["p50_s"] == pytest.approx(np.quantile(sent_s, 0.5), abs=0.03)
    assert rows["since its stamp"]["p90_s"] > 0.1
    behind = rows["behind the fastest"]
    assert behind["p90_s"] - behind["p50_s"] > 0.05
    manifest = load(Path(document["recording"])).manifest
    assert "no time server was asked" in manifest.notes["latency_clock"]


@pytest.mark.quiet
def test_head_to_head_finds_who_is_first_and_by_how_much():
    """The second endpoint is 5 ms ± 1 ms behind: within 0.2 ms of when both servers really sent, at the median."""
    rng = np.random.default_rng(7)
    late = dict(enumerate(rng.uniform(0.004, 0.006, 200)))
    together = Together(2)

    def plan(late_s):
        def at_once():
            start_s = together.start_s()
            return [
                Planned(due_s=start_s + i * 0.02 + late_s(i), number=FIRST + i, data=frame(FIRST + i))
                for i in range(70)
            ]

        return at_once

    first, second = ShipServer(plan=plan(lambda i: 0.0)), ShipServer(plan=plan(lambda i: late[i]))
    with steady(), ship_serving(first) as a, ship_serving(second) as b:
        received = received_of(plan_of(a, b, most=70))
    ahead, behind = standings(received)
    assert ahead.shared == 70
    assert ahead.firsts > 40
    assert ahead.missing == behind.missing == 0
    by_number = [{a.message.number: a.monotonic_ns for a in one.arrivals.values()} for one in received]
    measured = statistics.median(by_number[1][n] - by_number[0][n] for n in by_number[0]) / 1e9
    planted = statistics.median(second.sent_s[n] - first.sent_s[n] for n in first.sent_s)
    assert measured == pytest.approx(planted, abs=0.0002)


def test_a_planted_lead_comes_back_through_compare(tmp_path):
    """Before both are alike, after the second is 200 ms behind; the table names each endpoint."""
    import typer

    paths, ports = [], [0, 0]

    def plan(together, late_s):
        start_s = together.start_s() + late_s
        return [Planned(due_s=start_s + i * 0.03, number=FIRST + i, data=frame(FIRST + i)) for i in range(25)]

    for late_s in (0.0, 0.2):
        together = Together(2)
        servers = [ShipServer(plan=partial(plan, together, late)) for late in (0.0, late_s)]
        with ship_serving(servers[0], ports[0]) as a, ship_serving(servers[1], ports[1]) as b:
            ports = [a, b]
            result = run(
                "stream", f"ws://127.0.0.1:{a}", f"ws://127.0.0.1:{b}", "--count", "25", "--out",
                tmp_path / str(late_s), "--block", "400ms", "--json",
            )  # fmt: skip
        paths.append(json.loads(result.stdout)["recording"])
    document = json.loads(result.stdout)
    assert [text.split(":")[0] for text in document["standings"]] == ["127.0.0.1"] * 2
    table = run("table", *paths).stdout
    assert all(text in table for text in document["standings"])
    after = {r["target"]: r for r in document["subjects"]}
    assert after[f"127.0.0.1:{ports[1]}"]["p50_s"] == pytest.approx(0.2, abs=0.1)
    assert after[f"127.0.0.1:{ports[0]}"]["p50_s"] < 0.1
    notes = load(Path(paths[1])).manifest.notes
    assert "first with" in notes["latency_standing_1"]
    program = typer.Typer(pretty_exceptions_enable=False)
    program.command()(compare_command)
    report = run(*paths, "--out", tmp_path / "r", "--format", "json", "--json", "--across", program=program)
    found = {
        m["subject"]["target"]: m["difference"]["value"]
        for m in json.loads(report.stdout)["metrics"]
        if m["name"] == "latency.stream.p50_s"
    }
    assert found[f"127.0.0.1:{ports[1]}"] == pytest.approx(0.2, abs=0.1)
    assert found[f"127.0.0.1:{ports[0]}"] < 0.1


def test_a_lost_connection_goes_on_where_it_was_left():
    """Start block of the second subscription, nothing missing, the loss counted."""
    server = ShipServer(plan=paced(20, 0.02), drop_after=FIRST + 9)
    with ship_serving(server) as port:
        (received,) = received_of(plan_of(port))
    assert server.starts[0] == FIRST
    assert FIRST < server.starts[1] <= FIRST + 10
    assert len(received.arrivals) == 20
    assert (received.gaps, received.duplicates) == (0, 0)
    assert [failure for _, failure in received.losses] == [Failure.CLOSED]


def test_jumps_and_repetitions_are_counted():
    """Two numbers never come, one block comes twice, a fork is another block of its number."""

    def plan():
        numbers = [50, 51, 54, 54, 55, 56]
        blocks = [Planned(due_s=0.0, number=n, data=frame(n)) for n in numbers]
        return [*blocks, Planned(due_s=0.0, number=56, data=frame(56, fork=1))]

    with ship_serving(ShipServer(plan=plan)) as port:
        (received,) = received_of(plan_of(port, most=6))
    assert (received.gaps, received.duplicates, len(received.arrivals)) == (2, 1, 6)


def test_a_run_that_was_stopped_waits_for_its_subscriptions_at_rest():
    """It does not ask in a circle whether they have ended, while they need the processor for it."""

    class Slow:
        name, can_end = "slow", True

        def arrivals(self, after, timeout_s, stopped):
            stopped.set()
            time.sleep(0.5)
            yield from ()

    stopped, calls = threading.Event(), []
    plan = StreamPlan(subscriptions=(Slow(),), most=1, duration_s=100.0, timeout_s=1.0)
    receive(plan, (Received(name="slow"),), stopped, lambda: calls.append(stopped.is_set()))
    assert sum(calls) <= 1


def silent_websocket(connection):
    """Shake hands and say nothing."""
    connection.recv()


def saying(*messages):
    """Return a handler that sends messages and waits."""

    def serve(connection):
        for message in messages:
            connection.send(message)
        connection.recv()
        connection.send(b"\x07garbage")
        connection.recv()

    return serve


@pytest.mark.parametrize(
    ("handler", "failure", "said"),
    [
        (silent_websocket, Failure.TIMEOUT, "no message within 0.5 s"),
        (saying("hello"), Failure.PROTOCOL, "no ABI of a state history: 'hello'"),
        (saying(b"\x00\x01"), Failure.PROTOCOL, "no ABI"),
        (saying('{"version": 3}'), Failure.PROTOCOL, "no ABI"),
        (saying(ABI), Failure.PROTOCOL, "none of a state history"),
        (lambda connection: None, Failure.CLOSED, "connection was closed"),
    ],
)
def test_a_websocket_that_is_no_state_history_is_said_so(handler, failure, said):
    """Silent, foreign, garbage, closed: within the time-out."""
    with ship_serving(handler) as port, pytest.raises(ProbeError, match=said) as caught:
        ship(port).check(0.5 if failure is Failure.TIMEOUT else 30.0)
    assert caught.value.failure is failure


def endless(connection):
    """Send header lines for ever."""
    connection.sendall(b"HTTP/1.1 101 Switching\r\n")
    while True:
        connection.sendall(b"X-More: " + b"y" * 4000 + b"\r\n")


@pytest.mark.parametrize(
    ("serve", "failures"),
    [
        (no_such_page, {Failure.PROTOCOL}),
        (silent, {Failure.TIMEOUT}),
        (endless, {Failure.PROTOCOL, Failure.CLOSED, Failure.TIMEOUT}),
        (lambda connection: connection.sendall(b"SSH-2.0-x\r\n"), {Failure.PROTOCOL, Failure.CLOSED}),
    ],
)
def test_what_speaks_no_websocket_is_said_so(serve, failures):
    """A web server, silence, an endless head, another protocol."""
    with serving(serve) as port, pytest.raises(ProbeError) as caught:
        ship(port).check(0.5 if Failure.TIMEOUT in failures else 30.0)
    assert caught.value.failure in failures


def test_what_cannot_be_subscribed_ends_before_a_recording_is_made(tmp_path):
    """Refused, TLS where there is none, the same endpoint twice, no websocket URL."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = listener.getsockname()[1]
    common = ("--out", tmp_path / "rec", "--timeout", "1s")
    with pytest.raises(SourceError, match="refused"):
        run("stream", f"ws://127.0.0.1:{closed}", *common)
    with ship_serving(saying(ABI)) as port, pytest.raises(SourceError, match=r"TLS|no answer"):
        run("stream", f"wss://127.0.0.1:{port}", *common)
    with pytest.raises(ConfigError, match="named twice"):
        run("stream", "ws://h:1", "ws://h:1", *common)
    with pytest.raises(ConfigError, match="no URL of this probe"):
        run("stream", "http://h:1", *common)
    assert not (tmp_path / "rec").exists()
