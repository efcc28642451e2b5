"""The plan: what the agent reads, how often, and which lines and option values may leave the host.

Its encoded form is text, one directive a line, fields separated by tabs, so that Python without any
library and a POSIX shell can both read it::

    leapprof-plan <TAB> 1
    interval_ms <TAB> 1000
    read <TAB> <every_ticks> <TAB> <path> [<TAB> <line prefix to keep>]...
    end

Fields hold no control characters; what does is refused here. The agent adds nothing of its own to a plan.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from leapprof.errors import ConfigError

PLAN_FORMAT = 1
MAX_PLAN_BYTES = 1 << 20

MATCH_KINDS = frozenset({"exe_name", "comm", "cmdline", "pid", "unit"})
_FILES_OF_A_PROCESS = "stat status io schedstat limits cgroup cmdline threads exe cwd log mountinfo"
PROCESS_FILES = frozenset(_FILES_OF_A_PROCESS.split())
MAX_PEEK_BYTES = 16
MAX_CONNECTIONS = 20_000
CGROUP_FILES = frozenset({"cpu.stat", "io.stat", "memory.stat", "memory.swap.current", "memory.current"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A file to read.

    Attributes:
        path: absolute; components may hold ``*``, expanded on the host, one section a file.
        every_ticks: period; 0 = in the first and in the last frame of the plan.
        keep: prefixes of the lines to keep; empty = all.
    """

    path: str
    every_ticks: int = 1
    keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A directory whose names are listed in the first and the last frame; section ``list:<path>``."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A symbolic link to resolve by one step, in the first and the last frame; section ``link:<path>``."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StatVfs:
    """A filesystem's size; section ``statvfs:<path>``, lines ``f_frsize 4096`` and the like."""

    path: str
    every_ticks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Peek:
    """The size of a file and a few of its bytes; section ``peek:<path>``, in the first and the last frame.

    Lines ``size N``, ``allocated N`` and ``bytes N N …`` (decimal, or ``bytes denied``).
    """

    path: str
    offset: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LogMark:
    """Text that a line of a log holds when it may leave the host; what stands before it stays there.

    Attributes:
        text: the beginning of the message.
        is_options: ``name = value`` pairs follow, of which those of allowed options leave.
    """

    text: str
    is_options: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """Which processes are nodeos.

    Attributes:
        id: name of what is matched, in section names.
        kind: exe_name, comm, cmdline (substring), pid or unit (systemd unit in the cgroup path).
        value: what to compare with.
    """

    id: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessFile:
    """A file below /proc/<pid> of each matched process.

    Attributes:
        name: one of PROCESS_FILES; ``threads`` is per-thread CPU summed by thread name, ``exe`` and
            ``cwd`` are resolved links, ``log`` is what was added to the file that standard error or output
            goes to: lines ``<time or -> TAB <message>`` that hold one of the plan's log marks.
        every_ticks: period; 0 = when the process is first seen and in the last frame.
        keep: prefixes of the lines to keep; empty = all.
    """

    name: str
    every_ticks: int = 1
    keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildFile:
    """The same for each living child of a matched process (children's children included)."""

    name: str
    every_ticks: int = 1
    keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupFile:
    """A file of the cgroup of each matched process, under its cgroup v2 name.

    On cgroup v1 the agent reads the nearest v1 file instead and names the section by it.
    """

    name: str
    every_ticks: int = 1
    keep: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpGet:
    """A GET to the HTTP server of a matched process; section ``http/<match_id><path>``.

    Attributes:
        address: ``host:port`` with a numeric host or ``localhost``, or the absolute path of a unix socket.
        keep: prefixes of the body's lines to keep; empty = all.
        max_bytes, timeout_s: bounds of one answer.
    """

    match_id: str
    address: str
    path: str
    every_ticks: int = 10
    keep: tuple[str, ...] = ()
    max_bytes: int = 262_144
    timeout_s: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigRead:
    """A nodeos config file; only the values of ``options`` leave the host, and never key-shaped ones.

    Section ``config/<match_id>``, lines ``<line number> TAB <option> TAB <value or nothing>``.

    Attributes:
        options: names whose values may leave; empty = the plan's allowed_options.
    """

    match_id: str
    path: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command that the operator allowed; runs without a shell in the first and in the last frame.

    Attributes:
        name: of its section, ``command/<name>``.
        argv: its words.
        is_log: it prints a log of nodeos: only lines with a log mark leave the host.
    """

    name: str
    argv: tuple[str, ...]
    is_log: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Connect:
    """TCP connections to make once, from the first frame on; section ``connect/<address>`` when all are made.

    Lines: ``family 4`` or 6, then ``<boottime_ns> <result>`` a try: nanoseconds, ``timeout``, ``name`` (it has
    no such address) or the name of the error, such as ``ECONNREFUSED``.

    Attributes:
        address: ``host:port``, IPv6 in brackets; a name is resolved on the host.
        family: 4, 6, or 0 for what the name gives first.
    """

    address: str
    count: int
    timeout_s: float
    interval_s: float = 0.0
    family: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that an agent is asked to do.

    Attributes:
        interval_ms: the tick.
        ticks: 0 = endless; 1 = a survey, after which the agent waits for the next plan.
        allowed_options: names of options whose values may leave the host (config files and command
            lines). Short options are listed by their letter, e.g. ``d``.
        scan_every_ticks: how often new processes are looked for.
        heartbeat_s: without a ``beat`` for so long the agent ends.
        send_every_ticks: so many frames are sent together; those in which something begins or ends, at once.
        queue_bytes: bound of the frames that wait for a stalled connection.
        spool: directory on the host, named ``leapprof-spool-<name>``, or None.
        spool_bytes: bound of the spool.
        read_bytes: bound of one reading.
        root: put before every path on the host; for tests.
    """

    interval_ms: int = 1000
    ticks: int = 0
    reads: tuple[Read, ...] = ()
    listings: tuple[Listing, ...] = ()
    links: tuple[Link, ...] = ()
    statvfs: tuple[StatVfs, ...] = ()
    peeks: tuple[Peek, ...] = ()
    log_marks: tuple[LogMark, ...] = ()
    matches: tuple[Match, ...] = ()
    process_files: tuple[ProcessFile, ...] = ()
    child_files: tuple[ChildFile, ...] = ()
    cgroup_files: tuple[CgroupFile, ...] = ()
    https: tuple[HttpGet, ...] = ()
    configs: tuple[ConfigRead, ...] = ()
    commands: tuple[Command, ...] = ()
    connects: tuple[Connect, ...] = ()
    allowed_options: tuple[str, ...] = ()
    scan_every_ticks: int = 10
    heartbeat_s: int = 60
    send_every_ticks: int = 1
    queue_bytes: int = 1 << 20
    spool: str | None = None
    spool_bytes: int = 64 << 20
    read_bytes: int = 262_144
    root: str = ""


