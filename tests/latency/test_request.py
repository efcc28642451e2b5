"""The probe of requests, from end to end: planted delays come back, stalls are not hidden, recordings are ordinary."""

import statistics
import threading
import time
from itertools import count

import numpy as np
import pytest

from leapprof.analysis.log_linear import decode, merged
from leapprof.assess.load import load
from leapprof.errors import ConfigError
from leapprof.ingest.columns import TABLES, TIME_COLUMNS
from leapprof.latency.blocks import Subject
from leapprof.latency.endpoint import Endpoint
from leapprof.latency.open_loop import Pace
from leapprof.latency.recording import RunFacts, recorded, start_in
from leapprof.latency.request import RequestPlan, check, request_of, run
from tests.support.servers import DelayedApi, serving
from tests.support.steady import steady


def probe(
    port, directory, *, rate=100.0, duration_s=2.0, timeout_s=5.0, connections=16, operations=("get_info",)
):
    """Run the probe against a server on loopback; return the recording."""
    endpoint = Endpoint(host="127.0.0.1", port=port)
    requests = tuple(request_of(name, None) for name in operations)
    address, _ = check(endpoint, requests, timeout_s)
    pace = Pace(rate_per_s=rate, duration_s=duration_s, warm_up_s=0.2, most=10**6, timeout_s=timeout_s)
    plan = RequestPlan(
        endpoint=endpoint, address=address, requests=requests, pace=pace, connections=connections
    )
    facts = RunFacts(
        directory=directory,
        phase="before",
        region="here",
        block_s=0.5,
        settings={},
        command="leapprof latency",
    )
    first = start_in(0.05)
    with recorded(facts, first.at(first.monotonic_ns + 200_000_000)) as writer:
        run(plan, writer, first.monotonic_ns)
    return load(directory)


def whole(recording):
    """Return the merged histogram of all blocks."""
    return merged(decode(text).counts for text in recording.table("latency").texts["histogram"])


def total(recording, name):
    """Return the sum of a column."""
    return int(recording.table("latency").integers[name].values.sum())


@pytest.mark.quiet
def test_a_planted_delay_comes_back(tmp_path):
    """5 ms ± 1 ms more than the null case at the median, within 0.2 ms of what the server's own clock says."""
    rng, lock = np.random.default_rng(3), threading.Lock()

    def planted_s():
        with lock:
            return float(rng.uniform(0.004, 0.006))

    null, delayed = DelayedApi(), DelayedApi(planted_s)
    with steady(), serving(null) as port:
        floor = whole(probe(port, tmp_path / "null", duration_s=1.6))
    with steady(), serving(delayed) as port:
        found = whole(probe(port, tmp_path / "delayed", duration_s=1.6))
    assert found.total == 160
    measured_s = (found.quantile(0.5) - floor.quantile(0.5)) / 1e9
    planted = statistics.median(delayed.took_s) - statistics.median(null.took_s)
    assert measured_s == pytest.approx(planted, abs=0.0002)
    assert planted > 0.0045


def test_a_stall_of_one_second_in_ten_shows_at_p99(tmp_path):
    """Everything planned during the stall waited; a closed loop would have asked once and seen one slow answer."""
    start_s = time.monotonic()

    def stall_s():
        at_s = (time.monotonic() - start_s) % 3.0
        return 0.9 - (at_s - 1.5) if 1.5 <= at_s < 2.4 else 0.0

    with serving(DelayedApi(stall_s)) as port:
        recording = probe(port, tmp_path / "rec", rate=40.0, duration_s=4.0, connections=4)
    found = whole(recording)
    assert found.total == 160
    assert found.quantile(0.99) > 0.5e9
    waited = found.total - found.count_up_to(max(b for b in found.counts if b < 100_000 and _low(b) < 2e8))
    assert waited >= 20


def _low(bucket):
    from leapprof.analysis.log_linear import bounds_of

    return bounds_of(bucket)[0]


def test_a_server_that_goes_silent_does_not_hold_the_run(tmp_path):
    """Attempts that found no free connection within the time-out are counted as timed out, and the run ends."""
    asked = count()
    began_s = time.monotonic()
    with serving(DelayedApi(lambda: 4.0 if next(asked) > 20 else 0.0)) as port:
        recording = probe(port, tmp_path / "rec", rate=50.0, duration_s=1.5, timeout_s=1.0, connections=2)
        took_s = time.monotonic() - began_s
    assert total(recording, "count") + total(recording, "errors") == 75
    assert total(recording, "timeouts") >= 20
    assert "timeout" in "".join(recording.table("latency").texts["failures"])
    assert took_s < 60


def test_a_run_is_an_ordinary_recording(tmp_path):
    """Tables with the documented columns, the machine's own CPU beside them, and a closed manifest."""
    with serving(DelayedApi()) as port:
        recording = probe(port, tmp_path / "rec", duration_s=1.0, operations=("get_info", "get_account"))
    table, host = recording.table("latency"), recording.table("host")
    assert set(table.integers) == {*TIME_COLUMNS, *TABLES["latency"].integers}
    assert set(table.texts) == set(TABLES["latency"].texts) - {"bounds_ns"}
    assert set(table.texts["operation"]) == {"get_info", "get_account"}
    assert host.rows >= 2
    assert set(host.integers) <= {*TIME_COLUMNS, *TABLES["host"].integers}
    manifest = recording.manifest
    assert manifest.transport == "latency"
    assert manifest.ended_wall_ns is not None
    assert manifest.host.facts["region"] == "here"
    assert total(recording, "count") == 100


def test_bodies_and_paths_of_the_chain_api():
    """Ready bodies, a path of one's own, and what needs a body says so."""
    assert request_of("get_block", None).body == b'{"block_num_or_id": 1}'
    assert request_of("/v1/chain/get_producers", b'{"limit":1}').path == "/v1/chain/get_producers"
    with pytest.raises(ConfigError, match="needs a body"):
        request_of("send_read_only_transaction", None)
    with pytest.raises(ConfigError, match="none of"):
        request_of("push_everything", None)
    with pytest.raises(ConfigError, match="no spaces"):
        request_of("/v1 HTTP/1.1\r\nX: y", None)


def test_what_is_sealed_during_a_run_and_after_it_is_one_recording(tmp_path):
    """Complete blocks are readable while it goes on; nothing is counted twice."""
    facts = RunFacts(
        directory=tmp_path / "rec",
        phase="",
        region="here",
        block_s=1.0,
        settings={},
        command="leapprof latency",
    )
    start = start_in(-10.0)
    subject = Subject(probe="request", operation="get_info", target="a:1")
    with recorded(facts, start) as writer:
        for number in range(20):
            writer.blocks.succeeded(subject, start.monotonic_ns + number * 10**9 // 2, 1000 + number)
        writer.seal(start.monotonic_ns + 4 * 10**9)
        assert total(load(tmp_path / "rec"), "count") == 8
    recording = load(tmp_path / "rec")
    assert total(recording, "count") == 20
    assert np.diff(recording.table("latency").integers["boottime_ns"].values).tolist() == [10**9] * 9
