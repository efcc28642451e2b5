"""What a fleet costs: generated history of many hosts in a real server, compared by `leapprof fleet`.

    python -m benchmarks.fleet --hosts 100 --days 30 --scrape 15 --server victoria-metrics

Prints the time and the peak memory of the comparison, of the server, and the bytes over the wire. Hosts are made from
ten patterns; at half time CPU falls by a fifth and writes to a tenth. A host has 17 series, two CPUs and two drives.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from tests.importers.servers import free_port, make_blocks, post, prometheus, running

START = 1_700_006_400
PATTERNS = 10
LINE_SAMPLES = 20_000
CHILD = """
import sys, time
from leapprof.cli.main import main
try:
    main()
finally:
    status = open('/proc/self/status').read()
    print(status.partition('VmHWM:')[2].split()[0], time.process_time(), file=sys.stderr)
"""
"""The peak that wait4 tells is that of the parent, where the child was forked from a larger one."""
DAY_S = 86_400
SETTLED_S = 1800
"""After the change; the history goes on for as long."""
MODES = {"user": 0.25, "system": 0.05, "idle": 0.65, "iowait": 0.05, "nice": 0.0}


def patterns(times: np.ndarray, seed: int) -> dict[str, np.ndarray]:
    """Return the series of one pattern: labels beyond the instance → values."""
    rng = np.random.default_rng(seed)
    step = times[1] - times[0]
    after = times >= times[times.size // 2]
    busy = np.where(after, 0.8, 1.0) * (1 + 0.1 * np.sin(times / DAY_S * 2 * np.pi))
    out = {}
    for cpu in ("0", "1"):
        load = np.clip(busy * rng.gamma(20, 1 / 20, times.size), 0, 1.5)
        shares = {m: s * load for m, s in MODES.items() if m in {"user", "system"}}
        shares["nice"], shares["iowait"] = np.zeros(times.size), np.full(times.size, 0.05)
        shares["idle"] = 1 - sum(shares.values())
        for mode, share in shares.items():
            out[f'node_cpu_seconds_total|"cpu":"{cpu}","mode":"{mode}"'] = np.round(
                np.cumsum(share * step), 2
            )
    for device, rate in (("sda", 4e6), ("nvme0n1", 1e6)):
        written = np.where(after, 0.1, 1.0) * rate * rng.gamma(2, 0.5, times.size)
        out[f'node_disk_written_bytes_total|"device":"{device}"'] = np.cumsum(written * step) // 4096 * 4096
    out["node_disk_written_bytes_total|" + '"device":"dm-0"'] = out[
        'node_disk_written_bytes_total|"device":"sda"'
    ]
    out["node_boot_time_seconds|"] = np.full(times.size, START - 1e6)
    out["node_memory_MemAvailable_bytes|"] = np.round(8e9 + 1e8 * rng.normal(size=times.size), -3)
    out["node_memory_SwapFree_bytes|"] = np.full(times.size, 4e9)
    out["node_memory_SwapTotal_bytes|"] = np.full(times.size, 8e9)
    return out


def json_lines(hosts: int, times: np.ndarray) -> Iterator[bytes]:
    """Yield bodies for VictoriaMetrics' /api/v1/import: one pattern's hosts over a stretch, text made once."""
    parts = [slice(first, first + LINE_SAMPLES) for first in range(0, times.size, LINE_SAMPLES)]
    stamps = [json.dumps((times[part] * 1000).tolist()) for part in parts]
    for seed in range(min(PATTERNS, hosts)):
        for key, values in patterns(times, seed).items():
            name, _, labels = key.partition("|")
            more = "," + labels if labels else ""
            for part, stamp in zip(parts, stamps, strict=True):
                rest = f'"values":{json.dumps(values[part].tolist())},"timestamps":{stamp}}}\n'
                yield "".join(
                    f'{{"metric":{{"__name__":"{name}","job":"node","instance":"h{host:04d}:9100"{more}}},{rest}'
                    for host in range(seed, hosts, PATTERNS)
                ).encode()


def openmetrics(hosts: int, times: np.ndarray) -> str:
    """Return the text for promtool."""
    rows: dict[str, list[str]] = {}
    for seed in range(min(PATTERNS, hosts)):
        for key, values in patterns(times, seed).items():
            name, _, labels = key.partition("|")
            more = "".join(f',{k}="{v}"' for k, v in json.loads("{" + labels + "}").items())
            pairs = [f" {v:.12g} {t}\n" for v, t in zip(values.tolist(), times.tolist(), strict=True)]
            for host in range(seed, hosts, PATTERNS):
                head = f'{name}{{job="node",instance="h{host:04d}:9100"{more}}}'
                rows.setdefault(name, []).append("".join(head + pair for pair in pairs))
    return (
        "".join(f"# TYPE {name} unknown\n{''.join(lines)}" for name, lines in sorted(rows.items()))
        + "# EOF\n"
    )


def served(server: str, directory: Path, hosts: int, times: np.ndarray) -> AbstractContextManager[object]:
    """Return a running server; VictoriaMetrics is filled later, Prometheus gets blocks first."""
    if server == "prometheus":
        return prometheus(directory / "p", blocks=make_blocks(openmetrics(hosts, times), directory))
    port = free_port()
    argv = ["victoria-metrics", f"-storageDataPath={directory / 'vm'}", f"-httpListenAddr=127.0.0.1:{port}"]
    return running([*argv, "-retentionPeriod=100y"], f"http://127.0.0.1:{port}/health", directory / "log")


def fill(url: str, hosts: int, times: np.ndarray) -> None:
    """Send the history to VictoriaMetrics."""
    for body in json_lines(hosts, times):
        post(url + "/api/v1/import", body)
    with urllib.request.urlopen(url + "/internal/force_flush", timeout=60):
        pass


def measure(url: str, change: int, days: float) -> dict[str, float]:
    """Run the comparison in a process of its own and return what it cost."""
    moment = datetime.fromtimestamp(change, UTC).isoformat()
    argv = [sys.executable, "-c", CHILD, "fleet", "--prometheus", url]
    argv += ["--change-at", moment, "--before", f"{days * 12:g}h", "--after", f"{days * 12:g}h", "--json"]
    began = time.monotonic()
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    seconds = time.monotonic() - began
    answer = json.loads(done.stdout)
    peak_kb, cpu_s = done.stderr.splitlines()[-1].split()
    for metric in answer["metrics"]:
        print(f"  {metric['name']}: {metric['verdict']} {metric['difference']}")
    return {
        "seconds": seconds,
        "cpu_s": float(cpu_s),
        "peak_mb": int(peak_kb) * 1024 / 1e6,
        "wire_mb": answer["cost"]["wire_bytes"] / 1e6,
    }


def _server_peak_mb(server: str, directory: Path) -> float:
    """Return the peak memory of the server that works in a directory."""
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes().decode()
            status = (process / "status").read_text()
        except OSError:
            continue
        if command.startswith(server) and str(directory) in command:
            return int(status.partition("VmHWM:")[2].split()[0]) * 1024 / 1e6
    return float("nan")


def main() -> None:
    """Generate, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--days", type=float, default=8)
    parser.add_argument("--scrape", type=int, default=15)
    parser.add_argument("--server", choices=("victoria-metrics", "prometheus"), default="victoria-metrics")
    asked = parser.parse_args()
    times = np.arange(START, START + int(asked.days * DAY_S) + SETTLED_S + 1, asked.scrape, dtype=np.int64)
    samples = 17 * asked.hosts * times.size
    print(
        f"{asked.server}: {asked.hosts} hosts, {asked.days:g} days, every {asked.scrape} s, "
        f"{samples / 1e6:.1f} M samples"
    )
    with tempfile.TemporaryDirectory(prefix="leapprof-fleet-") as name:
        directory = Path(name)
        began = time.monotonic()
        with served(asked.server, directory, asked.hosts, times) as running_server:
            if isinstance(running_server, str):
                url = running_server
            else:
                url = "http://" + running_server.args[2].partition("=")[2]
                fill(url, asked.hosts, times)
            print(f"  made in {time.monotonic() - began:.0f} s")
            for attempt in ("first", "again"):
                cost = measure(url, START + int(asked.days * DAY_S) // 2, asked.days)
                shown = ", ".join(f"{key} {value:.2f}" for key, value in cost.items())
                print(f"  {attempt}: {shown}, server peak_mb {_server_peak_mb(asked.server, directory):.0f}")


if __name__ == "__main__":
    main()
