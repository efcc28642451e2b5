"""Looks at and edits the config.ini of a host, over a Source."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from leapprof.agent.plan import ConfigRead, Plan, encode_plan
from leapprof.control.commands import run_checked, shown, with_sudo
from leapprof.control.edits import (
    CHANGED_STATUS,
    ConfigLine,
    LineEdit,
    commit_script,
    restore_script,
    stage_script,
)
from leapprof.errors import CommandError, ConfigError, SourceError
from leapprof.model import ReadStatus
from leapprof.nodeos.privacy import allowed_option_names
from leapprof.recorder.link import AgentLink
from leapprof.sources import Source

COMMAND_TIMEOUT_S = 60.0
_SHA256 = re.compile(r"[0-9a-f]{64}\Z", re.ASCII)
_MAX_LINE_DIGITS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteConfig:
    """A file as it was looked at: the lines of it that may leave the host, and the hash of all."""

    path: str
    sha256: str
    lines: tuple[ConfigLine, ...]


def file_sha256(source: Source, path: str, *, sudo: bool) -> str:
    """Return the SHA-256 of a file of a host.

    Raises:
        SourceError: the file cannot be read, or the host failed.
    """
    script = f'f={shlex.quote(path)}; h=$(sha256sum < "$f") && echo "${{h%% *}}"'
    return _hash_in(source, run_checked(source, with_sudo(script, sudo=sudo), COMMAND_TIMEOUT_S))


def _hash_in(source: Source, output: bytes) -> str:
    words = output.decode("ascii", "replace").split()
    if len(words) != 1 or not _SHA256.match(words[0]):
        raise SourceError(source.name, f"expected a SHA-256, found {shown(output)!r}")
    return words[0]


def read_config(source: Source, link: AgentLink, path: str, *, sudo: bool) -> RemoteConfig:
    """Look at a config.ini: names, line numbers and values that may leave the host.

    Raises:
        SourceError: it cannot be read, or changes under our eyes.
    """
    before = file_sha256(source, path, sudo=sudo)
    plan = Plan(
        ticks=1,
        configs=(ConfigRead(match_id="config", path=path),),
        allowed_options=tuple(sorted(allowed_option_names())),
    )
    frame = link.ask_encoded(encode_plan(plan))
    if file_sha256(source, path, sudo=sudo) != before:
        raise SourceError(source.name, f"{path} changes while it is read; is somebody editing it?")
    section = next((s for s in frame.sections if s.name == "config/config"), None)
    if section is None or section.status is not ReadStatus.OK:
        reason = section.status if section else "not answered"
        raise SourceError(source.name, f"{path} cannot be read ({reason}); log in as a user who may")
    return RemoteConfig(path=path, sha256=before, lines=config_lines(section.text.decode("utf-8", "replace")))


def config_lines(text: str) -> tuple[ConfigLine, ...]:
    """Return the lines of the agent's answer, ``number TAB name TAB value``; one of another form is left out."""
    found = []
    for row in text.split("\n"):
        fields = row.split("\t", 2)
        if (
            len(fields) == 3
            and fields[0].isascii()
            and fields[0].isdigit()
            and len(fields[0]) <= _MAX_LINE_DIGITS
        ):
            found.append(ConfigLine(line=int(fields[0]), name=fields[1], value=fields[2] or None))
    return tuple(found)


def stage(source: Source, config: RemoteConfig, edits: Sequence[LineEdit], suffix: str, *, sudo: bool) -> str:
    """Write backup and new file beside the old one, which stays; return the new file's hash.

    Raises:
        ConfigError: the file is not the one that was looked at any more.
        SourceError: it cannot be written there, or owner and mode cannot be kept.
    """
    script = stage_script(config.path, suffix, config.sha256, edits)
    return _hash_in(source, _run(source, script, config.path, sudo=sudo))


def commit(source: Source, config_path: str, suffix: str, hashes: tuple[str, str], *, sudo: bool) -> None:
    """Put the staged file in place; hashes are those of the old and of the new file.

    Raises:
        ConfigError, SourceError: see stage.
    """
    _run(source, commit_script(config_path, suffix, *hashes), config_path, sudo=sudo)


def restore(source: Source, config_path: str, suffix: str, hashes: tuple[str, str], *, sudo: bool) -> None:
    """Put the backup back; hashes are those of the changed file and of the backup.

    Raises:
        ConfigError, SourceError: see stage.
    """
    _run(source, restore_script(config_path, suffix, *hashes), config_path, sudo=sudo)


def _run(source: Source, script: str, path: str, *, sudo: bool) -> bytes:
    try:
        return run_checked(source, with_sudo(script, sudo=sudo), COMMAND_TIMEOUT_S)
    except CommandError as error:
        if error.exit_status == CHANGED_STATUS:
            raise ConfigError(
                f"{error.stderr}: somebody changed it since; nothing was written",
                path=f"{source.name}:{path}",
            ) from error
        raise SourceError(source.name, f"{path} was not changed: {error.stderr}") from error
