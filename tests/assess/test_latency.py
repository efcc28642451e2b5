"""Delays compared: exact quantiles of a window, intervals that hold, and who is compared with whom."""

from dataclasses import replace

import numpy as np
import pytest

from leapprof.analysis.log_linear import LogLinear
from leapprof.assess.compare import compare
from leapprof.assess.latency import MAX_REFUSED
from leapprof.assess.material import CompareOptions
from leapprof.assess.summary import summarize
from leapprof.model import Column, Host, Recording, SamplingCost, Table, Topology, Verdict
from tests.support.recordings import MemoryRecording

NS = 10**9
BLOCK_S = 10
START_WALL_NS = 1_700_000_000 * NS


def filled(values):
    """Return a column without holes."""
    values = np.asarray(values, dtype=np.int64)
    return Column(values=values, present=np.ones(values.size, bool))


def keys(ends_s, start_wall_ns):
    """Return the time columns of rows that end at these seconds."""
    ends = np.asarray(ends_s, dtype=np.int64) * NS
    return {
        "seq": filled(np.arange(ends.size) + 1),
        "boottime_ns": filled(ends),
        "wall_ns": filled(ends + start_wall_ns),
        "boot": filled(np.zeros(ends.size)),
    }


def recording(
    blocks_ns, *, start_wall_ns=START_WALL_NS, operation="get_info", target="a:1", errors=0, block_s=BLOCK_S
):
    """Return a recording whose blocks hold these delays, nanoseconds."""
    ends_s = 100 + block_s * (1 + np.arange(len(blocks_ns)))
    histograms = []
    for block in blocks_ns:
        histogram = LogLinear()
        for value in block:
            histogram.record(int(value))
        histograms.append(histogram)
    quantiles = {
        f"{name}_ns": filled([h.quantile(q) or 0 for h in histograms])
        for name, q in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("max", 1.0))
    }
    rows = len(histograms)
    texts = {"probe": "request", "operation": operation, "target": target, "failures": ""}
    latency = Table(
        name="latency",
        rows=rows,
        integers={
            **keys(ends_s, start_wall_ns),
            "block_ns": filled([block_s * NS] * rows),
            "count": filled([h.total for h in histograms]),
            "errors": filled([errors] * rows),
            **quantiles,
        },
        texts={
            **{name: np.full(rows, text, dtype=object) for name, text in texts.items()},
            "histogram": np.array([h.encode() for h in histograms], dtype=object),
        },
    )
    seconds = np.arange(100, ends_s[-1] + 1)
    ticks = {
        f"cpu_{name}_ticks_total": filled(seconds * rate)
        for name, rate in (("user", 20), ("nice", 0), ("system", 10), ("idle", 170))
    }
    host = Table(name="host", rows=seconds.size, integers={**keys(seconds, start_wall_ns), **ticks}, texts={})
    manifest = Recording(
        host=Host(name="here", boot_id="b", machine_id="m"),
        nodeos=(),
        topology=Topology(),
        phase="x",
        interval_s=block_s,
        started_wall_ns=start_wall_ns + 100 * NS,
        ended_wall_ns=start_wall_ns + int(ends_s[-1]) * NS,
        transport="latency",
        cost=SamplingCost(agent="latency", samples=seconds.size, cpu_s=None, rss_bytes=None, wire_bytes=0),
    )
    return MemoryRecording(manifest=manifest, tables={"host": host, "latency": latency})


def delays(seed, blocks, *, added_ms=0.0, per_block=20, slow_share=0.02):
    """Return blocks of delays: about 1 ms, one in fifty 20 ms, plus what is planted."""
    rng = np.random.default_rng(seed)
    shape = (blocks, per_block)
    plain = rng.lognormal(0, 0.2, shape) + 20 * (rng.random(shape) < slow_share) + added_ms
    return plain * 1e6


def compared(first, second, **options):
    """Return the metrics of the comparison by name."""
    found = compare(first, second, CompareOptions(**options))
    return {m.name: m for m in found.metrics if m.name.startswith("latency.")}, found


def later(blocks_ns, **more):
    """Return a recording of the next day."""
    return recording(blocks_ns, start_wall_ns=START_WALL_NS + 86_400 * NS, **more)


