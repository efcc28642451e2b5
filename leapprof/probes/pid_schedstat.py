"""/proc/PID/schedstat: run time and run delay of the main thread (Documentation/scheduler/sched-stats.rst).

A kernel that does not keep them writes ``0 0 0`` (fs/proc/base.c, proc_pid_schedstat): a process that can be
read has run, so that a run time of 0 is a missing one.
"""

from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.probes.text import integer

_FIELDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class PidSchedstat:
    """Counters of the main thread alone, nanoseconds."""

    main_runtime_ns_total: int | None = None
    main_run_delay_ns_total: int | None = None


def parse_pid_schedstat(text: str) -> PidSchedstat:
    """Return the first two numbers of /proc/PID/schedstat; both None where the kernel keeps none.

    Raises:
        ParseError: not three integers.
    """
    words = text.split()
    if len(words) != _FIELDS:
        raise ParseError("pid_schedstat", "3 integers", line=text)
    if all(word == "0" for word in words):
        return PidSchedstat()
    runtime, delay, _ = (integer(word, "pid_schedstat", text) for word in words)
    return PidSchedstat(main_runtime_ns_total=runtime, main_run_delay_ns_total=delay)
