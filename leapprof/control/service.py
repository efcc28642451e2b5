"""Commands that stop and start nodeos, how long a stop may take, and whether the state is clean. Commands are pure.

Stopping writes the state back (chainbase pinnable_mapped_file.cpp): a supervisor that does not wait kills nodeos
and leaves the dirty flag, after which only a snapshot or a replay helps. systemd's default is 90 s, docker's 10 s.
"""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass

from leapprof.config.playbook_schema import Restart
from leapprof.control.commands import filled, filled_plain, run_checked, with_sudo
from leapprof.errors import SourceError
from leapprof.sources import Source
from leapprof.units import GIB

ASK_TIMEOUT_S = 30.0
STOP_BASE_S = 60.0
WRITE_BACK_BYTES_PER_S = 50e6
"""A stop of Leap 5.0.3 in mapped_private without soft-dirty tracking wrote 2.1 GB in 37 s to a virtual disk."""
UNKNOWN_STATE_STOP_S = 1800.0
STATE_FILE = "shared_memory.bin"
DIRTY_OFFSET = 8
"""chainbase's header: 8 bytes of id, then the dirty flag (pinnable_mapped_file.hpp, Leap 3.1 to Spring 1.2)."""

_SPAN = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)(us|ms|s|min|h|d|w|month|y)", re.ASCII)
_SPAN_S = {
    "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0,
    "month": 2_629_800.0, "y": 31_557_600.0,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceCommands:
    """What is run to stop and to start."""

    stop: str
    start: str


def service_commands(restart: Restart, names: Mapping[str, str], stop_timeout_s: float) -> ServiceCommands:
    """Return the commands of a restart.

    Args:
        restart: of the playbook.
        names: what ``{name}`` stands for on this host.
        stop_timeout_s: how long docker is told to wait.
    """
    sudo = "sudo -n " if restart.sudo else ""
    if restart.systemd is not None:
        unit = shlex.quote(filled_plain(restart.systemd, names))
        return ServiceCommands(
            stop=f"{sudo}systemctl stop -- {unit}", start=f"{sudo}systemctl start -- {unit}"
        )
    if restart.docker is not None:
        container = shlex.quote(filled_plain(restart.docker, names))
        stop = f"{sudo}docker stop --time {round(stop_timeout_s)} -- {container}"
        return ServiceCommands(stop=stop, start=f"{sudo}docker start -- {container}")
    assert restart.commands is not None
    return ServiceCommands(
        stop=filled(restart.commands.stop, names), start=filled(restart.commands.start, names)
    )


def estimate_stop_s(state_bytes: int | None) -> float:
    """Return how long writing a state back may take, seconds; chainbase writes in steps of 1 GiB."""
    if state_bytes is None:
        return UNKNOWN_STATE_STOP_S
    return STOP_BASE_S + -(-state_bytes // GIB) * GIB / WRITE_BACK_BYTES_PER_S


def parse_systemd_span_s(text: str) -> float | None:
    """Return the seconds of ``1min 30s``; None for ``infinity``, and for what is no span.

    systemd.time(7): ``systemctl show`` prints spans in this form.
    """
    parts = _SPAN.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text.replace(" ", ""):
        return None
    return sum(float(number) * _SPAN_S[unit] for number, unit in parts)


def supervisor_stop_s(source: Source, restart: Restart, names: Mapping[str, str]) -> float | None:
    """Return how long the supervisor waits before it kills; None: for ever, or as we tell it.

    Raises:
        SourceError: systemd does not answer, or does not know the unit.
    """
    if restart.systemd is None:
        return None
    unit = filled_plain(restart.systemd, names)
    command = f"systemctl show --property=LoadState,TimeoutStopUSec -- {shlex.quote(unit)}"
    output = run_checked(source, command, ASK_TIMEOUT_S).decode("utf-8", "replace")
    told = dict(line.split("=", 1) for line in output.splitlines() if "=" in line)
    if told.get("LoadState") != "loaded":
        raise SourceError(source.name, f"systemd knows no unit {unit!r}")
    return parse_systemd_span_s(told.get("TimeoutStopUSec", ""))


def state_bytes_on_disk(source: Source, state_dir: str, *, sudo: bool) -> int | None:
    """Return the bytes that the state file takes on disk; None when that is not readable."""
    script = f"stat -c '%b %B' -- {shlex.quote(f'{state_dir}/{STATE_FILE}')}"
    result = source.run(with_sudo(script, sudo=sudo), ASK_TIMEOUT_S)
    words = result.stdout.decode("ascii", "replace").split()
    known = result.exit_status == 0 and len(words) == 2 and all(w.isdigit() and len(w) < 16 for w in words)
    return int(words[0]) * int(words[1]) if known else None


def read_dirty_flag(source: Source, state_dir: str, *, sudo: bool) -> int | None:
    """Return byte 8 of the state file: 0 is clean, 1 while nodeos runs and after it was killed.

    Returns None when there is no state file, so that nothing can be dirty.

    Raises:
        SourceError: it cannot be read.
    """
    path = shlex.quote(f"{state_dir}/{STATE_FILE}")
    script = f"[ -e {path} ] || {{ echo none; exit 0; }}; od -An -tu1 -j{DIRTY_OFFSET} -N1 -- {path}"
    output = run_checked(source, with_sudo(script, sudo=sudo), ASK_TIMEOUT_S)
    words = output.decode("ascii", "replace").split()
    if words == ["none"]:
        return None
    if len(words) == 1 and words[0].isdigit() and len(words[0]) < 4:
        return int(words[0])
    raise SourceError(source.name, "the dirty flag of the state cannot be read")
