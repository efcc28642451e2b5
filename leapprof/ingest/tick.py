"""One frame's sections, parsed and gathered by what they are about; what could not be read is noted."""

from dataclasses import dataclass, field, fields, is_dataclass

from leapprof.errors import ParseError
from leapprof.ingest.chain import server_of
from leapprof.ingest.sections import MAX_ID_CHARS, ProcessName, process_name, section_text
from leapprof.ingest.services import Options, config_options, server_version
from leapprof.ingest.smart import SmartRow, is_smart, merged, smart_row
from leapprof.model import Frame, ReadStatus, Section
from leapprof.nodeos.privacy import allowed_option_names
from leapprof.nodeos.told import shown_options, told_options
from leapprof.probes import PROBES, Probe
from leapprof.probes.cmdline import command_options, parse_cmdline
from leapprof.probes.diskstats import DiskCounters
from leapprof.probes.pid_stat import PidStat
from leapprof.probes.text import MAX_INTEGER

BOOT_ID_PATH = "/proc/sys/kernel/random/boot_id"

LOG_COMMAND = "nodeos-log"
"""Name of the command that an operator may allow to print a log; with several nodeos, a dash and an id follow."""

Row = dict[str, int | None]

_ENDED_STATES = frozenset({"Z", "X", "x"})
"""Zombie and dead (proc(5)): the process has ended, though nobody has waited for it yet."""
_MAX_REASON_BYTES = 200
_MAX_NOTES = 1000
_MAX_NODEOS = 200
"""Processes of nodeos that one recording follows; frames that name more are not believed."""

_HOST_PROBES = {probe.section: probe for probe in PROBES if probe.scope == "host"}
_SCOPED_PROBES = {(probe.scope, probe.file): probe for probe in PROBES if probe.scope != "host"}
_PER_TICK = frozenset(probe.section for probe in PROBES if probe.scope == "host" and probe.every_ticks == 1)


@dataclass(slots=True, kw_only=True)
class Tick:
    """What one frame holds, until its rows are added."""

    host: Row = field(default_factory=dict)
    devices: dict[str, DiskCounters] = field(default_factory=dict)
    processes: dict[str, dict[tuple[int, int], Row]] = field(default_factory=dict)
    alive: dict[str, tuple[int, int]] = field(default_factory=dict)
    ended: set[tuple[int, int]] = field(default_factory=set)
    cgroups: dict[str, Row] = field(default_factory=dict)
    children: dict[str, Row] = field(default_factory=dict)
    nodeos_devices: dict[tuple[str, str], Row] = field(default_factory=dict)
    threads: dict[tuple[str, str], Row] = field(default_factory=dict)
    answers: dict[str, dict[str, str | None]] = field(default_factory=dict)
    smart: dict[str, SmartRow] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    options: dict[tuple[str, str], Options] = field(default_factory=dict)
    logs: dict[tuple[str, int], str] = field(default_factory=dict)
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


def merge(row: Row, value: object, prefix: str = "") -> None:
    """Put the fields of a parsed value into a row; a None leaves the column as it is."""
    for name, column in _columns_of(value, prefix):
        item = getattr(value, name)
        if item is not None:
            row[column] = item


