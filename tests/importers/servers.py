"""Real servers on loopback for tests: Prometheus and VictoriaMetrics with generated history, node_exporter."""

import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE_S = 120.0


def missing(*programs: str) -> str:
    """Return the programs that are not installed, comma-joined."""
    return ", ".join(p for p in programs if shutil.which(p) is None)


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(argv: list[str], ready_url: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the block ends; wait until it answers."""
    with log.open("wb") as out:
        process = subprocess.Popen(argv, stdout=out, stderr=subprocess.STDOUT)
    try:
        _wait(ready_url, process, log)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=20) as answer:
                if answer.status < 300:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    raise AssertionError(log.read_text(errors="replace")[-2000:])


@contextmanager
def prometheus(
    directory: Path, *, config: str = "", blocks: Path | None = None, more: tuple[str, ...] = ()
) -> Iterator[str]:
    """Run Prometheus, over blocks that promtool made if any, and yield its URL."""
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "prometheus.yml"
    file.write_text(config or "global: {}\n")
    url = f"http://127.0.0.1:{free_port()}"
    argv = [
        "prometheus", f"--config.file={file}", f"--storage.tsdb.path={blocks or directory / 'data'}",
        f"--web.listen-address={url.removeprefix('http://')}", "--storage.tsdb.retention.time=100y", *more,
    ]  # fmt: skip
    with running(argv, url + "/-/ready", directory / "log"):
        yield url


@contextmanager
def victoria_metrics(directory: Path, history: bytes) -> Iterator[str]:
    """Run VictoriaMetrics with a history in it and yield its URL."""
    directory.mkdir(parents=True, exist_ok=True)
    url = f"http://127.0.0.1:{free_port()}"
    argv = [
        "victoria-metrics", f"-storageDataPath={directory / 'data'}", f"-httpListenAddr={url.removeprefix('http://')}",
        "-retentionPeriod=100y",
    ]  # fmt: skip
    with running(argv, url + "/health", directory / "log"):
        post(url + "/api/v1/import/prometheus", history)
        with urllib.request.urlopen(url + "/internal/force_flush", timeout=10):
            pass
        yield url


def post(url: str, body: bytes) -> None:
    """Send a body."""
    with urllib.request.urlopen(urllib.request.Request(url, data=body, method="POST"), timeout=60):
        pass


def make_blocks(openmetrics: str, directory: Path) -> Path:
    """Return a directory of blocks that promtool made of a text in OpenMetrics."""
    directory.mkdir(parents=True, exist_ok=True)
    file = directory / "history.om"
    file.write_text(openmetrics)
    blocks = directory / "blocks"
    done = subprocess.run(
        ["promtool", "tsdb", "create-blocks-from", "openmetrics", "--max-block-duration=24h", str(file), str(blocks)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return blocks


class History:
    """A history in OpenMetrics, one line a sample."""

    def __init__(self, start_s: int, end_s: int, step_s: int) -> None:
        """Set its times."""
        self.times = range(start_s, end_s + 1, step_s)
        self.lines: dict[str, list[str]] = {}

    def add(
        self, name: str, labels: str, value: Callable[[int], float], skip: Callable[[int], bool] | None = None
    ) -> None:
        """Add a series: value by seconds since its start, left out where skip says so."""
        start = self.times[0]
        rows = self.lines.setdefault(name, [])
        rows += [
            f"{name}{{{labels}}} {value(t - start):.12g} {t}"
            for t in self.times
            if skip is None or not skip(t - start)
        ]

    def openmetrics(self) -> str:
        """Return the text for promtool: types are not known."""
        parts = [
            line for name in sorted(self.lines) for line in (f"# TYPE {name} unknown", *self.lines[name])
        ]
        return "\n".join([*parts, "# EOF", ""])

    def prometheus_text(self) -> bytes:
        """Return the text for VictoriaMetrics: times in milliseconds."""
        return ("\n".join(line + "000" for rows in self.lines.values() for line in rows) + "\n").encode()
