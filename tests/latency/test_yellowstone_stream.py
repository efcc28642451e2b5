"""Subscriptions to Yellowstone: planted delays come back, lost connections are resumed, wrong endpoints are said so."""

import json
import shutil
import socket
import statistics
import subprocess
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("grpc", reason="needs the package grpcio (extra latency)")

import grpc

from leapprof.assess.load import load
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.standings import standings
from leapprof.latency.stream import Received, StreamPlan, receive
from leapprof.latency.wire import Failure, ProbeError
from leapprof.latency.yellowstone_stream import MAX_MESSAGE_BYTES, YellowstoneSubscription
from tests.support.program import leapprof
from tests.support.servers import Together, no_such_page, serving, silent
from tests.support.steady import steady
from tests.support.yellowstone_server import (
    ACCOUNT,
    YellowstoneServer,
    ping,
    slot_seen,
    transaction,
    yellowstone_methods,
    yellowstone_serving,
)


def at(port, **more):
    """Return a subscription to a server on loopback."""
    return YellowstoneSubscription(endpoint=Endpoint(host="127.0.0.1", port=port), account=ACCOUNT, **more)


def run(*subscriptions, most, timeout_s=30.0, duration_s=100.0):
    """Receive from servers; returns what came."""
    plan = StreamPlan(subscriptions=subscriptions, most=most, duration_s=duration_s, timeout_s=timeout_s)
    received = tuple(Received(name=one.name) for one in subscriptions)
    receive(plan, received, threading.Event())
    return received


def slots_of(count, per_slot=1, every_s=0.02, first=100):
    """Return a plan of transactions, some in each slot, each slot told after its own."""

    def plan():
        start_s = time.monotonic() + 0.1
        found = []
        for i in range(count):
            due_s = start_s + i * every_s
            numbers = range(i * per_slot, (i + 1) * per_slot)
            found += [transaction(first + i, number, due_s, time.time_ns()) for number in numbers]
            found.append(slot_seen(first + i, first + i - 1, due_s))
        return found

    return plan


@pytest.mark.quiet
def test_head_to_head_finds_who_is_first_and_by_how_much():
    """The second endpoint is 5 ms ± 1 ms behind: within 0.2 ms of when both servers really sent, at the median."""
    rng = np.random.default_rng(7)
    late = rng.uniform(0.004, 0.006, 70)
    together = Together(2)

    def plan(late_s):
        def at_once():
            start_s = together.start_s()
            return [transaction(10 + i, i, start_s + i * 0.02 + late_s(i)) for i in range(70)]

        return at_once

    first, second = (
        YellowstoneServer(plan=plan(lambda i: 0.0)),
        YellowstoneServer(plan=plan(lambda i: late[i])),
    )
    with steady(), yellowstone_serving(first) as a, yellowstone_serving(second) as b:
        received = run(at(a), at(b), most=70)
    ahead, behind = standings(received)
    assert ahead.shared == 70
    assert ahead.firsts > 40
    assert ahead.missing == behind.missing == 0
    came = [{key: arrival.monotonic_ns for key, arrival in one.arrivals.items()} for one in received]
    measured = statistics.median(came[1][key] - came[0][key] for key in came[0]) / 1e9
    planted = statistics.median(second.sent_s[i] - first.sent_s[i] for i in range(70))
    assert measured == pytest.approx(planted, abs=0.0002)


def test_a_lost_connection_goes_on_at_its_slot():
    """from_slot of the second subscription is the last slot; nothing is missing, nothing counted twice."""
    server = YellowstoneServer(plan=slots_of(20, per_slot=2), drop_after=30)
    with yellowstone_serving(server) as port:
        (received,) = run(at(port), most=40)
    assert not server.requests[0].HasField("from_slot")
    assert server.requests[1].from_slot == 110
    assert len(received.arrivals) == 40
    assert (received.gaps, received.duplicates) == (0, 0)
    assert [failure for _, failure in received.losses] == [Failure.CLOSED]