def _refuse(problem: str) -> ConfigError:
    return ConfigError(problem, key="plan")


def encode_line(*fields: str | int) -> str:
    """Return one directive of a plan.

    Raises:
        ConfigError: a field holds a control character.
    """
    texts = [str(field) for field in fields]
    for text in texts:
        if any(ord(c) < 32 or ord(c) == 127 for c in text):
            raise _refuse(f"a control character in {text!r}")
    return "\t".join(texts)


def _check_absolute(paths: Iterable[str]) -> None:
    for path in paths:
        if not path.startswith("/"):
            raise _refuse(f"{path!r} is not an absolute path")


def _check_names(kind: str, names: Iterable[str], allowed: frozenset[str]) -> None:
    for name in names:
        if name not in allowed:
            raise _refuse(f"{kind} {name!r} is not one of {', '.join(sorted(allowed))}")


def _check_ids(ids: Iterable[str]) -> None:
    for name in ids:
        if not name or not all(c.isascii() and (c.isalnum() or c in "._@:-") for c in name):
            raise _refuse(f"{name!r} is not a plain name (letters, digits and . _ @ : -)")


def _check(plan: Plan) -> None:
    """Raise ConfigError where a plan asks for what no agent does."""
    if plan.interval_ms < 10 or min(plan.scan_every_ticks, plan.heartbeat_s, plan.send_every_ticks) < 1:
        raise _refuse("interval below 10 ms, or a period below 1")
    periods = [item.every_ticks for group in (plan.reads, plan.statvfs) for item in group]
    periods += [i.every_ticks for g in (plan.process_files, plan.child_files) for i in g]
    periods += [i.every_ticks for i in plan.cgroup_files] + [i.every_ticks for i in plan.https]
    if any(period < 0 for period in periods) or plan.ticks < 0:
        raise _refuse("a negative number of ticks")
    _check_absolute(item.path for item in plan.reads)
    _check_absolute(item.path for item in plan.statvfs)
    _check_absolute(item.path for item in plan.listings)
    _check_absolute([*(link.path for link in plan.links), *(peek.path for peek in plan.peeks)])
    if any(item.offset < 0 or not 0 < item.count <= MAX_PEEK_BYTES for item in plan.peeks):
        raise _refuse(f"a peek at more than {MAX_PEEK_BYTES} bytes")
    _check_absolute([*(c.path for c in plan.configs), *(http.path for http in plan.https)])
    if any(" " in http.path + http.address for http in plan.https):
        raise _refuse("a space in an HTTP path or address")
    _check_names("match kind", (match.kind for match in plan.matches), MATCH_KINDS)
    _check_names(
        "process file",
        [*(f.name for f in plan.process_files), *(f.name for f in plan.child_files)],
        PROCESS_FILES,
    )
    _check_names("cgroup file", (f.name for f in plan.cgroup_files), CGROUP_FILES)
    named = [m.id for m in plan.matches] + [h.match_id for h in plan.https]
    _check_ids([*named, *(c.match_id for c in plan.configs), *(c.name for c in plan.commands)])
    if any(not command.argv for command in plan.commands):
        raise _refuse("a command without words")
    if any(not 0 < c.count <= MAX_CONNECTIONS or c.timeout_s <= 0 for c in plan.connects):
        raise _refuse(f"no connection, more than {MAX_CONNECTIONS:,}, or no time for one")


