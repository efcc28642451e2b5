"""A frame: what the agent read at one tick, as text, exactly as it was read."""

from dataclasses import dataclass
from enum import StrEnum


class ReadStatus(StrEnum):
    """What became of one reading. Absent, denied and failed are three things, and none is a value."""

    OK = "ok"
    ABSENT = "absent"
    DENIED = "denied"
    FAILED = "failed"
    CUT = "cut"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One reading of one frame.

    Attributes:
        name: what was read, one of

            - an absolute path: ``/proc/stat``, ``/sys/block/sda/queue/read_ahead_kb``;
            - ``nodeos/<id>/<pid>/<start_ticks>/<file>``: a file of a matched process below /proc/<pid>;
            - ``child/<id>/<pid>/<start_ticks>/<file>``: the same of a child of a matched process;
            - ``cgroup/<id>/<file>``: a file of the cgroup of a matched process;
            - ``http/<id><url path>``: an answer of a matched process's HTTP server;
            - ``config/<id>``, ``command/<name>``, ``agent``.
        status: what became of it.
        text: the bytes as read (possibly cut to the plan's lines); empty unless status is ok or cut.
            For a failed reading: the reason.
    """

    name: str
    status: ReadStatus
    text: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One tick of one agent.

    Attributes:
        seq: counts up from 1 in one run of an agent; a hole is a lost frame.
        boottime_ns: CLOCK_BOOTTIME of the host when reading began, nanoseconds.
        wall_ns: CLOCK_REALTIME of the host at the same moment, nanoseconds since the epoch.
        deadline_ns: CLOCK_BOOTTIME at which the tick was due, nanoseconds.
        agent_cpu_ns: CPU time of the agent since it started, nanoseconds; None where not known.
        agent_rss_bytes: resident memory of the agent; None where not known.
        dropped: frames that the agent dropped because its queue was full, since it started.
        sections: the readings, in the order of the plan.
    """

    seq: int
    boottime_ns: int
    wall_ns: int
    deadline_ns: int
    agent_cpu_ns: int | None
    agent_rss_bytes: int | None
    dropped: int
    sections: tuple[Section, ...]
