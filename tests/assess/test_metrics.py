"""The metric table: names of the contract, and how each is computed."""

import numpy as np
import pytest

from leapprof.assess import compute
from leapprof.assess.compute import Context
from leapprof.assess.metrics import METRICS, columns_of, spec_of
from leapprof.assess.samples import samples_of
from leapprof.ingest.columns import TABLES
from leapprof.model import Column, Nodeos
from leapprof.units import format_value
from tests.support.recordings import counter, level, table

NAMES = [
    "host.cpu_percent",
    "host.steal_percent",
    "host.swap_used_bytes",
    "host.swap_out_bytes_per_s",
    "host.swap_in_bytes_per_s",
    "host.mem_available_bytes",
    "host.memory_pressure_percent",
    "host.io_pressure_percent",
    "nodeos.cpu_cores",
    "nodeos.cpu_percent",
    "nodeos.main_thread_cpu_percent",
    "nodeos.rss_bytes",
    "nodeos.rss_anon_bytes",
    "nodeos.rss_file_bytes",
    "nodeos.rss_shmem_bytes",
    "nodeos.hugetlb_bytes",
    "nodeos.swap_bytes",
    "nodeos.state_resident_bytes",
    "nodeos.major_faults_per_s",
    "nodeos.dirtied_bytes_per_s",
    "nodeos.device_write_bytes_per_s",
    "device.write_bytes_per_s",
    "device.read_bytes_per_s",
    "device.writes_per_s",
    "device.discard_bytes_per_s",
    "chain.blocks_per_s",
    "chain.transactions_per_s",
    "chain.billed_cpu_percent",
    "chain.head_lag_s",
    "chain.db_used_bytes",
    "chain.peers_in",
    "chain.peers_out",
    "latency.request.p50_s",
    "latency.request.p90_s",
    "latency.request.p95_s",
    "latency.request.p99_s",
    "latency.request.max_s",
    "latency.request.error_percent",
    "latency.rtt.p50_s",
    "latency.rtt.p90_s",
    "latency.rtt.p95_s",
    "latency.rtt.p99_s",
    "latency.rtt.max_s",
    "latency.rtt.error_percent",
    "latency.histogram.p50_s",
    "latency.histogram.p90_s",
    "latency.histogram.p95_s",
    "latency.histogram.p99_s",
    "latency.histogram.max_s",
    "latency.histogram.error_percent",
    "latency.stream.p50_s",
    "latency.stream.p90_s",
    "latency.stream.p95_s",
    "latency.stream.p99_s",
    "latency.stream.max_s",
    "latency.stream.error_percent",
    "latency.forward.p50_s",
    "latency.forward.p90_s",
    "latency.forward.p95_s",
    "latency.forward.p99_s",
    "latency.forward.max_s",
    "latency.forward.error_percent",
]


def samples(columns, seconds=10, name="host"):
    """Return samples of one subject."""
    return samples_of(table(name, seconds, columns))


def context(mode=None, *, tmpfs=False, cpus=8.0):
    """Return what a computation knows of a nodeos in that map mode."""
    nodeos = Nodeos(id="eos", pid=1, start_ticks=1, map_mode=mode)
    return Context(cpus=cpus, page_bytes=4096, nodeos=nodeos, state_on_tmpfs=tmpfs)


def cpu(**rates):
    """Return the cpu line's columns from ticks a second."""
    names = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
    return {f"cpu_{n}_ticks_total": counter(np.full(10, rates.get(n, 0.0))) for n in names}


def test_the_table_has_every_metric_of_the_contract():
    """report.json's names, once each."""
    assert [spec.name for spec in METRICS] == NAMES


@pytest.mark.parametrize("spec", METRICS, ids=lambda spec: spec.name)
def test_columns_exist_and_units_can_be_printed(spec):
    """A misspelt column would be a metric that is always missing."""
    assert set(spec.columns) <= set(TABLES[spec.table].integers)
    assert format_value(1.0, spec.unit)


def test_busy_leaves_out_idle_iowait_and_steal_and_adds_no_guest():
    """User already holds guest: 200 + 100 of 800 ticks are busy."""
    host = samples(cpu(user=200, system=100, idle=300, iowait=100, steal=100))
    assert compute.host_cpu(host).series.value[1:] == pytest.approx(37.5)
    assert compute.host_steal(host).series.value[1:] == pytest.approx(12.5)


