"""What a host is asked: the survey, the follow-up, and the sampling plan. Pure.

The survey reads what describes the machine (ingest/reads.py), the follow-up what the survey made known (config
files, directories, APIs), the sampling plan the probes' files at their cadences.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from leapprof.agent.plan import (
    CgroupFile,
    ChildFile,
    Command,
    ConfigRead,
    HttpGet,
    Link,
    Listing,
    LogMark,
    Match,
    Peek,
    Plan,
    ProcessFile,
    Read,
    StatVfs,
)
from leapprof.config.selector import AGENT_KINDS
from leapprof.errors import ConfigError
from leapprof.ingest.reads import (
    COMMAND_LINE_OPTIONS,
    KEEP_LINES,
    SURVEY_LINKS,
    SURVEY_LISTINGS,
    SURVEY_PROCESS_FILES,
    SURVEY_READS,
)
from leapprof.ingest.survey import Survey, follow_up
from leapprof.model import Nodeos
from leapprof.model.access import NodeosSelector
from leapprof.nodeos.api import METRIC_NAMES_4, METRIC_NAMES_5
from leapprof.nodeos.privacy import allowed_option_names
from leapprof.nodeos.told import MARKS, OPTIONS_MARK
from leapprof.probes import PROBES, Probe
from leapprof.recorder.selecting import pid_files, survey_selectors

MIN_INTERVAL_S, MAX_INTERVAL_S = 0.1, 60.0
SURVEY_INTERVAL_MS = 1000
CLOCK_PATH = "/proc/uptime"
BOOT_ID_PATH = "/proc/sys/kernel/random/boot_id"
HEARTBEAT_S = 60
SEND_TICKS, SEND_S = 5, 1.0
"""So many frames, of at most so long, leave a host together: one alone costs it more, one that waits can be lost."""
API_TICKS = 10

FURTHER_SURVEY_READS = (
    "/proc/uptime",
    "/proc/diskstats",
    "/proc/pressure/cpu",
    "/sys/fs/cgroup/cgroup.controllers",
)
FURTHER_PROCESS_FILES = ("io", "schedstat")
DEFAULT_SELECTOR = NodeosSelector(id="nodeos", kind="exe_name", value="nodeos")
LOG_MARKS = (LogMark(text=OPTIONS_MARK, is_options=True), *(LogMark(text=mark) for mark in MARKS))
LOG_TICKS = 5
ALLOWED_SHORT_OPTIONS = ("d", "c", "e", "m")  # m: python -m leapprof.standin is known by it


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordOptions:
    """What the operator asked of a recording.

    Attributes:
        phase: ``before``, ``after``, a name; empty for an always-on recording.
        interval_s: the tick, seconds.
        duration_s: from the first sample, seconds; None until stopped.
        selectors: how nodeos is recognised on every host; empty: as the inventory says, else by name.
        seal_every_s: how often frames become Parquet.
    """

    phase: str = ""
    interval_s: float = 1.0
    duration_s: float | None = None
    selectors: tuple[NodeosSelector, ...] = ()
    seal_every_s: float = 3600.0


def check_interval(interval_s: float) -> None:
    """Refuse a tick that the agent cannot keep or that a comparison cannot use.

    Raises:
        ConfigError: it is outside 0.1 s to 60 s.
    """
    if not MIN_INTERVAL_S <= interval_s <= MAX_INTERVAL_S:
        raise ConfigError(
            f"{interval_s:g} s is not accepted: give {MIN_INTERVAL_S:g}s to {MAX_INTERVAL_S:g}s",
            key="interval",
        )


def clock_plan() -> Plan:
    """Return the smallest question there is, to measure the offset of the host's clock."""
    return Plan(ticks=1, reads=(Read(path=CLOCK_PATH),), heartbeat_s=HEARTBEAT_S)


