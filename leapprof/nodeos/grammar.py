"""config.ini exactly as nodeos reads it.

Source: boost program_options ``basic_config_file_iterator`` as appbase uses it (libraries/appbase,
Leap 5.0.3), each row tried with a program built on it: a ``#`` ends a line even inside quotes, names are
case-sensitive, a ``[section]`` becomes part of later names, a line without ``=`` is an error, there is no
continuation, and nothing is ever a value but the trimmed text behind the first ``=``.
"""

from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.model import Finding, Severity

MAX_CONFIG_CHARS = 4_000_000
MAX_LINE_CHARS = 65_536
BOM = "\ufeff"

_BLANKS = " \t\r\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One ``name = value`` of the file, as nodeos takes it; the section, if any, is part of the name."""

    line: int
    name: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A parsed config.ini: its entries in order, and what is wrong with its lines."""

    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...]

    def of(self, name: str) -> tuple[Entry, ...]:
        """Return the entries of one option, in order."""
        return tuple(entry for entry in self.entries if entry.name == name)


def parse_config(text: str) -> Config:
    """Return the entries of a config.ini, with a finding for each line that nodeos would refuse.

    Raises:
        ParseError: it is longer than any config.ini, or holds a NUL byte (it is no text).
    """
    if len(text) > MAX_CONFIG_CHARS:
        raise ParseError("config.ini", f"at most {MAX_CONFIG_CHARS} characters")
    if "\0" in text:
        raise ParseError("config.ini", "text without NUL bytes")
    entries: list[Entry] = []
    findings: list[Finding] = []
    prefix = ""
    for line_no, raw in enumerate(text.split("\n"), 1):
        if len(raw) > MAX_LINE_CHARS:
            raise ParseError("config.ini", f"lines of at most {MAX_LINE_CHARS} characters", line_no=line_no)
        line = raw.split("#", 1)[0].strip(_BLANKS)
        if not line:
            continue
        if line.startswith("[") and line.endswith("]"):
            prefix = _section_prefix(line)
            findings.append(_section_finding(line_no))
        elif "=" in line:
            name, _, value = line.partition("=")
            entries.append(Entry(line=line_no, name=prefix + name.strip(_BLANKS), value=value.strip(_BLANKS)))
        else:
            findings.append(_invalid_line_finding(line, line_no))
    return Config(entries=tuple(entries), findings=tuple(findings))


def _section_prefix(line: str) -> str:
    inner = line[1:-1]
    return inner if inner.endswith(".") else inner + "."


def _section_finding(line_no: int) -> Finding:
    return Finding(
        code="config-section",
        severity=Severity.INFO,
        message="nodeos has no sections: this line becomes part of every later option's name.",
        hint="Remove the line; the options below it are unknown to nodeos until then.",
        line=line_no,
    )


def _invalid_line_finding(line: str, line_no: int) -> Finding:
    if line.startswith(";"):
        hint = "Start a comment with #, as nodeos does not know the semicolon."
    elif line.startswith(BOM):
        hint = "Save the file without a byte order mark."
    else:
        hint = "Write name = value, also for a switch (name = true), or put # in front."
    return Finding(
        code="config-line-invalid",
        severity=Severity.ERROR,
        message="nodeos refuses a line without an equals sign.",
        hint=hint,
        line=line_no,
    )