def test_iowait_that_goes_down_counts_nothing_and_spoils_nothing():
    """proc(5): it may decrease."""
    columns = cpu(user=100, idle=300)
    iowait = np.array([100] * 5 + [50] * 5, dtype=np.int64)
    columns["cpu_iowait_ticks_total"] = Column(values=iowait, present=np.ones(10, bool))
    assert compute.host_cpu(samples(columns)).series.value[1:] == pytest.approx(25)


def test_cpu_of_nodeos_includes_its_children_and_breaks_where_one_ends():
    """30 + 20 ticks a second and 50 of a child are one core; its end is a gap, not a dip."""
    child = np.array([0, 50, 100, 150, 200, 0, 0, 0, 0, 0], dtype=np.int64)
    process = {
        "utime_ticks_total": counter(np.full(10, 30)),
        "stime_ticks_total": counter(np.full(10, 20)),
        "child_utime_ticks_total": Column(values=child, present=np.ones(10, bool)),
        "child_stime_ticks_total": counter(np.zeros(10)),
    }
    value = compute.nodeos_cpu(samples(process)).series.value
    assert value[1:5] == pytest.approx(1.0)
    assert np.isnan(value[5])
    assert value[6:] == pytest.approx(0.5)


def test_share_of_the_host_needs_the_number_of_its_cpus():
    """Half a core of eight is 6.25 %."""
    process = samples({n: counter(np.full(10, 25)) for n in compute.OWN_CPU})
    assert compute.nodeos_cpu_percent(process, context()).series.value[1:] == pytest.approx(6.25)
    assert compute.nodeos_cpu_percent(process, context(cpus=None)) is None


@pytest.mark.parametrize(
    ("mode", "tmpfs", "expected"),
    [
        ("mapped", False, 10),
        ("mapped", True, 1000),
        ("mapped_private", False, 110),
        ("heap", False, 10_100),
        ("locked", False, 10_100),
    ],
)
def test_the_state_is_where_its_map_mode_puts_it(mode, tmpfs, expected):
    """File 10, anonymous 100, shared 1,000, huge pages 10,000 bytes."""
    process = samples(
        {
            "rss_file_bytes": level(np.full(10, 10)),
            "rss_anon_bytes": level(np.full(10, 100)),
            "rss_shmem_bytes": level(np.full(10, 1000)),
            "hugetlb_bytes": level(np.full(10, 10_000)),
        }
    )
    assert compute.state_resident(process, context(mode, tmpfs=tmpfs)).series.value == pytest.approx(expected)


def test_in_an_unknown_map_mode_the_state_is_not_guessed():
    """There is no metric rather than a wrong one."""
    assert compute.state_resident(samples({"rss_file_bytes": level(np.full(10, 1))}), context()) is None


def test_what_was_never_read_is_no_metric():
    """Neither zero nor NaN everywhere."""
    absent = samples({"swap_out_pages_total": level(np.full(10, np.nan))})
    for name in ("host.swap_out_bytes_per_s", "host.cpu_percent", "host.swap_used_bytes"):
        assert spec_of(name).compute(absent, context()) is None


def test_pages_sectors_and_microseconds_become_base_units():
    """2 pages of 4,096, 3 sectors of 512 bytes, a tenth of each second under pressure."""
    host = samples(
        {
            "swap_out_pages_total": counter(np.full(10, 2)),
            "io_pressure_some_us_total": counter(np.full(10, 100_000)),
        }
    )
    assert spec_of("host.swap_out_bytes_per_s").compute(host, context()).series.value[1:] == pytest.approx(
        8192
    )
    assert spec_of("host.io_pressure_percent").compute(host, context()).series.value[1:] == pytest.approx(10)
    device = samples({"write_sectors_total": counter(np.full(10, 3))}, name="device")
    found = spec_of("device.write_bytes_per_s").compute(device, context()).series.value[1:]
    assert found == pytest.approx(1536)


def test_columns_of_a_table_are_listed_once():
    """They are read in one go."""
    names = columns_of("nodeos")
    assert len(names) == len(set(names))
    assert "utime_ticks_total" in names
