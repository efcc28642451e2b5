"""Frames → rows of tables, and the events that only a sequence of frames shows.

What a frame does not hold is missing in its rows, never 0: a denied, absent, failed or unreadable reading
leaves its columns out and is named once.
"""

from dataclasses import dataclass, field, fields, is_dataclass

from leapprof.errors import ParseError
from leapprof.ingest.boots import BootTracker
from leapprof.ingest.builder import TableBuilder
from leapprof.ingest.chain import chain_row
from leapprof.ingest.columns import RESET_COLUMNS, TABLES
from leapprof.ingest.lives import LifeTracker
from leapprof.ingest.sections import process_name, section_text
from leapprof.model import Event, Frame, ReadStatus, Section, Table
from leapprof.probes import PROBES, Probe
from leapprof.probes.diskstats import DiskCounters

BOOT_ID_PATH = "/proc/sys/kernel/random/boot_id"

Row = dict[str, int | None]

_HOST_PROBES = {probe.section: probe for probe in PROBES if probe.scope == "host"}
_SCOPED_PROBES = {(probe.scope, probe.file): probe for probe in PROBES if probe.scope != "host"}
_PER_TICK = frozenset(probe.section for probe in PROBES if probe.scope == "host" and probe.every_ticks == 1)
_CHILD_COLUMNS = frozenset(c for c in TABLES["nodeos"].integers if c.startswith("child_"))


@dataclass(slots=True, kw_only=True)
class _Tick:
    """What one frame holds, until its rows are added."""

    host: Row = field(default_factory=dict)
    devices: dict[str, DiskCounters] = field(default_factory=dict)
    processes: dict[str, dict[tuple[int, int], Row]] = field(default_factory=dict)
    alive: dict[str, tuple[int, int]] = field(default_factory=dict)
    cgroups: dict[str, Row] = field(default_factory=dict)
    children: dict[str, Row] = field(default_factory=dict)
    nodeos_devices: dict[tuple[str, str], Row] = field(default_factory=dict)
    threads: dict[tuple[str, str], Row] = field(default_factory=dict)
    answers: dict[str, dict[str, str | None]] = field(default_factory=dict)
    boot_id: str | None = None
    is_whole: bool = False


# Names of fields and columns by kind of value: fields() costs more than a merge.
_COLUMNS: dict[tuple[type, str], tuple[tuple[str, str], ...]] = {}


def _columns_of(value: object, prefix: str) -> tuple[tuple[str, str], ...]:
    key = (type(value), prefix)
    columns = _COLUMNS.get(key)
    if columns is None and is_dataclass(value):
        columns = _COLUMNS[key] = tuple((f.name, prefix + f.name) for f in fields(value))
    return columns or ()


def _merge(row: Row, value: object, prefix: str = "") -> None:
    """Put the fields of a parsed value into a row; a None leaves the column as it is."""
    for name, column in _columns_of(value, prefix):
        item = getattr(value, name)
        if item is not None:
            row[column] = item


