"""Batch means asked from real servers are those of the raw points."""

import numpy as np
import pytest

from leapprof.analysis.batch import Span, batch_means
from leapprof.assess.compute import host_cpu, sectors
from leapprof.assess.load import load
from leapprof.assess.samples import read_samples
from leapprof.importers.prom_access import server_access
from leapprof.importers.prom_batches import BatchWindow, fetch_batches, fleet_targets
from leapprof.importers.prom_server import Server
from leapprof.importers.prom_targets import FetchRequest
from leapprof.importers.prometheus import fetch
from leapprof.importers.recording import write_recording
from tests.importers.servers import History, make_blocks, missing, prometheus, victoria_metrics

pytestmark = pytest.mark.skipif(
    bool(missing("prometheus", "promtool")), reason=f"not installed: {missing('prometheus', 'promtool')}"
)
START, STEP, HOURS = 1_700_000_000, 15, 4
END = START + HOURS * 3600
WINDOW = BatchWindow(start_s=START, batch_s=600, count=HOURS * 6)


def _load(t):
    return 0.3 + 0.1 * np.sin(t / 700.0)


def _add(history, name, *, boot=lambda t: START - 1e6, skip=None, written=lambda t: 5e5 * t):
    busy = np.cumsum([_load(t - START) * STEP for t in history.times])
    node = f'instance="{name}:9100",job="node"'
    for cpu in ("0", "1"):
        for mode, part in (("user", 1.0), ("nice", 0.0), ("system", 0.0)):
            history.add(
                "node_cpu_seconds_total",
                f'{node},cpu="{cpu}",mode="{mode}"',
                lambda t, p=part: p * busy[t // STEP],
                skip,
            )
        history.add(
            "node_cpu_seconds_total",
            f'{node},cpu="{cpu}",mode="idle"',
            lambda t: t - busy[t // STEP] + 100,
            skip,
        )
    history.add("node_boot_time_seconds", node, boot, skip)
    for device in ("sda", "dm-0"):
        history.add("node_disk_written_bytes_total", f'{node},device="{device}"', written, skip)
    history.add("node_memory_MemAvailable_bytes", node, lambda t: 1e9 + 1e3 * t, skip)
    history.add("node_memory_SwapFree_bytes", node, lambda t: 3e9, skip)
    history.add("node_memory_SwapTotal_bytes", node, lambda t: 4e9, skip)


@pytest.fixture(scope="module")
def history():
    """Return four hours of four hosts."""
    history = History(START, END, STEP)
    _add(history, "plain")
    _add(history, "gappy", skip=lambda t: 3600 <= t < 5400)
    _add(history, "rebooted", boot=lambda t: START - 1e6 if t < 4500 else START + 4400)
    _add(history, "reset", written=lambda t: 5e5 * (t if t < 4500 else t - 4500))
    return history


@pytest.fixture(scope="module")
def url(history, tmp_path_factory):
    """Yield the address of a Prometheus over the history."""
    directory = tmp_path_factory.mktemp("batches")
    with prometheus(directory / "server", blocks=make_blocks(history.openmetrics(), directory)) as address:
        yield address


def _request(selector=""):
    return FetchRequest(selector=selector, start_s=START, end_s=END)


def _batches(url):
    with Server(server_access(url, {})) as server:
        targets = fleet_targets(server, _request())
        return {(b.host, b.metric): b.batches for b in fetch_batches(server, _request(), targets, WINDOW)}


@pytest.fixture(scope="module")
def asked(url):
    """Return all batch means."""
    return _batches(url)


def test_pushed_down_means_are_those_of_the_raw_points(url, asked, tmp_path):
    """CPU and writes of one host, batch by batch."""
    with Server(server_access(url, {})) as server:
        (found,) = fetch(server, _request('instance="plain:9100"'))
    loaded = load(write_recording(found, tmp_path, phase="", command=""))
    host = read_samples(loaded, "host", tuple(loaded.table("host").integers))
    disk = read_samples(loaded, "device", ("write_sectors_total",), {"device": "sda"})
    offset = host.time_s[0] - host.wall_ns[0] / 1e9
    span = Span(start_s=START + offset, end_s=END + offset)
    for metric, series in (
        ("host.cpu_percent", host_cpu(host).series),
        ("host.drive_write_bytes_per_s", sectors(disk, "write").series),
    ):
        raw = batch_means(series, span, 600.0)
        np.testing.assert_allclose(asked["plain", metric].mean, raw.mean, rtol=2e-3)


def test_writes_are_counted_at_drives_once(asked):
    """dm-0 lies on sda."""
    np.testing.assert_allclose(asked["plain", "host.drive_write_bytes_per_s"].mean, 5e5)


def test_batches_without_scrapes_are_dropped(asked):
    """Half an hour is missing: three batches, of whose edges one is not seen."""
    starts = asked["gappy", "host.cpu_percent"].start_s - START
    assert not set(starts) & {3600.0, 4200.0, 4800.0}
    assert {0.0, 600.0, 6600.0} <= set(starts)


def test_a_batch_with_a_boot_in_it_is_dropped(asked):
    """Its counters went on here, which they never do."""
    assert 4200.0 not in asked["rebooted", "host.cpu_percent"].start_s - START
    assert 4800.0 in asked["rebooted", "host.cpu_percent"].start_s - START


def test_a_counter_that_fell_makes_no_batch(asked):
    """Neither clamped to 0 nor taken for a wrap."""
    found = asked["reset", "host.drive_write_bytes_per_s"]
    assert 4200.0 not in found.start_s - START
    np.testing.assert_allclose(found.mean, 5e5)


def test_levels_are_averaged_by_the_server(asked):
    """Swap used is total less free."""
    assert set(asked["plain", "host.swap_used_bytes"].mean) == {1e9}
    first = asked["plain", "host.mem_available_bytes"].mean[0]
    assert first == pytest.approx(1e9 + 300e3, rel=1e-4)


@pytest.mark.skipif(bool(missing("victoria-metrics")), reason="not installed: victoria-metrics")
def test_victoria_metrics_gives_the_same_batches(history, asked, tmp_path):
    """Differences of raw values do not depend on the engine, as rate does."""
    with victoria_metrics(tmp_path / "vm", history.prometheus_text()) as other:
        found = _batches(other)
    for key, batches in asked.items():
        mine = dict(zip(found[key].start_s, found[key].mean, strict=True))
        same = [start for start in batches.start_s if start in mine]
        assert len(same) >= batches.start_s.size - 1
        its = dict(zip(batches.start_s, batches.mean, strict=True))
        tolerance = 1e-3 if key[1].startswith(("host.mem", "host.swap")) else 1e-9
        np.testing.assert_allclose([mine[s] for s in same], [its[s] for s in same], rtol=tolerance)
