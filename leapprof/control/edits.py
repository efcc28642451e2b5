"""Which lines of a config.ini change, and the scripts that change them on the host. Pure.

The collector knows line numbers, names and the values that may leave the host, never the file. So a script
gets the number of a line, the SHA-256 of the file that it was read from, and the new line. A comment behind a
value stays where it is; a line that goes is commented out.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leapprof.errors import ConfigError
from leapprof.nodeos.grammar import Config, Entry

CHANGED_STATUS = 9
OWNER_STATUS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigLine:
    """One line of the file, as far as it may leave the host; value None: it may not, or there is none."""

    line: int
    name: str
    value: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LineEdit:
    """One edit.

    Attributes:
        line: number from 1; None: a new line at the end.
        text: ``name = value``; None: the line is commented out.
    """

    line: int | None
    option: str
    text: str | None


def plan_edits(
    lines: Sequence[ConfigLine], wanted: Mapping[str, str], removed: Sequence[str], path: str
) -> tuple[LineEdit, ...]:
    """Return the edits that make a file say what is wanted; none when it says so already.

    Raises:
        ConfigError: an option has several lines, or the file has sections, which change the names below them.
    """
    if any("." in line.name for line in lines):
        raise ConfigError("has a [section], which becomes part of the names below it; take it out", path=path)
    edits = [
        LineEdit(line=line.line, option=line.name, text=None) for line in lines if line.name in set(removed)
    ]
    for option, value in wanted.items():
        found = [line for line in lines if line.name == option]
        if len(found) > 1:
            raise ConfigError(
                f"has {len(found)} lines of {option}; leapprof edits one", path=path, key=option
            )
        if not found or found[0].value != value:
            line = found[0].line if found else None
            edits.append(LineEdit(line=line, option=option, text=f"{option} = {value}"))
    return tuple(sorted(edits, key=lambda edit: (edit.line is None, edit.line or 0)))


def edited(lines: Sequence[ConfigLine], edits: Sequence[LineEdit]) -> Config:
    """Return the file after the edits, as nodeos would take it; a value that is not known is left out."""
    changes = {edit.line: edit for edit in edits if edit.line is not None}
    entries = []
    for line in lines:
        edit = changes.get(line.line)
        value = edit.text.partition("=")[2].strip() if edit and edit.text else line.value
        if (edit is None or edit.text is not None) and line.name:
            entries.append(Entry(line=line.line, name=line.name, value=value or ""))
    next_line = max((line.line for line in lines), default=0) + 1
    for edit in edits:
        if edit.line is None and edit.text:
            entries.append(Entry(line=next_line, name=edit.option, value=edit.text.partition("=")[2].strip()))
            next_line += 1
    return Config(entries=tuple(entries), findings=())


def _sed_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("/", "\\/").replace("&", "\\&")


def _sed_arguments(edits: Sequence[LineEdit]) -> str:
    rules = []
    for edit in edits:
        if edit.line is not None and edit.text is None:
            rules.append(f"{edit.line}s/^/# /")
        elif edit.line is not None and edit.text is not None:
            rules += [f"{edit.line}s/^[^#]*/{_sed_text(edit.text)} /", f"{edit.line}s/[[:space:]]*$//"]
    return " ".join(f"-e {shlex.quote(rule)}" for rule in rules) or "-e ''"


_BEGIN = """set -eu
LC_ALL=C; export LC_ALL
umask 077
f=$(readlink -f -- {file})
b=$f.{suffix}.bak
n=$f.{suffix}.new
hash() {{ h=$(sha256sum < "$1"); echo "${{h%% *}}"; }}
trap 'rm -f -- "$n"' EXIT
[ "$(hash "$f")" = {expected} ] || {{ echo "the file is not the one that was looked at" >&2; exit 9; }}
"""
_COPY = """cp -p --preserve=all -- "$f" "$n" 2>/dev/null || cp -p -- "$f" "$n"
[ "$(stat -c %u:%g:%a -- "$f")" = "$(stat -c %u:%g:%a -- "$n")" ] || {
  echo "owner and mode of the file cannot be kept" >&2; exit 8; }
"""
_SYNC = """sync -- "$n" 2>/dev/null || sync
"""
_CHECK = """[ "$(hash {which})" = {expected} ] || {{ echo {problem} >&2; exit 9; }}
"""
_COMMIT = """mv -f -- "$n" "$f"
sync
hash "$f"
"""


def _begin(path: str, suffix: str, expected_sha256: str) -> str:
    return _BEGIN.format(file=shlex.quote(path), suffix=suffix, expected=shlex.quote(expected_sha256))


def stage_script(path: str, suffix: str, sha256: str, edits: Sequence[LineEdit]) -> str:
    """Return the script that writes backup and new file beside the old one and prints the new one's hash.

    Args:
        path: of the file; a link is followed.
        suffix: of both files, a plain name of this run and step.
        sha256: of the file as it was looked at; another one is refused with status 9.
        edits: what changes.
    """
    appended = "".join(
        f'printf "%s\\n" {shlex.quote(e.text)} >> "$n"\n' for e in edits if e.line is None and e.text
    )
    newline = '[ -z "$(tail -c 1 -- "$n")" ] || echo >> "$n"\n' if appended else ""
    return (
        _begin(path, suffix, sha256)
        + '[ -e "$b" ] || cp -p -- "$f" "$b"\nchmod 600 -- "$b"\n'
        + _COPY
        + f'sed {_sed_arguments(edits)} -- "$f" > "$n"\n'
        + newline
        + appended
        + _SYNC
        + 'hash "$n"\ntrap - EXIT\n'
    )


def _check(which: str, expected: str, problem: str) -> str:
    return _CHECK.format(which=which, expected=shlex.quote(expected), problem=shlex.quote(problem))


def commit_script(path: str, suffix: str, sha256: str, new_sha256: str) -> str:
    """Return the script that puts the staged file in the place of the old one, at once."""
    check = _check('"$n"', new_sha256, "the new file is not the one that was written")
    return _begin(path, suffix, sha256) + check + _COMMIT


def restore_script(path: str, suffix: str, sha256: str, backup_sha256: str) -> str:
    """Return the script that puts the backup's content back in the place of the changed file."""
    check = _check('"$b"', backup_sha256, "the backup is not the file of before")
    return _begin(path, suffix, sha256) + check + _COPY + 'cat -- "$b" > "$n"\n' + _SYNC + _COMMIT
