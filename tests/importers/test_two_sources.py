"""Two real hours of one host: what leapprof recorded over SSH, and what exporters told a Prometheus meanwhile.

The recordings are samples/standin-two-hours. A Prometheus scraped node_exporter, process-exporter and the stand-ins'
own metrics every 5 s; every third scrape is kept in data/standin-two-hours.om.gz (benchmarks.server_window).
"""

from pathlib import Path

import pytest

from benchmarks.two_sources import rows_of, served
from leapprof.importers.prom_access import server_access
from leapprof.importers.prom_server import Server
from leapprof.model import Verdict
from tests.importers.servers import missing

pytestmark = pytest.mark.skipif(
    bool(missing("prometheus", "promtool")), reason=f"not installed: {missing('prometheus', 'promtool')}"
)
WINDOW = Path(__file__).parent / "data" / "standin-two-hours.om.gz"
SAMPLE = Path(__file__).parents[2] / "samples" / "standin-two-hours"
COMPARED = {
    ("host.cpu_percent", ""),
    ("host.mem_available_bytes", ""),
    ("host.swap_used_bytes", ""),
    *(
        (f"device.{name}", device)
        for name in ("write_bytes_per_s", "writes_per_s", "read_bytes_per_s")
        for device in ("loop0", "loop2", "vda")
    ),
    *((f"nodeos.{name}", nodeos) for name in ("cpu_cores", "rss_bytes") for nodeos in "ab"),
    *(("chain.transactions_per_s", nodeos) for nodeos in "ab"),
}

AT_EQUAL_LOAD = (("device.read_bytes_per_s", "loop0"), ("device.read_bytes_per_s", "loop2"))
"""Loop devices were scraped as a host of their own, without nodeos: the recording alone can adjust for its load."""


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Return what both sources hold: name and subject → means and verdicts."""
    directory = tmp_path_factory.mktemp("two-sources")
    with served(WINDOW, directory) as url, Server(server_access(url, {})) as server:
        found = rows_of([SAMPLE / "before", SAMPLE / "after"], server, directory)
    return {(row.name, row.subject): row for row in found}


@pytest.mark.parametrize("key", sorted(COMPARED), ids=lambda key: " ".join(key).strip())
def test_means_of_an_hour_are_within_one_percent(rows, key):
    """Of both hours, between the first and the last scrape."""
    row = rows[key]
    assert len(row.own) == len(row.other) == 2
    assert row.off < 0.01


def test_verdicts_are_the_same_by_both_ways(rows):
    """Of every metric that neither way refuses; the device under the changed state is the one that improved."""
    verdicts = {key: row.verdicts for key, row in rows.items() if row.verdicts is not None}
    assert verdicts.keys() >= COMPARED - {("nodeos.rss_bytes", "a")}
    apart = {key: pair for key, pair in verdicts.items() if pair[0] is not pair[1]}
    assert apart == dict.fromkeys(AT_EQUAL_LOAD, (Verdict.UNCHANGED, Verdict.INCONCLUSIVE))
    assert verdicts["device.write_bytes_per_s", "loop0"][0] is Verdict.IMPROVED
    assert verdicts["device.write_bytes_per_s", "loop2"][0] is Verdict.UNCHANGED
