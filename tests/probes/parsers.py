"""The parsers under test, by the name of their data folder."""

from collections.abc import Callable
from dataclasses import asdict, is_dataclass

from leapprof.errors import ParseError
from leapprof.probes.cgroup_cpu import parse_cgroup_cpu_stat, parse_cpuacct_usage
from leapprof.probes.cgroup_io import parse_blkio_service_bytes, parse_blkio_serviced, parse_io_stat
from leapprof.probes.cgroup_memory import parse_memory_current, parse_memory_stat, parse_memory_swap_current
from leapprof.probes.cgroup_path import parse_cgroup_path
from leapprof.probes.cmdline import parse_cmdline
from leapprof.probes.cpu_online import parse_cpu_online
from leapprof.probes.cpuinfo import parse_cpuinfo
from leapprof.probes.diskstats import parse_diskstats
from leapprof.probes.limits import parse_limits
from leapprof.probes.meminfo import parse_meminfo
from leapprof.probes.mountinfo import parse_mountinfo
from leapprof.probes.pid_io import parse_pid_io
from leapprof.probes.pid_schedstat import parse_pid_schedstat
from leapprof.probes.pid_stat import parse_pid_stat
from leapprof.probes.pid_status import parse_pid_status
from leapprof.probes.pressure import parse_pressure
from leapprof.probes.stat import parse_stat
from leapprof.probes.swaps import parse_swaps
from leapprof.probes.threads import parse_threads
from leapprof.probes.uptime import parse_uptime
from leapprof.probes.vmstat import parse_vmstat

PARSERS: dict[str, Callable[[str], object]] = {
    "blkio_service_bytes": parse_blkio_service_bytes,
    "blkio_serviced": parse_blkio_serviced,
    "cgroup_cpu_stat": parse_cgroup_cpu_stat,
    "cgroup_path": parse_cgroup_path,
    "cmdline": parse_cmdline,
    "cpu_online": parse_cpu_online,
    "cpuacct_usage": parse_cpuacct_usage,
    "cpuinfo": parse_cpuinfo,
    "diskstats": parse_diskstats,
    "io_stat": parse_io_stat,
    "limits": parse_limits,
    "meminfo": parse_meminfo,
    "memory_current": parse_memory_current,
    "memory_stat": parse_memory_stat,
    "memory_swap_current": parse_memory_swap_current,
    "mountinfo": parse_mountinfo,
    "pid_io": parse_pid_io,
    "pid_schedstat": parse_pid_schedstat,
    "pid_stat": parse_pid_stat,
    "pid_status": parse_pid_status,
    "pressure": parse_pressure,
    "stat": parse_stat,
    "swaps": parse_swaps,
    "threads": parse_threads,
    "uptime": parse_uptime,
    "vmstat": parse_vmstat,
}


def as_json(value: object) -> object:
    """Return a parsed value as plain data; what is None stays out."""
    if is_dataclass(value) and not isinstance(value, type):
        return {key: as_json(item) for key, item in asdict(value).items() if item is not None}
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    return value


def outcome(probe: str, text: str) -> object:
    """Return what parsing gives: the value as plain data, or what was expected instead."""
    try:
        return as_json(PARSERS[probe](text))
    except ParseError as error:
        return {"error": f"{error.probe}: expected {error.expected}"}
