"""/proc/stat: the aggregate cpu line, context switches, forks and processes (proc(5)).

Fields are kept raw: guest time is inside user, guest_nice inside nice; iowait may go down and is idle
time (proc(5)). Whoever derives a busy share deals with that. A tick is 1/100 s (USER_HZ).
"""

from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.probes.text import integer

_CPU_FIELDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice")
_CPU_COLUMNS = tuple(f"cpu_{name}_ticks_total" for name in _CPU_FIELDS)
_MIN_CPU_FIELDS = 4
_KEYS = {
    "ctxt": "context_switches_total",
    "processes": "forks_total",
    "procs_running": "procs_running",
    "procs_blocked": "procs_blocked",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    """Counters of all CPUs together; None where the kernel has no such field.

    Attributes:
        cpus_online: number of ``cpuN`` lines; None when the text was cut to the aggregate line.
    """

    cpu_user_ticks_total: int | None = None
    cpu_nice_ticks_total: int | None = None
    cpu_system_ticks_total: int | None = None
    cpu_idle_ticks_total: int | None = None
    cpu_iowait_ticks_total: int | None = None
    cpu_irq_ticks_total: int | None = None
    cpu_softirq_ticks_total: int | None = None
    cpu_steal_ticks_total: int | None = None
    cpu_guest_ticks_total: int | None = None
    cpu_guest_nice_ticks_total: int | None = None
    cpus_online: int | None = None
    context_switches_total: int | None = None
    procs_running: int | None = None
    procs_blocked: int | None = None
    forks_total: int | None = None


def parse_stat(text: str) -> Stat:
    """Return the counters of /proc/stat, whole or cut to its aggregate lines.

    Raises:
        ParseError: a cpu line with fewer than four fields, or a value that is no integer.
    """
    found: dict[str, int | None] = {}
    cpus = 0
    for line in text.split("\n"):
        key, _, rest = line.partition(" ")
        if key == "cpu":
            values = rest.split()
            if len(values) < _MIN_CPU_FIELDS:
                raise ParseError("stat", "at least 4 fields of CPU time", line=line)
            for column, value in zip(_CPU_COLUMNS, values, strict=False):
                found[column] = integer(value, "stat", line)
        elif key in _KEYS:
            found[_KEYS[key]] = integer(rest.strip(), "stat", line)
        elif key.startswith("cpu"):
            cpus += 1
    return Stat(**found, cpus_online=cpus or None)
