"""The nodeos processes of a survey: identity, command line, directories, unit, short name.

Defaults are nodeos's own (libraries/appbase/application_base.cpp, plugins/chain_plugin/chain_plugin.cpp, Leap 5.0):
state and blocks lie below the data directory; data and config below the home directory, which a survey does
not know.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from leapprof.ingest.facts import parsed
from leapprof.ingest.sections import process_name
from leapprof.model import Mount
from leapprof.probes.cgroup_path import CgroupPath, parse_cgroup_path
from leapprof.probes.cmdline import command_options, parse_cmdline
from leapprof.probes.limits import parse_limits
from leapprof.probes.mountinfo import parse_mountinfo

UNNAMED_MATCH = "nodeos-unnamed"
"""Id of the match of a survey for which the operator named no process: each that it finds gets a name here."""
DEFAULT_ID = "nodeos"

_DELETED = " (deleted)"
_STAND_IN = ("leapprof.standin", "leapprof-standin", "leapprof/standin")
_NO_UNIT_OF_ITS_OWN = re.compile(r"user@|sshd?[@.]|cron|docker\.|containerd|supervisor|getty|session-|init\.")
_IN_CONTAINER = re.compile(r"(docker|libpod|crio|containerd)[-/:](?:[a-z]+[-:])?([0-9a-f]{12})", re.ASCII)
_NOT_IN_ID = re.compile(r"[^A-Za-z0-9_.@:-]+")
_MAX_ID_CHARS = 48
_PLAIN_NAMES = frozenset({"data", "data-dir", "datadir", "nodeos-data"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One matched process.

    Attributes:
        id: unique within the survey.
        section_id: id of the match that found it.
        options: of the command line, by long name; None for a value that was hidden.
        cwd: None when refused.
        unit: systemd unit that is about this process alone; None when there is no such.
        locked_memory_limit: soft RLIMIT_MEMLOCK, bytes or ``unlimited``.
        mounts: as the process sees them; empty when not read.
        is_cgroup_own: its cgroup holds it and its children alone.
        executable_deleted: the kernel marks its program file as deleted: replaced or removed since it started.
        container, root: see model.Nodeos.
        log, log_options: what became of its log, and the options that its log tells (see survey.py).
        log_config_file, log_data_dir: where its log says that they are.
    """

    id: str
    section_id: str
    pid: int
    start_ticks: int
    executable: str | None = None
    options: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    cwd: str | None = None
    cgroup: str | None = None
    unit: str | None = None
    locked_memory_limit: str | None = None
    mounts: tuple[Mount, ...] = ()
    is_cgroup_own: bool = False
    is_stand_in: bool = False
    executable_deleted: bool = False
    container: str | None = None
    root: str = ""
    log: str | None = None
    log_options: dict[str, tuple[str | None, ...]] = field(default_factory=dict)
    log_config_file: str | None = None
    log_data_dir: str | None = None

    def option(self, name: str) -> str | None:
        """Return the first value of a command-line option, as boost's variables map does; None without."""
        values = self.options.get(name, ())
        return values[0] if values else None

    def directory(self, name: str) -> str | None:
        """Return a directory of the command line, or else of the log, as an absolute path; None when not known."""
        config_dir = self.log_config_file.rpartition("/")[0] if self.log_config_file else None
        told = {"data-dir": self.log_data_dir, "config-dir": config_dir}
        return absolute(self.option(name), self.cwd) or told.get(name)


def absolute(path: str | None, base: str | None) -> str | None:
    """Return a path below a base unless it is absolute; None when either is needed and not known."""
    if path is None or path.startswith("/"):
        return path
    return None if base is None else f"{base.rstrip('/')}/{path.removeprefix('./')}"


def find_processes(texts: Mapping[str, str]) -> tuple[Found, ...]:
    """Return the matched processes in the order of their start, each with a name of its own."""
    files: dict[tuple[int, int], dict[str, str]] = {}
    ids: dict[tuple[int, int], str] = {}
    for section, text in texts.items():
        name = process_name(section)
        if name is not None and name.scope == "nodeos":
            key = (name.start_ticks, name.pid)
            files.setdefault(key, {})[name.file] = text
            ids[key] = name.id
    host_mounts = parsed(parse_mountinfo, texts.get("/proc/self/mountinfo")) or ()
    found = [_process(ids[key], key, files[key], host_mounts) for key in sorted(files)]
    found = [_with_cgroup_hint(process, found, texts) for process in found]
    return _uniquely_named(found)


