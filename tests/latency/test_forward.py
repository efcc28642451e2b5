"""The probe of forwarding paths: planted delays, loss and reordering of a relay come back."""

import json
import random
import socket
import statistics
import struct
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from leapprof.analysis.log_linear import decode, merged
from leapprof.assess.compare import compare
from leapprof.assess.load import load
from leapprof.cli.latency import app
from leapprof.errors import ConfigError, SourceError
from leapprof.latency.blocks import Blocks
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.forward import Forwarder, ForwardPlan
from leapprof.latency.machine import now
from leapprof.latency.open_loop import Pace
from tests.support.servers import serving
from tests.support.steady import steady

SO_TIMESTAMPNS = 35


def free_port(kind=socket.SOCK_DGRAM):
    """Return a port that nobody has now."""
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Relay:
    """Forwards each packet after a delay; some are lost, some overtaken.

    held_s: from the kernel's stamp of a packet's arrival to its sending, so a late wake-up is in it.
    """

    def __init__(self, to_port, delay_s=lambda: 0.0, lose_every=0, swap_every=0):
        self.held_s = []
        self._to = ("127.0.0.1", to_port)
        self._delay_s, self._lose_every, self._swap_every = delay_s, lose_every, swap_every
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.settimeout(0.1)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.port = self._socket.getsockname()[1]
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        count, kept = 0, None
        while not self._ended.is_set():
            try:
                data, more, _, _ = self._socket.recvmsg(65536, 256)
            except TimeoutError:
                continue
            came_s = time.monotonic()
            seconds, rest = struct.unpack_from("@qq", more[0][2])
            count += 1
            if self._lose_every and count % self._lose_every == 0:
                continue
            if self._swap_every and count % self._swap_every == 0:
                kept = data
                continue
            end_s = came_s + self._delay_s()
            while (left_s := end_s - time.monotonic()) > 0:
                if left_s > 0.001:
                    time.sleep(left_s - 0.0005)
            self.held_s.append((time.time_ns() - seconds * 10**9 - rest) / 1e9)
            self._socket.sendto(data, self._to)
            if kept is not None:
                self._socket.sendto(kept, self._to)
                kept = None

    def close(self):
        """End."""
        self._ended.set()
        self._thread.join(2)
        self._socket.close()


