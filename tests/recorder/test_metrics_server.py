"""/metrics while recording."""

import urllib.error
import urllib.request
from pathlib import Path

import pytest

from leapprof.errors import ConfigError
from leapprof.model import Frame, Host, ReadStatus, Recording, SamplingCost, Section, Topology
from leapprof.recorder.metrics_server import MetricsObserver, MetricsServer
from leapprof.recorder.observer import NullObserver


def _manifest():
    return Recording(
        host=Host(name='eos"1', boot_id="b"),
        nodeos=(),
        topology=Topology(),
        phase="before",
        interval_s=1.0,
        started_wall_ns=None,
        ended_wall_ns=None,
        transport="local",
        cost=SamplingCost(agent="python", samples=0, cpu_s=None, rss_bytes=None, wire_bytes=0),
    )


def _frame(second, meminfo):
    ns = (1000 + second) * 10**9
    return Frame(
        seq=second + 1, boottime_ns=ns, wall_ns=ns, deadline_ns=ns, agent_cpu_ns=1, agent_rss_bytes=1, dropped=0,
        sections=(Section(name="/proc/meminfo", status=ReadStatus.OK, text=meminfo),),
    )  # fmt: skip


def _watched():
    observer = MetricsObserver(NullObserver())
    observer.started("eos", Path("x"), _manifest())
    observer.sampled("eos", _frame(0, b"MemTotal: 8 kB\nMemFree: 4 kB\n"))
    return observer


def test_the_last_readings_are_served_with_host_and_phase():
    """Labels are escaped."""
    with (
        MetricsServer("127.0.0.1:0", _watched()) as server,
        urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics", timeout=60) as answer,
    ):
        text = answer.read().decode()
    assert 'leapprof_host_mem_free_bytes{host="eos\\"1",phase="before"} 4096' in text
    assert "# TYPE leapprof_host_mem_free_bytes gauge" in text


def test_nothing_but_metrics_is_served():
    """Any other path is 404."""
    with (
        MetricsServer("127.0.0.1:0", _watched()) as server,
        pytest.raises(urllib.error.HTTPError, match="404"),
    ):
        urllib.request.urlopen(f"http://127.0.0.1:{server.port}/", timeout=60)


def test_an_old_reading_is_no_reading_any_more():
    """What was last read a minute ago is left out, not repeated."""
    observer = _watched()
    observer.sampled("eos", _frame(55, b"MemTotal: 8 kB\n"))
    assert "mem_total_bytes" in observer.text()
    assert "mem_free_bytes" not in observer.text()


def test_a_host_that_is_not_sampled_any_more_is_forgotten():
    """Its last values would look like a host that stands still."""
    observer = _watched()
    observer.ended("eos", None)
    assert observer.text() == ""


@pytest.mark.parametrize("listen", ["9777", "127.0.0.1:x", "127.0.0.1:99999"])
def test_a_bad_address_is_refused(listen):
    """With an example."""
    with pytest.raises(ConfigError, match="metrics-listen"):
        MetricsServer(listen, MetricsObserver(NullObserver()))
