"""/proc/vmstat: pages swapped, major faults and refaults of the host (mm/vmstat.c).

Linux before 5.9 has one ``workingset_refault`` for both kinds; it counted file pages only, because
anonymous pages had no workingset detection before (kernel commit 170b04b7ae49), and is taken as such.
"""

from dataclasses import dataclass

from leapprof.probes.text import keyed_integers

_KEYS = {
    "pswpin": "swap_in_pages_total",
    "pswpout": "swap_out_pages_total",
    "pgmajfault": "major_faults_total",
    "workingset_refault_anon": "refault_anon_total",
    "workingset_refault_file": "refault_file_total",
    "workingset_refault": "refault_file_total",
}
KEEP = ("pswpin ", "pswpout ", "pgmajfault ", "workingset_refault")


@dataclass(frozen=True, slots=True, kw_only=True)
class VmStat:
    """Paging counters since boot, pages and faults."""

    swap_in_pages_total: int | None = None
    swap_out_pages_total: int | None = None
    major_faults_total: int | None = None
    refault_anon_total: int | None = None
    refault_file_total: int | None = None


def parse_vmstat(text: str) -> VmStat:
    """Return the counters of /proc/vmstat that leapprof knows.

    Raises:
        ParseError: a known counter without an integer.
    """
    return VmStat(**keyed_integers(text, _KEYS, "vmstat"))
