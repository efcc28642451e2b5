"""The metric table: one row per metric, by hand. Names are those of report.json.

The thresholds are the smallest differences that matter to an operator; the larger of the absolute and the
relative one counts. ``headline`` metrics are the pre-declared ones: their p values are adjusted together.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from leapprof.analysis.verdict import Threshold
from leapprof.assess import compute
from leapprof.assess.compute import Context, Measured
from leapprof.assess.samples import Samples
from leapprof.model import Better
from leapprof.units import MIB

CPU_MEMORY_S = 120.0
WRITE_MEMORY_S = 300.0
MEMORY = Threshold(absolute=256 * MIB, relative=0.02)
SWAP = Threshold(absolute=256 * MIB)
FLOW = Threshold(absolute=50_000.0, relative=0.2)
DELAY = Threshold(absolute=0.000_1, relative=0.05)
COUNT_FLOW = Threshold(absolute=5.0, relative=0.2)
CORES = Threshold(absolute=0.03, relative=0.03)
POINTS = Threshold(absolute=1.0, relative=0.03)


class SubjectKind(StrEnum):
    """What a metric is about; also how its rows are found in the table."""

    HOST = "host"
    NODEOS = "nodeos"
    DEVICE = "device"
    NODEOS_DEVICE = "nodeos_device"
    LATENCY = "latency"


FLOW_UNITS = frozenset({"percent", "cores", "bytes_per_s", "per_s"})
"""What follows the load; a level (memory, swap) does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricSpec:
    """One row of the metric table.

    Attributes:
        table: of the recording.
        columns: raw columns that compute needs.
        compute: from samples and context to the measured series; None when it cannot be known.
        memory_s: prior of the integrated autocorrelation time.
        headline: belongs to the metrics whose p values are adjusted together (Holm).
        bursty: comes in bursts, so that few of them say little.
    """

    name: str
    unit: str
    better: Better
    subject: SubjectKind
    table: str
    columns: tuple[str, ...]
    compute: Callable[[Samples, Context], Measured | None]
    threshold: Threshold
    memory_s: float = CPU_MEMORY_S
    headline: bool = False
    bursty: bool = False


def _level(*names: str) -> Callable[[Samples, Context], Measured | None]:
    return lambda samples, _: compute.level_of(samples, *names)


def _rate(*names: str) -> Callable[[Samples, Context], Measured | None]:
    return lambda samples, _: compute.rate_of(samples, *names)


def _delay(name: str) -> Callable[[Samples, Context], Measured | None]:
    return lambda samples, _: compute.delay(samples, name)


def _memory(name: str, column: str, better: Better, *, headline: bool = False) -> MetricSpec:
    """Return the row of a level of a nodeos's memory."""
    return MetricSpec(
        name=f"nodeos.{name}", unit="bytes", better=better, subject=SubjectKind.NODEOS, table="nodeos",
        columns=(column,), compute=_level(column), headline=headline,
        threshold=SWAP if column == "swap_bytes" else MEMORY,
    )  # fmt: skip


_host = partial(MetricSpec, subject=SubjectKind.HOST, table="host")
_chain = partial(MetricSpec, subject=SubjectKind.NODEOS, table="chain")


def _device(name: str, what: str, *, headline: bool = False) -> MetricSpec:
    """Return the row of a flow of bytes of a block device."""
    return MetricSpec(
        name=f"device.{name}",
        unit="bytes_per_s",
        better=Better.LOWER,
        subject=SubjectKind.DEVICE,
        table="device",
        columns=(f"{what}_sectors_total",),
        compute=lambda samples, _: compute.sectors(samples, what),
        threshold=FLOW,
        memory_s=WRITE_MEMORY_S,
        headline=headline,
        bursty=True,
    )


def _latency(probe: str) -> tuple[MetricSpec, ...]:
    """Return the rows of a probe of delay: `compare` takes them from histograms, `show` from these columns."""
    row = partial(
        MetricSpec,
        better=Better.LOWER,
        subject=SubjectKind.LATENCY,
        table="latency",
    )
    quantiles = tuple(
        row(
            name=f"latency.{probe}.{name}_s",
            unit="s",
            columns=(f"{name}_ns",),
            compute=_delay(f"{name}_ns"),
            threshold=DELAY,
            headline=name in {"p50", "p99"},
        )
        for name in ("p50", "p90", "p95", "p99", "max")
    )
    errors = row(
        name=f"latency.{probe}.error_percent",
        unit="percent",
        columns=("count", "errors"),
        compute=lambda samples, _: compute.error_percent(samples),
        threshold=Threshold(absolute=0.1),
    )
    return (*quantiles, errors)


