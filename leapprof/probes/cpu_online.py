"""/sys/devices/system/cpu/online: which CPUs are online (Documentation/admin-guide/cputopology.rst)."""

from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.probes.text import integer

_MAX_CPUS = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuOnline:
    """How many CPUs are online."""

    cpus_online: int | None = None


def parse_cpu_online(text: str) -> CpuOnline:
    """Return the number of CPUs in a list such as ``0-3,8-11``.

    Raises:
        ParseError: no list of ranges, or a range that runs backwards.
    """
    count = 0
    for part in text.strip().split(","):
        first_text, dash, last_text = part.partition("-")
        first = integer(first_text, "cpu_online", text)
        last = integer(last_text, "cpu_online", text) if dash else first
        if first is None or last is None or not first <= last < _MAX_CPUS:
            raise ParseError("cpu_online", "a rising list of CPU ranges", line=text)
        count += last - first + 1
    return CpuOnline(cpus_online=count)
