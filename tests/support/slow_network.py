"""A network of its own with a planted delay: a TUN device whose packets come back, late, with swapped addresses.

A packet to 10.0.0.2 leaves the kernel, waits here, and comes back as one from 10.0.0.2 to 10.0.0.1: so whoever connects
to 10.0.0.2 reaches a server on 10.0.0.1, and each direction is delayed. Checksums of swapped addresses stay the same.
The network namespace belongs to the calling thread and the threads that it starts, and goes with them.
"""

import ctypes
import fcntl
import heapq
import os
import select
import shutil
import struct
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tests.support.steady import steady

NEAR, FAR = "10.0.0.1", "10.0.0.2"
_CLONE_NEWNET = 0x40000000
_TUNSETIFF = 0x400454CA
_IFF_TUN_NO_PI = 0x1001
T = TypeVar("T")


def missing() -> str:
    """Return what this machine lacks for it; empty for nothing."""
    if os.geteuid() != 0 or not Path("/dev/net/tun").exists():
        return "needs root and /dev/net/tun"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"needs /dev/net/tun: {error.strerror}"
    return "" if shutil.which("ip") else "needs the program ip"


class SlowNetwork:
    """Delays every packet to 10.0.0.2 and every answer by a time each."""

    def __init__(self, delay_s: float) -> None:
        """Make the namespace of the calling thread and its device."""
        if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "unshare")
        self._tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self._tun, _TUNSETIFF, struct.pack("16sH", b"slow0", _IFF_TUN_NO_PI))
        for words in ("addr add 10.0.0.1/24 dev slow0", "link set slow0 up", "link set lo up"):
            subprocess.run(["ip", *words.split()], check=True, timeout=60)
        self._delay_s = delay_s
        self._ended = threading.Event()
        self.held_s: list[float] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the delays."""
        self._ended.set()
        self._thread.join(2)
        os.close(self._tun)

    def _run(self) -> None:
        waiting: list[tuple[float, float, bytes]] = []
        while not self._ended.is_set():
            until_s = waiting[0][0] - time.monotonic() if waiting else 0.1
            if until_s > 0 and select.select([self._tun], [], [], min(until_s, 0.1))[0]:
                packet = os.read(self._tun, 65536)
                came_s = time.monotonic()
                if packet[0] >> 4 == 4:
                    swapped = packet[:12] + packet[16:20] + packet[12:16] + packet[20:]
                    heapq.heappush(waiting, (came_s + self._delay_s, came_s, swapped))
            while waiting and waiting[0][0] <= time.monotonic():
                _, came_s, packet = heapq.heappop(waiting)
                os.write(self._tun, packet)
                self.held_s.append(time.monotonic() - came_s)


def in_slow_network(delay_s: float, work: Callable[[SlowNetwork], T]) -> T:
    """Return what a function returns that runs in such a network."""
    out: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with steady():
                network = SlowNetwork(delay_s)
                try:
                    out.append(work(network))
                finally:
                    network.close()
        except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(240)
    if errors:
        raise errors[0]
    assert out, "it did not end"
    return out[0]
