"""Lines of nodeos's log as an agent lets them leave the host: which, and what they tell.

An agent sends lines that hold one of MARKS, each ``<time> TAB <message from the mark on>``; the time of a line that has
none is ``~`` and that of the line before it, or ``-``. Of the line ``Non-default options`` only allowed options leave.
Sources: the logs of Leap 4.0.6 and 5.0.3, see logs.py.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from leapprof.nodeos.logs import LifeLine, LineKind, parse_event
from leapprof.nodeos.privacy import is_key_shaped

OPTIONS_MARK = "Non-default options:"
CONFIG_MARK = "nodeos using configuration file "
DATA_MARK = "nodeos data directory is "
MARKS = (
    CONFIG_MARK,
    DATA_MARK,
    "initializing chain plugin",
    "Starting initialization from snapshot",
    "Finished initialization from snapshot",
    "replayed ",
    "Blockchain started",
    'CHAINBASE: Preloading "state"',
    'CHAINBASE: Writing "state"',
    "CHAINBASE: Detect Soft-Dirty",
    "appbase quit called",
    "entered shutdown",
    "shutdown..",
    "successfully exiting",
    "atabase dirty flag set",
    '"state" database dirty flag set',
    "Cannot allocate memory",
    "Database has reached an unsafe level of usage",
    "database memory exhausted",
    "Gracefully shutting down, exceeded",
)
"""Beginnings of the messages that tell of starting, stopping, loading and writing."""

MAX_LINES = 2000
_QUIET = frozenset({LineKind.PEERS, LineKind.VERSION, LineKind.OPTIONS})
_COMPLETE = "database file, complete."
_BEFORE_MARK = {"successfully exiting": "nodeos ", "atabase dirty flag set": "D"}

Options = dict[str, tuple[str | None, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldLine:
    """One line: what it tells, its text, and its time (milliseconds since the epoch), None for a bare line."""

    life: LifeLine
    message: str
    logged_ms: int | None


def parse_told(text: str) -> Iterator[ToldLine]:
    """Yield the lines about the life of a nodeos.

    A bare line has the time of the line before it, else after it; one that says complete that after it, if any.

    Any text gives lines or none; at most MAX_LINES of them are looked at.
    """
    lines = text.split("\n")[:MAX_LINES]
    times = [_time_ms(line.partition("\t")[0]) for line in lines]
    now_ms = next((time for time in times if time is not None), None)
    for index, line in enumerate(lines):
        time, tab, message = line.partition("\t")
        if not tab:
            continue
        is_bare = times[index] is None
        now_ms = now_ms if is_bare else times[index]
        if is_bare:
            before_ms = _time_ms(time.removeprefix("~"))
            now_ms = before_ms if before_ms is not None else now_ms
            if message.endswith(_COMPLETE):
                now_ms = next((t for t in times[index:] if t is not None), now_ms)
        message = _completed(message)
        event = parse_event(message)
        if isinstance(event, LifeLine) and event.kind not in _QUIET:
            yield ToldLine(life=replace(event, logged_ms=now_ms), message=message, logged_ms=now_ms)


def told_options(text: str, since_ms: int = 0) -> Options | None:
    """Return the options of the last ``Non-default options`` line; None without one.

    Args:
        text: lines of the agent.
        since_ms: earlier lines are of an earlier process; milliseconds since the epoch.
    """
    found: Options | None = None
    for line in text.split("\n")[-MAX_LINES:]:
        time, _, message = line.partition("\t")
        if not message.startswith(OPTIONS_MARK) or (_time_ms(time.removeprefix("~")) or since_ms) < since_ms:
            continue
        found = {}
        for pair in message[len(OPTIONS_MARK) :].split(", "):
            name, equals, value = pair.strip().partition(" = ")
            if name:
                found[name] = (*found.get(name, ()), *((value,) if equals else ()))
    return found


def told_places(text: str, since_ms: int = 0) -> tuple[str | None, str | None]:
    """Return the config file and the data directory that a log names, absolute paths; None where it does not.

    Args:
        text: lines of the agent.
        since_ms: earlier lines are of an earlier process; milliseconds since the epoch.
    """
    found: dict[str, str] = {}
    for line in text.split("\n")[:MAX_LINES]:
        time, _, message = line.partition("\t")
        mark = next((m for m in (CONFIG_MARK, DATA_MARK) if message.startswith(m)), None)
        path = message[len(mark) :].strip().strip('"') if mark else ""
        if mark and path.startswith("/") and (_time_ms(time.removeprefix("~")) or since_ms) >= since_ms:
            found[mark] = path
    return found.get(CONFIG_MARK), found.get(DATA_MARK)


def shown_options(options: Options, allowed: Collection[str]) -> Options:
    """Return the allowed options; the agent has let no other leave, and who reads a file trusts no agent."""
    return {
        name: values
        for name, values in options.items()
        if name in allowed and not any(is_key_shaped(value or "") for value in values)
    }


def _completed(message: str) -> str:
    """Return a message with what stands before its mark in every line of nodeos."""
    return next(
        (front + message for mark, front in _BEFORE_MARK.items() if message.startswith(mark)), message
    )


def _time_ms(text: str) -> int | None:
    try:
        return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
