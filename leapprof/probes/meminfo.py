"""/proc/meminfo: memory of the host (proc(5)).

MemAvailable came with Linux 3.14, FilePmdMapped and FileHugePages with 5.4, Zswap with 5.19; a field that
the kernel does not have is None.
"""

from dataclasses import dataclass

from leapprof.probes.text import keyed_kilobytes

_KEYS = {
    "MemTotal": "mem_total_bytes",
    "MemFree": "mem_free_bytes",
    "MemAvailable": "mem_available_bytes",
    "Cached": "cached_bytes",
    "Buffers": "buffers_bytes",
    "SwapTotal": "swap_total_bytes",
    "SwapFree": "swap_free_bytes",
    "Dirty": "dirty_bytes",
    "Writeback": "writeback_bytes",
    "AnonPages": "anon_pages_bytes",
    "Mapped": "mapped_bytes",
    "Shmem": "shmem_bytes",
    "FilePmdMapped": "file_pmd_mapped_bytes",
    "FileHugePages": "file_huge_pages_bytes",
    "AnonHugePages": "anon_huge_pages_bytes",
    "Committed_AS": "committed_as_bytes",
    "CommitLimit": "commit_limit_bytes",
    "Zswap": "zswap_bytes",
    "Zswapped": "zswapped_bytes",
    "Hugetlb": "hugetlb_bytes",
}
KEEP = tuple(f"{key}:" for key in _KEYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemInfo:
    """Memory of the host, bytes."""

    mem_total_bytes: int | None = None
    mem_free_bytes: int | None = None
    mem_available_bytes: int | None = None
    cached_bytes: int | None = None
    buffers_bytes: int | None = None
    swap_total_bytes: int | None = None
    swap_free_bytes: int | None = None
    dirty_bytes: int | None = None
    writeback_bytes: int | None = None
    anon_pages_bytes: int | None = None
    mapped_bytes: int | None = None
    shmem_bytes: int | None = None
    file_pmd_mapped_bytes: int | None = None
    file_huge_pages_bytes: int | None = None
    anon_huge_pages_bytes: int | None = None
    committed_as_bytes: int | None = None
    commit_limit_bytes: int | None = None
    zswap_bytes: int | None = None
    zswapped_bytes: int | None = None
    hugetlb_bytes: int | None = None


def parse_meminfo(text: str) -> MemInfo:
    """Return the fields of /proc/meminfo that leapprof knows.

    Raises:
        ParseError: a known field without an integer in kB.
    """
    return MemInfo(**keyed_kilobytes(text, _KEYS, "meminfo"))
