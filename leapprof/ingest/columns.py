"""The tables that frames are turned into, and their columns. Units are in the names."""

from dataclasses import dataclass

TIME_COLUMNS = ("seq", "boottime_ns", "wall_ns", "boot")


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumns:
    """Columns of one table beside TIME_COLUMNS."""

    texts: tuple[str, ...]
    integers: tuple[str, ...]


_HOST = """
    cpu_user_ticks_total cpu_nice_ticks_total cpu_system_ticks_total cpu_idle_ticks_total
    cpu_iowait_ticks_total cpu_irq_ticks_total cpu_softirq_ticks_total cpu_steal_ticks_total
    cpu_guest_ticks_total cpu_guest_nice_ticks_total cpus_online context_switches_total procs_running
    procs_blocked forks_total mem_total_bytes mem_free_bytes mem_available_bytes cached_bytes buffers_bytes
    swap_total_bytes swap_free_bytes dirty_bytes writeback_bytes anon_pages_bytes mapped_bytes shmem_bytes
    file_pmd_mapped_bytes file_huge_pages_bytes anon_huge_pages_bytes committed_as_bytes commit_limit_bytes
    zswap_bytes zswapped_bytes hugetlb_bytes swap_in_pages_total swap_out_pages_total major_faults_total
    refault_anon_total refault_file_total cpu_pressure_some_us_total cpu_pressure_full_us_total
    memory_pressure_some_us_total memory_pressure_full_us_total io_pressure_some_us_total
    io_pressure_full_us_total uptime_ms agent_cpu_ns_total agent_rss_bytes deadline_ns frames_dropped_total
"""
_NODEOS = """
    pid start_ticks utime_ticks_total stime_ticks_total child_utime_ticks_total child_stime_ticks_total
    threads minor_faults_total major_faults_total rss_bytes rss_anon_bytes rss_file_bytes rss_shmem_bytes
    swap_bytes hugetlb_bytes locked_bytes child_rss_bytes io_read_bytes_total io_write_bytes_total
    io_cancelled_write_bytes_total main_runtime_ns_total main_run_delay_ns_total cgroup_cpu_us_total
    cgroup_memory_bytes cgroup_swap_bytes cgroup_anon_bytes cgroup_file_bytes
"""
_DEVICE = """
    reads_total read_sectors_total writes_total write_sectors_total discards_total discard_sectors_total
    flushes_total io_ms_total read_ms_total write_ms_total in_flight
"""
_CHAIN = """
    head_block lib_block head_block_time_ms head_lag_ms state_used_bytes state_free_bytes state_size_bytes
    peers_in peers_out transactions_total billed_cpu_us_total blocks_total http_status http_elapsed_us
    http_errors
"""
_SMART = """
    host_written_bytes_total host_written_step_bytes nand_written_bytes_total undeclared_writes_total waf_milli
    percent_used spare_percent spare_threshold_percent power_on_hours media_errors_total temperature_celsius
    capacity_bytes
"""
_LATENCY = """
    block_ns count errors timeouts min_ns p50_ns p90_ns p95_ns p99_ns max_ns late_p99_ns
"""

TABLES: dict[str, TableColumns] = {
    "host": TableColumns(texts=(), integers=tuple(_HOST.split())),
    "nodeos": TableColumns(texts=("nodeos", "stage"), integers=tuple(_NODEOS.split())),
    "device": TableColumns(texts=("device",), integers=tuple(_DEVICE.split())),
    "nodeos_device": TableColumns(
        texts=("nodeos", "device"),
        integers=("cgroup_read_bytes_total", "cgroup_write_bytes_total", "cgroup_writes_total"),
    ),
    "chain": TableColumns(texts=("nodeos",), integers=tuple(_CHAIN.split())),
    "smart": TableColumns(
        texts=("device", "model", "serial", "meter", "warning"), integers=tuple(_SMART.split())
    ),
    "latency": TableColumns(
        texts=("probe", "operation", "target", "histogram", "failures", "bounds_ns"),
        integers=tuple(_LATENCY.split()),
    ),
    "thread": TableColumns(
        texts=("nodeos", "thread"), integers=("utime_ticks_total", "stime_ticks_total", "threads")
    ),
}

# Counters that may go down without a reset: iowait and idle (proc(5)), fields in ms that wrap at 2^32
# (seen in Metricbeat), sums over living threads or children, and counters of the agent itself.
_MAY_FALL = ("_ms_total", "cpu_iowait_ticks_total", "cpu_idle_ticks_total", "frames_dropped_total")


def _resets(table: str) -> frozenset[str]:
    return frozenset(
        column
        for column in TABLES[table].integers
        if column.endswith("_total")
        and not column.endswith(_MAY_FALL)
        and not column.startswith(("child_", "agent_"))
    )


RESET_COLUMNS: dict[str, frozenset[str]] = {
    table: _resets(table) if table != "thread" else frozenset() for table in TABLES
}
