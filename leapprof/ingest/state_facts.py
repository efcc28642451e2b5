"""Facts about one nodeos that need a question of their own: its state file, its filesystem, how long a stop may take.

Sources: chainbase pinnable_mapped_file.cpp (byte 8 of shared_memory.bin is 1 while a writer has it open, and after a
crash); systemd.unit(5), systemd.service(5) and systemd.time(7) for TimeoutStopSec; ``docker stop`` waits 10 s.
"""

import re
from collections.abc import Mapping

from leapprof.agent.plan import Peek, Read, StatVfs
from leapprof.model import Nodeos, Topology

STATE_FILE = "shared_memory.bin"
DIRTY_BYTE = 8
INFINITE = "infinity"
DEFAULT_STOP_S = 90  # DefaultTimeoutStopSec of systemd-system.conf(5)
DOCKER_STOP_S = 10
MANAGER_FILE = "/etc/systemd/system.conf"

_UNIT_FOLDERS = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)
_KEYS = ("TimeoutStopSec", "TimeoutSec")
_MANAGER_KEYS = ("DefaultTimeoutStopSec",)
_UNIT_NAME = re.compile(r"[A-Za-z0-9:_.\\@-]{1,200}\.service", re.ASCII)
_SPAN_PART = re.compile(r"(\d{1,12}(?:\.\d{1,6})?)\s*([a-zµ]*)\s*")
_SPAN_UNITS = {
    **dict.fromkeys(("", "s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("ms", "msec"), 0.001),
    **dict.fromkeys(("us", "usec", "µs"), 1e-6),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86_400.0),
}


def questions_of(nodeos: Nodeos) -> tuple[Read | Peek | StatVfs, ...]:
    """Return what to read for the facts of one nodeos."""
    asked: list[Read | Peek | StatVfs] = []
    if nodeos.state_dir and nodeos.state_dir.startswith("/"):
        place = nodeos.root + nodeos.state_dir.rstrip("/")
        asked += [Peek(path=f"{place}/{STATE_FILE}", offset=DIRTY_BYTE, count=1), StatVfs(path=place or "/")]
    if nodeos.unit and _UNIT_NAME.fullmatch(nodeos.unit):
        for name in _unit_names(nodeos.unit):
            for folder in _UNIT_FOLDERS:
                asked.append(Read(path=f"{folder}/{name}", every_ticks=0, keep=_KEYS))
                asked.append(Read(path=f"{folder}/{name}.d/*.conf", every_ticks=0, keep=_KEYS))
        asked.append(Read(path=MANAGER_FILE, every_ticks=0, keep=_MANAGER_KEYS))
    return tuple(asked)


def facts_of(nodeos: Nodeos, texts: Mapping[str, str]) -> dict[str, str]:
    """Return the facts that a frame's texts hold, as ``nodeos.<id>.<name>``; unknown ones are not there."""
    facts = _state_file_facts(nodeos, texts) | _filesystem_facts(nodeos, texts) | _stop_facts(nodeos, texts)
    return {f"nodeos.{nodeos.id}.{name}": value for name, value in facts.items()}


def mount_facts(nodeos: Nodeos, own: Topology) -> dict[str, str]:
    """Return mount point and filesystem of state and blocks, as ``nodeos.<id>.<role>_mount`` and ``…_filesystem``.

    Args:
        nodeos: with its directories.
        own: the host's devices with the mounts that the process itself sees.
    """
    facts = {}
    for role, path in (("state", nodeos.state_dir), ("blocks", nodeos.blocks_dir)):
        mount = own.mount_of(path) if path and path.startswith("/") else None
        if mount is not None:
            facts[f"nodeos.{nodeos.id}.{role}_mount"] = mount.point
            facts[f"nodeos.{nodeos.id}.{role}_filesystem"] = mount.filesystem
    return facts


def _place(nodeos: Nodeos) -> str:
    return nodeos.root + (nodeos.state_dir or "").rstrip("/")


def _state_file_facts(nodeos: Nodeos, texts: Mapping[str, str]) -> dict[str, str]:
    text = texts.get(f"peek:{_place(nodeos)}/{STATE_FILE}")
    if text is None or not nodeos.state_dir:
        return {}
    said = {word: rest for word, _, rest in (line.partition(" ") for line in text.split("\n"))}
    names = {"size": "state_file_bytes", "allocated": "state_file_allocated_bytes"}
    facts = {fact: said[word] for word, fact in names.items() if _is_number(said.get(word, ""))}
    dirty = said.get("bytes", "")
    return facts | ({"state_dirty": "no" if int(dirty) == 0 else "yes"} if _is_number(dirty) else {})


def _filesystem_facts(nodeos: Nodeos, texts: Mapping[str, str]) -> dict[str, str]:
    said = dict(
        line.split(" ", 1) for line in texts.get(f"statvfs:{_place(nodeos)}", "").split("\n") if " " in line
    )
    numbers = {name: int(value) for name, value in said.items() if _is_number(value)}
    unit = numbers.get("f_frsize")
    if not unit or "f_blocks" not in numbers or not nodeos.state_dir:
        return {}
    facts = {"state_filesystem_bytes": str(unit * numbers["f_blocks"])}
    if "f_bavail" in numbers:
        facts["state_filesystem_available_bytes"] = str(unit * numbers["f_bavail"])
    return facts


def _stop_facts(nodeos: Nodeos, texts: Mapping[str, str]) -> dict[str, str]:
    if nodeos.unit is None:
        if nodeos.container is None or not nodeos.container.startswith("docker"):
            return {}
        return {"stop_timeout_s": str(DOCKER_STOP_S), "stop_timeout_source": "docker stop's default"}
    names = _unit_names(nodeos.unit)
    main = _first_unit(names, texts)
    if main is None:
        return {}
    value, source = _assigned(texts[main]), main
    for path in _drop_ins(names, texts):
        set_here = _assigned(texts[path])
        value, source = (set_here, path) if set_here is not None else (value, source)
    if value is None:
        value, source = _assigned(texts.get(MANAGER_FILE, ""), _MANAGER_KEYS), MANAGER_FILE
    seconds = parse_time_span(value) if value is not None else str(DEFAULT_STOP_S)
    if seconds is None:
        return {}
    return {
        "stop_timeout_s": seconds,
        "stop_timeout_source": source if value is not None else "systemd's default",
    }


def _first_unit(names: tuple[str, ...], texts: Mapping[str, str]) -> str | None:
    paths = (f"{folder}/{name}" for name in names for folder in _UNIT_FOLDERS)
    return next((path for path in paths if path in texts), None)


def _drop_ins(names: tuple[str, ...], texts: Mapping[str, str]) -> list[str]:
    """Return the drop-ins that count, in the order in which systemd reads them: by file name, /etc hides the others."""
    found: dict[str, str] = {}
    for name in reversed(names):  # those of the unit itself hide those of its template
        for folder in reversed(_UNIT_FOLDERS):
            start = f"{folder}/{name}.d/"
            found |= {path[len(start) :]: path for path in texts if path.startswith(start)}
    return [found[name] for name in sorted(found)]


def _unit_names(unit: str) -> tuple[str, ...]:
    prefix, at, _ = unit.partition("@")
    return (unit, f"{prefix}@.service") if at else (unit,)


def _assigned(text: str, keys: tuple[str, ...] = _KEYS) -> str | None:
    """Return the value of the last line that sets one of the keys; None without one."""
    value = None
    for line in text.split("\n"):
        name, equals, rest = line.partition("=")
        if equals and name.strip() in keys:
            value = rest.strip()
    return value


def parse_time_span(text: str) -> str | None:
    """Return the seconds of a time span of systemd as text, ``infinity`` for none; None when it is no span."""
    text = text.strip()
    if text == INFINITE:
        return INFINITE
    parts = list(_SPAN_PART.finditer(text))
    if not parts or "".join(part[0] for part in parts) != text or any(p[2] not in _SPAN_UNITS for p in parts):
        return None
    seconds = sum(float(part[1]) * _SPAN_UNITS[part[2]] for part in parts)
    return f"{seconds:.10g}" if seconds > 0 else INFINITE


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 18