class FrameIngest:
    """Turns frames, in the order in which they came, into rows and events.

    Args:
        boot: number of the first frame's boot within the recording.
        boot_id: its id, when known.

    Attributes:
        unreadable: section (without pid) → why it could not be parsed, first time.
    """

    def __init__(self, *, boot: int = 0, boot_id: str | None = None) -> None:
        """Start without rows."""
        self.unreadable: dict[str, str] = {}
        self._builders = {name: TableBuilder(name) for name in TABLES}
        self._boots = BootTracker(boot, boot_id)
        self._lives = LifeTracker()
        self._events: list[Event] = []
        self._notes: dict[ReadStatus, set[str]] = {ReadStatus.DENIED: set(), ReadStatus.ABSENT: set()}
        self._seen: set[str] = set()
        self._device_names: dict[str, str] = {}
        self._last: dict[tuple[str, ...], Row] = {}
        self._cpus: int | None = None

    @property
    def boot(self) -> int:
        """Return the number of the last frame's boot."""
        return self._boots.boot

    @property
    def boot_id(self) -> str | None:
        """Return the id of the last frame's boot, when known."""
        return self._boots.boot_id

    @property
    def denied(self) -> tuple[str, ...]:
        """Return the readings that were refused, e.g. ``nodeos/eos/io``, sorted."""
        return tuple(sorted(self._notes[ReadStatus.DENIED]))

    @property
    def absent(self) -> tuple[str, ...]:
        """Return the readings that the host does not have, sorted."""
        return tuple(sorted(self._notes[ReadStatus.ABSENT] - self._seen))

    def events(self) -> tuple[Event, ...]:
        """Return the events so far, in the order in which they were seen."""
        return tuple(self._events)

    def tables(self) -> dict[str, Table]:
        """Return the tables that have rows."""
        return {name: builder.table() for name, builder in self._builders.items() if builder.rows}

    def drain(self) -> dict[str, Table]:
        """Return the tables and forget their rows; counters, boots and events go on."""
        tables = self.tables()
        self._builders = {name: TableBuilder(name) for name in TABLES}
        return tables

    def add(self, frame: Frame) -> None:
        """Add the rows of one frame."""
        tick = _Tick()
        for section in frame.sections:
            self._take(tick, section)
        event = self._boots.add(frame, tick.boot_id)
        if event is not None:
            self._events.append(event)
            if event.kind == "reboot":
                self._last.clear()
        self._follow(frame, tick)
        self._add_host(frame, tick)
        self._add_devices(frame, tick)
        self._add_nodeos(frame, tick)

    # -- reading sections ----------------------------------------------------------------------------

    def _take(self, tick: _Tick, section: Section) -> None:
        name = section.name
        probe = _HOST_PROBES.get(name)
        if probe is not None:
            tick.is_whole = tick.is_whole or name in _PER_TICK
            value = self._parsed(section, probe, name)
            if name == "/proc/diskstats":
                tick.devices = value if isinstance(value, dict) else {}
            elif value is not None:
                _merge(tick.host, value, probe.prefix)
        elif name == BOOT_ID_PATH:
            text = section_text(section)
            tick.boot_id = text.strip()[:64] or None if text is not None else None
        elif name.startswith(("nodeos/", "child/")):
            self._take_process(tick, section)
        elif name.startswith("cgroup/"):
            self._take_cgroup(tick, section)
        elif name.startswith("http/"):
            nodeos_id, slash, path = name[len("http/") :].partition("/")
            tick.answers.setdefault(nodeos_id, {})[slash + path] = section_text(section)

    def _parsed(self, section: Section, probe: Probe, note: str) -> object | None:
        """Return the parsed value; None, with a note, when there is none."""
        text = section_text(section)
        if text is None:
            if section.status in self._notes:
                self._notes[section.status].add(note)
            return None
        self._seen.add(note)
        try:
            return probe.parse(text)
        except ParseError as error:
            self.unreadable.setdefault(note, str(error))
            return None

    def _take_process(self, tick: _Tick, section: Section) -> None:
        name = process_name(section.name)
        probe = _SCOPED_PROBES.get((name.scope, name.file)) if name else None
        if name is None or probe is None:
            return
        value = self._parsed(section, probe, f"{name.scope}/{name.id}/{name.file}")
        if value is None:
            return
        if isinstance(value, dict):
            for thread, counters in value.items():
                _merge(tick.threads.setdefault((name.id, thread), {}), counters)
        elif name.scope == "child":
            _add_child(tick.children.setdefault(name.id, {}), value, probe.prefix)
        else:
            rows = tick.processes.setdefault(name.id, {})
            _merge(rows.setdefault((name.pid, name.start_ticks), {}), value)

    def _take_cgroup(self, tick: _Tick, section: Section) -> None:
        _, nodeos_id, file = [*section.name.split("/", 2), "", ""][:3]
        probe = _SCOPED_PROBES.get(("cgroup", file))
        value = self._parsed(section, probe, section.name) if probe else None
        if isinstance(value, dict):
            for device, counters in value.items():
                row: Row = {}
                _merge(row, counters)
                # The first wins: of version 1 the agent sends the recursive file before the plain one.
                known = tick.nodeos_devices.get((nodeos_id, device), {})
                tick.nodeos_devices[nodeos_id, device] = row | known
        elif value is not None:
            _merge(tick.cgroups.setdefault(nodeos_id, {}), value)

    # -- adding rows ---------------------------------------------------------------------------------

    def _row(self, table: str, frame: Frame, texts: dict[str, str | None], row: Row) -> None:
        self._builders[table].add(
            texts,
            row
            | {
                "seq": frame.seq,
                "boottime_ns": frame.boottime_ns,
                "wall_ns": frame.wall_ns,
                "boot": self._boots.boot,
            },
        )
        self._check_resets(table, frame, texts, row)

    def _check_resets(self, table: str, frame: Frame, texts: dict[str, str | None], row: Row) -> None:
        key = (table, *(text or "" for text in texts.values()))
        last = self._last.setdefault(key, {})
        fell = []
        for column in RESET_COLUMNS[table]:
            value = row.get(column)
            if value is not None:
                if value < (last.get(column) or 0):
                    fell.append(column)
                last[column] = value
        if fell:
            self._event(frame, "counter-reset", "/".join(key[1:]), f"went down: {', '.join(sorted(fell))}")

    def _event(self, frame: Frame, kind: str, subject: str, detail: str) -> None:
        self._events.append(
            Event(
                boottime_ns=frame.boottime_ns,
                wall_ns=frame.wall_ns,
                kind=kind,
                subject=subject,
                detail=detail,
            )
        )

    def _follow(self, frame: Frame, tick: _Tick) -> None:
        """Note starts, stops and restarts; the counters of a new process start anew."""
        tick.alive = {
            nodeos_id: max(rows, key=lambda identity: identity[1])
            for nodeos_id, rows in tick.processes.items()
        }
        if not (tick.is_whole or tick.alive):
            return
        for change in self._lives.add(tick.alive):
            self._event(frame, change.kind, change.id, change.detail)
            for key in [k for k in self._last if k[0] not in ("host", "device") and k[1] == change.id]:
                del self._last[key]

    def _add_host(self, frame: Frame, tick: _Tick) -> None:
        if not tick.host:
            return
        cpus = tick.host.get("cpus_online")
        if cpus is not None:
            if self._cpus not in (None, cpus):
                self._event(frame, "cpu-count-changed", "", f"{self._cpus} CPUs online before, {cpus} now")
            self._cpus = cpus
        row: Row = {
            "agent_cpu_ns_total": frame.agent_cpu_ns,
            "agent_rss_bytes": frame.agent_rss_bytes,
            "deadline_ns": frame.deadline_ns,
            "frames_dropped_total": frame.dropped,
        }
        self._row("host", frame, {}, row | tick.host)

    def _add_devices(self, frame: Frame, tick: _Tick) -> None:
        for name, counters in tick.devices.items():
            self._device_names[counters.major_minor] = name
            row: Row = {}
            _merge(row, counters)
            self._row("device", frame, {"device": name}, row)

    def _add_nodeos(self, frame: Frame, tick: _Tick) -> None:
        for nodeos_id in sorted(tick.alive):
            pid, start_ticks = tick.alive[nodeos_id]
            row = tick.processes[nodeos_id][pid, start_ticks]
            row |= {"pid": pid, "start_ticks": start_ticks}
            row |= tick.cgroups.get(nodeos_id, {})
            children = tick.children.get(nodeos_id, {})
            row |= {column: value for column, value in children.items() if column in _CHILD_COLUMNS}
            self._row("nodeos", frame, {"nodeos": nodeos_id, "stage": None}, row)
        for (nodeos_id, number), row in tick.nodeos_devices.items():
            device = self._device_names.get(number, number)
            self._row("nodeos_device", frame, {"nodeos": nodeos_id, "device": device}, row)
        for (nodeos_id, thread), row in tick.threads.items():
            self._row("thread", frame, {"nodeos": nodeos_id, "thread": thread}, row)
        for nodeos_id, answers in tick.answers.items():
            self._row("chain", frame, {"nodeos": nodeos_id}, chain_row(answers, frame.wall_ns))


def _add_child(row: Row, value: object, prefix: str) -> None:
    """Add the numbers of one child to the sum of all children of its nodeos."""
    for name, column in _columns_of(value, prefix):
        item = getattr(value, name)
        if isinstance(item, int):
            row[column] = (row.get(column) or 0) + item
