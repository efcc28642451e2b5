"""A survey: what a host is, which block devices it has, which nodeos run there.

It takes two questions: the first finds processes and devices, the second asks what the first made known
(config files, HTTP servers). The answers of both may be in one frame, or come one after the other.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from leapprof.agent.plan import ConfigRead, HttpGet
from leapprof.ingest.chain import GET_INFO, METRICS
from leapprof.ingest.facts import read_host
from leapprof.ingest.processes import Found, find_processes
from leapprof.ingest.sections import process_name, texts_of
from leapprof.ingest.services import Answers, answered, answers_of
from leapprof.ingest.topology import build_topology
from leapprof.model import Frame, Host, Nodeos, ReadStatus, Section, Topology
from leapprof.nodeos.privacy import allowed_option_names

CONFIG_FILE = "config.ini"
_INFO_METRIC = ("nodeos_info",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """What one host answered.

    Attributes:
        found: the processes behind nodeos, with their command-line options.
        denied, absent: readings that were refused, or that the host does not have; without pids.
    """

    host: Host
    topology: Topology
    nodeos: tuple[Nodeos, ...]
    denied: tuple[str, ...] = ()
    absent: tuple[str, ...] = ()
    found: tuple[Found, ...] = ()


def read_survey(frame: Frame, name: str, allowed: Collection[str] | None = None) -> Survey:
    """Return what a survey's frame says; what it does not hold is not known.

    Args:
        frame: answer to the first question, or to both.
        name: the host's name, as the operator called it.
        allowed: options whose values may be kept; None: those of leapprof.nodeos.
    """
    texts = texts_of(frame.sections)
    topology = build_topology(texts)
    host = read_host(texts, name, topology.mounts)
    found = find_processes(texts)
    limits = {
        f"nodeos.{process.id}.locked_memory_limit_bytes": process.locked_memory_limit
        for process in found
        if process.locked_memory_limit
    }
    survey = Survey(
        host=replace(host, facts=host.facts | limits),
        topology=topology,
        nodeos=(),
        denied=_named(frame, found, ReadStatus.DENIED),
        absent=_named(frame, found, ReadStatus.ABSENT),
        found=found,
    )
    return _with(survey, answers_of(texts, allowed or allowed_option_names()))


def follow_up(survey: Survey) -> tuple[ConfigRead | HttpGet, ...]:
    """Return what the second question asks of each nodeos: its config file and its version."""
    questions: list[ConfigRead | HttpGet] = []
    for nodeos, process in zip(survey.nodeos, survey.found, strict=True):
        if nodeos.config_dir:
            file = process.option("config") or CONFIG_FILE
            path = file if file.startswith("/") else f"{nodeos.config_dir.rstrip('/')}/{file}"
            questions.append(ConfigRead(match_id=nodeos.id, path=path))
        if nodeos.http_address:
            for path, keep in ((GET_INFO, ()), (METRICS, _INFO_METRIC)):
                questions.append(
                    HttpGet(
                        match_id=nodeos.id, address=nodeos.http_address, path=path, every_ticks=1, keep=keep
                    )
                )
    return tuple(questions)


def with_answers(survey: Survey, frame: Frame, allowed: Collection[str] | None = None) -> Survey:
    """Return the survey with the answers to the second question: versions, map modes, options, roles."""
    told = answers_of(texts_of(frame.sections), allowed or allowed_option_names())
    more = replace(
        survey,
        denied=tuple(sorted({*survey.denied, *_named(frame, survey.found, ReadStatus.DENIED)})),
        absent=tuple(sorted({*survey.absent, *_named(frame, survey.found, ReadStatus.ABSENT)})),
    )
    return _with(more, told)


def _with(survey: Survey, told: Answers) -> Survey:
    return replace(
        survey,
        nodeos=tuple(answered(process, told, survey.topology, survey.found) for process in survey.found),
    )


def _named(frame: Frame, found: tuple[Found, ...], status: ReadStatus) -> tuple[str, ...]:
    """Return the names of the readings of that status, sorted, a process's under the id of its nodeos."""
    ids = {(process.pid, process.start_ticks): process.id for process in found}
    return tuple(sorted({_name(section, ids) for section in frame.sections if section.status is status}))


def _name(section: Section, ids: dict[tuple[int, int], str]) -> str:
    parts = process_name(section.name)
    if parts is None:
        return section.name
    return f"{parts.scope}/{ids.get((parts.pid, parts.start_ticks), parts.id)}/{parts.file}"
