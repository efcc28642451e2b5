"""``/metrics`` while recording: the last readings of each host, for a Prometheus that wants to scrape leapprof.

Readings of the last minute are kept, as not every group is read at every tick; what is older than half a minute is no
reading any more. They carry no time of their own: a scraper stamps them, so they are for watching and for long
history, while the recording keeps the host's own times.
"""

import threading
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from leapprof.errors import ConfigError
from leapprof.ingest.exposition import info_rows, labels_text, name_of, subjects_of
from leapprof.ingest.rows import FrameIngest
from leapprof.model import Frame, Gap, Recording, Table
from leapprof.recorder.observer import Observer
from leapprof.units import NS_PER_S

KEPT_FRAMES = 61
FRESH_S = 30.0
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class MetricsObserver:
    """Watches sessions for a scraper, and hands everything on to another observer."""

    def __init__(self, inner: Observer) -> None:
        """Begin without readings."""
        self._inner = inner
        self._lock = threading.Lock()
        self._frames: dict[str, deque[Frame]] = {}
        self._manifests: dict[str, Recording] = {}

    def started(self, host: str, directory: Path, manifest: Recording) -> None:
        """Take what was found."""
        with self._lock:
            self._manifests[host] = manifest
            self._frames[host] = deque(maxlen=KEPT_FRAMES)
        self._inner.started(host, directory, manifest)

    def sampled(self, host: str, frame: Frame) -> None:
        """Keep a frame for a minute."""
        with self._lock:
            if host in self._frames:
                self._frames[host].append(frame)
        self._inner.sampled(host, frame)

    def gap(self, host: str, gap: Gap) -> None:
        """Hand on."""
        self._inner.gap(host, gap)

    def trouble(self, host: str, problem: str) -> None:
        """Hand on."""
        self._inner.trouble(host, problem)

    def ended(self, host: str, problem: str | None) -> None:
        """Forget a host that is not sampled any more."""
        with self._lock:
            self._frames.pop(host, None)
            self._manifests.pop(host, None)
        self._inner.ended(host, problem)

    def text(self) -> str:
        """Return the last readings of all hosts in Prometheus's text format."""
        with self._lock:
            hosts = {name: (self._manifests[name], tuple(frames)) for name, frames in self._frames.items()}
        families: dict[tuple[str, str], list[str]] = {}
        for manifest, frames in hosts.values():
            labels = {"host": manifest.host.name, "phase": manifest.phase}
            for family, rows in info_rows(manifest).items():
                lines = families.setdefault((family, "gauge"), [])
                lines += [f"{family}{{{labels_text({**labels, **row})}}} 1\n" for row in rows]
            for table in _tables(frames):
                for sample, kind, texts, value in _last_readings(table):
                    line = f"{sample}{{{labels_text({**labels, **texts})}}} {value}\n"
                    families.setdefault((sample, kind), []).append(line)
        parts = (
            f"# TYPE {name} {kind}\n{''.join(lines)}" for (name, kind), lines in sorted(families.items())
        )
        return "".join(parts)


def _tables(frames: tuple[Frame, ...]) -> Iterator[Table]:
    ingest = FrameIngest()
    for frame in frames:
        ingest.add(frame)
    yield from ingest.tables().values()


def _last_readings(table: Table) -> Iterator[tuple[str, str, dict[str, str], int]]:
    """Yield sample name, kind, texts and value of the last fresh reading of each column and subject."""
    time_ns = table.integers["boottime_ns"].values
    fresh = time_ns >= time_ns.max() - FRESH_S * NS_PER_S
    for texts, rows in subjects_of(table):
        for column, cells in sorted(table.integers.items()):
            at = rows[(cells.present & fresh)[rows]]
            if at.size and column != "wall_ns":
                name = name_of(table.name, column)
                yield name.sample, name.kind, texts, int(cells.values[at[-1]])


class MetricsServer:
    """Serves the readings of an observer. Use with ``with``."""

    def __init__(self, listen: str, observer: MetricsObserver) -> None:
        """Bind.

        Raises:
            ConfigError: the address is none, or taken.
        """
        host, colon, port = listen.rpartition(":")
        if not colon or not port.isdigit() or int(port) >= 2**16:
            raise ConfigError("is no address such as 127.0.0.1:9777", key="--metrics-listen")
        handler = type("Handler", (_Handler,), {"observer": observer})
        try:
            self._server = ThreadingHTTPServer((host.strip("[]") or "127.0.0.1", int(port)), handler)
        except OSError as error:
            raise ConfigError(f"{listen}: {error.strerror or error}", key="--metrics-listen") from error
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, name="metrics", daemon=True)

    def __enter__(self) -> "MetricsServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)


class _Handler(BaseHTTPRequestHandler):
    """Answers GET /metrics and nothing else."""

    observer: MetricsObserver
    timeout = 10
    server_version = "leapprof"
    sys_version = ""

    def do_GET(self) -> None:
        """Answer."""
        if self.path.partition("?")[0] != "/metrics":
            self.send_error(404, "only /metrics is here")
            return
        body = self.observer.text().encode()
        self.send_response(200)
        self.send_header("Content-Type", CONTENT_TYPE)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: stderr belongs to the recorder."""
