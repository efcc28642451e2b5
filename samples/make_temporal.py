"""Makes samples/temporal/: published delays of two Temporal services, reconstructed as histograms of Prometheus.

    python -m samples.make_temporal

Needs the programs prometheus and promtool: the histograms are put into a Prometheus, and `leapprof latency histogram`
asks it.

Published (temporal.io/blog/benchmarking-latency-temporal-cloud-vs-self-hosted-temporal, made with
temporalio/benchmark-latency): workflows end to end took 750 ms (p50) and 950 ms (p90) on a self-hosted service, 376 ms
and 476 ms on the cloud: 50.1 % in both cases.

Invented: the bounds, the times, and how many workflows there were. The figures themselves tell the rest. 750 and 950 ms
are what interpolation gives when **all** workflows are in one bucket from 500 to 1000 ms; 376 and 476 ms when 99.5 %
are in one from 250 to 500 ms and the rest is above. So what was seen is that one service takes 500 to 1000 ms and the
other 250 to 500 ms; that both ratios are 50.1 % says how wide the buckets are.
"""

import sys
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from leapprof.cli.latency_histogram import HistogramChoice, run_histogram
from leapprof.cli.prometheus_options import open_server
from leapprof.store.manifest import read_manifest, write_manifest
from tests.importers.servers import History, make_blocks, running

HERE = Path(__file__).parent / "temporal"
START_S = int(datetime(2025, 9, 1, 12, tzinfo=UTC).timestamp())
SECONDS, STEP_S = 3600, 60
WORKFLOWS_A_MINUTE = 400
METRIC, LABEL = "temporal_workflow_endtoend_latency_seconds", "workflow_type"
BOUNDS_S = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)
SHARES: Mapping[str, Mapping[float, float]] = {
    "self-hosted": {1: 1.0},
    "cloud": {0.5: 0.995, 1: 0.005},
}
"""Service → upper bound of a bucket → share of the workflows in it."""
ADDRESS = "127.0.0.1:19290"
SOURCE = (
    "Reconstructed from the end-to-end delays that Temporal published about its cloud and a self-hosted service "
    "(376 and 476 ms, 750 and 950 ms). Nothing here was measured by leapprof; bounds, times and counts are invented."
)


def openmetrics() -> str:
    """Return the histograms of both services as OpenMetrics, for promtool."""
    history = History(START_S, START_S + SECONDS, STEP_S)
    for service, shares in SHARES.items():
        for bound in (*BOUNDS_S, float("inf")):
            below = sum(share for upper, share in shares.items() if upper <= bound)
            le = "+Inf" if bound == float("inf") else f"{bound:g}"
            labels = f'service="{service}",{LABEL}="throughput_stress",le="{le}"'
            history.add(
                f"{METRIC}_bucket", labels, lambda t, b=below: round(b * WORKFLOWS_A_MINUTE * t / STEP_S)
            )
    return history.openmetrics()


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat()


def record(url: str, service: str, out: Path) -> Path:
    """Ask a Prometheus for one service and return the recording, which says that it is reconstructed."""
    choice = HistogramChoice(
        out=out, phase="", region=service, metric=METRIC, by=LABEL, ready=None, selector=f'service="{service}"',
        start=_moment(START_S), end=_moment(START_S + SECONDS), block=f"{STEP_S}s", unit=None, busy=(),
    )  # fmt: skip
    with open_server(url, None, None, None, "10s") as server:
        directory = run_histogram(server, choice)
    manifest = read_manifest(directory)
    command = (
        f"leapprof latency histogram {url} --metric {METRIC} --by {LABEL} --selector '{choice.selector}'"
    )
    invented = replace(
        manifest,
        reconstructed=SOURCE,
        clock_offsets=(),
        commands=(command,),
        notes={**manifest.notes, "latency_clock": "the server's wall clock"},
    )
    write_manifest(directory, invented)
    return directory


def main() -> None:
    """Make both recordings anew."""
    with tempfile.TemporaryDirectory() as scratch:
        directory = Path(scratch)
        (directory / "prometheus.yml").write_text("global: {}\n")
        argv = [
            "prometheus", f"--config.file={directory}/prometheus.yml", f"--web.listen-address={ADDRESS}",
            f"--storage.tsdb.path={make_blocks(openmetrics(), directory)}", "--storage.tsdb.retention.time=100y",
        ]  # fmt: skip
        with running(argv, f"http://{ADDRESS}/-/ready", directory / "log"):
            for service in SHARES:
                made = record(f"http://{ADDRESS}", service, directory / "recordings")
                target = HERE / service
                target.mkdir(parents=True, exist_ok=True)
                for old in target.iterdir():
                    old.unlink()
                for file in made.iterdir():
                    (target / file.name).write_bytes(file.read_bytes())
                sys.stdout.write(f"samples/temporal/{service}\n")


if __name__ == "__main__":
    main()
