"""/proc/PID/status: memory of one process by kind (proc(5)).

RssAnon, RssFile and RssShmem came with Linux 4.5, VmSwap with 2.6.34, HugetlbPages with 4.4. Huge pages of
hugetlbfs are in no Rss field; VmSwap leaves out swapped shared memory. A zombie has no memory lines.
"""

from dataclasses import dataclass

from leapprof.probes.text import keyed_kilobytes

_KEYS = {
    "VmRSS": "rss_bytes",
    "RssAnon": "rss_anon_bytes",
    "RssFile": "rss_file_bytes",
    "RssShmem": "rss_shmem_bytes",
    "VmSwap": "swap_bytes",
    "HugetlbPages": "hugetlb_bytes",
    "VmLck": "locked_bytes",
}
KEEP = tuple(f"{key}:" for key in _KEYS)


@dataclass(frozen=True, slots=True, kw_only=True)
class PidStatus:
    """Memory of one process, bytes."""

    rss_bytes: int | None = None
    rss_anon_bytes: int | None = None
    rss_file_bytes: int | None = None
    rss_shmem_bytes: int | None = None
    swap_bytes: int | None = None
    hugetlb_bytes: int | None = None
    locked_bytes: int | None = None


def parse_pid_status(text: str) -> PidStatus:
    """Return the memory fields of /proc/PID/status.

    Raises:
        ParseError: a known field without an integer in kB.
    """
    # The Name line is escaped by the kernel (since 2.6.15), so that no command name can forge a line.
    return PidStatus(**keyed_kilobytes(text, _KEYS, "pid_status"))
