"""Pure parsers: the text of one /proc or /sys file → typed counters. PROBES lists those that are sampled.

Each parser takes the whole text (or the lines that the plan keeps) and returns a frozen value whose
field names are column names, or raises ParseError; no other exception, whatever the text.
"""

from collections.abc import Callable
from dataclasses import dataclass

from leapprof.probes import (
    cgroup_cpu,
    cgroup_io,
    cgroup_memory,
    cpu_online,
    diskstats,
    meminfo,
    pid_io,
    pid_schedstat,
    pid_stat,
    pid_status,
    pressure,
    stat,
    threads,
    uptime,
    vmstat,
)

SLOW_TICKS = 10
THREAD_TICKS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One kind of reading that is sampled.

    Attributes:
        section: name of the frame's section: an absolute path, or ``nodeos/*/*/*/<file>``,
            ``child/*/*/*/<file>``, ``cgroup/*/<file>`` (see model.frame.Section).
        table: the table that its values go to.
        parse: text → value, or dict of values by device or thread.
        keep: prefixes of the lines that the agent sends; empty for all.
        every_ticks: how often, at a tick of 1 s.
        prefix: goes in front of each field name to make the column name.
    """

    section: str
    table: str
    parse: Callable[[str], object]
    keep: tuple[str, ...] = ()
    every_ticks: int = 1
    prefix: str = ""

    @property
    def scope(self) -> str:
        """Return whose file it is: ``host``, ``nodeos``, ``child`` or ``cgroup``."""
        return "host" if self.section.startswith("/") else self.section.partition("/")[0]

    @property
    def file(self) -> str:
        """Return the name of the file below its process or cgroup; the path of a host's file."""
        return self.section if self.scope == "host" else self.section.rpartition("/")[2]


def _process(scope: str, file: str, parse: Callable[[str], object], keep: tuple[str, ...] = ()) -> Probe:
    prefix = "child_" if scope == "child" else ""
    return Probe(section=f"{scope}/*/*/*/{file}", table="nodeos", parse=parse, keep=keep, prefix=prefix)


def _cgroup(
    file: str, parse: Callable[[str], object], *, keep: tuple[str, ...] = (), ticks: int = 1
) -> Probe:
    table = "nodeos_device" if file.startswith(("io.", "blkio.")) else "nodeos"
    return Probe(section=f"cgroup/*/{file}", table=table, parse=parse, keep=keep, every_ticks=ticks)


def _pressure(resource: str) -> Probe:
    return Probe(
        section=f"/proc/pressure/{resource}",
        table="host",
        parse=pressure.parse_pressure,
        prefix=f"{resource}_pressure_",
    )


PROBES: tuple[Probe, ...] = (
    Probe(section="/proc/uptime", table="host", parse=uptime.parse_uptime),
    Probe(
        section="/proc/stat",
        table="host",
        parse=stat.parse_stat,
        keep=("cpu ", "ctxt ", "processes ", "procs_"),
    ),
    Probe(
        section="/sys/devices/system/cpu/online",
        table="host",
        parse=cpu_online.parse_cpu_online,
        every_ticks=SLOW_TICKS,
    ),
    Probe(section="/proc/meminfo", table="host", parse=meminfo.parse_meminfo, keep=meminfo.KEEP),
    Probe(section="/proc/vmstat", table="host", parse=vmstat.parse_vmstat, keep=vmstat.KEEP),
    _pressure("cpu"),
    _pressure("memory"),
    _pressure("io"),
    Probe(section="/proc/diskstats", table="device", parse=diskstats.parse_diskstats),
    _process("nodeos", "stat", pid_stat.parse_pid_stat),
    _process("nodeos", "status", pid_status.parse_pid_status, pid_status.KEEP),
    _process("nodeos", "io", pid_io.parse_pid_io, pid_io.KEEP),
    _process("nodeos", "schedstat", pid_schedstat.parse_pid_schedstat),
    Probe(
        section="nodeos/*/*/*/threads",
        table="thread",
        parse=threads.parse_threads,
        every_ticks=THREAD_TICKS,
    ),
    _process("child", "stat", pid_stat.parse_pid_stat),
    _process("child", "status", pid_status.parse_pid_status, pid_status.KEEP),
    _cgroup("cpu.stat", cgroup_cpu.parse_cgroup_cpu_stat, keep=cgroup_cpu.KEEP),
    _cgroup("cpuacct.usage", cgroup_cpu.parse_cpuacct_usage),
    _cgroup("io.stat", cgroup_io.parse_io_stat),
    _cgroup("blkio.throttle.io_service_bytes_recursive", cgroup_io.parse_blkio_service_bytes),
    _cgroup("blkio.throttle.io_service_bytes", cgroup_io.parse_blkio_service_bytes),
    _cgroup("blkio.throttle.io_serviced_recursive", cgroup_io.parse_blkio_serviced),
    _cgroup("blkio.throttle.io_serviced", cgroup_io.parse_blkio_serviced),
    _cgroup("memory.current", cgroup_memory.parse_memory_current, ticks=SLOW_TICKS),
    _cgroup("memory.usage_in_bytes", cgroup_memory.parse_memory_current, ticks=SLOW_TICKS),
    _cgroup("memory.swap.current", cgroup_memory.parse_memory_swap_current, ticks=SLOW_TICKS),
    _cgroup("memory.stat", cgroup_memory.parse_memory_stat, keep=cgroup_memory.KEEP, ticks=SLOW_TICKS),
)
