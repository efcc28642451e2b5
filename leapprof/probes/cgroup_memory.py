"""Memory of a cgroup: memory.current, memory.swap.current, memory.stat (v2) and their v1 names.

Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst. memory.stat of v1 has ``total_``
fields for the cgroup with those below; they are taken before the plain ones.
"""

from dataclasses import dataclass

from leapprof.probes.text import keyed_integers, single_integer

_V2_KEYS = {"anon": "cgroup_anon_bytes", "file": "cgroup_file_bytes"}
_V1_KEYS = {"rss": "cgroup_anon_bytes", "cache": "cgroup_file_bytes", "swap": "cgroup_swap_bytes"}
_V1_TOTAL_KEYS = {f"total_{key}": name for key, name in _V1_KEYS.items()}
KEEP = tuple(f"{key} " for key in (*_V2_KEYS, *_V1_KEYS, *_V1_TOTAL_KEYS))


@dataclass(frozen=True, slots=True, kw_only=True)
class CgroupMemory:
    """Memory charged to a cgroup, bytes; file covers shared memory too, as the kernel counts it."""

    cgroup_memory_bytes: int | None = None
    cgroup_swap_bytes: int | None = None
    cgroup_anon_bytes: int | None = None
    cgroup_file_bytes: int | None = None


def parse_memory_stat(text: str) -> CgroupMemory:
    """Return the fields of memory.stat of either version.

    Raises:
        ParseError: a known field without an integer.
    """
    found: dict[str, int | None] = {}
    for keys in (_V1_KEYS, _V1_TOTAL_KEYS, _V2_KEYS):
        found |= keyed_integers(text, keys, "memory_stat")
    return CgroupMemory(**found)


def parse_memory_current(text: str) -> CgroupMemory:
    """Return memory.current (v2) or memory.usage_in_bytes (v1).

    Raises:
        ParseError: no integer.
    """
    return CgroupMemory(cgroup_memory_bytes=single_integer(text, "memory_current"))


def parse_memory_swap_current(text: str) -> CgroupMemory:
    """Return memory.swap.current (v2).

    Raises:
        ParseError: no integer.
    """
    return CgroupMemory(cgroup_swap_bytes=single_integer(text, "memory_swap_current"))