def survey_plan(selectors: Sequence[NodeosSelector], commands: Sequence[Command] = ()) -> Plan:
    """Return the first question to a host: machine, devices, processes.

    Args:
        selectors: as the operator says.
        commands: allowed ones that tell of devices (``zpool``).
    """
    return Plan(
        interval_ms=SURVEY_INTERVAL_MS,
        ticks=1,
        reads=tuple(
            Read(path=path, keep=KEEP_LINES.get(path, ()))
            for path in (*SURVEY_READS, *FURTHER_SURVEY_READS, *pid_files(selectors))
        ),
        listings=tuple(Listing(path=path) for path in SURVEY_LISTINGS),
        links=tuple(Link(path=path) for path in SURVEY_LINKS),
        matches=_matches(survey_selectors(selectors)),
        log_marks=LOG_MARKS,
        process_files=tuple(
            ProcessFile(name=name, every_ticks=0) for name in (*SURVEY_PROCESS_FILES, *FURTHER_PROCESS_FILES)
        ),
        cgroup_files=(
            CgroupFile(name="cpu.stat"),
            CgroupFile(name="io.stat"),
            CgroupFile(name="memory.current"),
        ),
        commands=tuple(commands),
        allowed_options=_allowed_options(),
        heartbeat_s=HEARTBEAT_S,
    )


def follow_up_plan(
    selectors: Sequence[NodeosSelector], survey: Survey, commands: Sequence[Command] = ()
) -> Plan:
    """Return the second question: config files, directories, state files and APIs of the nodeos that were found.

    Args:
        selectors: as the operator says.
        survey: the answer to the first question.
        commands: of those that the operator allowed, the ones about nodeos.
    """
    questions = follow_up(survey)
    return Plan(
        interval_ms=SURVEY_INTERVAL_MS,
        ticks=1,
        matches=_matches(survey_selectors(selectors)),
        reads=tuple(question for question in questions if isinstance(question, Read)),
        peeks=tuple(question for question in questions if isinstance(question, Peek)),
        configs=tuple(question for question in questions if isinstance(question, ConfigRead)),
        statvfs=tuple(dict.fromkeys(question for question in questions if isinstance(question, StatVfs))),
        https=tuple(question for question in questions if isinstance(question, HttpGet)),
        commands=tuple(commands),
        log_marks=LOG_MARKS,
        allowed_options=_allowed_options(),
        heartbeat_s=HEARTBEAT_S,
    )


