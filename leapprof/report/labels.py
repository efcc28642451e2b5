"""What a person calls a metric, and the signs of verdicts and grades. Names are those of the metric table."""

from leapprof.model import Grade, Subject, Verdict

_DELAYS = {
    "p50_s": "median delay",
    "p90_s": "delay, 90th percentile",
    "p95_s": "delay, 95th percentile",
    "p99_s": "delay, 99th percentile",
    "max_s": "longest delay",
    "error_percent": "failed attempts",
}
_PROBES = {
    "request": "Requests",
    "rtt": "Round trip",
    "histogram": "Histogram",
    "stream": "Stream",
    "forward": "Forwarding",
}

LABELS = {
    **{
        f"latency.{probe}.{name}": f"{label}: {what}"
        for probe, label in _PROBES.items()
        for name, what in _DELAYS.items()
    },
    "host.cpu_percent": "CPU, busy share of all cores",
    "host.steal_percent": "CPU stolen by the hypervisor",
    "host.swap_used_bytes": "Swap in use",
    "host.swap_out_bytes_per_s": "Swapped out",
    "host.swap_in_bytes_per_s": "Swapped in",
    "host.drive_write_bytes_per_s": "Writes to all drives",
    "host.mem_available_bytes": "Memory available",
    "host.memory_pressure_percent": "Memory pressure",
    "host.io_pressure_percent": "I/O pressure",
    "nodeos.cpu_cores": "nodeos CPU",
    "nodeos.cpu_percent": "nodeos CPU, share of the host",
    "nodeos.main_thread_cpu_percent": "Main thread CPU",
    "nodeos.rss_bytes": "Memory, resident",
    "nodeos.rss_anon_bytes": "Memory, anonymous",
    "nodeos.rss_file_bytes": "Memory, file pages",
    "nodeos.rss_shmem_bytes": "Memory, shared",
    "nodeos.hugetlb_bytes": "Memory, huge pages",
    "nodeos.swap_bytes": "nodeos in swap",
    "nodeos.state_resident_bytes": "State in memory",
    "nodeos.major_faults_per_s": "Major page faults",
    "nodeos.dirtied_bytes_per_s": "Bytes dirtied by nodeos",
    "nodeos.device_write_bytes_per_s": "Written to drives by nodeos",
    "device.write_bytes_per_s": "Written to the drive",
    "device.read_bytes_per_s": "Read from the drive",
    "device.writes_per_s": "Write operations",
    "device.discard_bytes_per_s": "Discarded on the drive",
    "chain.blocks_per_s": "Blocks",
    "chain.transactions_per_s": "Transactions",
    "chain.billed_cpu_percent": "CPU billed by the chain",
    "chain.head_lag_s": "Head lag",
    "chain.db_used_bytes": "Chain state in use",
    "chain.peers_in": "Peers, inbound",
    "chain.peers_out": "Peers, outbound",
}

VERDICT_SIGNS = {
    Verdict.IMPROVED: "✓",
    Verdict.REGRESSED: "✗",
    Verdict.UNCHANGED: "=",
    Verdict.CHANGED: "≠",
    Verdict.INCONCLUSIVE: "?",
}

GRADES = {
    Grade.FULL: "full",
    Grade.PRELIMINARY: "preliminary",
    Grade.TOO_SHORT: "too short",
}

# Which refused reading explains that a metric was not seen (names of recording.denied end so).
_NEEDS_READING = {"nodeos.dirtied_bytes_per_s": "/io"}


def metric_label(name: str) -> str:
    """Return what a person calls the metric; its own name when it is not in the table."""
    return LABELS.get(name, name)


def subject_label(subject: Subject) -> str:
    """Return ``eos · loop0 (state)``; ``host`` for the host itself."""
    device = subject.device or ""
    if device and subject.role:
        device = f"{device} ({subject.role})"
    parts = (subject.nodeos, device, subject.operation, subject.target)
    return " · ".join(part for part in parts if part) or "host"


def is_refused(metric: str, denied: tuple[str, ...]) -> bool:
    """Whether a metric is absent because its reading was refused, and not because there is none."""
    ending = _NEEDS_READING.get(metric)
    return ending is not None and any(
        reading.startswith("nodeos") and reading.endswith(ending) for reading in denied
    )
