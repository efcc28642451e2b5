"""Names of exporters' metrics and the columns that they become; old names beside new ones.

Sources: node_exporter 0.12 to 1.9 (collector/*_linux.go; names changed in 0.16), process-exporter 0.5 to 0.8
(collector/process_collector.go), cAdvisor (docs/storage/prometheus.md), nodeos's prometheus_plugin (Leap 4.0.6
prometheus_plugin.cpp without a prefix; Leap 5.0.3 to Spring 1.2 metrics.hpp with ``nodeos_``).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from leapprof.units import SECTOR_BYTES, TICKS_PER_S

US_PER_S = 1e6
MS_PER_S = 1e3


class Exporter(StrEnum):
    """Who wrote a metric."""

    NODE = "node_exporter"
    PROCESS = "process-exporter"
    CADVISOR = "cadvisor"
    NODEOS = "nodeos"


ANCHORS: dict[Exporter, tuple[str, ...]] = {
    Exporter.NODE: ("node_boot_time_seconds", "node_boot_time"),
    Exporter.PROCESS: ("namedprocess_namegroup_num_procs",),
    Exporter.CADVISOR: ("container_start_time_seconds",),
    Exporter.NODEOS: ("nodeos_head_block_num", "head_block_num"),
}
"""A metric of which each target has at least one series: it tells targets and the moments of their scrapes."""

GROUP_LABELS = {
    Exporter.PROCESS: ("groupname",),
    Exporter.CADVISOR: ("name", "container", "container_name"),
}
"""Labels of which one names nodeos."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A metric that becomes a column.

    Attributes:
        name: of the metric.
        column: of the table.
        factor: from the metric's unit to the column's.
        labels: that the series must have; several series that match are added.
    """

    name: str
    column: str
    factor: float = 1.0
    labels: tuple[tuple[str, str], ...] = ()


def _both(column: str, old: str, new: str, factor: float = 1.0) -> tuple[Wanted, Wanted]:
    return Wanted(name=new, column=column, factor=factor), Wanted(name=old, column=column, factor=factor)


_MEMINFO = {
    "mem_total_bytes": "MemTotal",
    "mem_free_bytes": "MemFree",
    "mem_available_bytes": "MemAvailable",
    "cached_bytes": "Cached",
    "buffers_bytes": "Buffers",
    "swap_total_bytes": "SwapTotal",
    "swap_free_bytes": "SwapFree",
    "dirty_bytes": "Dirty",
    "writeback_bytes": "Writeback",
    "anon_pages_bytes": "AnonPages",
    "mapped_bytes": "Mapped",
    "shmem_bytes": "Shmem",
    "committed_as_bytes": "Committed_AS",
    "commit_limit_bytes": "CommitLimit",
    "file_huge_pages_bytes": "FileHugePages",
    "anon_huge_pages_bytes": "AnonHugePages",
    "file_pmd_mapped_bytes": "FilePmdMapped",
}
_VMSTAT = {
    "swap_in_pages_total": "pswpin",
    "swap_out_pages_total": "pswpout",
    "major_faults_total": "pgmajfault",
    "refault_anon_total": "workingset_refault_anon",
    "refault_file_total": "workingset_refault_file",
}
HOST: tuple[Wanted, ...] = (
    *(
        wanted
        for column, name in _MEMINFO.items()
        for wanted in _both(column, f"node_memory_{name}", f"node_memory_{name}_bytes")
    ),
    *(Wanted(name=f"node_vmstat_{name}", column=column) for column, name in _VMSTAT.items()),
    *_both("context_switches_total", "node_context_switches", "node_context_switches_total"),
    *_both("forks_total", "node_forks", "node_forks_total"),
    Wanted(name="node_procs_running", column="procs_running"),
    Wanted(name="node_procs_blocked", column="procs_blocked"),
    *(
        Wanted(
            name=f"node_pressure_{resource}_{name}_seconds_total",
            column=f"{resource}_pressure_{kind}_us_total",
            factor=US_PER_S,
        )
        for resource in ("cpu", "memory", "io")
        for kind, name in (("some", "waiting"), ("full", "stalled"))
    ),
)  # fmt: skip
CPU_MODES = {
    "user": "cpu_user_ticks_total",
    "nice": "cpu_nice_ticks_total",
    "system": "cpu_system_ticks_total",
    "idle": "cpu_idle_ticks_total",
    "iowait": "cpu_iowait_ticks_total",
    "irq": "cpu_irq_ticks_total",
    "softirq": "cpu_softirq_ticks_total",
    "steal": "cpu_steal_ticks_total",
}
CPU_NAMES = ("node_cpu_seconds_total", "node_cpu")
GUEST_NAME = "node_cpu_guest_seconds_total"
GUEST_MODES = {"user": "cpu_guest_ticks_total", "nice": "cpu_guest_nice_ticks_total"}

_BYTES = 1 / SECTOR_BYTES
DISK: tuple[Wanted, ...] = (
    *_both("reads_total", "node_disk_reads_completed", "node_disk_reads_completed_total"),
    *_both("writes_total", "node_disk_writes_completed", "node_disk_writes_completed_total"),
    *_both("read_sectors_total", "node_disk_bytes_read", "node_disk_read_bytes_total", _BYTES),
    *_both("write_sectors_total", "node_disk_bytes_written", "node_disk_written_bytes_total", _BYTES),
    Wanted(name="node_disk_sectors_read", column="read_sectors_total"),
    Wanted(name="node_disk_sectors_written", column="write_sectors_total"),
    Wanted(name="node_disk_discards_completed_total", column="discards_total"),
    Wanted(name="node_disk_discarded_sectors_total", column="discard_sectors_total"),
    Wanted(name="node_disk_flush_requests_total", column="flushes_total"),
    Wanted(name="node_disk_io_time_seconds_total", column="io_ms_total", factor=MS_PER_S),
    Wanted(name="node_disk_io_time_ms", column="io_ms_total"),
    Wanted(name="node_disk_io_now", column="in_flight"),
)
DISK_FACTS = "node_disk_info"
BYTE_COLUMNS = ("read_sectors_total", "write_sectors_total")

_GROUP = "namedprocess_namegroup_"
_CPU = _GROUP + "cpu_seconds_total"
_USER, _SYSTEM = (("mode", "user"),), (("mode", "system"),)
_TOTAL = (("cpu", "total"),)
"""Not the same metric of the kubelet's /metrics/resource, which has no such label."""
PROCESS: tuple[Wanted, ...] = (
    Wanted(name=_CPU, column="utime_ticks_total", factor=TICKS_PER_S, labels=_USER),
    Wanted(name=_CPU, column="stime_ticks_total", factor=TICKS_PER_S, labels=_SYSTEM),
    Wanted(name=_GROUP + "cpu_user_seconds_total", column="utime_ticks_total", factor=TICKS_PER_S),
    Wanted(name=_GROUP + "cpu_system_seconds_total", column="stime_ticks_total", factor=TICKS_PER_S),
    Wanted(name=_GROUP + "memory_bytes", column="rss_bytes", labels=(("memtype", "resident"),)),
    Wanted(name=_GROUP + "memory_bytes", column="swap_bytes", labels=(("memtype", "swapped"),)),
    Wanted(name=_GROUP + "major_page_faults_total", column="major_faults_total"),
    Wanted(name=_GROUP + "minor_page_faults_total", column="minor_faults_total"),
    Wanted(name=_GROUP + "read_bytes_total", column="io_read_bytes_total"),
    Wanted(name=_GROUP + "write_bytes_total", column="io_write_bytes_total"),
    Wanted(name=_GROUP + "num_threads", column="threads"),
    Wanted(name=_GROUP + "oldest_start_time_seconds", column="start_ticks"),
)  # fmt: skip
CADVISOR: tuple[Wanted, ...] = (
    Wanted(name="container_cpu_user_seconds_total", column="utime_ticks_total", factor=TICKS_PER_S),
    Wanted(name="container_cpu_system_seconds_total", column="stime_ticks_total", factor=TICKS_PER_S),
    Wanted(
        name="container_cpu_usage_seconds_total", column="cgroup_cpu_us_total", factor=US_PER_S, labels=_TOTAL
    ),
    Wanted(name="container_memory_usage_bytes", column="cgroup_memory_bytes"),
    Wanted(name="container_memory_rss", column="cgroup_anon_bytes"),
    Wanted(name="container_memory_cache", column="cgroup_file_bytes"),
    Wanted(name="container_memory_swap", column="cgroup_swap_bytes"),
    Wanted(name="container_start_time_seconds", column="start_ticks"),
)
NODEOS: tuple[Wanted, ...] = (
    *_both("head_block", "head_block_num", "nodeos_head_block_num"),
    *_both("lib_block", "last_irreversible", "nodeos_last_irreversible"),
    *_both("peers_in", "num_clients", "nodeos_p2p_clients"),
    *_both("peers_out", "num_peers", "nodeos_p2p_peers"),
    Wanted(name="nodeos_trxs_incoming_total", column="transactions_total"),
    Wanted(name="nodeos_trxs_produced_total", column="transactions_total"),
    Wanted(name="nodeos_cpu_usage_us_total", column="billed_cpu_us_total"),
    Wanted(name="nodeos_blocks_incoming", column="blocks_total"),
    Wanted(name="nodeos_blocks_produced", column="blocks_total"),
)
NODEOS_FACTS = "nodeos_info"
SUMS = frozenset({"transactions_total", "billed_cpu_us_total", "blocks_total"})
"""Columns that are the sum of several metrics; of the others the first name that is there counts."""


def group_of(labels: Mapping[str, str]) -> tuple[str, str]:
    """Return what a series of a process group or container is called, and the part of it that names nodeos.

    In Kubernetes ``name`` is an id of the runtime: pod and container tell (``pod_name`` and ``container_name`` before
    1.16). Series of a pod's cgroup, and of the container that holds its network, are of nobody: both are empty.
    """
    group = labels.get("groupname")
    pod = labels.get("pod") or labels.get("pod_name")
    container = labels.get("container") or labels.get("container_name") or ""
    if pod and not group:
        return (f"{pod}/{container}", container) if container not in {"", "POD"} else ("", "")
    name = group or labels.get("name") or container
    return name, name