def test_a_planted_delay_comes_back_with_an_interval_and_a_verdict():
    """An hour on each side, 5 ms more: regressed, and the interval holds the 5 ms."""
    metrics, found = compared(recording(delays(1, 370)), later(delays(2, 370, added_ms=5.0)))
    for name in ("latency.request.p50_s", "latency.request.p90_s"):
        metric = metrics[name]
        assert metric.verdict is Verdict.REGRESSED
        assert metric.difference.value == pytest.approx(0.005, abs=0.0001)
        assert metric.difference.ci95.low <= 0.005 <= metric.difference.ci95.high
        assert metric.before.samples == 370 * 20
    assert metrics["latency.request.p50_s"].subject.operation == "get_info"
    assert not any("metric-missing" in f.code for f in found.findings)


def test_the_same_delay_on_both_sides_is_unchanged():
    """Proved: the whole interval lies within what matters."""
    metrics, _ = compared(recording(delays(3, 370)), later(delays(4, 370)))
    assert metrics["latency.request.p50_s"].verdict is Verdict.UNCHANGED
    assert metrics["latency.request.error_percent"].verdict is Verdict.UNCHANGED


def test_quantiles_are_those_of_all_requests_and_no_means_of_blocks():
    """One block in ten is slow throughout: the 95th percentile of all is slow, the mean of block percentiles is not."""
    blocks = delays(5, 130, slow_share=0.0)
    blocks[::10] += 100e6
    metrics, _ = compared(recording(blocks), later(blocks))
    before = metrics["latency.request.p95_s"].before
    assert before.mean == pytest.approx(np.quantile(blocks, 0.95, method="inverted_cdf") / 1e9, rel=2e-3)
    assert before.p95 == pytest.approx(before.mean)


def test_a_maximum_is_shown_without_a_verdict():
    """It has no interval."""
    metrics, _ = compared(recording(delays(6, 130)), later(delays(7, 130)))
    assert metrics["latency.request.max_s"].refused == MAX_REFUSED
    assert metrics["latency.request.max_s"].verdict is Verdict.INCONCLUSIVE


def test_under_twenty_minutes_there_is_a_difference_and_no_interval():
    """Grade too_short."""
    metrics, _ = compared(recording(delays(8, 60)), later(delays(9, 60, added_ms=5.0)))
    metric = metrics["latency.request.p50_s"]
    assert metric.difference.value == pytest.approx(0.005, abs=0.0001)
    assert metric.difference.ci95 is None
    assert metric.grade == "too_short"


def wandering(seed, blocks, memory_blocks, per_block=20):
    """Return blocks of delays whose level wanders: half of the variance of their logarithm."""
    rng = np.random.default_rng(seed)
    kept = np.exp(-1 / memory_blocks)
    level = np.zeros(blocks)
    for i, step in enumerate(rng.standard_normal(blocks - 1), 1):
        level[i] = kept * level[i - 1] + step * np.sqrt(1 - kept**2)
    return 1e6 * np.exp(0.35 * (level[:, None] + rng.standard_normal((blocks, per_block))))


def test_where_the_level_wanders_for_long_high_quantiles_have_no_verdict():
    """An hour with a memory of ten minutes: inconclusive, no interval, and how long it would take at least."""
    metrics, _ = compared(recording(wandering(1, 370, 60)), later(2 * wandering(2, 370, 60)))
    for name in ("latency.request.p90_s", "latency.request.p95_s", "latency.request.p99_s"):
        metric = metrics[name]
        assert metric.verdict is Verdict.INCONCLUSIVE
        assert metric.difference.value > 0
        assert metric.difference.ci95 is None
        assert metric.needed_seconds >= 3 * 3600
        assert "would not hold" in metric.reason
    assert metrics["latency.request.p99_s"].needed_seconds > metrics["latency.request.p90_s"].needed_seconds


def test_a_99th_percentile_takes_fifty_minutes_at_least():
    """In 21 minutes the others have an interval; with an hour it has one, too."""
    metrics, _ = compared(recording(delays(11, 130)), later(delays(12, 130)))
    assert metrics["latency.request.p95_s"].difference.ci95 is not None
    assert metrics["latency.request.p99_s"].difference.ci95 is None
    assert metrics["latency.request.p99_s"].needed_seconds == 3000
    metrics, _ = compared(recording(delays(13, 370)), later(delays(14, 370)))
    assert metrics["latency.request.p99_s"].difference.ci95 is not None


