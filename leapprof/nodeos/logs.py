"""Lines of nodeos's log: blocks, starts, stops, snapshots, replays, and the bare lines of chainbase.

Sources: libraries/libfc console_appender.cpp (form of a line), plugins/producer_plugin and libraries/chain
controller.cpp (block lines: EOSIO 2 to Leap 3.1, Leap 3.2 to 5.0, Spring 1.0.0, Spring 1.0.2 and later),
chainbase pinnable_mapped_file.cpp (lines on stderr without time or level). Lines are known by their message
alone: the file and function that print them moved between versions. Lines that may hold keys or addresses
(``Non-default options``) are recognised and their text is dropped.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

MAX_LINE_CHARS = 8_192

# A journal puts "Nov 30 15:10:02 host nodeos[123]: " or an ISO time in front; nodeos itself "<6>" under systemd.
_LINE = re.compile(
    r"(?:[^\[\]]{1,200}\[\d{1,10}\]: )?(?:<[3-7]>)?"
    r"(?P<level>[a-z]{3,8}) {1,3}(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}) (?P<thread>\S{1,32}) +"
    r"(?P<where>\S{1,64}:\d{1,6}) +(?P<method>\S{1,64}) +\] ?(?P<message>.*)\Z",
    re.ASCII | re.DOTALL,
)
_JOURNAL = re.compile(r"[^\[\]]{1,200}\[\d{1,10}\]: (?:<[3-7]>)?", re.ASCII)
_BLOCK = re.compile(
    r"(?P<kind>Received|Produced) block (?P<id>[0-9a-f]{16})\.\.\. #(?P<number>\d{1,10})"
    r" @ (?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}) signed by (?P<producer>[a-z1-5.]{1,13})"
    r" \[trxs: (?P<transactions>\d{1,10}), lib: (?P<lib>\d{1,10})"
    r"(?:, conf(?:irmed)?: (?P<confirmed>\d{1,10}))?"
    r"(?:, net: (?P<net>\d{1,18}), cpu: (?P<cpu>\d{1,18})(?: us)?, elapsed: (?P<elapsed>\d{1,18})(?: us)?"
    r", (?:applying |producing )?time: (?P<taken>\d{1,18})(?: us)?)?"
    r"(?:, latency: (?P<latency>-?\d{1,15}) ms)?\]",
    re.ASCII,
)


class LineKind(StrEnum):
    """What a line of the log tells of the life of a nodeos."""

    VERSION = "version"
    INITIALIZING = "initializing"
    OPTIONS = "options"
    SNAPSHOT_BEGIN = "snapshot-begin"
    SNAPSHOT_PROGRESS = "snapshot-progress"
    SNAPSHOT_END = "snapshot-end"
    REPLAYED = "replayed"
    CHAIN_STARTED = "chain-started"
    PRELOADING = "preloading"
    WRITING = "writing"
    SOFT_DIRTY = "soft-dirty"
    PEERS = "peers"
    SHUTDOWN = "shutdown"
    EXITED = "exited"
    DIRTY = "dirty"
    OUT_OF_MEMORY = "out-of-memory"
    STATE_FULL = "state-full"
    DISK_FULL = "disk-full"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """One line; all but the message is None for a bare line (chainbase, traces of exceptions).

    Attributes:
        level: info, warn, error, debug.
        time_ms: milliseconds since the epoch, UTC.
        thread: name of the thread.
        message: the rest.
    """

    level: str | None
    time_ms: int | None
    thread: str | None
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockLine:
    """A block that was received or produced; what a version does not print is None.

    Attributes:
        is_produced: by this node, else received.
        id: 16 hex digits of its id.
        number, lib: its number, the last irreversible one.
        time_ms: its own time, milliseconds since the epoch.
        logged_ms: when the line was written; None for a line without time.
        producer: account.
        transactions, confirmed, net_bytes: counts and bytes.
        cpu_us: billed; elapsed_us: spent on transactions; taken_us: in all.
        latency_ms: now minus the block's time; can be negative.
    """

    is_produced: bool
    id: str
    number: int
    lib: int
    time_ms: int
    logged_ms: int | None
    producer: str
    transactions: int
    confirmed: int | None
    net_bytes: int | None
    cpu_us: int | None
    elapsed_us: int | None
    taken_us: int | None
    latency_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeLine:
    """A line about starting, stopping, loading or writing.

    Attributes:
        kind: see LineKind.
        logged_ms: when it was written; None for a bare line.
        version: of VERSION lines.
        percent: of progress lines; 100 also for "complete".
        is_complete: a file is loaded or written to its end ("complete.").
        seconds: of SNAPSHOT_END and REPLAYED.
        blocks: replayed blocks, or the head block of CHAIN_STARTED.
        peers_in, peers_out: of PEERS.
        is_supported: of SOFT_DIRTY.
    """

    kind: LineKind
    logged_ms: int | None
    version: str | None = None
    percent: int | None = None
    is_complete: bool = False
    seconds: float | None = None
    blocks: int | None = None
    peers_in: int | None = None
    peers_out: int | None = None
    is_supported: bool | None = None


_LIFE: tuple[tuple[LineKind, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.ASCII))
    for kind, pattern in (
        (LineKind.VERSION, r"nodeos version (?P<version>\S{1,64})"),
        (LineKind.INITIALIZING, r"initializing chain plugin"),
        (LineKind.OPTIONS, r"Non-default options:"),
        (LineKind.SNAPSHOT_BEGIN, r"Starting initialization from snapshot"),
        (LineKind.SNAPSHOT_PROGRESS, r"Snapshot initialization (?P<percent>\d{1,3})% complete"),
        (
            LineKind.SNAPSHOT_END,
            r"Finished initialization from snapshot(?: \(\D{1,40}(?P<seconds>\d{1,9})s\))?",
        ),
        (
            LineKind.REPLAYED,
            r"replayed (?P<blocks>\d{1,10}) blocks in (?P<seconds>\d{1,9}(?:\.\d{1,9})?) seconds",
        ),
        (LineKind.CHAIN_STARTED, r"Blockchain started; head block is #(?P<blocks>\d{1,10})"),
        (
            LineKind.PRELOADING,
            r'CHAINBASE: Preloading "state" database file, (?:(?P<percent>\d{1,3})% |this|complete)',
        ),
        (
            LineKind.WRITING,
            r'CHAINBASE: Writing "state" database file, (?:(?P<percent>\d{1,3})% |this|flushing|complete)',
        ),
        (
            LineKind.SOFT_DIRTY,
            r"CHAINBASE: Detect Soft-Dirty pagemap support: (?P<supported>OK|Not supported)",
        ),
        (
            LineKind.PEERS,
            r"p2p client connections: (?P<peers_in>\d{1,9})/\d{1,9}, peer connections: (?P<peers_out>\d{1,9})/",
        ),
        (LineKind.SHUTDOWN, r"appbase quit called|entered shutdown|shutdown\.\."),
        (LineKind.EXITED, r"nodeos successfully exiting|Interrupted, successfully exiting"),
        (
            LineKind.DIRTY,
            r'(?:\d{1,3} )?(?:\w{1,64}: )?[Dd]atabase dirty flag set|"state" database dirty flag set',
        ),
        (
            LineKind.OUT_OF_MEMORY,
            r"(?:\d{1,3} )?(?:\w{1,64}: )?(?:rethrow )?(?:Failed to map database state: )?Cannot allocate memory",
        ),
        (LineKind.STATE_FULL, r"Database has reached an unsafe level of usage|database memory exhausted"),
        (LineKind.DISK_FULL, r"Gracefully shutting down, exceeded file system configured threshold"),
    )
)
_COMPLETE = re.compile(r"CHAINBASE: \S+ \"state\" database file, complete")


def parse_line(text: str) -> LogLine:
    """Return the parts of one line; any text has at least a message."""
    text = text[:MAX_LINE_CHARS].rstrip("\r\n")
    found = _LINE.match(text)
    if found is None:
        return LogLine(level=None, time_ms=None, thread=None, message=_without_journal(text))
    return LogLine(
        level=found["level"],
        time_ms=_time_ms(found["time"]),
        thread=found["thread"],
        message=found["message"],
    )


def parse_event(text: str) -> BlockLine | LifeLine | None:
    """Return what one line of the log tells, or None when it is of no use."""
    line = parse_line(text)
    block = _BLOCK.match(line.message)
    if block is not None:
        return _block(block, line.time_ms)
    for kind, pattern in _LIFE:
        found = pattern.match(line.message)
        if found is not None:
            return _life(kind, found, line)
    return None


def _without_journal(text: str) -> str:
    found = _JOURNAL.match(text)
    return text[found.end() :] if found else text


def _time_ms(text: str) -> int | None:
    try:
        moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        return None
    return round(moment.timestamp() * 1000)


def _block(found: re.Match[str], logged_ms: int | None) -> BlockLine | None:
    time_ms = _time_ms(found["time"])
    if time_ms is None:
        return None
    return BlockLine(
        is_produced=found["kind"] == "Produced",
        id=found["id"],
        number=int(found["number"]),
        lib=int(found["lib"]),
        time_ms=time_ms,
        logged_ms=logged_ms,
        producer=found["producer"],
        transactions=int(found["transactions"]),
        confirmed=_optional(found["confirmed"]),
        net_bytes=_optional(found["net"]),
        cpu_us=_optional(found["cpu"]),
        elapsed_us=_optional(found["elapsed"]),
        taken_us=_optional(found["taken"]),
        latency_ms=_optional(found["latency"]),
    )


def _life(kind: LineKind, found: re.Match[str], line: LogLine) -> LifeLine:
    parts = found.groupdict()
    seconds, supported = parts.get("seconds"), parts.get("supported")
    complete = _COMPLETE.match(line.message) is not None
    return LifeLine(
        kind=kind,
        logged_ms=line.time_ms,
        version=parts.get("version"),
        percent=100 if complete else _optional(parts.get("percent")),
        is_complete=complete,
        seconds=None if seconds is None else float(seconds),
        blocks=_optional(parts.get("blocks")),
        peers_in=_optional(parts.get("peers_in")),
        peers_out=_optional(parts.get("peers_out")),
        is_supported=None if supported is None else supported == "OK",
    )


def _optional(text: str | None) -> int | None:
    return None if text is None else int(text)
