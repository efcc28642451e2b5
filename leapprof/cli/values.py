"""Values of the command line: durations, times, sizes, ways to recognise nodeos. Pure."""

import re
from datetime import datetime

from leapprof.errors import ConfigError, quoted
from leapprof.model.access import NodeosSelector
from leapprof.units import NS_PER_S

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_DURATION_PART = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|min|m|h|d|w)")
_KINDS = {
    "exe": "exe_name",
    "exe_name": "exe_name",
    "comm": "comm",
    "cmdline": "cmdline",
    "pid": "pid",
    "unit": "unit",
}
_SELECTOR = re.compile(
    r"(?:(?P<id>[A-Za-z0-9._@-]{1,64})=)?(?:(?P<kind>[a-z_]+):)?(?P<value>[^\x00-\x1f\x7f]{1,256})\Z"
)
_MAX_PID_DIGITS = 9


def parse_duration_s(text: str, key: str) -> float:
    """Return the seconds that ``90s``, ``1h30m``, ``6h`` or ``7d`` say.

    Args:
        text: as the operator wrote it.
        key: name of the option, for the message.

    Raises:
        ConfigError: it has another form, or is 0.
    """
    stripped = text.strip()
    parts = _DURATION_PART.findall(stripped)
    if not parts or "".join(number + unit for number, unit in parts) != stripped:
        raise ConfigError(f"{quoted(text)} is no duration: write 90s, 15m, 6h, 1h30m or 7d", key=key)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if seconds <= 0:
        raise ConfigError(f"{quoted(text)} is not longer than 0", key=key)
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


def parse_selector(text: str) -> NodeosSelector:
    """Return how the operator wants a nodeos recognised.

    Args:
        text: ``[ID=]KIND:VALUE`` with KIND exe, comm, cmdline, pid or unit; or a pid, a unit
            (``nodeos.service``) or the name of an executable alone.

    Raises:
        ConfigError: it has another form.
    """
    found = _SELECTOR.match(text)
    kind = _selector_kind(found["kind"], found["value"]) if found else None
    if found is None or kind is None or not found["value"].strip():
        raise ConfigError(
            f"{quoted(text)} is not accepted: write exe:NAME, unit:NAME.service, pid:NUMBER, comm:NAME or "
            "cmdline:TEXT, with ID= in front to name it",
            key="nodeos",
        )
    return NodeosSelector(
        id=found["id"] or _selector_id(kind, found["value"]), kind=kind, value=found["value"]
    )


def _selector_kind(kind: str | None, value: str) -> str | None:
    is_pid = value.isascii() and value.isdigit() and len(value) <= _MAX_PID_DIGITS
    if kind is None and ":" in value:
        return None
    if kind is None:
        return "pid" if is_pid else "unit" if value.endswith(".service") else "exe_name"
    known = _KINDS.get(kind)
    return None if known == "pid" and not is_pid else known


def _selector_id(kind: str, value: str) -> str:
    if kind != "unit":
        return "nodeos"
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", value.removesuffix(".service"))[:64] or "nodeos"