def test_days_have_an_interval_too():
    """Four days are four days, not four batches of too few."""
    metrics, _ = compared(
        recording(delays(15, 4 * 144, per_block=100), block_s=600),
        recording(
            delays(16, 4 * 144, per_block=100), block_s=600, start_wall_ns=START_WALL_NS + 7 * 86_400 * NS
        ),
    )
    assert metrics["latency.request.p95_s"].difference.ci95 is not None


def test_another_target_is_compared_when_each_side_has_one():
    """The node moved; both names are shown."""
    metrics, _ = compared(recording(delays(1, 130)), later(delays(2, 130), target="b:2"))
    assert metrics["latency.request.p50_s"].subject.target == "a:1 → b:2"


def test_another_operation_is_not_compared():
    """get_info against get_block says nothing: what only one side has is named."""
    found = compare(recording(delays(1, 130)), later(delays(2, 130), operation="get_block"))
    metrics = [m for m in found.metrics if m.name == "latency.request.p50_s"]
    assert [(m.before is None, m.after is None) for m in metrics] == [(False, True), (True, False)]
    assert "metric-missing" in {f.code for f in found.findings}


def test_errors_are_a_share_of_all_attempts():
    """20 succeeded and 5 failed in each block: 20 %."""
    metrics, _ = compared(recording(delays(1, 130)), later(delays(2, 130), errors=5))
    metric = metrics["latency.request.error_percent"]
    assert metric.after.mean == pytest.approx(20.0)
    assert metric.verdict is Verdict.REGRESSED


def test_a_damaged_histogram_leaves_out_its_block():
    """The others stay."""
    damaged = recording(delays(1, 130))
    damaged.tables["latency"].texts["histogram"][3] = "no histogram"
    metrics, _ = compared(damaged, later(delays(2, 130)))
    assert metrics["latency.request.p50_s"].before.samples == 129 * 20


def test_a_summary_of_one_recording_shows_delays():
    """For `leapprof show`."""
    rows = {row.name: row for row in summarize(recording(delays(1, 130)))}
    assert rows["latency.request.p50_s"].mean == pytest.approx(0.001, rel=0.1)
    assert rows["latency.request.p50_s"].subject.target == "a:1"


def test_the_headline_speaks_of_delays():
    """With operation, target, both values and the verdict."""
    _, found = compared(recording(delays(1, 370)), later(delays(2, 370, added_ms=5.0)))
    sentence = next(s for s in found.headline if s.startswith("Median delay"))
    assert sentence.startswith("Median delay of requests get_info to a:1: 1.00 ms before, 6.01 ms after")


def test_a_public_report_hides_what_was_probed():
    """A name with its port is an address of somebody."""
    from leapprof.report.json import render_json
    from leapprof.report.public import publish

    named = {"target": "eos-1.example.org:8888"}
    _, found = compared(recording(delays(1, 60), **named), later(delays(2, 60), **named))
    text = render_json(publish(found)).decode()
    assert "get_info" in text
    assert "example.org" not in text


def test_a_public_report_hides_whose_transactions_were_counted_and_who_was_first():
    """An account is somebody's; so is the endpoint that a standing names."""
    from leapprof.report.json import render_json
    from leapprof.report.public import publish

    def noted(made):
        facts = {"latency_account": "JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4", "latency_probe": "stream"}
        host = replace(made.manifest.host, facts=facts)
        notes = {"latency_standing_1": "rpc.example.org:443: first with 96 % of 400 messages"}
        return replace(made, manifest=replace(made.manifest, host=host, notes=notes))

    _, found = compared(noted(recording(delays(1, 60))), noted(later(delays(2, 60))))
    assert "rpc.example.org:443: first with 96 %" in render_json(found).decode()
    text = render_json(publish(found)).decode()
    assert "first with 96 %" in text
    assert "JUP6" not in text
    assert "example.org" not in text


def test_other_settings_of_the_probe_are_confounders():
    """A busier probe makes other queues: it is named."""
    from dataclasses import replace

    def with_rate(made, rate):
        host = replace(made.manifest.host, facts={"latency_rate": rate})
        return replace(made, manifest=replace(made.manifest, host=host))

    first, second = recording(delays(1, 60)), later(delays(2, 60))
    _, found = compared(with_rate(first, "10.0 requests/s"), with_rate(second, "100 requests/s"))
    assert any(f.code == "fact-differs" and "latency_rate" in f.message for f in found.findings)
