"""The look at a host before anything is changed: everything that would fail later is refused here."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from leapprof.config.playbook_schema import HostEntry, Playbook, Restart
from leapprof.config.playbook_types import Role
from leapprof.control.commands import filled_plain
from leapprof.control.config_file import RemoteConfig, read_config
from leapprof.control.edits import LineEdit, edited, plan_edits
from leapprof.control.service import (
    estimate_stop_s,
    read_dirty_flag,
    state_bytes_on_disk,
    supervisor_stop_s,
)
from leapprof.errors import ConfigError, NodeosRefusesError, SourceError
from leapprof.experiment.context import RunContext
from leapprof.experiment.observe import HostEye, Observation
from leapprof.experiment.producing import refuse_if_producing
from leapprof.experiment.situation import difference
from leapprof.experiment.steps import names_of
from leapprof.model import Finding, Nodeos, Severity
from leapprof.nodeos.grammar import Config
from leapprof.nodeos.host_facts import host_facts
from leapprof.nodeos.rules import check_config
from leapprof.nodeos.versions import Version, parse_version
from leapprof.units import format_duration

MAX_ERRORS_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCheck:
    """What the rest of the run needs to know of a host that will be changed.

    Attributes:
        identity: of the nodeos that ran.
        config_path: of the file that is edited; None when none is.
        state_dir, data_dir: None when not known.
        stop_s: how long a stop may take.
    """

    host: str
    identity: str | None
    version: str | None
    config_path: str | None
    state_dir: str | None
    stop_s: float
    data_dir: str | None = None

    def as_data(self) -> dict[str, str | float | None]:
        """Return it for the log."""
        return {
            "identity": self.identity, "version": self.version, "config_path": self.config_path,
            "state_dir": self.state_dir, "stop_s": self.stop_s, "data_dir": self.data_dir,
        }  # fmt: skip


def check_host(context: RunContext, entry: HostEntry) -> HostCheck:
    """Look at a host and refuse what cannot go well; nothing is changed.

    Raises:
        ConfigError: the playbook does not fit the host.
        NodeosRefusesError: nodeos would not start with the changed config.ini.
        SourceError: the host does not answer, or does not let us see what a change needs.
    """
    playbook = context.playbook
    with context.eye(entry) as eye:
        seen = eye.look()
        is_changed = entry.role is Role.CHANGED and playbook.change is not None
        missing = difference(seen, playbook.a) if is_changed and entry.runs_nodeos else None
        if missing is not None:
            raise ConfigError(f"is not in situation a: expected {missing}", path=entry.host, key="a")
        if not is_changed or seen.nodeos is None:
            return HostCheck(
                host=entry.host,
                identity=seen.identity,
                version=None,
                config_path=None,
                state_dir=None,
                stop_s=0.0,
            )
        refuse_if_producing(playbook, eye, seen)
        config_path = _check_edit(context, entry, eye, seen)
        stop_s = _check_restart(playbook, entry, eye, seen.nodeos)
        return HostCheck(
            host=entry.host, identity=seen.identity, version=seen.nodeos.version, config_path=config_path,
            state_dir=seen.nodeos.state_dir, stop_s=stop_s, data_dir=seen.nodeos.data_dir,
        )  # fmt: skip


def config_path_of(playbook: Playbook, entry: HostEntry, nodeos: Nodeos) -> str:
    """Return the config.ini that is edited.

    Raises:
        ConfigError: it is not known which.
    """
    assert playbook.change and playbook.change.config
    if playbook.change.config.file is not None:
        return filled_plain(playbook.change.config.file, names_of(entry))
    if nodeos.config_dir is None:
        raise ConfigError(
            "its config directory is not known; say change.config.file", path=entry.host, key="change.config"
        )
    return f"{nodeos.config_dir.rstrip('/')}/config.ini"


def edits_of(playbook: Playbook, config: RemoteConfig) -> tuple[LineEdit, ...]:
    """Return the edits that the playbook asks of a file.

    Raises:
        ConfigError: an option stands there several times.
    """
    assert playbook.change and playbook.change.config
    wanted = playbook.change.config
    return plan_edits(config.lines, wanted.set, wanted.remove, config.path)


def _check_edit(context: RunContext, entry: HostEntry, eye: HostEye, seen: Observation) -> str | None:
    playbook = context.playbook
    if playbook.change is None or playbook.change.config is None or seen.nodeos is None:
        return None
    wanted = playbook.change.config
    path = config_path_of(playbook, entry, seen.nodeos)
    shadowed = sorted(seen.command_line & {*wanted.set, *wanted.remove})
    if shadowed:
        raise ConfigError(
            f"{shadowed[0]} is on nodeos's command line, which wins over {path}",
            path=entry.host,
            key="change.config",
        )
    config = read_config(eye.source, eye.link(), path, sudo=_sudo(playbook))
    edits = edits_of(playbook, config)
    if not edits:
        context.say(f"{entry.host}: {path} says already what is wanted")
    refuse_bad_edits(playbook, config, edits, seen)
    return path


def refuse_bad_edits(
    playbook: Playbook, config: RemoteConfig, edits: Sequence[LineEdit], seen: Observation
) -> None:
    """Refuse edits after which nodeos would not start.

    Raises:
        NodeosRefusesError: the message names lines and what to do.
    """
    target = _target(playbook, seen.nodeos) if seen.nodeos is not None else None
    errors = refusals(config, edits, target, seen)
    if errors:
        shown = "; ".join(f"line {f.line}: {f.message} {f.hint}" for f in errors[:MAX_ERRORS_SHOWN])
        where = f"{seen.survey.host.name}:{config.path}"
        raise NodeosRefusesError(where, f"nodeos would refuse it after the change: {shown}")


def _sudo(playbook: Playbook) -> bool:
    return playbook.restart is not None and playbook.restart.sudo


def _target(playbook: Playbook, nodeos: Nodeos) -> Version | None:
    """Return the version that is to start with the changed file; None when none is known."""
    return _parsed(playbook.b.version) or _parsed(nodeos.version)


def _parsed(text: str | None) -> Version | None:
    try:
        return parse_version(text) if text else None
    except ValueError:
        return None


def refusals(
    config: RemoteConfig, edits: Sequence[LineEdit], target: Version | None, seen: Observation
) -> tuple[Finding, ...]:
    """Return why nodeos would not start with the edited file. Pure.

    Lines whose values may not leave the host are not judged, nor is what the same version runs with already.
    Without a known version nothing can be judged.
    """
    if target is None or seen.nodeos is None:
        return ()
    before = _errors(config, (), target, seen)
    is_same_version = seen.nodeos.version is not None and _parsed(seen.nodeos.version) == target
    known = {(f.code, f.line, f.option) for f in before} if is_same_version else set()
    hidden = {line.line for line in config.lines if line.value is None} - {edit.line for edit in edits}
    found = _errors(config, edits, target, seen)
    return tuple(f for f in found if f.line not in hidden and (f.code, f.line, f.option) not in known)


def _errors(
    config: RemoteConfig, edits: Sequence[LineEdit], target: Version, seen: Observation
) -> list[Finding]:
    assert seen.nodeos is not None
    after = edited(config.lines, edits)
    nodeos = _with_state_dir(seen.nodeos, after)
    host = seen.survey.host
    if nodeos.state_dir != seen.nodeos.state_dir:  # what is known is of the other directory
        gone = f"nodeos.{nodeos.id}.state_"
        host = replace(host, facts={k: v for k, v in host.facts.items() if not k.startswith(gone)})
    facts = host_facts(host, seen.survey.topology, nodeos)
    return [f for f in check_config(after, target, facts=facts) if f.severity is Severity.ERROR]


def _with_state_dir(nodeos: Nodeos, config: Config) -> Nodeos:
    """Return the nodeos with the state directory that the file says: the rules judge the filesystem below it."""
    said = [entry.value for entry in config.of("state-dir") if entry.value]
    if not said or (nodeos.data_dir is None and not said[0].startswith("/")):
        return nodeos
    return replace(
        nodeos, state_dir=said[0] if said[0].startswith("/") else f"{nodeos.data_dir}/{said[0]}", roles={}
    )


def _check_restart(playbook: Playbook, entry: HostEntry, eye: HostEye, nodeos: Nodeos) -> float:
    """Return how long a stop may take.

    Raises:
        ConfigError: the supervisor would kill nodeos before.
        SourceError: the dirty flag cannot be read, so that a start after the stop would be a gamble.
    """
    restart = playbook.restart
    if restart is None:
        return 0.0
    stop_s = _stop_s(restart, eye, nodeos)
    limit_s = supervisor_stop_s(eye.source, restart, names_of(entry))
    if limit_s is not None and limit_s < stop_s:
        raise ConfigError(
            f"systemd kills nodeos {format_duration(limit_s)} after a stop began, and writing the state back may take "
            f"{format_duration(stop_s)}: raise TimeoutStopSec, or say restart.stop_timeout if you know better",
            path=entry.host,
            key="restart",
        )
    if nodeos.state_dir is None:
        raise ConfigError(
            "its state directory is not known, so a dirty state could not be seen", path=entry.host
        )
    try:
        read_dirty_flag(eye.source, nodeos.state_dir, sudo=restart.sudo)
    except SourceError as error:
        raise SourceError(
            entry.host,
            f"{error.problem}; log in as a user who may read {nodeos.state_dir}, or say restart.sudo: true",
        ) from error
    return stop_s


def _stop_s(restart: Restart, eye: HostEye, nodeos: Nodeos) -> float:
    if restart.stop_timeout is not None:
        return restart.stop_timeout
    used = state_bytes_on_disk(eye.source, nodeos.state_dir, sudo=restart.sudo) if nodeos.state_dir else None
    return estimate_stop_s(used)
