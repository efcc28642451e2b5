"""Names of recordings' directories: never outside the directory that the operator gave. Pure."""

import re
from datetime import UTC, datetime
from pathlib import Path

from leapprof.errors import ConfigError, quoted
from leapprof.units import NS_PER_S

MAX_PART_CHARS = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
_PHASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")


def check_phase(phase: str) -> None:
    """Refuse a phase that is no plain name.

    Raises:
        ConfigError: it is not.
    """
    if phase and not _PHASE.match(phase):
        raise ConfigError(
            f"{quoted(phase)} is not accepted: letters, digits and . _ -, at most 64, such as before or after",
            key="phase",
        )


def recording_directory(out: Path, host: str, phase: str, started_wall_ns: int) -> Path:
    """Return ``out/<host>-<phase>-<start>``; without a phase ``out/<host>-<start>``.

    Args:
        out: where the operator wants recordings.
        host: as the operator called it; what is not fit for a file name becomes a dash.
        phase: may be empty.
        started_wall_ns: collector's wall clock, nanoseconds since the epoch.
    """
    start = datetime.fromtimestamp(started_wall_ns / NS_PER_S, UTC).strftime("%Y%m%dT%H%M%SZ")
    return out / "-".join(part for part in (_safe(host), _safe(phase) if phase else "", start) if part)


def _safe(text: str) -> str:
    return _UNSAFE.sub("-", text)[:MAX_PART_CHARS].strip(".-") or "host"