def sampling_plan(
    selectors: Sequence[NodeosSelector],
    found: Sequence[Nodeos],
    options: RecordOptions,
    commands: Sequence[Command] = (),
) -> Plan:
    """Return what is read at every tick.

    Args:
        selectors: as the operator says; they keep finding nodeos after a restart.
        found: the nodeos of the survey.
        options: the tick.
        commands: what the operator allowed; run at start and end.
    """
    ticks = _TickScale(interval_s=options.interval_s)
    return Plan(
        interval_ms=round(options.interval_s * 1000),
        reads=(
            *(Read(path=p.file, every_ticks=ticks.of(p), keep=p.keep) for p in _of("host")),
            *(Read(path=path, every_ticks=0) for path in (BOOT_ID_PATH, "/proc/swaps")),
        ),
        statvfs=tuple(StatVfs(path=path, every_ticks=ticks.scaled(60)) for path in _directories(found)),
        matches=_sampling_matches(selectors, found),
        process_files=(
            *(ProcessFile(name=p.file, every_ticks=ticks.of(p), keep=p.keep) for p in _of("nodeos")),
            *(ProcessFile(name=name, every_ticks=0) for name in ("cmdline", "limits", "cgroup")),
            ProcessFile(name="log", every_ticks=ticks.scaled(LOG_TICKS)),
        ),
        child_files=tuple(ChildFile(name=p.file, every_ticks=ticks.of(p), keep=p.keep) for p in _of("child")),
        cgroup_files=_cgroup_files(ticks),
        https=_questions(found, every_ticks=ticks.scaled(API_TICKS)),
        commands=tuple(commands),
        log_marks=LOG_MARKS,
        allowed_options=_allowed_options(),
        scan_every_ticks=ticks.scaled(API_TICKS),
        heartbeat_s=HEARTBEAT_S,
        send_every_ticks=max(1, min(SEND_TICKS, int(SEND_S / options.interval_s))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _TickScale:
    """Probes say their period at a tick of 1 s; at another tick the period in seconds stays."""

    interval_s: float

    def of(self, probe: Probe) -> int:
        return 1 if probe.every_ticks == 1 else self.scaled(probe.every_ticks)

    def scaled(self, seconds: int) -> int:
        return max(1, round(seconds / self.interval_s))


def _of(scope: str) -> tuple[Probe, ...]:
    return tuple(probe for probe in PROBES if probe.scope == scope)


_V2_CGROUP_FILES = frozenset({"cpu.stat", "io.stat", "memory.stat", "memory.swap.current", "memory.current"})


def _cgroup_files(ticks: _TickScale) -> tuple[CgroupFile, ...]:
    """Return the cgroup v2 names: the agent reads the v1 file of a v1 host under them."""
    probes = [p for p in _of("cgroup") if p.file in _V2_CGROUP_FILES]
    return tuple(CgroupFile(name=p.file, every_ticks=ticks.of(p), keep=p.keep) for p in probes)


def _allowed_options() -> tuple[str, ...]:
    return (*ALLOWED_SHORT_OPTIONS, *sorted({*COMMAND_LINE_OPTIONS, *allowed_option_names()}))


def _matches(selectors: Sequence[NodeosSelector]) -> tuple[Match, ...]:
    return tuple(Match(id=s.id, kind=s.kind, value=s.value) for s in selectors)


def _sampling_matches(selectors: Sequence[NodeosSelector], found: Sequence[Nodeos]) -> tuple[Match, ...]:
    """Return matches that name each nodeos apart and find it again after a restart."""
    is_matched_by_agent = all(selector.kind in AGENT_KINDS for selector in selectors)
    if selectors and is_matched_by_agent and len(found) <= len(selectors):
        return _matches(selectors)
    if not found:
        return _matches([_expected(selector) for selector in selectors] or (DEFAULT_SELECTOR,))
    return tuple(_match_of(nodeos, found) for nodeos in found)


def _match_of(nodeos: Nodeos, found: Sequence[Nodeos]) -> Match:
    if nodeos.unit and sum(n.unit == nodeos.unit for n in found) == 1:
        return Match(id=nodeos.id, kind="unit", value=nodeos.unit)
    program = (nodeos.executable or "nodeos").rpartition("/")[2]
    if len(found) == 1 and not nodeos.stand_in:
        return Match(id=nodeos.id, kind="exe_name", value=program)
    if nodeos.data_dir and sum(nodeos.data_dir in (n.data_dir or "") for n in found) == 1:
        return Match(id=nodeos.id, kind="cmdline", value=nodeos.data_dir)
    return Match(id=nodeos.id, kind="pid", value=str(nodeos.pid))


def _expected(selector: NodeosSelector) -> NodeosSelector:
    """Return how to wait for a nodeos that does not run yet: by the nearest kind that an agent knows."""
    if selector.kind in AGENT_KINDS:
        return selector
    if selector.kind == "data-dir":
        return NodeosSelector(id=selector.id, kind="cmdline", value=selector.value)
    return NodeosSelector(id=selector.id, kind="exe_name", value="nodeos")


def _directories(found: Sequence[Nodeos]) -> tuple[str, ...]:
    paths = (
        n.root + p for n in found for p in (n.data_dir, n.state_dir, n.blocks_dir) if p and p.startswith("/")
    )
    return tuple(dict.fromkeys(paths))


def _questions(found: Sequence[Nodeos], every_ticks: int) -> tuple[HttpGet, ...]:
    asked = []
    for nodeos in found:
        if nodeos.http_address:
            for path, keep in _API_PATHS:
                asked.append(
                    HttpGet(
                        match_id=nodeos.id,
                        address=nodeos.http_address,
                        path=path,
                        every_ticks=every_ticks,
                        keep=keep,
                    )
                )
    return tuple(asked)


_API_PATHS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("/v1/chain/get_info", ()),
    ("/v1/db_size/get", ()),
    ("/v1/prometheus/metrics", tuple(dict.fromkeys((*METRIC_NAMES_5, *METRIC_NAMES_4)))),
)
