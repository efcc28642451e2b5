"""A finding: something that the operator should know, with what to do next."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A number of a finding's message.

    Attributes:
        name: what it is, in a word or two.
        unit: as of the metric table (bytes, s, percent, count …), or a word such as ``hour``.
    """

    name: str
    value: float
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that the operator should know.

    Attributes:
        code: stable kebab-case name, documented in docs/findings.md.
        severity: info, warning or error.
        message: one sentence: what is so.
        hint: one sentence: what to do next. Never empty.
        line: line of the config file that it is about, if any.
        option: config option that it is about, if any.
        subject: host, nodeos or device that it is about, if any.
        evidence: the numbers of the message that are nowhere else in a report.
    """

    code: str
    severity: Severity
    message: str
    hint: str
    line: int | None = None
    option: str | None = None
    subject: str | None = None
    evidence: tuple[Evidence, ...] = ()


def evidence(unit: str, **values: float) -> tuple[Evidence, ...]:
    """Return the numbers of a message, by name, all of one unit."""
    return tuple(Evidence(name=name, value=value, unit=unit) for name, value in values.items())