@pytest.mark.parametrize("kept_from", [None, 1000])
def test_where_the_server_keeps_no_slots_the_gap_is_counted(kept_from):
    """It refuses from_slot, so the run goes on with what comes; the slots in between are gone."""
    server = YellowstoneServer(plan=slots_of(300, every_s=0.05), drop_after=9, kept_from=kept_from)
    with yellowstone_serving(server) as port:
        (received,) = run(at(port), most=25)
    assert [request.HasField("from_slot") for request in server.requests] == [False, True, False]
    numbers = sorted({a.message.number for a in received.arrivals.values()})
    assert numbers[0] == 100
    jumped = sum(b - a - 1 for a, b in pairwise(numbers))
    assert jumped > 0
    assert received.gaps == jumped
    assert len(received.losses) == 1


def test_slots_without_a_block_are_no_gap():
    """Slot 12 names 10 as its parent: 11 never was."""
    plan = [slot_seen(10, 9), transaction(12, 1), slot_seen(12, 10), transaction(13, 2), slot_seen(13, 12)]
    with yellowstone_serving(YellowstoneServer(plan=lambda: plan)) as port:
        (received,) = run(at(port), most=2)
    assert received.gaps == 0


def test_pings_are_answered_and_repetitions_counted():
    """A ping gets its answer on the same subscription; a transaction that comes twice is a duplicate."""

    def plan():
        yield from (ping(), transaction(10, 1), transaction(10, 1), transaction(10, 2))
        while not server.pings and not server.stopped.wait(0.01):
            pass
        yield transaction(11, 3)

    server = YellowstoneServer(plan=plan)
    with yellowstone_serving(server) as port:
        (received,) = run(at(port), most=3)
    assert received.duplicates == 1
    assert server.pings == 1


def test_delays_since_the_servers_stamp_come_back_through_the_command(tmp_path, monkeypatch):
    """Created 1 s before they are sent, the token from the environment."""

    def plan():
        start_s, wall_ns = time.monotonic() + 0.6, time.time_ns() + 600_000_000
        return [
            transaction(10 + i, i, start_s + i * 0.02, wall_ns + i * 20_000_000 - 10**9) for i in range(30)
        ]

    monkeypatch.setenv("LEAPPROF_YELLOWSTONE_TOKEN", "good")
    server = YellowstoneServer(plan=plan, token="good")
    with yellowstone_serving(server) as port:
        done = leapprof(
            "latency", "stream", "--yellowstone", f"http://127.0.0.1:{port}", "--account", ACCOUNT, "--count", "30",
            "--out", str(tmp_path), "--block", "1s", "--json",
        )  # fmt: skip
    assert done.code == 0, done.err
    document = json.loads(done.out)
    rows = {row["operation"]: row for row in document["subjects"]}
    assert rows["since its stamp"]["count"] == rows["behind the fastest"]["count"] == 30
    assert 0.998 < rows["since its stamp"]["p50_s"] < 2
    facts = load(Path(document["recording"])).manifest.host.facts
    assert facts["latency_account"] == ACCOUNT
    assert "good" not in json.dumps(facts)


@pytest.mark.parametrize(("token", "said"), [(None, "asks for a token"), ("bad", "refuses the token")])
def test_a_server_that_lets_nobody_in_is_said_so(token, said):
    """UNAUTHENTICATED, with a token and without."""
    with (
        yellowstone_serving(YellowstoneServer(token="good")) as port,
        pytest.raises(ProbeError, match=said) as caught,
    ):
        at(port, token=token).check(30.0)
    assert caught.value.failure is Failure.STATUS


def test_a_silent_server_is_a_loss_each_time_out():
    """It takes the subscription and sends nothing."""
    with yellowstone_serving(YellowstoneServer()) as port:
        (received,) = run(at(port), most=2, timeout_s=0.4, duration_s=4.0)
    assert {failure for _, failure in received.losses} == {Failure.TIMEOUT}
    assert not received.arrivals


def test_a_message_beyond_all_bounds_is_refused():
    """A transaction of 17 MiB never gets into memory as a message."""
    big = transaction(10, 1)
    big.update.transaction.transaction.signature = bytes(MAX_MESSAGE_BYTES + 2**20)
    with yellowstone_serving(YellowstoneServer(plan=lambda: [big])) as port:
        (received,) = run(at(port), most=2, duration_s=5.0)
    assert Failure.TOO_LARGE in {failure for _, failure in received.losses}


def endless(connection):
    """Send noise for ever."""
    while True:
        connection.sendall(b"x" * 4096)


