"""CPU time of a cgroup: cpu.stat (v2) and cpuacct.usage (v1).

Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/cpuacct.rst. The cpu.stat of v1 has no
usage_usec and gives None.
"""

from dataclasses import dataclass

from leapprof.probes.text import keyed_integers, single_integer

_NS_PER_US = 1000
_KEYS = {"usage_usec": "cgroup_cpu_us_total"}
KEEP = ("usage_usec ",)


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupCpu:
    """CPU time of all processes that are or were in the cgroup, microseconds."""

    cgroup_cpu_us_total: int | None = None


def parse_cgroup_cpu_stat(text: str) -> CgroupCpu:
    """Return the usage of cpu.stat.

    Raises:
        ParseError: a usage that is no integer.
    """
    return CgroupCpu(**keyed_integers(text, _KEYS, "cgroup_cpu"))


def parse_cpuacct_usage(text: str) -> CgroupCpu:
    """Return the usage of cpuacct.usage, which is in nanoseconds.

    Raises:
        ParseError: no integer.
    """
    usage_ns = single_integer(text, "cpuacct_usage")
    return CgroupCpu(cgroup_cpu_us_total=None if usage_ns is None else usage_ns // _NS_PER_US)
