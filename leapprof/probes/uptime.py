"""/proc/uptime: seconds since boot, with suspend (proc(5))."""

import re
from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.probes.text import MAX_INTEGER

_SECONDS = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,9}))?(?:[ \t]|\n|$)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Uptime:
    """How long the host has been up, milliseconds."""

    uptime_ms: int | None = None


def parse_uptime(text: str) -> Uptime:
    """Return the first field of /proc/uptime.

    Raises:
        ParseError: it is no decimal number of seconds.
    """
    match = _SECONDS.match(text)
    if match is None:
        raise ParseError("uptime", "seconds", line=text)
    whole, fraction = match.groups()
    value_ms = int(whole) * 1000 + int(((fraction or "") + "000")[:3])
    return Uptime(uptime_ms=value_ms if value_ms <= MAX_INTEGER else None)