@pytest.mark.parametrize(
    ("serve", "failures"),
    [
        (no_such_page, {Failure.CLOSED, Failure.TIMEOUT}),
        (silent, {Failure.TIMEOUT}),
        (endless, {Failure.CLOSED, Failure.TIMEOUT}),
        (lambda connection: connection.sendall(b"SSH-2.0-x\r\n"), {Failure.CLOSED, Failure.TIMEOUT}),
    ],
)
def test_what_speaks_no_grpc_is_said_so(serve, failures):
    """A web server, silence, endless noise, another protocol: within the time-out."""
    began_s = time.monotonic()
    with serving(serve) as port, pytest.raises(ProbeError, match=r"gRPC|within") as caught:
        at(port).check(1.0)
    assert caught.value.failure in failures
    assert time.monotonic() - began_s < 60


def test_another_grpc_service_is_said_so():
    """It has no method of that name."""
    with (
        yellowstone_methods({}, service="other.Service") as port,
        pytest.raises(ProbeError, match="no Yellowstone"),
    ):
        at(port).check(3.0)


def certificate(tmp_path):
    """Return the files of a key and a certificate for 127.0.0.1."""
    key, cert = tmp_path / "key", tmp_path / "cert"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key,
         "-out", cert, "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return key, cert


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs the program openssl")
def test_tls_is_spoken_and_its_mismatch_said(tmp_path):
    """Right with the certificate, refused without it; plain against TLS and TLS against plain."""
    key, cert = certificate(tmp_path)
    credentials = grpc.ssl_server_credentials([(key.read_bytes(), cert.read_bytes())])
    server = YellowstoneServer(plan=lambda: [transaction(10, 1), transaction(10, 2)])
    with yellowstone_serving(server, credentials) as port:
        secure = Endpoint(host="127.0.0.1", port=port, tls=True)
        trusting = YellowstoneSubscription(endpoint=secure, account=ACCOUNT, ca_file=cert)
        trusting.check(3.0)
        (received,) = run(trusting, most=2)
        assert len(received.arrivals) == 2
        with pytest.raises(ProbeError, match="certificate is not valid"):
            YellowstoneSubscription(endpoint=secure, account=ACCOUNT).check(3.0)
        with pytest.raises(ProbeError, match="gRPC"):
            at(port).check(3.0)
    with yellowstone_serving(YellowstoneServer()) as port, pytest.raises(ProbeError) as caught:
        YellowstoneSubscription(
            endpoint=Endpoint(host="127.0.0.1", port=port, tls=True), account=ACCOUNT
        ).check(2.0)
    assert caught.value.failure in {Failure.TLS, Failure.TIMEOUT, Failure.CLOSED}


def test_options_that_do_not_fit_are_refused_before_a_recording_is_made(tmp_path):
    """No account, two kinds at once, a token that is for nobody, refused connection."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        closed = listener.getsockname()[1]
    token = tmp_path / "token"
    token.write_text("secret-token\n")
    (tmp_path / "odd=token").write_text("sécret-token\n")
    server = ("--yellowstone", f"http://127.0.0.1:{closed}")
    account = ("--account", ACCOUNT)
    for words, code, said in (
        (server, 2, "needs --account"),
        ((*server, *account, "ws://h:1"), 2, "one kind in a run"),
        (("ws://h:1", *account), 2, "belong to --yellowstone"),
        ((*server, "--account", "abc"), 2, "public key"),
        ((*server, "--yellowstone", "b:1", *account, "--token-file", str(token)), 2, "HOST:PORT=PATH"),
        ((*server, *server, *account), 2, "named twice"),
        ((*server, *account, "--token-file", str(tmp_path / "none")), 2, "cannot be read"),
        ((*server, *account, "--token-file", str(tmp_path / "odd=token")), 2, "printable ASCII"),
        ((*server, *account, "--token-file", str(token)), 3, "refused"),
        ((*server, *account, "--token-file", f"127.0.0.1:{closed}={token}"), 3, "refused"),
    ):
        done = leapprof("latency", "stream", *words, "--out", str(tmp_path / "rec"), "--timeout", "1s")
        assert done.code == code, done.err
        assert said in done.err
        assert "cret-token" not in done.err + done.out
    assert not (tmp_path / "rec").exists()