def _process(
    section_id: str, key: tuple[int, int], files: Mapping[str, str], host_mounts: tuple[Mount, ...]
) -> Found:
    words = parse_cmdline(files.get("cmdline", ""))
    limits = parsed(parse_limits, files.get("limits"))
    cgroup = parsed(parse_cgroup_path, files.get("cgroup"))
    link = files.get("exe", "").strip()
    executable = link.removesuffix(_DELETED) or None
    mounts = parsed(parse_mountinfo, files.get("mountinfo")) or ()
    container = _container(cgroup)
    if executable is None and words and words[0].startswith("/"):
        executable = words[0]
    described = " ".join((executable or "", *words))
    return Found(
        id="",
        section_id=section_id,
        pid=key[1],
        start_ticks=key[0],
        executable=executable,
        options=command_options(words),
        cwd=files.get("cwd", "").strip() or None,
        cgroup=cgroup.path if cgroup else None,
        unit=_unit(cgroup),
        locked_memory_limit=limits.locked_memory_bytes if limits else None,
        mounts=mounts,
        is_stand_in=any(mark in described for mark in _STAND_IN),
        executable_deleted=link.endswith(_DELETED),
        container=container,
        root=f"/proc/{key[1]}/root" if _has_other_root(mounts, host_mounts) else "",
    )


def _container(cgroup: CgroupPath | None) -> str | None:
    """Return runtime and short id of the container whose cgroup a process is in, e.g. ``docker 0123456789ab``."""
    found = _IN_CONTAINER.search(cgroup.path) if cgroup else None
    if found is None:
        return "container" if cgroup and cgroup.is_container else None
    return f"{'podman' if found[1] == 'libpod' else found[1]} {found[2]}"


def _has_other_root(own: tuple[Mount, ...], host: tuple[Mount, ...]) -> bool:
    """Return whether a process sees another root filesystem than we do: its paths mean something else there."""
    roots = [next((m for m in reversed(mounts) if m.point == "/"), None) for mounts in (own, host)]
    return None not in roots and roots[0].major_minor != roots[1].major_minor  # type: ignore[union-attr]


def _unit(cgroup: CgroupPath | None) -> str | None:
    unit = cgroup.unit if cgroup else None
    if unit is None or not unit.endswith(".service") or _NO_UNIT_OF_ITS_OWN.match(unit):
        return None
    return unit


def _with_cgroup_hint(process: Found, found: list[Found], texts: Mapping[str, str]) -> Found:
    """Take over what the agent says of a match's cgroup where the match found this process alone."""
    hint = texts.get(f"cgroup/{process.section_id}/pids", "")
    is_alone = sum(other.section_id == process.section_id for other in found) == 1
    return replace(process, is_cgroup_own=is_alone and "own 1" in hint.split("\n"))


def _uniquely_named(found: list[Found]) -> tuple[Found, ...]:
    """Give each process the name of match, unit or data directory; a second one gets ``-2``."""
    taken: dict[str, int] = {}
    named = []
    for process in found:
        base = _base_name(process)
        taken[base] = taken.get(base, 0) + 1
        suffix = f"-{taken[base]}" if taken[base] > 1 else ""
        named.append(replace(process, id=base + suffix))
    return tuple(named)


def _base_name(process: Found) -> str:
    if process.section_id != UNNAMED_MATCH:
        return process.section_id
    name = process.unit.removesuffix(".service") if process.unit else _data_name(process)
    return _NOT_IN_ID.sub("-", name).strip("-")[:_MAX_ID_CHARS] or DEFAULT_ID


def _data_name(process: Found) -> str:
    parts = [part for part in (process.option("data-dir") or "").split("/") if part not in ("", ".", "..")]
    if parts and parts[-1] in _PLAIN_NAMES:
        parts.pop()
    return parts[-1] if parts else DEFAULT_ID
