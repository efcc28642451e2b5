"""CPU time of a process by thread name, as the agent adds it up from /proc/PID/task/*/stat.

Lines are ``name utime_ticks stime_ticks count``; a name may hold blanks.
"""

from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.probes.text import bounded_name, integer

_NUMBERS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadCounters:
    """CPU time of the living threads of one name, ticks of 1/100 s, and their number."""

    utime_ticks_total: int | None = None
    stime_ticks_total: int | None = None
    threads: int | None = None


def parse_threads(text: str) -> dict[str, ThreadCounters]:
    """Return the counters by thread name.

    Raises:
        ParseError: a line without a name and three integers.
    """
    found: dict[str, ThreadCounters] = {}
    for line in text.split("\n"):
        if not line.strip():
            continue
        words = line.rsplit(None, _NUMBERS)
        if len(words) != _NUMBERS + 1:
            raise ParseError("threads", "'name utime_ticks stime_ticks count'", line=line)
        utime, stime, count = (integer(word, "threads", line) for word in words[1:])
        found[bounded_name(words[0].strip(), "threads")] = ThreadCounters(
            utime_ticks_total=utime, stime_ticks_total=stime, threads=count
        )
    return found
