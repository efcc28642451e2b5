"""One host, sampled every second by leapprof and every 15 s by node_exporter: the same means and verdicts."""

import numpy as np
import pytest

from leapprof.assess.compare import compare_cut
from leapprof.assess.load import load
from leapprof.importers.blocks import Block, Imported
from leapprof.importers.devices import devices_of
from leapprof.importers.prom_access import server_access
from leapprof.importers.prom_server import Server
from leapprof.importers.prom_targets import FetchRequest
from leapprof.importers.prometheus import fetch
from leapprof.importers.recording import write_recording
from leapprof.model import Host
from tests.importers.servers import History, make_blocks, missing, prometheus

pytestmark = pytest.mark.skipif(
    bool(missing("prometheus", "promtool")), reason=f"not installed: {missing('prometheus', 'promtool')}"
)
START, SECONDS = 1_700_000_000, 2 * 86_400
CHANGE = START + SECONDS // 2
METRICS = (
    "host.cpu_percent",
    "device.write_bytes_per_s",
    "host.mem_available_bytes",
    "host.swap_out_bytes_per_s",
)


def _counters():
    """Return a host's counters at every second: a load with memory, writes in flushes, a change in the middle."""
    rng = np.random.default_rng(20240122)
    t = np.arange(SECONDS + 1)
    noise = np.zeros(t.size)
    for at in range(1, t.size):
        noise[at] = 0.95 * noise[at - 1] + 0.02 * rng.normal()
    busy = np.clip(np.where(t < SECONDS / 2, 0.6, 0.4) + noise, 0, 1)
    flush = (t % 30 == 0) * rng.gamma(4, 0.25, t.size) * np.where(t < SECONDS / 2, 120e6, 6e6)
    return t, {
        "cpu_user_ticks_total": np.cumsum(busy * 200),
        "cpu_nice_ticks_total": np.zeros(t.size),
        "cpu_system_ticks_total": np.zeros(t.size),
        "cpu_idle_ticks_total": np.cumsum((1 - busy) * 200),
        "mem_available_bytes": 8e9 + np.cumsum(rng.normal(0, 1e5, t.size)),
        "swap_out_pages_total": np.zeros(t.size),
    }, np.cumsum(flush) // 512  # fmt: skip


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """Return the recording of leapprof and that of node_exporter's history."""
    t, host, sectors = _counters()
    out = tmp_path_factory.mktemp("both")
    wall_ns = (START + t) * 10**9
    own = Imported(
        host=Host(name="a", boot_id="", facts={"cores": "2"}),
        source="test",
        interval_s=1.0,
        blocks=(
            Block(table="host", texts={}, wall_ns=wall_ns, columns=host),
            Block(
                table="device",
                texts={"device": "sda"},
                wall_ns=wall_ns,
                columns={"write_sectors_total": sectors},
            ),
        ),
        topology=devices_of(("sda",)).topology,
    )
    first = write_recording(own, out / "own", phase="", command="")
    history = History(START + 7, START + SECONDS, 15)
    node = 'instance="a:9100"'
    for column, values in host.items():
        if column.startswith("cpu_"):
            mode = column.split("_")[1]
            for cpu in ("0", "1"):
                history.add(
                    "node_cpu_seconds_total",
                    f'{node},cpu="{cpu}",mode="{mode}"',
                    lambda s, v=values: v[s + 7] / 200,
                )
    history.add("node_memory_MemAvailable_bytes", node, lambda s: host["mem_available_bytes"][s + 7])
    history.add("node_vmstat_pswpout", node, lambda s: 0)
    history.add("node_boot_time_seconds", node, lambda s: START - 1e6)
    history.add("node_disk_written_bytes_total", node + ',device="sda"', lambda s: 512.0 * sectors[s + 7])
    directory = out / "server"
    with (
        prometheus(directory, blocks=make_blocks(history.openmetrics(), directory / "history")) as url,
        Server(server_access(url, {})) as server,
    ):
        (found,) = fetch(server, FetchRequest(selector="", start_s=START, end_s=START + SECONDS))
        second = write_recording(found, out / "other", phase="", command="")
    return load(first), load(second)


def _metrics(recording):
    return {m.name: m for m in compare_cut(recording, CHANGE * 10**9).metrics}


def test_means_agree_within_one_percent_and_verdicts_are_the_same(recordings):
    """A day before and a day after a change, so that both sides cover the same hours."""
    own, other = (_metrics(recording) for recording in recordings)
    for name in METRICS:
        for side in ("before", "after"):
            mine, its = getattr(own[name], side), getattr(other[name], side)
            assert its.mean == pytest.approx(mine.mean, rel=0.01), (name, side)
        assert own[name].verdict == other[name].verdict, name
    assert own["host.cpu_percent"].verdict == "improved", own["host.cpu_percent"].reason
    assert own["device.write_bytes_per_s"].verdict == "improved"
