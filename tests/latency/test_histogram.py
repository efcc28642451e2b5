"""Delays out of histograms of a real Prometheus: published tables come back, units are not mixed up."""

import json
import re
from datetime import UTC, datetime

import numpy as np
import pytest
from typer.testing import CliRunner

from leapprof.assess.compare import compare
from leapprof.assess.load import load
from leapprof.assess.material import CompareOptions
from leapprof.cli.latency import app
from leapprof.errors import ConfigError, ConnectError, NotEnoughDataError
from leapprof.model import Verdict
from samples import make_temporal
from tests.importers.servers import History, make_blocks, missing, prometheus

pytestmark = pytest.mark.skipif(
    bool(missing("prometheus", "promtool")), reason=f"not installed: {missing('prometheus', 'promtool')}"
)
START = 1_700_000_000 // 3600 * 3600
END, STEP = START + 1500, 15
CORE_MS = (50, 100, 500, 1000, 2500, 10_000)
"""Bounds of request_latency in Temporal's Core SDK."""


def add(history, name, labels, bounds, shares, per_s=50.0):
    """Add a histogram whose buckets (one more than bounds) take these shares of the calls."""
    cumulative = np.cumsum(shares)
    for bound, share in zip([*map(str, bounds), "+Inf"], cumulative, strict=True):
        history.add(
            f"{name}_bucket", f'{labels},le="{bound}"', lambda t, s=share: round(per_s * t) * float(s)
        )


