"""Frames → rows of tables, and the events that only a sequence of frames shows.

What a frame does not hold is missing in its rows, never 0: a denied, absent, failed or unreadable reading
leaves its columns out and is named once.
"""

from dataclasses import replace

from leapprof.ingest.boots import BootTracker
from leapprof.ingest.builder import TableBuilder
from leapprof.ingest.chain import chain_row
from leapprof.ingest.changes import ChangeTracker
from leapprof.ingest.columns import RESET_COLUMNS, TABLES
from leapprof.ingest.lives import LifeTracker
from leapprof.ingest.log_events import LogTracker
from leapprof.ingest.tick import Row, SectionReader, Tick, merge
from leapprof.model import Event, Frame, Table

MAX_SUBJECTS = 20_000
"""Devices, threads and processes that one recording follows; a host that names more is not believed."""
MAX_EVENTS = 10_000
_MAX_DETAIL_CHARS = 500
_CHILD_COLUMNS = frozenset(c for c in TABLES["nodeos"].integers if c.startswith("child_"))


class FrameIngest:
    """Turns frames, in the order in which they came, into rows and events.

    Args:
        boot: number of the first frame's boot within the recording.
        boot_id: its id, when known.
    """

    def __init__(self, *, boot: int = 0, boot_id: str | None = None) -> None:
        """Start without rows."""
        self._reader = SectionReader()
        self._builders = {name: TableBuilder(name) for name in TABLES}
        self._boots = BootTracker(boot, boot_id)
        self._lives = LifeTracker()
        self._changes = ChangeTracker()
        self._logs = LogTracker()
        self._events: list[Event] = []
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
        return self._reader.denied

    @property
    def absent(self) -> tuple[str, ...]:
        """Return the readings that the host does not have, sorted."""
        return self._reader.absent

    @property
    def unreadable(self) -> dict[str, str]:
        """Return section (without pid) → why it could not be parsed, first time."""
        return dict(self._reader.unreadable)

    def events(self) -> tuple[Event, ...]:
        """Return the events so far, in the order in which they were seen."""
        return tuple(self._events)

    @property
    def rows(self) -> int:
        """Return how many rows were not drained yet."""
        return sum(builder.rows for builder in self._builders.values())

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
        tick = self._reader.read(frame)
        event = self._boots.add(frame, tick.boot_id)
        if event is not None:
            self._keep(event)
            if event.kind == "reboot":
                self._last.clear()
        self._follow(frame, tick)
        for change in self._changes.add(tick.versions, tick.options):
            self._event(frame, change.kind, change.id, change.detail)
        for told in self._logs.add(frame, tick.logs, tick.alive):
            self._keep(told)
        self._add_host(frame, tick)
        self._add_devices(frame, tick)
        self._add_nodeos(frame, tick)
        for row in tick.smart.values():
            self._row("smart", frame, row.texts, dict(row.integers))

    def _row(self, table: str, frame: Frame, texts: dict[str, str | None], row: Row) -> None:
        key = (table, *(text or "" for text in texts.values()))
        if key not in self._last and len(self._last) >= MAX_SUBJECTS:
            self._reader.note(table, f"more than {MAX_SUBJECTS} names: further ones are left out")
            return
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
        self._check_resets(key, frame, row)

    def _check_resets(self, key: tuple[str, ...], frame: Frame, row: Row) -> None:
        last = self._last.setdefault(key, {})
        fell = []
        for column in RESET_COLUMNS[key[0]]:
            value = row.get(column)
            if value is not None:
                if value < (last.get(column) or 0):
                    fell.append(column)
                last[column] = value
        if fell:
            self._event(frame, "counter-reset", "/".join(key[1:]), f"went down: {', '.join(sorted(fell))}")

    def _event(self, frame: Frame, kind: str, subject: str, detail: str) -> None:
        self._keep(
            Event(
                boottime_ns=frame.boottime_ns,
                wall_ns=frame.wall_ns,
                kind=kind,
                subject=subject,
                detail=detail,
            )
        )

    def _keep(self, event: Event) -> None:
        if len(self._events) < MAX_EVENTS:
            self._events.append(replace(event, detail=event.detail[:_MAX_DETAIL_CHARS]))
        else:
            self._reader.note("events", f"more than {MAX_EVENTS}: further ones are left out")

    def _follow(self, frame: Frame, tick: Tick) -> None:
        """Note starts, stops and restarts; the counters of a new process start anew."""
        for nodeos_id, rows in tick.processes.items():
            living = [identity for identity in rows if identity not in tick.ended]
            if living:
                tick.alive[nodeos_id] = max(living, key=lambda identity: identity[1])
        if not (tick.is_whole or tick.alive):
            return
        for change in self._lives.add(tick.alive):
            self._event(frame, change.kind, change.id, change.detail)
            for key in [k for k in self._last if k[0] not in ("host", "device") and k[1] == change.id]:
                del self._last[key]

    def _add_host(self, frame: Frame, tick: Tick) -> None:
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

    def _add_devices(self, frame: Frame, tick: Tick) -> None:
        for name, counters in tick.devices.items():
            if len(self._device_names) < MAX_SUBJECTS:
                self._device_names[counters.major_minor] = name
            row: Row = {}
            merge(row, counters)
            self._row("device", frame, {"device": name}, row)

    def _add_nodeos(self, frame: Frame, tick: Tick) -> None:
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
