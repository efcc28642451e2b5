"""Other samplers of a host, started as their Debian packages have them, each in an account of its own."""

import contextlib
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.kernel import Account
from tests.support.sshd import free_port

NODE_EXPORTER = shutil.which("prometheus-node-exporter")
SADC = next((p for p in ("/usr/lib/sysstat/sadc", "/usr/lib64/sa/sadc") if Path(p).exists()), None)
PIDSTAT = shutil.which("pidstat")
PMCD = next((p for p in ("/usr/lib/pcp/bin/pmcd", "/usr/libexec/pcp/bin/pmcd") if Path(p).exists()), None)
PMLOGGER = next(
    (p for p in ("/usr/lib/pcp/bin/pmlogger", "/usr/libexec/pcp/bin/pmlogger") if Path(p).exists()), None
)
HOST_READINGS = ("cpu", "meminfo", "vmstat", "diskstats", "stat", "pressure")
"""The collectors of node_exporter that read what our host plan reads."""
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL}
PCP_NAMES = Path("/var/lib/pcp/pmns")
PCP_METRICS = (
    "kernel.all.cpu kernel.all.pswitch mem.util mem.vmstat.pswpin mem.vmstat.pswpout mem.vmstat.pgmajfault "
    "disk.dev.read disk.dev.write disk.dev.blkread disk.dev.blkwrite disk.dev.avactive "
    "kernel.all.pressure.cpu.some.total kernel.all.pressure.memory.some.total kernel.all.pressure.memory.full.total "
    "kernel.all.pressure.io.some.total kernel.all.pressure.io.full.total"
)
"""Leaf by leaf: of derived metrics that have no value (disk.dev.*) pmlogger writes pages of errors each second."""


@dataclass(slots=True, kw_only=True)
class Sampler:
    """Another sampler at work."""

    name: str
    account: Account


class Scraper:
    """Asks an exporter once a second, over a new connection, as Prometheus may."""

    def __init__(self, port: int) -> None:
        """Ask nothing yet."""
        self._port, self._stop = port, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End."""
        self._stop.set()
        self._thread.join(5)

    def _run(self) -> None:
        while not self._stop.wait(1.0):
            with contextlib.suppress(OSError):
                scrape(self._port)


def scrape(port: int) -> bytes:
    """Return the answer of an exporter."""
    with socket.create_connection(("127.0.0.1", port), 5) as link:
        link.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        parts = []
        while data := link.recv(65536):
            parts.append(data)
        return b"".join(parts)


@dataclass(slots=True, kw_only=True)
class Samplers:
    """All that could be started, and what could not."""

    running: list[Sampler] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


@contextlib.contextmanager
def samplers(directory: Path, pid: int, seconds: int) -> Iterator[Samplers]:
    """Run the others at one sample a second, watching one process where they can."""
    found = Samplers()
    with contextlib.ExitStack() as stack:
        _node_exporters(stack, found)
        _sysstat(stack, found, directory, pid, seconds)
        time.sleep(3)
        yield found


@contextlib.contextmanager
def pcp(directory: Path) -> Iterator[Samplers]:
    """Run pmcd and pmlogger at one sample a second: apart, for what they take makes every other dearer."""
    found = Samplers()
    with contextlib.ExitStack() as stack:
        _pcp(stack, found, directory)
        yield found


def _account(stack: contextlib.ExitStack, name: str) -> Account:
    return stack.enter_context(Account(name=name))


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)
    process.kill()
    process.wait()


def _node_exporters(stack: contextlib.ExitStack, found: Samplers) -> None:
    if NODE_EXPORTER is None:
        found.left_out.append("node_exporter (Debian package prometheus-node-exporter is missing)")
        return
    cut = ("--collector.disable-defaults", *(f"--collector.{name}" for name in HOST_READINGS))
    for name, words in (("node_exporter", ()), ("node_exporter, host readings only", cut)):
        port, account = free_port(), _account(stack, "exporter" + ("-cut" if words else ""))
        process = account.start([NODE_EXPORTER, f"--web.listen-address=127.0.0.1:{port}", *words], **QUIET)
        stack.callback(_end, process)
        scraper = Scraper(port)
        scraper.start()
        stack.callback(scraper.stop)
        found.running.append(Sampler(name=name, account=account))


def _sysstat(stack: contextlib.ExitStack, found: Samplers, directory: Path, pid: int, seconds: int) -> None:
    if SADC is None or PIDSTAT is None:
        found.left_out.append("sadc and pidstat (Debian package sysstat is missing)")
        return
    account = _account(stack, "sysstat")
    ticks = str(seconds + 60)
    for words in (
        [SADC, "-S", "DISK", "1", ticks, str(directory / "sa")],
        [PIDSTAT, "-u", "-r", "-d", "-p", str(pid), "1", ticks],
    ):
        stack.callback(_end, account.start(words, **QUIET))
    found.running.append(Sampler(name="sadc + pidstat", account=account))


def _pcp(stack: contextlib.ExitStack, found: Samplers, directory: Path) -> None:
    if PMCD is None or PMLOGGER is None or os.geteuid() != 0:
        found.left_out.append("pmcd and pmlogger (Debian package pcp is missing, or we are not root)")
        return
    _prepare_pcp()
    account, port = _account(stack, "pcp"), free_port()
    config = directory / "pmlogger.conf"
    config.write_text(f"log mandatory on 1 sec {{ {PCP_METRICS} }}\n")
    options = {"env": {**os.environ, "PMCD_PORT": str(port)}, "cwd": directory, **QUIET}
    pmcd = account.start([PMCD, "-f", "-l", str(directory / "pmcd.log")], **options)
    stack.callback(_end, pmcd)
    if not _listens(port) or pmcd.poll() is not None:
        found.left_out.append("pmcd and pmlogger (pmcd did not start)")
        return
    words = [PMLOGGER, "-h", f"localhost:{port}", "-c", str(config), "-l", str(directory / "pmlogger.log")]
    logger = account.start([*words, str(directory / "pcp-archive")], **options)
    stack.callback(_end, logger)
    time.sleep(3)
    if logger.poll() is not None:
        found.left_out.append("pmcd and pmlogger (pmlogger did not start)")
        return
    found.running.append(Sampler(name="pmcd + pmlogger, host readings only", account=account))


def _prepare_pcp() -> None:
    """Do what the package's start-up script does before pmcd: the table of names, the directory of its socket."""
    Path("/run/pcp").mkdir(exist_ok=True)
    if not (PCP_NAMES / "root").exists() and (PCP_NAMES / "Rebuild").exists():
        subprocess.run(["./Rebuild"], cwd=PCP_NAMES, check=False, capture_output=True, timeout=60)


def _listens(port: int) -> bool:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        time.sleep(0.1)
    return False
