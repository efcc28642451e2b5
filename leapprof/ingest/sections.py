"""Names and texts of a frame's sections (see model.frame.Section)."""

from dataclasses import dataclass

from leapprof.model import ReadStatus, Section

_PROCESS_PARTS = 5
MAX_ID_CHARS = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessName:
    """The parts of ``nodeos/<id>/<pid>/<start_ticks>/<file>`` or ``child/…``."""

    scope: str
    id: str
    pid: int
    start_ticks: int
    file: str


def process_name(name: str) -> ProcessName | None:
    """Return the parts of a process's section; None for any other name."""
    parts = name.split("/", _PROCESS_PARTS - 1)
    if len(parts) != _PROCESS_PARTS or parts[0] not in ("nodeos", "child"):
        return None
    scope, nodeos_id, pid, start_ticks, file = parts
    if not (_is_number(pid) and _is_number(start_ticks)) or len(nodeos_id) > MAX_ID_CHARS:
        return None
    return ProcessName(scope=scope, id=nodeos_id, pid=int(pid), start_ticks=int(start_ticks), file=file)


def _is_number(token: str) -> bool:
    return token.isascii() and token.isdigit() and len(token) <= 18


def section_text(section: Section) -> str | None:
    """Return the text of a reading; None unless there is one.

    A cut text loses its last line unless that is whole: half a number is a wrong number.
    """
    if section.status is ReadStatus.OK:
        return section.text.decode("utf-8", "replace")
    if section.status is ReadStatus.CUT:
        whole, newline, _ = section.text.rpartition(b"\n")
        return (whole + newline).decode("utf-8", "replace")
    return None


def texts_of(sections: tuple[Section, ...]) -> dict[str, str]:
    """Return the texts of all readings that have one, by section name."""
    found = {}
    for section in sections:
        text = section_text(section)
        if text is not None:
            found[section.name] = text
    return found
