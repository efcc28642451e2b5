"""/proc/PID/limits: resource limits of a process (proc(5))."""

from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.probes.text import integer

_NAMES = {
    "Max locked memory": "locked_memory_bytes",
    "Max open files": "open_files",
    "Max address space": "address_space_bytes",
}
UNLIMITED = "unlimited"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Soft limits, as text since one may be ``unlimited``; None when the line is not there."""

    locked_memory_bytes: str | None = None
    open_files: str | None = None
    address_space_bytes: str | None = None


def parse_limits(text: str) -> Limits:
    """Return the soft limits that matter for nodeos.

    Raises:
        ParseError: a known line whose soft limit is neither an integer nor ``unlimited``.
    """
    found: dict[str, str] = {}
    for line in text.split("\n"):
        for name, field in _NAMES.items():
            if line.startswith(name):
                words = line[len(name) :].split()
                if not words:
                    raise ParseError("limits", "a soft limit", line=line)
                if words[0] != UNLIMITED and integer(words[0], "limits", line) is None:
                    raise ParseError("limits", "a limit of 64 bits", line=line)
                found[field] = words[0]
    return Limits(**found)
