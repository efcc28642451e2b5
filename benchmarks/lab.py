"""What is measured runs here: a stand-in for nodeos, an agent behind a real sshd, many idle processes and devices."""

import contextlib
import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.kernel import Account, descendants
from leapprof.agent.plan import encode_plan
from leapprof.model import Frame
from leapprof.model.access import NodeosSelector
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.cost import CostMeter
from leapprof.recorder.link import AgentLink
from leapprof.recorder.planning import RecordOptions, sampling_plan
from leapprof.recorder.session import survey_host
from leapprof.sources import Channel, open_source
from tests.support.sshd import Sshd, free_port, sshd

READY_S = 60.0
LOOP_CTL_ADD, LOOP_CTL_REMOVE = 0x4C80, 0x4C81  # linux/loop.h
FIRST_LOOP = 200


@dataclass(slots=True, kw_only=True)
class StandIn:
    """A running stand-in."""

    process: "subprocess.Popen[bytes]"
    data_dir: Path
    port: int


@contextlib.contextmanager
def standin(directory: Path, name: str, *words: str) -> Iterator[StandIn]:
    """Run a stand-in for nodeos with an HTTP address."""
    data_dir, port = directory / name, free_port()
    data_dir.mkdir()
    log = data_dir / "nodeos.log"
    options = (
        f"--data-dir={data_dir}", f"--http-server-address=127.0.0.1:{port}", "--chain-state-db-size-mb=64",
        "--used-mb=24", "--end-with-parent", *words,
    )  # fmt: skip
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "leapprof.standin", *options], stderr=out, stdin=subprocess.DEVNULL
        )
    try:
        deadline = time.monotonic() + READY_S
        while b"Received block" not in log.read_bytes():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(log.read_text())
            time.sleep(0.05)
        yield StandIn(process=process, data_dir=data_dir, port=port)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(READY_S)


class PackedChannel:
    """A channel that counts what would cross the network with ``Compression yes`` (RFC 4253, 6.2; OpenSSH's level)."""

    def __init__(self, channel: Channel) -> None:
        """Count what the channel reads."""
        self._channel, self._deflater = channel, zlib.compressobj(6)
        self.packed_bytes = 0

    @property
    def stderr_tail(self) -> str:
        """Return the channel's."""
        return self._channel.stderr_tail

    def read(self, timeout_s: float) -> bytes:
        """Read, and count."""
        data = self._channel.read(timeout_s)
        if data:
            packed = self._deflater.compress(data) + self._deflater.flush(zlib.Z_SYNC_FLUSH)
            self.packed_bytes += len(packed)
        return data

    def write(self, data: bytes) -> None:
        """Write."""
        self._channel.write(data)

    def close(self) -> None:
        """Close the channel."""
        self._channel.close()


@dataclass(slots=True, kw_only=True)
class Sampling:
    """An agent at work behind its own sshd, with the kernel's account of both."""

    account: Account
    server: Sshd
    link: AgentLink
    meter: CostMeter
    packed: "PackedChannel"
    last: Frame | None = None
    _stop: threading.Event = field(default_factory=threading.Event)

    @property
    def wire_bytes(self) -> int:
        """Return the bytes received so far, as the agent sent them."""
        return self.link.decoder.bytes_received

    @property
    def agent_pid(self) -> int:
        """Return the pid of the agent: the last program that sshd started, or what it became."""
        assert self.server.process is not None
        return max(descendants(self.server.process.pid))

    def follow(self) -> None:
        """Take frames until told to stop."""
        while not self._stop.is_set():
            for frame in self.link.poll(0.2):
                self.meter.add(frame)
                self.last = frame

    def wait(self, samples: int) -> None:
        """Wait for the first samples."""
        deadline = time.monotonic() + READY_S
        while self.meter.samples < samples and time.monotonic() < deadline:
            time.sleep(0.05)

    def stop(self) -> None:
        """Take no more frames."""
        self._stop.set()


@contextlib.contextmanager
def sampling(
    directory: Path, kind: str, selectors: tuple[NodeosSelector, ...], interval_s: float = 1.0
) -> Iterator[Sampling]:
    """Sample this machine through an sshd of its own."""
    with Account(name=f"sshd-{kind}") as account, sshd(directory, alias=f"bench-{kind}") as server:
        assert server.process is not None
        account.adopt(server.process.pid)
        host = server.host()
        source = open_source(host)
        link = AgentLink.open(source, kind, SystemClock())
        link.channel = packed = PackedChannel(link.channel)
        survey = survey_host(link, host, selectors).survey
        plan = sampling_plan(
            selectors, survey.nodeos, RecordOptions(interval_s=interval_s, selectors=selectors)
        )
        link.send(encode_plan(plan))
        made = Sampling(account=account, server=server, link=link, meter=CostMeter(agent=kind), packed=packed)
        thread = threading.Thread(target=made.follow, daemon=True)
        thread.start()
        made.wait(3)
        try:
            yield made
        finally:
            made.stop()
            thread.join(5)
            link.close()
            source.close()


def selectors_of(*found: StandIn) -> tuple[NodeosSelector, ...]:
    """Return how the stand-ins are told apart."""
    return tuple(
        NodeosSelector(id=f"n{index}", kind="cmdline", value=str(one.data_dir))
        for index, one in enumerate(found)
    )


@contextlib.contextmanager
def idle_processes(count: int) -> Iterator[None]:
    """Run so many processes that do nothing."""
    pids = []
    for _ in range(count):
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(BaseException):
                signal.signal(signal.SIGINT, signal.SIG_DFL)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                while True:
                    signal.pause()
            os._exit(0)
        pids.append(pid)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        for pid in pids:
            os.waitpid(pid, 0)


@contextlib.contextmanager
def more_devices(count: int) -> Iterator[int]:
    """Add so many loop devices where we may; yields how many were added."""
    added = []
    with contextlib.suppress(OSError), Path("/dev/loop-control").open("rb") as control:
        for number in range(FIRST_LOOP, FIRST_LOOP + count):
            fcntl.ioctl(control, LOOP_CTL_ADD, number)
            added.append(number)
    try:
        yield len(added)
    finally:
        if added:
            with Path("/dev/loop-control").open("rb") as control:
                for number in added:
                    with contextlib.suppress(OSError):
                        fcntl.ioctl(control, LOOP_CTL_REMOVE, number)


def ask(port: int, path: str) -> bytes:
    """Put one question to an HTTP server of this machine."""
    with socket.create_connection(("127.0.0.1", port), 5) as link:
        link.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        parts = []
        while data := link.recv(65536):
            parts.append(data)
        return b"".join(parts)
