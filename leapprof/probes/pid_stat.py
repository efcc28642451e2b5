"""/proc/PID/stat: CPU time, faults and threads of one process (proc(5)).

The command name may hold blanks, parentheses and newlines, so that fields are counted from the LAST
closing parenthesis. utime and stime cover all threads, also those that ended; ticks are 1/100 s (USER_HZ).
"""

from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.probes.text import integer

# Positions after the command name; field N of proc(5) is at N - 3.
_FIELDS = {
    1: "ppid",
    7: "minor_faults_total",
    9: "major_faults_total",
    11: "utime_ticks_total",
    12: "stime_ticks_total",
    17: "threads",
    19: "start_ticks",
    21: "rss_pages",
}
_MIN_FIELDS = 22
_MAX_COMM_CHARS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class PidStat:
    """Counters of one process.

    Attributes:
        comm: command name as the kernel keeps it.
        state: one letter: R, S, D, Z …
        start_ticks: start of the process after boot, ticks.
        rss_pages: inexact (proc(5)); PidStatus.rss_bytes is shown instead.
    """

    comm: str
    state: str
    ppid: int | None = None
    minor_faults_total: int | None = None
    major_faults_total: int | None = None
    utime_ticks_total: int | None = None
    stime_ticks_total: int | None = None
    threads: int | None = None
    start_ticks: int | None = None
    rss_pages: int | None = None


def parse_pid_stat(text: str) -> PidStat:
    """Return the counters of /proc/PID/stat.

    Raises:
        ParseError: no command name in parentheses, too few fields, or a value that is no integer.
    """
    head, opened, rest = text.partition("(")
    comm, closed, tail = rest.rpartition(")")
    words = tail.split()
    if not (opened and closed and head.strip().isdecimal()) or len(words) < _MIN_FIELDS:
        raise ParseError("pid_stat", "'pid (comm) state …' with at least 24 fields", line=text)
    values = {name: integer(words[position], "pid_stat", text) for position, name in _FIELDS.items()}
    return PidStat(comm=comm[:_MAX_COMM_CHARS], state=words[0][:1], **values)