HOST_METRICS = (
    _host(
        name="host.cpu_percent", unit="percent", better=Better.LOWER,
        columns=compute.CPU_COLUMNS, threshold=POINTS, headline=True,
        compute=lambda samples, _: compute.host_cpu(samples),
    ),
    _host(
        name="host.steal_percent", unit="percent", better=Better.LOWER,
        columns=compute.CPU_COLUMNS, threshold=POINTS,
        compute=lambda samples, _: compute.host_steal(samples),
    ),
    _host(
        name="host.swap_used_bytes", unit="bytes", better=Better.LOWER,
        columns=("swap_total_bytes", "swap_free_bytes"),
        compute=lambda samples, _: compute.swap_used(samples), threshold=SWAP, headline=True,
    ),
    _host(
        name="host.swap_out_bytes_per_s", unit="bytes_per_s", better=Better.LOWER,
        columns=("swap_out_pages_total",),
        compute=lambda samples, context: compute.swap_flow(samples, context, "out"), threshold=FLOW,
        memory_s=WRITE_MEMORY_S, bursty=True,
    ),
    _host(
        name="host.swap_in_bytes_per_s", unit="bytes_per_s", better=Better.LOWER,
        columns=("swap_in_pages_total",),
        compute=lambda samples, context: compute.swap_flow(samples, context, "in"), threshold=FLOW,
        memory_s=WRITE_MEMORY_S, bursty=True,
    ),
    _host(
        name="host.mem_available_bytes", unit="bytes", better=Better.HIGHER,
        columns=("mem_available_bytes",),
        compute=_level("mem_available_bytes"), threshold=MEMORY,
    ),
    _host(
        name="host.memory_pressure_percent", unit="percent", better=Better.LOWER,
        columns=("memory_pressure_some_us_total",),
        compute=lambda samples, _: compute.pressure(samples, "memory"), threshold=POINTS,
    ),
    _host(
        name="host.io_pressure_percent", unit="percent", better=Better.LOWER,
        columns=("io_pressure_some_us_total",),
        compute=lambda samples, _: compute.pressure(samples, "io"), threshold=POINTS,
    ),
)  # fmt: skip

NODEOS_METRICS = (
    MetricSpec(
        name="nodeos.cpu_cores", unit="cores", better=Better.LOWER, subject=SubjectKind.NODEOS, table="nodeos",
        columns=compute.NODEOS_CPU, compute=lambda samples, _: compute.nodeos_cpu(samples),
        threshold=CORES, headline=True,
    ),
    MetricSpec(
        name="nodeos.cpu_percent", unit="percent", better=Better.LOWER, subject=SubjectKind.NODEOS,
        table="nodeos", columns=compute.NODEOS_CPU, compute=compute.nodeos_cpu_percent,
        threshold=POINTS,
    ),
    MetricSpec(
        name="nodeos.main_thread_cpu_percent", unit="percent", better=Better.LOWER, subject=SubjectKind.NODEOS,
        table="nodeos", columns=("main_runtime_ns_total",), threshold=Threshold(absolute=3.0),
        compute=lambda samples, _: compute.main_thread_cpu(samples),
    ),
    _memory("rss_bytes", "rss_bytes", Better.LOWER, headline=True),
    _memory("rss_anon_bytes", "rss_anon_bytes", Better.NEITHER),
    _memory("rss_file_bytes", "rss_file_bytes", Better.NEITHER),
    _memory("rss_shmem_bytes", "rss_shmem_bytes", Better.NEITHER),
    _memory("hugetlb_bytes", "hugetlb_bytes", Better.NEITHER),
    _memory("swap_bytes", "swap_bytes", Better.LOWER, headline=True),
    MetricSpec(
        name="nodeos.state_resident_bytes", unit="bytes", better=Better.LOWER, subject=SubjectKind.NODEOS,
        table="nodeos", columns=("rss_file_bytes", "rss_anon_bytes", "rss_shmem_bytes", "hugetlb_bytes"),
        compute=compute.state_resident, threshold=MEMORY, headline=True,
    ),
    MetricSpec(
        name="nodeos.major_faults_per_s", unit="per_s", better=Better.LOWER, subject=SubjectKind.NODEOS,
        table="nodeos", columns=("major_faults_total",), compute=_rate("major_faults_total"),
        threshold=COUNT_FLOW, memory_s=WRITE_MEMORY_S, bursty=True,
    ),
    MetricSpec(
        name="nodeos.dirtied_bytes_per_s", unit="bytes_per_s", better=Better.NEITHER,
        subject=SubjectKind.NODEOS, table="nodeos", columns=("io_write_bytes_total",),
        compute=_rate("io_write_bytes_total"), threshold=FLOW, memory_s=WRITE_MEMORY_S, bursty=True,
    ),
    MetricSpec(
        name="nodeos.device_write_bytes_per_s", unit="bytes_per_s", better=Better.LOWER,
        subject=SubjectKind.NODEOS_DEVICE, table="nodeos_device", columns=("cgroup_write_bytes_total",),
        compute=_rate("cgroup_write_bytes_total"), threshold=FLOW, memory_s=WRITE_MEMORY_S, bursty=True,
    ),
)  # fmt: skip

