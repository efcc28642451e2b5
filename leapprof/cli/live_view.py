"""What `leapprof record` shows while it samples: a table on a terminal, a line a minute elsewhere; on stderr."""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.table import Table as RichTable

from leapprof.model import Frame, Gap, Recording
from leapprof.recorder.live import LiveHost, LiveLine
from leapprof.recorder.observer import Observer
from leapprof.units import format_bytes_per_s, format_memory, format_value

REFRESH_S = 1.0
PLAIN_EVERY_S = 60.0
MAX_DEVICES = 3
_HEAD = ("host", "CPU", "anon", "file", "shmem", "swap", "writes", "lag", "samples", "gaps", "state")


class LiveObserver:
    """Keeps what is shown of each host; called from many threads."""

    def __init__(self, hosts: Sequence[str], console: Console) -> None:
        """Begin with a waiting line for each host."""
        self._lock = threading.Lock()
        self._hosts = {name: LiveHost(host=name) for name in hosts}
        self._console = console

    def lines(self) -> list[LiveLine]:
        """Return a line for each host."""
        with self._lock:
            return [host.line() for host in self._hosts.values()]

    def started(self, host: str, directory: Path, manifest: Recording) -> None:
        """Say what was found."""
        found = ", ".join(f"{n.id} {n.version or ''}".strip() for n in manifest.nodeos) or "no nodeos"
        self._say(f"{host}: {found}; recording into {directory}")

    def sampled(self, host: str, frame: Frame) -> None:
        """Take a frame."""
        with self._lock:
            self._hosts[host].add(frame)

    def gap(self, host: str, gap: Gap) -> None:
        """Count a gap."""
        with self._lock:
            self._hosts[host].gaps += 1

    def trouble(self, host: str, problem: str) -> None:
        """Show a trouble."""
        with self._lock:
            self._hosts[host].state = problem[:60]
        self._say(f"{host}: {problem}")

    def ended(self, host: str, problem: str | None) -> None:
        """Show the end."""
        with self._lock:
            self._hosts[host].state = "ended" if problem is None else f"failed: {problem[:60]}"

    def _say(self, text: str) -> None:
        self._console.print(escape(text), highlight=False, soft_wrap=True)


@contextmanager
def watching(hosts: Sequence[str], *, quiet: bool = False) -> Iterator[Observer]:
    """Show the hosts on stderr while the context lasts.

    Args:
        hosts: their names.
        quiet: for machines: no table, only the plain lines.
    """
    console = Console(file=sys.stderr)
    observer = LiveObserver(hosts, console)
    over = threading.Event()
    on_terminal = console.is_terminal and not quiet
    show = _show_table if on_terminal else _show_lines
    thread = threading.Thread(target=show, args=(observer, console, over), daemon=True)
    thread.start()
    try:
        yield observer
    finally:
        over.set()
        thread.join()


def _show_table(observer: LiveObserver, console: Console, over: threading.Event) -> None:
    with Live(console=console, auto_refresh=False) as live:
        while not over.wait(REFRESH_S):
            live.update(_table(observer.lines()), refresh=True)
        live.update(_table(observer.lines()), refresh=True)


def _show_lines(observer: LiveObserver, console: Console, over: threading.Event) -> None:
    while not over.wait(PLAIN_EVERY_S):
        for line in observer.lines():
            named = zip(_HEAD[1:], cells(line)[1:], strict=True)
            console.print(
                escape(f"{line.host}: " + ", ".join(f"{n} {c}" for n, c in named)),
                highlight=False,
                soft_wrap=True,
            )


def _table(lines: Sequence[LiveLine]) -> RichTable:
    table = RichTable(*_HEAD)
    for line in lines:
        table.add_row(*(escape(cell) for cell in cells(line)))
    return table


def cells(line: LiveLine) -> tuple[str, ...]:
    """Return the texts of a line's columns."""
    writes = list(line.write_bytes_per_s.items())[:MAX_DEVICES]
    return (
        line.host,
        format_value(line.cpu_percent, "percent"),
        *(
            _memory(v)
            for v in (line.rss_anon_bytes, line.rss_file_bytes, line.rss_shmem_bytes, line.swap_used_bytes)
        ),
        " ".join(f"{device} {format_bytes_per_s(rate)}" for device, rate in writes) or "–",
        format_value(line.head_lag_s, "s"),
        str(line.samples),
        str(line.gaps),
        line.state,
    )


def _memory(value: int | None) -> str:
    return "–" if value is None else format_memory(value)