class TcpRelay:
    """Accepts connections and forwards what comes, message by message, each after a delay; connects onwards for each.

    held_s: as that of Relay.
    stall: seconds since the first message at which it takes nothing for some seconds.
    """

    SIZE = 1200

    def __init__(self, to_port, delay_s=lambda: 0.0, stall=None):
        self.held_s = []
        self._to, self._delay_s, self._stall = to_port, delay_s, stall
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open = [self._listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
                out = socket.create_connection(("127.0.0.1", self._to))
                out.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._open += [sock, out]
                threading.Thread(target=self._run, args=(sock, out), daemon=True).start()

    def _run(self, sock, out):
        began_s = None
        with suppress(OSError):
            while True:
                data, more, _, _ = sock.recvmsg(self.SIZE, 256, socket.MSG_WAITALL)
                if not data:
                    return
                came_s = time.monotonic()
                began_s = began_s or came_s
                stamp_ns = time.time_ns()  # the kernel begins to stamp a little after it is asked to
                if more:
                    seconds, rest = struct.unpack_from("@qq", more[0][2])
                    stamp_ns = seconds * 10**9 + rest
                if self._stall and came_s - began_s > self._stall[0]:
                    time.sleep(self._stall[1])
                    self._stall = None
                end_s = came_s + self._delay_s()
                while (left_s := end_s - time.monotonic()) > 0:
                    if left_s > 0.001:
                        time.sleep(left_s - 0.0005)
                self.held_s.append((time.time_ns() - stamp_ns) / 1e9)
                out.sendall(data)

    def close(self):
        """End."""
        for sock in self._open:
            sock.close()


@contextmanager
def relaying(transport="udp", **how):
    """Yield a relay and the port that it sends to."""
    tcp = transport == "tcp"
    to_port = free_port(socket.SOCK_STREAM if tcp else socket.SOCK_DGRAM)
    relay = (TcpRelay if tcp else Relay)(to_port, **how)
    try:
        yield relay, to_port
    finally:
        relay.close()


def run(*arguments):
    """Run the command; an error of ours is raised as main() would see it."""
    result = CliRunner().invoke(app, ["forward", *(str(a) for a in arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def measured(out, rate=300, transport="udp", timeout="500ms", **how):
    """Return the document of a run through a relay, and the relay."""
    with steady(), relaying(transport, **how) as (relay, port):
        result = run(
            f"127.0.0.1:{relay.port}", "--listen", f"127.0.0.1:{port}", "--out", out, "--rate", rate,
            "--duration", "1500ms", "--block", "500ms", "--timeout", timeout, "--transport", transport, "--json",
        )  # fmt: skip
    return json.loads(result.stdout), relay


def median_s(document, operation):
    """Return the median of one path."""
    return next(r["p50_s"] for r in document["subjects"] if r["operation"].startswith(operation))


@pytest.mark.quiet
@pytest.mark.parametrize("transport", ["udp", "tcp"])
@pytest.mark.parametrize(("low_s", "high_s", "within_s"), [(0.004, 0.006, 0.0002), (0.0002, 0.0002, 0.00002)])
def test_a_planted_delay_comes_back_beside_a_null_relay(tmp_path, transport, low_s, high_s, within_s):
    """5 ms ± 1 ms within 0.2 ms, 200 µs within 20 µs or the printed floor; the null relay is the same program."""
    rng = random.Random(5)
    null, idle = measured(tmp_path / "null", rate=100, transport=transport)
    delayed, relay = measured(
        tmp_path / "delayed", rate=100, transport=transport, delay_s=lambda: rng.uniform(low_s, high_s)
    )
    planted_s = statistics.median(relay.held_s) - statistics.median(idle.held_s)
    found_s = median_s(delayed, "relayed") - median_s(null, "relayed")
    floor_s = max(median_s(null, "floor"), median_s(delayed, "floor"))
    assert found_s == pytest.approx(planted_s, abs=max(within_s, floor_s))
    pair = [load(Path(document["recording"])) for document in (null, delayed)]
    difference = {
        m.subject.operation: m.difference.value
        for m in compare(*pair).metrics
        if m.name == "latency.forward.p50_s"
    }
    assert difference["relayed"] == pytest.approx(found_s, rel=0.02, abs=1e-5)
    codes = {f["code"]: f["message"] for f in delayed["findings"]}
    assert "arrivals stamped by the kernel" in codes["latency-floor"]


def test_loss_and_reordering_are_counted(tmp_path):
    """Every tenth packet is lost, every seventh is overtaken by the next."""
    document, _ = measured(tmp_path, timeout="5s", lose_every=10, swap_every=7)
    row = next(r for r in document["subjects"] if r["operation"] == "relayed")
    assert row["count"] + row["errors"] == 225
    assert 20 <= row["errors"] <= 26
    message = next(f["message"] for f in document["findings"] if f["code"] == "latency-packets-lost")
    reordered = int(message.split(" lost, ")[1].split(" ")[0])
    assert 20 <= reordered <= 35
    table = load(tmp_path / document["recording"]).table("latency")
    assert "lost" in "".join(table.texts["failures"])
    whole = merged(decode(t).counts for t in table.texts["histogram"])
    assert whole.total == row["count"] + 225


def test_what_a_relay_of_tcp_holds_up_counts_from_when_it_was_planned(tmp_path):
    """All that was to be sent while the relay took nothing waited; packets that go straight did not."""
    document, _ = measured(tmp_path, rate=200, transport="tcp", timeout="10s", stall=(0.4, 1.0))
    relayed, floor = (
        next(r for r in document["subjects"] if r["operation"].startswith(name))
        for name in ("relayed", "floor")
    )
    assert relayed["count"] == floor["count"] == 150
    assert relayed["p95_s"] > 0.8
    assert floor["p95_s"] < 0.4
    assert not any(f["code"] == "latency-packets-lost" for f in document["findings"])


def test_a_run_is_on_disk_as_it_goes(tmp_path):
    """What arrived is sealed while packets are still sent, and losses with it."""
    with relaying(lose_every=5) as (relay, port):
        endpoints = [Endpoint(host="127.0.0.1", port=p) for p in (relay.port, port)]
        pace = Pace(rate_per_s=200, duration_s=3.0, warm_up_s=0.0, most=10**6, timeout_s=1.0)
        plan = ForwardPlan(relay=endpoints[0], listen=endpoints[1], size_bytes=100, pace=pace)
        start = now()
        blocks, taken = Blocks(start, 0.2), []

        def meanwhile():
            forwarder.settle(blocks, start.monotonic_ns, now().monotonic_ns)
            taken.append(blocks.take(now().monotonic_ns - 1_200_000_000))

        with Forwarder(plan) as forwarder:
            forwarder.run(blocks, start.monotonic_ns, threading.Event(), meanwhile)
            assert sum(int(t.integers["count"].values.sum()) for t in taken) > 100
            assert sum(int(t.integers["errors"].values.sum()) for t in taken) > 10
            taken.append(blocks.take_all(now().monotonic_ns))
    attempts = sum(int(t.integers[name].values.sum()) for t in taken for name in ("count", "errors"))
    assert attempts == 600
    assert forwarder.passage.lost == 60


def test_a_relay_that_forwards_nothing_ends_the_run(tmp_path):
    """Within the time-out, before a recording is made."""
    common = ("--out", tmp_path / "rec", "--timeout", "1s")
    with pytest.raises(SourceError, match=r"no packet came out of the relay at 127.0.0.1:\d+ within 1 s"):
        run(f"127.0.0.1:{free_port()}", "--listen", f"127.0.0.1:{free_port()}", *common)
    tcp = (*common, "--transport", "tcp")
    nobody, mine = (f"127.0.0.1:{free_port(socket.SOCK_STREAM)}" for _ in range(2))
    with pytest.raises(SourceError, match="the connection was refused"):
        run(nobody, "--listen", mine, *tcp)
    with (
        serving(lambda connection: connection.recv(1)) as port,
        pytest.raises(SourceError, match="does not send to that address by TCP"),
    ):
        run(f"127.0.0.1:{port}", "--listen", mine, *tcp)
    with pytest.raises(ConfigError, match="none of udp, tcp"):
        run(nobody, "--listen", mine, *common, "--transport", "sctp")
    with pytest.raises(SourceError, match="cannot listen there"):
        run(f"127.0.0.1:{free_port()}", "--listen", "192.0.2.7:9", *common)
    with pytest.raises(ConfigError, match="no HOST:PORT"):
        run("127.0.0.1", "--listen", "127.0.0.1:1", *common)
    assert not (tmp_path / "rec").exists()
