"""Record samples/latency: each probe of delay against a server of its own on this machine, before and after a change.

    python -m samples.record_latency OUT [--minutes 22]

As root, for the network namespace of the round trips and for real-time scheduling. What is planted, before → after:
the stand-in's API answers after 3 ms → 2 ms, give or take 0.5 ms; the network of the round trips holds each packet for
1 ms on both sides (nothing is changed); blocks of a state history come 0 to 40 ms late → 0 to 10 ms; a relay of UDP
holds packets for 500 µs → 100 µs.
"""

import argparse
import logging
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from leapprof.standin.http import API, HttpServer, Status
from leapprof.store.manifest import read_manifest, write_manifest
from leapprof.units import NS_PER_S
from tests.support.ship_server import Planned, ShipServer, frame, ship_serving, slot_at
from tests.support.slow_network import FAR, NEAR, SlowNetwork

HERE = Path(__file__).parent / "latency"
API_PORT, SHIP_PORT, RELAY_PORT, LISTEN_PORT, RTT_PORT = 18888, 18080, 19900, 19901, 19876
BLOCK_S = 0.5
PRIORITY = 5
PROGRAM = (sys.executable, "-c", "from leapprof.cli.main import main; main()")


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """Delays of one side, seconds."""

    api: tuple[float, float]
    network: float
    blocks: float
    relay: float


SIDES = {
    "before": Planted(api=(0.0025, 0.0035), network=0.001, blocks=0.04, relay=0.0005),
    "after": Planted(api=(0.0015, 0.0025), network=0.001, blocks=0.01, relay=0.0001),
}


@contextmanager
def api(delay_s: Callable[[], float]) -> Iterator[None]:
    """Run the stand-in's API, whose answers wait."""
    status = Status(
        version="v5.0.3", head_block=9, head_id="00", head_time_ns=0, size_bytes=2, used_bytes=1, transactions=0,
        blocks=0, cpu_us=0,
    )  # fmt: skip

    def late() -> Status:
        time.sleep(delay_s())
        return status

    server = HttpServer(f"127.0.0.1:{API_PORT}", API, late)
    try:
        yield
    finally:
        server.close()


def planned_blocks(seconds: float, lateness_s: Callable[[], float]) -> list[Planned]:
    """Return a block for every slot of half a second from the next on, each late by what the function says."""
    wall_s = time.time_ns() / NS_PER_S
    start_s, slot = time.monotonic() + BLOCK_S - wall_s % BLOCK_S, slot_at(time.time_ns()) + 1
    return [
        Planned(due_s=start_s + BLOCK_S * i + lateness_s(), number=100 + i, data=frame(100 + i, slot + i))
        for i in range(int(seconds / BLOCK_S))
    ]


@contextmanager
def relay(delay_s: float) -> Iterator[None]:
    """Forward each packet after a delay."""
    ended = threading.Event()
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", RELAY_PORT))
    sock.settimeout(0.2)

    def run() -> None:
        while not ended.is_set():
            try:
                data = sock.recv(65536)
            except TimeoutError:
                continue
            time.sleep(delay_s)
            sock.sendto(data, ("127.0.0.1", LISTEN_PORT))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        sock.close()


def probe(out: Path, phase: str, *words: str) -> "subprocess.Popen[bytes]":
    """Start a probe in the directory of its samples."""
    argv = [
        *PROGRAM,
        "latency",
        *words,
        "--phase",
        phase,
        "--region",
        "bench",
        "--out",
        f"{words[0]}-recordings",
    ]
    return subprocess.Popen(argv, cwd=out, stdout=subprocess.DEVNULL)


def round_trips(out: Path, phase: str, delay_s: float, duration: str) -> int:
    """Probe round trips in a network of its own, and return how the probe ended."""
    ended: list[int] = []

    def run() -> None:
        network = SlowNetwork(delay_s)
        with socket.create_server((NEAR, RTT_PORT)) as listener:
            threading.Thread(target=_accept, args=(listener,), daemon=True).start()
            words = ("rtt", f"{FAR}:{RTT_PORT}", "--rate", "4", "--duration", duration)
            ended.append(probe(out, phase, *words).wait())
        network.close()

    thread = threading.Thread(target=run)  # the network is the thread's
    thread.start()
    thread.join()
    return ended[0] if ended else 1


def record(out: Path, phase: str, minutes: float) -> None:
    """Record one side with all probes at once."""
    planted, duration, rng = SIDES[phase], f"{round(minutes * 60)}s", random.Random(5)
    probes = []
    with ExitStack() as open_servers:
        open_servers.enter_context(api(lambda: rng.uniform(*planted.api)))
        open_servers.enter_context(relay(planted.relay))
        ship = ShipServer(
            plan=lambda: planned_blocks(60 * minutes + 60, lambda: rng.uniform(0, planted.blocks))
        )
        open_servers.enter_context(ship_serving(ship, SHIP_PORT))
        for words in (
            ("request", f"http://127.0.0.1:{API_PORT}", "--rate", "5", "--connections", "4"),
            ("stream", f"ws://127.0.0.1:{SHIP_PORT}"),
            ("forward", f"127.0.0.1:{RELAY_PORT}", "--listen", f"127.0.0.1:{LISTEN_PORT}", "--rate", "20"),
        ):
            probes.append(probe(out, phase, *words, "--duration", duration))

        failed = [round_trips(out, phase, planted.network, duration)]
        failed += [p.wait() for p in probes]
    if any(failed):
        raise SystemExit(f"a probe failed: {failed}")


def _accept(listener: socket.socket) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        connection.close()


def keep(out: Path) -> None:
    """Put what was recorded into samples/latency, without the name of the machine."""
    for found in sorted(out.glob("*-recordings/bench-*/recording.json")):
        directory = found.parent
        target = HERE / directory.parent.name.removesuffix("-recordings") / directory.name.split("-")[1]
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(directory, target)
        manifest = read_manifest(target)
        write_manifest(target, replace(manifest, host=replace(manifest.host, machine_id=None)))


def main() -> None:
    """Record both sides, one after the other; with --minutes 0 only keep what OUT holds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, default=22.0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # a probe that ends is no failure
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    for phase in SIDES if given.minutes else ():
        record(given.out, phase, given.minutes)
    keep(given.out)


if __name__ == "__main__":
    main()
