"""What was measured of one run of a nodeos process: its start, and its stop."""

from dataclasses import dataclass
from enum import StrEnum


class StartKind(StrEnum):
    """How a process began."""

    SNAPSHOT = "snapshot"
    REPLAY = "replay"
    CLEAN = "clean"
    AFTER_CRASH = "after crash"
    UNKNOWN = "unknown"


class EndKind(StrEnum):
    """How a process ended."""

    CLEAN = "clean"
    KILLED = "killed"
    UNKNOWN = "unknown"
    STILL_RUNNING = "still running"


@dataclass(frozen=True, slots=True, kw_only=True)
class StartCurve:
    """The first minutes of a process, thinned: tuples of one length; None where there is no value.

    Attributes:
        t_s: seconds since the process began.
        cpu_cores, read_bytes_per_s: rates.
        rss_anon_bytes, rss_file_bytes, rss_shmem_bytes, swap_bytes: levels.
    """

    t_s: tuple[float, ...]
    cpu_cores: tuple[float | None, ...]
    read_bytes_per_s: tuple[float | None, ...]
    rss_anon_bytes: tuple[float | None, ...]
    rss_file_bytes: tuple[float | None, ...]
    rss_shmem_bytes: tuple[float | None, ...]
    swap_bytes: tuple[float | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartMeasure:
    """One run of a nodeos process, as far as its recording holds it; what is not known is None.

    Attributes:
        label: side or phase of the recording.
        nodeos, pid: who.
        started_wall_ns: host's wall clock when the process began.
        map_mode: of this very process; None when not known for it.
        kind, kind_source: how it began, and what says so (``log``, ``command line``, ``memory``).
        is_start_seen: its first seconds were sampled.
        start_s: until its log said that the chain had started, or its API answered for the first time.
        start_peak_rss_bytes, start_peak_anon_bytes, start_peak_swap_bytes: highest until then.
        start_read_bytes: read from drives until then (of /proc/PID/io, since the process began).
        uptime_s: of the process when its stop began; until the last sample while it runs.
        end: how it ended.
        stop_s: from its log's word, or the last answer of its API, until the process had gone.
        stop_peak_rss_bytes, stop_peak_swap_bytes: highest during the stop.
        stop_written_bytes: dirtied by the process during the stop (/proc/PID/io).
        curve: None unless its start was sampled.
    """

    label: str
    nodeos: str
    pid: int
    started_wall_ns: int
    map_mode: str | None
    kind: StartKind
    kind_source: str | None
    is_start_seen: bool
    start_s: float | None
    start_peak_rss_bytes: int | None
    start_peak_anon_bytes: int | None
    start_peak_swap_bytes: int | None
    start_read_bytes: int | None
    uptime_s: float | None
    end: EndKind
    stop_s: float | None
    stop_peak_rss_bytes: int | None
    stop_peak_swap_bytes: int | None
    stop_written_bytes: int | None
    curve: StartCurve | None = None
