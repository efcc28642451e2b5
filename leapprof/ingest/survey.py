"""A survey: what a host is, which block devices it has, which nodeos run there.

It takes two questions: the first finds processes and devices, the second asks what the first made known
(config files, HTTP servers). The answers of both may be in one frame, or come one after the other.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from leapprof.agent.plan import ConfigRead, HttpGet, Peek, Read, StatVfs
from leapprof.ingest import container_net
from leapprof.ingest.chain import GET_INFO, METRICS
from leapprof.ingest.facts import read_host
from leapprof.ingest.processes import Found, find_processes
from leapprof.ingest.sections import process_name, texts_of
from leapprof.ingest.services import Answers, answered, answers_of
from leapprof.ingest.state_facts import facts_of, mount_facts, questions_of
from leapprof.ingest.topology import build_topology
from leapprof.model import Frame, Host, Nodeos, ReadStatus, Section, Topology
from leapprof.nodeos.privacy import allowed_option_names
from leapprof.nodeos.told import shown_options, told_options, told_places
from leapprof.units import NS_PER_MS, NS_PER_S

CONFIG_FILE = "config.ini"
USER_HZ = 100
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
    found = tuple(
        _with_log(process, frame, allowed or allowed_option_names()) for process in find_processes(texts)
    )
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
    return _with_facts(_with(survey, answers_of(texts, allowed or allowed_option_names())), texts)


Question = ConfigRead | HttpGet | Read | Peek | StatVfs


def follow_up(survey: Survey) -> tuple[Question, ...]:
    """Return what the second question asks of each nodeos: config file, version, state file, stop time-out."""
    questions: list[Question] = []
    for nodeos, process in zip(survey.nodeos, survey.found, strict=True):
        if nodeos.config_dir:
            file = process.option("config") or CONFIG_FILE
            path = file if file.startswith("/") else f"{nodeos.config_dir.rstrip('/')}/{file}"
            path = process.log_config_file or path
            questions.append(ConfigRead(match_id=nodeos.id, path=nodeos.root + path))
        if nodeos.http_address:
            for path, keep in ((GET_INFO, ()), (METRICS, _INFO_METRIC)):
                questions.append(
                    HttpGet(
                        match_id=nodeos.id, address=nodeos.http_address, path=path, every_ticks=1, keep=keep
                    )
                )
        questions += (*questions_of(nodeos), *container_net.questions_of(nodeos))
    return tuple(questions)


def with_answers(survey: Survey, frame: Frame, allowed: Collection[str] | None = None) -> Survey:
    """Return the survey with the answers to the second question: versions, map modes, options, roles."""
    texts = texts_of(frame.sections)
    told = answers_of(texts, allowed or allowed_option_names())
    more = replace(
        survey,
        denied=tuple(sorted({*survey.denied, *_named(frame, survey.found, ReadStatus.DENIED)})),
        absent=tuple(sorted({*survey.absent, *_named(frame, survey.found, ReadStatus.ABSENT)})),
    )
    described = _with(more, told)
    nodeos = tuple(
        container_net.with_container_address(one, before, texts)
        for one, before in zip(described.nodeos, survey.nodeos, strict=True)
    )
    return _with_facts(replace(described, nodeos=nodeos), texts)


def _with_facts(survey: Survey, texts: Mapping[str, str]) -> Survey:
    """Return the survey with facts of each nodeos among those of the host, ``nodeos.<id>.<name>``."""
    facts = dict(survey.host.facts)
    for nodeos, process in zip(survey.nodeos, survey.found, strict=True):
        own = replace(survey.topology, mounts=process.mounts) if process.mounts else survey.topology
        facts |= facts_of(nodeos, texts) | mount_facts(nodeos, own)
        version = _full_version(nodeos, texts, is_alone=len(survey.nodeos) == 1)
        facts |= {f"nodeos.{nodeos.id}.full_version": version} if version else {}
    return replace(survey, host=replace(survey.host, facts=facts))


FULL_VERSION_COMMAND = "nodeos-full-version"
"""Name of the command that an operator may allow to ask a program file for its full version."""
_FULL_VERSION = re.compile(r"exit 0\n(v?[0-9][0-9A-Za-z.+_-]{1,100})\s*\Z", re.ASCII)


def _full_version(nodeos: Nodeos, texts: Mapping[str, str], *, is_alone: bool) -> str | None:
    """Return what the allowed command printed; None when the file on disk is no longer what runs."""
    names = (f"{FULL_VERSION_COMMAND}-{nodeos.id}", *((FULL_VERSION_COMMAND,) if is_alone else ()))
    texts_found = (texts[f"command/{name}"] for name in names if f"command/{name}" in texts)
    found = _FULL_VERSION.match(next(texts_found, ""))
    return found[1] if found and not nodeos.executable_deleted else None


_LOG_STATES = {
    ReadStatus.OK: "read",
    ReadStatus.CUT: "read",
    ReadStatus.DENIED: "not permitted",
    ReadStatus.ABSENT: "not there",
}
_MAX_REASON_CHARS = 100


def _with_log(process: Found, frame: Frame, allowed: Collection[str]) -> Found:
    """Return a process with what became of its log, and the options that its log tells."""
    ending = f"/{process.pid}/{process.start_ticks}/log"
    section = next(
        (s for s in frame.sections if s.name.startswith("nodeos/") and s.name.endswith(ending)), None
    )
    if section is None:
        return process
    text = section.text.decode("utf-8", "replace")
    log = _LOG_STATES.get(section.status, text[:_MAX_REASON_CHARS])
    if section.status not in (ReadStatus.OK, ReadStatus.CUT):
        return replace(process, log=log)
    start_ns = frame.wall_ns - frame.boottime_ns + process.start_ticks * NS_PER_S // USER_HZ
    since_ms = start_ns // NS_PER_MS - NS_PER_S // NS_PER_MS
    options = told_options(text, since_ms) or {}
    config_file, data_dir = told_places(text, since_ms)
    return replace(
        process,
        log=log,
        log_options=shown_options(options, allowed),
        log_config_file=config_file,
        log_data_dir=data_dir,
    )


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
