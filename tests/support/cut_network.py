"""A network that can be cut without a word: a proxy that swallows what it is sent, or a cable between two namespaces.

The cable is a veth pair from the root's network namespace to one of the calling thread and the threads that it starts;
it goes with them. Down at the far end, packets vanish: no reset, no refusal, and a local address that stays.
"""

import ctypes
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

_CLONE_NEWNET = 0x40000000
FAR, NEAR = "10.213.77.1", "10.213.77.2"
T = TypeVar("T")


class SwallowingProxy:
    """A TCP proxy that can swallow everything without a word, as a cut network does."""

    def __init__(self, port: int) -> None:
        """Listen on a free port of loopback for who wants to reach that one."""
        self._to = port
        self._is_cut = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Swallow from now on."""
        self._is_cut.set()

    def mend(self) -> None:
        """Let through again; what was swallowed is gone."""
        self._is_cut.clear()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        with suppress(OSError), near, socket.create_connection(("127.0.0.1", self._to)) as far:
            back = threading.Thread(target=self._copy, args=(far, near), daemon=True)
            back.start()
            self._copy(near, far)
            back.join()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if not self._is_cut.is_set():
                    target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()


def missing() -> str:
    """Return what this machine lacks for a cable; empty for nothing."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "needs root and the program ip"
    name = f"lp-try-{os.getpid()}"[:15]  # others may try at the same time
    done = _ip("link", "add", name, "type", "veth")
    if done.returncode:
        return f"needs a kernel with veth: {done.stderr.decode().strip()}"
    _ip("link", "del", name)
    return ""


def _ip(*words: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(["ip", *words], capture_output=True, check=False, timeout=60)


def _unshare_network() -> None:
    if ctypes.CDLL(None, use_errno=True).unshare(_CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "unshare")


class Cable:
    """The far end of a veth pair, in the namespace where it was made; the near one goes into another namespace."""

    def __init__(self) -> None:
        """Make the pair: whoever listens on FAR can do so from now on."""
        self._at_far_end = ThreadPoolExecutor(1)  # its thread, begun here, stays in this namespace
        self._at_far_end.submit(int).result()
        self._far, self._near = f"lp-far-{os.getpid()}"[:15], f"lp-near-{os.getpid()}"[:15]
        self._do("link", "add", self._far, "type", "veth", "peer", "name", self._near)
        self._do("addr", "add", f"{FAR}/30", "dev", self._far)
        self._do("link", "set", self._far, "up")

    def _do(self, *words: str) -> None:
        done = _ip(*words)
        if done.returncode:
            raise OSError(f"ip {' '.join(words)}: {done.stderr.decode()}")

    def cut(self) -> None:
        """Let packets of both directions vanish."""
        self._at_far_end.submit(self._do, "link", "set", self._far, "down").result()

    def mend(self) -> None:
        """Let packets through."""
        self._at_far_end.submit(self._do, "link", "set", self._far, "up").result()

    def close(self) -> None:
        """Remove the pair."""
        self._at_far_end.shutdown()
        _ip("link", "del", self._far)

    def at_near_end(self, work: Callable[[], T]) -> T:
        """Return what a function returns that runs in a namespace of its own at the near end."""
        out: list[T] = []
        errors: list[BaseException] = []
        plugged, unshared = threading.Event(), threading.Event()
        thread_id: list[int] = []

        def run() -> None:
            try:
                _unshare_network()
                thread_id.append(threading.get_native_id())
                unshared.set()
                plugged.wait(30)
                for words in (
                    f"addr add {NEAR}/30 dev {self._near}",
                    f"link set {self._near} up",
                    "link set lo up",
                ):
                    self._do(*words.split())
                out.append(work())
            except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
                errors.append(error)
                unshared.set()

        thread = threading.Thread(target=run)
        thread.start()
        unshared.wait(30)
        if thread_id:
            self._do("link", "set", self._near, "netns", str(thread_id[0]))
        plugged.set()
        thread.join()
        if errors:
            raise errors[0]
        return out[0]
