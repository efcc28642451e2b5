"""Values of the command line: durations and times. Pure."""

import re
from datetime import datetime

from leapprof.errors import ConfigError, quoted
from leapprof.units import NS_PER_S, YEAR_S

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_LONGEST_S = 10 * YEAR_S
_DURATION_PART = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|min|m|h|d|w)")


def parse_duration_s(text: str, key: str, *, may_be_zero: bool = False) -> float:
    """Return the seconds that ``90s``, ``1h30m``, ``6h`` or ``7d`` say.

    Args:
        text: as the operator wrote it.
        key: name of the option, for the message.
        may_be_zero: 0 is an answer too.

    Raises:
        ConfigError: it has another form, is 0 where that makes no sense, or longer than ten years.
    """
    stripped = text.strip()
    if may_be_zero and stripped == "0":
        return 0.0
    parts = _DURATION_PART.findall(stripped)
    if not parts or "".join(number + unit for number, unit in parts) != stripped:
        raise ConfigError(f"{quoted(text)} is no duration: write 90s, 15m, 6h, 1h30m or 7d", key=key)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if seconds <= 0 and not may_be_zero:
        raise ConfigError(f"{quoted(text)} is not longer than 0", key=key)
    if seconds > _LONGEST_S:
        raise ConfigError(f"{quoted(text)} is longer than ten years", key=key)
    return seconds


def parse_time_ns(text: str, key: str) -> int:
    """Return the nanoseconds since the epoch of a time with its time zone.

    Args:
        text: ISO 8601 with ``Z`` or an offset: ``2026-03-01T14:05:00Z``, ``2026-03-01 14:05+01:00``.
        key: name of the option, for the message.

    Raises:
        ConfigError: it has another form, or no time zone.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ConfigError(f"{quoted(text)} is no time: write 2026-03-01T14:05:00Z", key=key) from error
    if moment.tzinfo is None:
        raise ConfigError(
            f"{quoted(text)} has no time zone: add Z for UTC, or an offset such as +01:00", key=key
        )
    return round(moment.timestamp() * NS_PER_S)