def shares_of(bounds, p50, p90):
    """Return the shares of buckets for which interpolation gives these two quantiles."""
    edges = [0, *bounds]
    shares = np.zeros(len(bounds) + 1)
    at50 = next(i for i, b in enumerate(bounds) if p50 <= b)
    at90 = next(i for i, b in enumerate(bounds) if p90 <= b)
    where50 = (p50 - edges[at50]) / (bounds[at50] - edges[at50])
    where90 = (p90 - edges[at90]) / (bounds[at90] - edges[at90])
    if at50 == at90:
        shares[at50] = 0.4 / (where90 - where50)
        shares[0] = 0.5 - shares[at50] * where50
    else:
        shares[at50] = 0.5 / where50
        shares[at90] = (0.9 - shares[at50]) / where90
    shares[len(bounds) - 1] += 1 - shares.sum()
    return shares


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Run a Prometheus with two systems, in milliseconds and in seconds, and two nodes of which one is busy."""
    history = History(START, END, STEP)
    name = "temporal_workflow_endtoend_latency"
    fine_ms = (50, 100, 250, 400, 500, 750, 1000, 2500, 10_000)
    fine_s = tuple(b / 1000 for b in fine_ms)
    add(history, name, 'system="cloud",workflow_type="bench"', fine_ms, shares_of(fine_ms, 376, 476))
    add(history, name, 'system="own",workflow_type="bench"', fine_s, shares_of(fine_s, 0.75, 0.95))
    for operation, shares in (
        ("StartWorkflowExecution", shares_of(CORE_MS, 60, 95)),
        ("PollWorkflowTaskQueue", [0, 0, 0, 0, 0, 1, 0]),
    ):
        labels = f'system="cloud",operation="{operation}"'
        add(history, "temporal_request_latency", labels, CORE_MS, shares)
    add(history, "odd", 'x="1"', (2, 4, 8), [0.5, 0.5, 0, 0])
    add(history, "spoken_seconds", 'x="1"', (2, 4, 8), [0.5, 0.5, 0, 0])
    for node, idle in (("calm:9100", 0.9), ("busy:9100", 0.1)):
        history.add(
            "node_cpu_seconds_total", f'instance="{node}",cpu="0",mode="idle"', lambda t, i=idle: i * t
        )
    directory = tmp_path_factory.mktemp("prometheus")
    blocks = make_blocks(history.openmetrics(), directory)
    with prometheus(directory / "server", blocks=blocks) as url:
        yield url


def moment(seconds):
    """Return a time as the command line takes it."""
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def run(server, out, *arguments, start=START, end=END):
    """Run the command; an error of ours is raised as main() would see it."""
    words = [
        "histogram",
        server,
        "--start",
        moment(start),
        "--end",
        moment(end),
        "--out",
        str(out),
        *arguments,
    ]
    result = CliRunner().invoke(app, words)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def recorded(server, out, *arguments):
    """Return the recording that the command makes."""
    result = run(server, out, *arguments, "--json")
    return load(out / json.loads(result.stdout)[0]["recording"])


def test_a_published_table_comes_out_of_its_histograms(server, tmp_path):
    """376 ms against 750 ms and 476 ms against 950 ms: 50.1 %, with one side in milliseconds and one in seconds."""
    own, cloud = (
        recorded(
            server, tmp_path / system, "--ready", "temporal", "--selector", f'system="{system}"', "--region", system
        )
        for system in ("own", "cloud")
    )  # fmt: skip
    assert "s (by its bounds" in own.manifest.host.facts["latency_unit"]
    assert "ms (by its bounds" in cloud.manifest.host.facts["latency_unit"]
    found = compare(own, cloud, CompareOptions(across=True))
    metrics = {
        m.name: m
        for m in found.metrics
        if m.subject.operation == "bench" and m.name.startswith("latency.histogram.p")
    }
    p50, p90 = metrics["latency.histogram.p50_s"], metrics["latency.histogram.p90_s"]
    assert (p50.before.mean, p50.after.mean) == pytest.approx((0.750, 0.376), rel=1e-3)
    assert (p90.before.mean, p90.after.mean) == pytest.approx((0.950, 0.476), rel=1e-3)
    assert p50.ratio.value == pytest.approx(0.501, abs=0.001)
    assert p90.ratio.value == pytest.approx(0.501, abs=0.001)
    assert p50.after.ci95.low == pytest.approx(0.250)
    assert p50.after.ci95.high == pytest.approx(0.400)
    assert p50.verdict in {Verdict.IMPROVED, Verdict.INCONCLUSIVE, Verdict.CHANGED}


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """Run a Prometheus with the reconstructed histograms of the samples."""
    directory = tmp_path_factory.mktemp("published")
    with prometheus(directory / "server", blocks=make_blocks(make_temporal.openmetrics(), directory)) as url:
        yield url


@pytest.mark.parametrize(("service", "p50", "p90"), [("self-hosted", "750", "950"), ("cloud", "376", "476")])
def test_the_published_table_is_printed(published, tmp_path, service, p50, p90):
    """Region, dates, window, sample size, settings, clock and validity stand with it; samples/temporal is the same."""
    result = run(
        published, tmp_path, "--metric", "temporal_workflow_endtoend_latency", "--by", "workflow_type", "--selector",
        f'service="{service}"', "--region", service, start=make_temporal.START_S,
        end=make_temporal.START_S + make_temporal.SECONDS,
    )  # fmt: skip
    head, row, settings, *findings = result.stdout.splitlines()
    values = dict(zip(re.split(r"  +", head), re.split(r"  +", row), strict=True))
    assert (values["p50 ms"], values["p90 ms"], values["region"], values["values"]) == (
        p50,
        p90,
        service,
        "24000",
    )
    assert (values["start"], values["window"]) == ("2025-09-01 12:00:00 UTC", "1 h")
    assert f'selector service="{service}", unit s (by its name)' in settings
    assert "s from this machine's, to a second; valid not known" in settings
    assert any("latency-bucket-width" in line for line in findings)
    kept = load(make_temporal.HERE / service)
    assert kept.manifest.reconstructed == make_temporal.SOURCE
    (found,) = tmp_path.iterdir()
    for name in ("p50_ns", "p90_ns", "count"):
        ours, theirs = (r.table("latency").integers[name].values for r in (load(found), kept))
        assert ours.tolist() == theirs.tolist()


def test_the_published_ratio_is_that_of_the_buckets():
    """50.1 % at p50 and p90, while all that the histograms tell is 500 to 1000 ms against 250 to 500 ms."""
    pair = [load(make_temporal.HERE / service) for service in ("self-hosted", "cloud")]
    metrics = {m.name: m for m in compare(*pair, CompareOptions(across=True)).metrics}
    for name in ("p50", "p90"):
        found = metrics[f"latency.histogram.{name}_s"]
        assert found.ratio.value == pytest.approx(0.501, abs=0.0005)
        assert (found.before.ci95.low, found.before.ci95.high) == pytest.approx((0.5, 1.0))
        assert (found.after.ci95.low, found.after.ci95.high) == pytest.approx((0.25, 0.5))


def test_only_the_operations_of_the_mapping_are_read(server, tmp_path):
    """Polling waits for work by design and would hide everything."""
    cloud = recorded(server, tmp_path, "--ready", "temporal", "--selector", 'system="cloud"')
    assert set(cloud.table("latency").texts["operation"]) == {"StartWorkflowExecution", "bench"}


def test_the_width_of_the_buckets_and_a_busy_node_are_said(server, tmp_path):
    """What limits the numbers is in the recording."""
    cloud = recorded(server, tmp_path, "--ready", "temporal", "--selector", 'system="cloud"')
    messages = {f.code: f.message for f in cloud.manifest.findings}
    assert "p50 between 250 ms and 400 ms" in messages["latency-bucket-width"]
    assert messages["latency-host-busy"].startswith("instance busy:9100 was above 80 % CPU")
    assert cloud.manifest.notes["latency_valid"].startswith("no")
    assert not any("calm" in f.message for f in cloud.manifest.findings)


def test_a_unit_that_cannot_be_told_is_refused(server, tmp_path):
    """A factor of a thousand is no detail; a name that says it is believed."""
    with pytest.raises(ConfigError, match="say --unit s or --unit ms"):
        run(server, tmp_path, "--metric", "odd")
    with pytest.raises(ConfigError, match="says s itself, not ms"):
        run(server, tmp_path, "--metric", "spoken", "--unit", "ms")
    result = run(server, tmp_path, "--metric", "odd", "--unit", "ms")
    assert "2.00" in result.stdout
    assert recorded(server, tmp_path / "b", "--metric", "spoken").manifest.host.facts["latency_unit"] == (
        "s (by its name)"
    )


def test_what_the_server_does_not_have_is_named(server, tmp_path):
    """And what is needed for it."""
    with pytest.raises(NotEnoughDataError, match="nothing_like_it_bucket on the server"):
        run(server, tmp_path, "--metric", "nothing_like_it")
    with pytest.raises(ConfigError, match="no metric and label"):
        run(server, tmp_path, "--metric", 'x{a="b"}')
    with pytest.raises(ConfigError, match="2 blocks after"):
        run(server, tmp_path, "--metric", "odd", end=START + 60)
    with pytest.raises(ConnectError):
        run("http://127.0.0.1:1", tmp_path, "--metric", "odd", "--timeout", "2s")
