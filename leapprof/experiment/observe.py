"""What a host is like now: asked with the agent for gates and changes, read from the recorder's frames for guards."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from leapprof.agent.plan import HttpGet, Match, Plan, ProcessFile, Read, StatVfs, encode_plan
from leapprof.config.selector import parse_selector
from leapprof.errors import SourceError
from leapprof.ingest.chain import GET_INFO
from leapprof.ingest.rows import FrameIngest
from leapprof.ingest.survey import Survey
from leapprof.model import Frame, Nodeos, ReadStatus, Table
from leapprof.model.access import HostConfig, NodeosSelector
from leapprof.recorder.clock import Clock
from leapprof.recorder.link import AgentLink, choose_agent
from leapprof.recorder.session import survey_host
from leapprof.sources import Source, open_source

BLOCK_MS = 500
"""Antelope makes two blocks a second (config::block_interval_ms)."""
TEMPERATURES = "/sys/class/hwmon/hwmon*/temp*_input"
_MILLI = 1000.0
_MAX_CELSIUS = 200.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one frame says of a host and of one nodeos; None where it does not say.

    Attributes:
        is_up: nodeos runs.
        head_lag_blocks: half seconds between head block and the host's clock.
        disk_free_bytes: least of the filesystems below nodeos's directories.
    """

    wall_ns: int
    is_up: bool
    rss_bytes: int | None = None
    head_block: int | None = None
    head_lag_blocks: float | None = None
    mem_available_bytes: int | None = None
    swap_free_bytes: int | None = None
    disk_free_bytes: int | None = None
    temperature_celsius: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """A host as it was found.

    Attributes:
        nodeos: the one that the playbook means; None when it does not run.
        command_line: names of the options on its command line.
        others: ids of more nodeos that fit, so that none can be chosen.
        state_filesystem: below its state directory.
    """

    survey: Survey
    nodeos: Nodeos | None
    reading: Reading
    command_line: frozenset[str] = frozenset()
    others: tuple[str, ...] = ()
    state_filesystem: str | None = None

    @property
    def identity(self) -> str | None:
        """Return what tells this process from the one before and after it; None when none runs."""
        if self.nodeos is None:
            return None
        return f"{self.survey.host.boot_id}/{self.nodeos.pid}/{self.nodeos.start_ticks}"


def selectors_of(text: str | None, host: HostConfig) -> tuple[NodeosSelector, ...]:
    """Return how nodeos is recognised: as the playbook says, else as the inventory does."""
    return (parse_selector(text),) if text else host.nodeos


