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

from leapprof.errors import printable
from leapprof.model import Frame, Gap, Recording
from leapprof.recorder.live import LiveHost, LiveLine
from leapprof.recorder.observer import Observer
from leapprof.units import format_bytes_per_s, format_memory, format_value

REFRESH_S = 1.0
PLAIN_EVERY_S = 60.0
MAX_DEVICES = 3
WIDE = 120
_HEAD = ("host", "CPU", "anon", "file", "shmem", "swap", "writes", "lag", "samples", "gaps", "state")
_MOST_CHARS = {"host": (14, 24), "writes": (18, 48), "state": (12, 30)}
"""At most so many on a narrow and on a wide terminal; a trouble is printed whole above the table."""
_NOTHING_AT_TIMES = frozenset({"shmem", "swap"})


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
        self._console.print(escape(printable(text)), highlight=False, soft_wrap=True)


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
            live.update(live_table(observer.lines(), console.width), refresh=True)
        live.update(live_table(observer.lines(), console.width), refresh=True)


def _show_lines(observer: LiveObserver, console: Console, over: threading.Event) -> None:
    while not over.wait(PLAIN_EVERY_S):
        for line in observer.lines():
            named = zip(_HEAD[1:], cells(line)[1:], strict=True)
            console.print(
                escape(printable(f"{line.host}: " + ", ".join(f"{n} {c}" for n, c in named))),
                highlight=False,
                soft_wrap=True,
            )


def live_table(lines: Sequence[LiveLine], width: int) -> RichTable:
    """Return a row a host; on a narrow terminal without what is nothing on every host."""
    rows = [dict(zip(_HEAD, cells(line, MAX_DEVICES if width >= WIDE else 1), strict=True)) for line in lines]
    heads = [name for name in _HEAD if width >= WIDE or _is_told(name, rows)]
    table = RichTable(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for name in heads:
        least = None if name in _MOST_CHARS else max(len(text) for text in (name, *(r[name] for r in rows)))
        most = _MOST_CHARS[name][width >= WIDE] if least is None else None
        table.add_column(name, no_wrap=True, overflow="ellipsis", min_width=least, max_width=most)
    for row in rows:
        table.add_row(*(escape(printable(row[name])) for name in heads))
    return table


def _is_told(name: str, rows: Sequence[dict[str, str]]) -> bool:
    if name in _NOTHING_AT_TIMES:
        return any(row[name] not in ("0 B", "–") for row in rows)
    return name != "samples"


def cells(line: LiveLine, devices: int = MAX_DEVICES) -> tuple[str, ...]:
    """Return the texts of a line's columns, with so many of the devices that write most."""
    writes = list(line.write_bytes_per_s.items())[:devices]
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