DEVICE_METRICS = (
    _device("write_bytes_per_s", "write", headline=True),
    _device("read_bytes_per_s", "read"),
    MetricSpec(
        name="device.writes_per_s", unit="per_s", better=Better.LOWER, subject=SubjectKind.DEVICE,
        table="device", columns=("writes_total",), compute=_rate("writes_total"), threshold=COUNT_FLOW,
        memory_s=WRITE_MEMORY_S, bursty=True,
    ),
    _device("discard_bytes_per_s", "discard"),
)  # fmt: skip

CHAIN_METRICS = (
    _chain(
        name="chain.blocks_per_s", unit="per_s", better=Better.HIGHER,
        columns=("head_block",), compute=_rate("head_block"),
        threshold=Threshold(absolute=0.05),
    ),
    _chain(
        name="chain.transactions_per_s", unit="per_s", better=Better.NEITHER,
        columns=("transactions_total",),
        compute=_rate("transactions_total"), threshold=Threshold(absolute=0.1, relative=0.2),
    ),
    _chain(
        name="chain.billed_cpu_percent", unit="percent", better=Better.NEITHER,
        columns=("billed_cpu_us_total",),
        compute=lambda samples, _: compute.rate_of(
            samples, "billed_cpu_us_total", scale=compute.PERCENT / compute.US_PER_S
        ),
        threshold=Threshold(absolute=1.0, relative=0.2),
    ),
    _chain(
        name="chain.head_lag_s", unit="s", better=Better.LOWER,
        columns=("head_lag_ms",), threshold=Threshold(absolute=0.5),
        compute=lambda samples, _: compute.head_lag(samples),
    ),
    _chain(
        name="chain.db_used_bytes", unit="bytes", better=Better.NEITHER,
        columns=("state_used_bytes",),
        compute=_level("state_used_bytes"), threshold=Threshold(absolute=64 * MIB, relative=0.02),
    ),
    _chain(
        name="chain.peers_in", unit="count", better=Better.NEITHER,
        columns=("peers_in",), compute=_level("peers_in"),
        threshold=Threshold(absolute=1.0),
    ),
    _chain(
        name="chain.peers_out", unit="count", better=Better.NEITHER,
        columns=("peers_out",), compute=_level("peers_out"),
        threshold=Threshold(absolute=1.0),
    ),
)  # fmt: skip

PROBES_OF_DELAY = ("request", "rtt", "histogram", "stream", "forward")
LATENCY_METRICS = tuple(row for probe in PROBES_OF_DELAY for row in _latency(probe))

METRICS: tuple[MetricSpec, ...] = (
    *HOST_METRICS, *NODEOS_METRICS, *DEVICE_METRICS, *CHAIN_METRICS, *LATENCY_METRICS,
)  # fmt: skip


def spec_of(name: str) -> MetricSpec:
    """Return the row of a metric; KeyError for an unknown one."""
    return {spec.name: spec for spec in METRICS}[name]


def columns_of(table: str) -> tuple[str, ...]:
    """Return all columns that the metrics of a table need."""
    return tuple(dict.fromkeys(c for spec in METRICS if spec.table == table for c in spec.columns))