class HostEye:
    """Looks at one host again and again over one connection, opened anew after a failure. Use with ``with``."""

    def __init__(self, host: HostConfig, selectors: tuple[NodeosSelector, ...], clock: Clock) -> None:
        """Remember; nothing is opened."""
        self.host, self._selectors, self._clock = host, selectors, clock
        self.source: Source = open_source(host)
        self._link: AgentLink | None = None
        self._kind: str | None = None

    def link(self) -> AgentLink:
        """Return a running agent.

        Raises:
            SourceError: the host cannot be reached.
        """
        if self._link is None:
            self._kind = self._kind or choose_agent(self.source)
            self._link = AgentLink.open(self.source, self._kind, self._clock)
        return self._link

    def look(self) -> Observation:
        """Ask the host what it is like; an agent that has ended meanwhile is started anew, once.

        Raises:
            SourceError: it does not answer.
        """
        try:
            return self._look()
        except SourceError:
            self._drop()
        try:
            return self._look()
        except SourceError:
            self._drop()
            raise

    def _look(self) -> Observation:
        surveyed = survey_host(self.link(), self.host, self._selectors).survey
        nodeos = surveyed.nodeos[0] if len(surveyed.nodeos) == 1 else None
        frame = self.link().ask_encoded(encode_plan(_question(nodeos)))
        mount = surveyed.topology.mount_of(nodeos.state_dir) if nodeos and nodeos.state_dir else None
        found = surveyed.found[0].options if nodeos else {}
        return Observation(
            survey=surveyed,
            nodeos=nodeos,
            reading=FrameReader().read(frame),
            command_line=frozenset(found),
            others=tuple(n.id for n in surveyed.nodeos) if len(surveyed.nodeos) > 1 else (),
            state_filesystem=mount.filesystem if mount else None,
        )

    def temperature_celsius(self) -> float | None:
        """Return the hottest sensor; None where none can be read, or the host does not answer."""
        try:
            plan = Plan(ticks=1, reads=(Read(path=TEMPERATURES),))
            return _hottest(self.link().ask_encoded(encode_plan(plan)))
        except SourceError:
            self._drop()
            return None

    def ask_http(self, nodeos: Nodeos, path: str) -> str | None:
        """Return the section that a GET to nodeos gave, or None when it did not answer.

        Raises:
            SourceError: the host does not answer.
        """
        if nodeos.http_address is None:
            return None
        question = HttpGet(match_id=nodeos.id, address=nodeos.http_address, path=path, every_ticks=1)
        try:
            frame = self.link().ask_encoded(
                encode_plan(Plan(ticks=1, matches=_matches(nodeos), https=(question,)))
            )
        except SourceError:
            self._drop()
            raise
        name = f"http/{nodeos.id}{path}"
        section = next((s for s in frame.sections if s.name == name and s.status is ReadStatus.OK), None)
        return section.text.decode("utf-8", "replace") if section else None

    def _drop(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close everything."""
        self._drop()
        self.source.close()


def _matches(nodeos: Nodeos) -> tuple[Match, ...]:
    return (Match(id=nodeos.id, kind="pid", value=str(nodeos.pid)),)


def _question(nodeos: Nodeos | None) -> Plan:
    reads = (Read(path="/proc/meminfo"), Read(path=TEMPERATURES))
    if nodeos is None:
        return Plan(ticks=1, reads=reads)
    paths = dict.fromkeys(
        p for p in (nodeos.data_dir, nodeos.state_dir, nodeos.blocks_dir) if p and p.startswith("/")
    )
    https: tuple[HttpGet, ...] = ()
    if nodeos.http_address:
        https = (HttpGet(match_id=nodeos.id, address=nodeos.http_address, path=GET_INFO, every_ticks=1),)
    return Plan(
        ticks=1,
        reads=reads,
        statvfs=tuple(StatVfs(path=path) for path in paths),
        matches=_matches(nodeos),
        process_files=(ProcessFile(name="stat"), ProcessFile(name="status")),
        https=https,
    )


@dataclass(slots=True, kw_only=True)
class FrameReader:
    """Turns the frames of one host into readings; what is asked seldom keeps its last value.

    Attributes:
        nodeos_id: whose rows count; None: whichever there is.
    """

    nodeos_id: str | None = None
    _ingest: FrameIngest = field(default_factory=FrameIngest)
    _disk_free_bytes: int | None = None

    def read(self, frame: Frame) -> Reading:
        """Return what a frame says."""
        self._ingest.add(frame)
        tables = self._ingest.drain()
        nodeos, chain = self._rows(tables.get("nodeos")), self._rows(tables.get("chain"))
        head = _last(chain, "head_block")
        free = [
            value
            for section in frame.sections
            if (value := _free_bytes(section.name, section.text)) is not None
        ]
        self._disk_free_bytes = min(free) if free else self._disk_free_bytes
        lag_ms = _last(chain, "head_lag_ms")
        return Reading(
            wall_ns=frame.wall_ns,
            is_up=nodeos is not None,
            rss_bytes=_last(nodeos, "rss_bytes"),
            head_block=head,
            head_lag_blocks=None if lag_ms is None else max(0.0, lag_ms / BLOCK_MS),
            mem_available_bytes=_last(tables.get("host"), "mem_available_bytes"),
            swap_free_bytes=_swap_free(tables.get("host")),
            disk_free_bytes=self._disk_free_bytes,
            temperature_celsius=_hottest(frame),
        )

    def _rows(self, table: Table | None) -> Table | None:
        if table is None or not table.rows:
            return None
        known = self.nodeos_id is None or self.nodeos_id in list(table.texts["nodeos"])
        return table if known else None


def _last(table: Table | None, name: str) -> int | None:
    column = table.integers.get(name) if table is not None else None
    if column is None or not column.present.size or not column.present[-1]:
        return None
    return int(column.values[-1])


def _swap_free(host: Table | None) -> int | None:
    """Return the free swap; a host without swap has none to run out of."""
    return _last(host, "swap_free_bytes") if _last(host, "swap_total_bytes") else None


def _free_bytes(name: str, text: bytes) -> int | None:
    if not name.startswith("statvfs:"):
        return None
    fields: Mapping[str, str] = dict(
        line.split(" ", 1) for line in text.decode("ascii", "replace").splitlines() if " " in line
    )
    size, free = fields.get("f_frsize", ""), fields.get("f_bavail", "")
    known = all(t.isascii() and t.isdigit() and len(t) < 20 for t in (size, free))
    return int(size) * int(free) if known else None


def _hottest(frame: Frame) -> float | None:
    found = []
    for section in frame.sections:
        if section.name.startswith("/sys/class/hwmon/") and section.status is ReadStatus.OK:
            text = section.text.decode("ascii", "replace").strip()
            if text.isdigit() and len(text) < 8 and int(text) / _MILLI < _MAX_CELSIUS:
                found.append(int(text) / _MILLI)
    return max(found) if found else None