def _settings(plan: Plan) -> list[str]:
    names = ("interval_ms", "ticks", "scan_every_ticks", "heartbeat_s", "queue_bytes", "read_bytes")
    lines = [encode_line(name, int(getattr(plan, name))) for name in (*names, "send_every_ticks")]
    if plan.root:
        lines.append(encode_line("root", plan.root))
    if plan.spool is not None:
        lines.append(encode_line("spool", plan.spool, plan.spool_bytes))
    lines += [encode_line("allow", option) for option in plan.allowed_options]
    return lines


def _host_lines(plan: Plan) -> list[str]:
    lines = [encode_line("read", r.every_ticks, r.path, *r.keep) for r in plan.reads]
    lines += [encode_line("list", 0, item.path) for item in plan.listings]
    lines += [encode_line("link", 0, item.path) for item in plan.links]
    lines += [encode_line("peek", 0, item.path, item.offset, item.count) for item in plan.peeks]
    return lines + [encode_line("statvfs", item.every_ticks, item.path) for item in plan.statvfs]


def _process_lines(plan: Plan) -> list[str]:
    groups: Sequence[tuple[str, Sequence[ProcessFile | ChildFile | CgroupFile]]] = (
        ("process", plan.process_files),
        ("child", plan.child_files),
        ("cgroup", plan.cgroup_files),
    )
    lines = [encode_line("match", m.id, m.kind, m.value) for m in plan.matches]
    lines += [encode_line(word, f.every_ticks, f.name, *f.keep) for word, files in groups for f in files]
    for h in plan.https:
        timeout_ms = round(h.timeout_s * 1000)
        lines.append(
            encode_line(
                "http", h.every_ticks, h.match_id, h.address, h.path, h.max_bytes, timeout_ms, *h.keep
            )
        )
    lines += [encode_line("config", c.match_id, c.path, *c.options) for c in plan.configs]
    for c in plan.connects:
        times_ms = round(c.interval_s * 1000), round(c.timeout_s * 1000)
        lines.append(encode_line("connect", c.address, c.count, *times_ms, c.family))
    lines += [encode_line("logmark", "options" if m.is_options else "line", m.text) for m in plan.log_marks]
    return lines + [
        encode_line("logcommand" if c.is_log else "command", c.name, *c.argv) for c in plan.commands
    ]


def encode_lines(lines: Sequence[str]) -> bytes:
    """Return directives as the agent takes them, with their first and last line.

    Raises:
        ConfigError: they are longer than MAX_PLAN_BYTES.
    """
    text = "\n".join([encode_line("leapprof-plan", PLAN_FORMAT), *lines, "end", ""])
    encoded = text.encode("utf-8", "surrogateescape")
    if len(encoded) > MAX_PLAN_BYTES:
        raise _refuse(f"longer than {MAX_PLAN_BYTES} bytes")
    return encoded


def encode_plan(plan: Plan) -> bytes:
    """Return a plan as the agent takes it.

    Raises:
        ConfigError: the plan asks for what no agent does, or holds a control character.
    """
    _check(plan)
    return encode_lines([*_settings(plan), *_host_lines(plan), *_process_lines(plan)])


def plan_message(encoded: bytes) -> bytes:
    """Return the message that hands an encoded plan to the agent."""
    return b"plan %d\n" % len(encoded) + encoded


BEAT_MESSAGE = b"beat\n"
END_MESSAGE = b"end\n"