class SectionReader:
    """Parses frames, and remembers what it could not read.

    Attributes:
        unreadable: section (without pid) → why it could not be parsed, first time.
    """

    def __init__(self) -> None:
        """Start without notes."""
        self.unreadable: dict[str, str] = {}
        self._notes: dict[ReadStatus, set[str]] = {ReadStatus.DENIED: set(), ReadStatus.ABSENT: set()}
        self._seen: set[str] = set()
        self._nodeos_ids: set[str] = set()
        self._takers = {
            "nodeos": self._take_process,
            "child": self._take_process,
            "cgroup": self._take_cgroup,
            "http": self._take_answer,
            "config": self._take_config,
            "command": self._take_command,
        }

    @property
    def denied(self) -> tuple[str, ...]:
        """Return the readings that were refused, e.g. ``nodeos/eos/io``, sorted."""
        return tuple(sorted(self._notes[ReadStatus.DENIED]))

    @property
    def absent(self) -> tuple[str, ...]:
        """Return the readings that the host does not have, sorted."""
        return tuple(sorted(self._notes[ReadStatus.ABSENT] - self._seen))

    def read(self, frame: Frame) -> Tick:
        """Return what the frame holds."""
        tick = Tick()
        for section in frame.sections:
            self._take(tick, section)
        return tick

    def note(self, name: str, reason: str) -> None:
        """Remember why a reading could not be taken; the first reason stays."""
        if len(self.unreadable) < _MAX_NOTES:
            self.unreadable.setdefault(name, reason)

    def _take(self, tick: Tick, section: Section) -> None:
        if section.name.startswith("/"):
            self._take_host(tick, section)
            return
        scope, _, rest = section.name.partition("/")
        take = self._takers.get(scope)
        if take is not None and self._is_followed(rest.partition("/")[0]):
            take(tick, section)

    def _is_followed(self, nodeos_id: str) -> bool:
        """Return whether this is one of the nodeos, or names of commands, that are followed."""
        if len(self._nodeos_ids) < _MAX_NODEOS and len(nodeos_id) <= MAX_ID_CHARS:
            self._nodeos_ids.add(nodeos_id)
        return nodeos_id in self._nodeos_ids

    def _take_host(self, tick: Tick, section: Section) -> None:
        name = section.name
        probe = _HOST_PROBES.get(name)
        if probe is not None:
            tick.is_whole = tick.is_whole or name in _PER_TICK
            value = self._parsed(section, probe, name)
            if name == "/proc/diskstats":
                tick.devices = value if isinstance(value, dict) else {}
            elif value is not None:
                merge(tick.host, value, probe.prefix)
        elif name == BOOT_ID_PATH:
            text = section_text(section)
            tick.boot_id = text.strip()[:64] or None if text is not None else None

    def _parsed(self, section: Section, probe: Probe, note: str) -> object | None:
        """Return the parsed value; None, with a note, when there is none."""
        text = section_text(section)
        if text is None:
            if section.status in self._notes:
                self._notes[section.status].add(note)
            else:
                self.note(note, section.text[:_MAX_REASON_BYTES].decode("utf-8", "replace"))
            return None
        self._seen.add(note)
        try:
            return probe.parse(text)
        except ParseError as error:
            self.note(note, str(error))
            return None

    def _take_process(self, tick: Tick, section: Section) -> None:
        name = process_name(section.name)
        if name is None:
            return
        if name.scope == "nodeos" and name.file == "cmdline":
            words = parse_cmdline(section_text(section) or "")
            if words:
                tick.options[name.id, "command line"] = command_options(words)
            return
        if name.scope == "nodeos" and name.file == "log":
            self._take_log(tick, section, name)
            return
        probe = _SCOPED_PROBES.get((name.scope, name.file))
        value = self._parsed(section, probe, f"{name.scope}/{name.id}/{name.file}") if probe else None
        if probe is not None and value is not None:
            _gather(tick, name, value, probe.prefix)

    def _take_log(self, tick: Tick, section: Section, name: ProcessName) -> None:
        text = section_text(section)
        if text is not None:
            tick.logs[name.id, name.start_ticks] = text
            options = told_options(text)
            if options is not None:
                tick.options[name.id, "log"] = shown_options(options, allowed_option_names())
        elif section.status in self._notes:
            self._notes[section.status].add(f"nodeos/{name.id}/log")

    def _take_command(self, tick: Tick, section: Section) -> None:
        """Take what an allowed command printed: ``nodeos-log``, ``nodeos-log-<id>`` or ``smart_<device>``."""
        if is_smart(section.name):
            self._take_smart(tick, section)
            return
        name, text = section.name.partition("/")[2], section_text(section)
        if text is not None and name.startswith(LOG_COMMAND):
            tick.logs[name[len(LOG_COMMAND) :].removeprefix("-"), 0] = text.partition("\n")[2]

    def _take_config(self, tick: Tick, section: Section) -> None:
        text = section_text(section)
        if text is not None:
            place = (section.name.partition("/")[2], "config file")
            tick.options[place] = config_options(text, allowed_option_names())

    def _take_smart(self, tick: Tick, section: Section) -> None:
        try:
            row = smart_row(section.name, section_text(section) or "")
        except ParseError as error:
            self.note(section.name, str(error))
            return
        device = row.texts["device"] or ""
        tick.smart[device] = merged(tick.smart.get(device), row)

    def _take_answer(self, tick: Tick, section: Section) -> None:
        nodeos_id, slash, path = section.name[len("http/") :].partition("/")
        text = section_text(section)
        tick.answers.setdefault(nodeos_id, {})[slash + path] = text
        version = server_version(server_of(text)) if text else None
        if version:
            tick.versions[nodeos_id] = version

    def _take_cgroup(self, tick: Tick, section: Section) -> None:
        _, nodeos_id, file = [*section.name.split("/", 2), "", ""][:3]
        probe = _SCOPED_PROBES.get(("cgroup", file))
        value = self._parsed(section, probe, section.name) if probe else None
        if isinstance(value, dict):
            for device, counters in value.items():
                row: Row = {}
                merge(row, counters)
                # The first wins: of version 1 the agent sends the recursive file before the plain one.
                known = tick.nodeos_devices.get((nodeos_id, device), {})
                tick.nodeos_devices[nodeos_id, device] = row | known
        elif value is not None:
            merge(tick.cgroups.setdefault(nodeos_id, {}), value)


def _gather(tick: Tick, name: ProcessName, value: object, prefix: str) -> None:
    """Put a value of a process where it belongs: thread rows, the sum of children, or the process's row."""
    if isinstance(value, dict):
        for thread, counters in value.items():
            merge(tick.threads.setdefault((name.id, thread), {}), counters)
    elif name.scope == "child":
        _add_child(tick.children.setdefault(name.id, {}), value, prefix)
    else:
        identity = (name.pid, name.start_ticks)
        if isinstance(value, PidStat) and value.state in _ENDED_STATES:
            tick.ended.add(identity)
        merge(tick.processes.setdefault(name.id, {}).setdefault(identity, {}), value)


def _add_child(row: Row, value: object, prefix: str) -> None:
    """Add the numbers of one child to the sum of all children of its nodeos."""
    for name, column in _columns_of(value, prefix):
        item = getattr(value, name)
        if isinstance(item, int):
            row[column] = min((row.get(column) or 0) + item, MAX_INTEGER)
