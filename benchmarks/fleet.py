"""What a fleet costs: generated history of many hosts in a real server, compared by `leapprof fleet`, and checked.

    nice -n 19 taskset -c 1 python -m benchmarks.fleet --hosts 1000 --distinct 40 --days 30 --scrape 15

Run by hand: that line makes 2.9 thousand million samples, which takes most of an hour and 4 GB below /tmp. It prints
time and memory of the comparison and of the server, and the bytes between them. Of --hosts hosts --distinct are
generated; the others are exported and imported again under names of their own, so that the server has their samples
to read. The truth is in benchmarks/fleet_history.py; a run whose answer is not that truth fails.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.fleet_history import DAY_S, SERIES, VERDICTS, PlannedHost, history, plan
from tests.importers.servers import free_port, make_blocks, prometheus, running

START = 1_700_006_400
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
SETTLED_S = 1800
"""After the change; the history goes on for as long."""
LEAST_INSIDE = 0.93
"""Share of the hosts' 95 % intervals that must hold the truth."""
TICKS_PER_S = 100
PATIENCE_S = 1200.0
WATCH_S = 0.05
Times = NDArray[np.int64]


def hosts_of(hosts: int, distinct: int) -> dict[str, PlannedHost]:
    """Return instance → what it is: distinct hosts, at most a hundred, and the same again under other names."""
    plans = [plan(number) for number in range(distinct)]
    return {
        f"{'control' if host.is_control else 'eos'}-{copy:02d}{host.number:02d}:9100": host
        for copy, host in ((number // distinct, plans[number % distinct]) for number in range(hosts))
    }


def json_lines(instance: str, series: dict[tuple[str, str], NDArray[np.float64]], times: Times) -> bytes:
    """Return the body for VictoriaMetrics' /api/v1/import of one host."""
    parts = [slice(first, first + LINE_SAMPLES) for first in range(0, times.size, LINE_SAMPLES)]
    stamps = [json.dumps((times[part] * 1000).tolist()) for part in parts]
    lines = []
    for (name, labels), values in series.items():
        metric = f'"__name__":"{name}","job":"node","instance":"{instance}"' + (labels and "," + labels)
        lines += [
            f'{{"metric":{{{metric}}},"values":{json.dumps(values[part].tolist())},"timestamps":{stamp}}}\n'
            for part, stamp in zip(parts, stamps, strict=True)
        ]
    return "".join(lines).encode()


def openmetrics(hosts: dict[str, PlannedHost], times: Times, change_s: int) -> str:
    """Return the text for promtool."""
    rows: dict[str, list[str]] = {}
    for instance, host in hosts.items():
        for (name, labels), values in history(host, times, change_s).items():
            more = "".join(f',{k}="{v}"' for k, v in json.loads("{" + labels + "}").items())
            head = f'{name}{{job="node",instance="{instance}"{more}}}'
            pairs = zip(values.tolist(), times.tolist(), strict=True)
            rows.setdefault(name, []).append("".join(f"{head} {v:.12g} {t}\n" for v, t in pairs))
    typed = (f"# TYPE {name} unknown\n{''.join(lines)}" for name, lines in sorted(rows.items()))
    return "".join(typed) + "# EOF\n"


def victoria(directory: Path, port: int) -> AbstractContextManager[object]:
    """Return a running VictoriaMetrics on the data of a directory."""
    argv = ["victoria-metrics", f"-storageDataPath={directory / 'vm'}", f"-httpListenAddr=127.0.0.1:{port}"]
    return running([*argv, "-retentionPeriod=100y"], f"http://127.0.0.1:{port}/health", directory / "log")


def fill(url: str, hosts: dict[str, PlannedHost], times: Times, change_s: int) -> None:
    """Send the history to VictoriaMetrics: a host generated once, then copied within the server.

    What a run that was ended had filled is kept, but for the host that it was at.
    """
    names: dict[int, list[str]] = {}
    for instance, host in hosts.items():
        names.setdefault(host.number, []).append(instance)
    for number, group in enumerate(names.values(), start=1):
        first, missing = group[0], _missing(url, group, times)
        for instance in missing:
            _send(f"{url}/api/v1/admin/tsdb/delete_series?match[]={_match(instance)}")
        if first in missing:
            _send(url + "/api/v1/import", json_lines(first, history(hosts[first], times, change_s), times))
            _send(url + "/internal/force_flush")
        others = [instance for instance in missing if instance != first]
        if others:
            _copy(url, first, others, times)
        print(f"  {number} of {len(names)} made", flush=True)
    _send(url + "/internal/force_flush")


def _copy(url: str, first: str, others: list[str], times: Times) -> None:
    span = f"start={times[0]}&end={times[-1] + 1}"
    body = _send(f"{url}/api/v1/export/native?match[]={_match(first)}&{span}")
    for other in others:
        _send(f"{url}/api/v1/import/native?extra_label=instance={other}", body)


def _missing(url: str, names: list[str], times: Times) -> list[str]:
    """Return the hosts of which the server has not every sample once."""
    span_s = int(times[-1] - times[0]) + 1
    query = f'sum by (instance) (count_over_time({{instance=~"{"|".join(names)}"}}[{span_s}s]))'
    asked = urllib.parse.urlencode({"query": query, "time": int(times[-1]), "nocache": "1"})
    result = json.loads(_send(f"{url}/api/v1/query?{asked}"))["data"]["result"]
    whole = {one["metric"]["instance"] for one in result if int(one["value"][1]) == SERIES * times.size}
    return [name for name in names if name not in whole]


def _match(instance: str) -> str:
    return urllib.parse.quote(f'{{instance="{instance}"}}')


def _send(url: str, body: bytes | None = None) -> bytes:
    with urllib.request.urlopen(urllib.request.Request(url, data=body), timeout=PATIENCE_S) as answer:
        return bytes(answer.read())


def measure(
    url: str, hosts: dict[str, PlannedHost], change_s: int, days: float
) -> tuple[dict[str, Any], dict[str, float]]:
    """Run the comparison in a process of its own; return its answer and what it cost."""
    moment = datetime.fromtimestamp(change_s, UTC).isoformat()
    argv = [sys.executable, "-c", CHILD, "fleet", "--prometheus", url, "--json"]
    copies = "|".join(sorted({instance.partition("-")[2][:2] for instance in hosts}))
    for option, kind in (("--selector", "eos"), ("--control-selector", "control")):
        argv += [option, f'instance=~"{kind}-({copies}).*"']
    argv += ["--change-at", moment, "--before", f"{days * 12:g}h", "--after", f"{days * 12:g}h"]
    began = time.monotonic()
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    seconds = time.monotonic() - began
    if done.returncode:
        raise SystemExit(done.stderr)
    answer = json.loads(done.stdout)
    peak_kb, cpu_s = done.stderr.splitlines()[-1].split()
    return answer, {
        "seconds": seconds,
        "cpu_s": float(cpu_s),
        "peak_mb": int(peak_kb) * 1024 / 1e6,
        "wire_mb": answer["cost"]["wire_bytes"] / 1e6,
    }


def wrong(answer: dict[str, Any], hosts: dict[str, PlannedHost]) -> list[str]:
    """Return what the answer says against the truth, after printing how it stands."""
    truth = {instance.partition(":")[0]: host for instance, host in hosts.items()}
    inside: list[bool] = []
    for one in answer["hosts"]:
        low, high = one["difference"]["ci95"]
        inside.append(low <= truth[one["host"]].truth[one["metric"]] <= high)
    share = sum(inside) / len(inside)
    found = [] if share >= LEAST_INSIDE else [f"only {100 * share:.1f} % of the intervals hold the truth"]
    if len(inside) != len(VERDICTS) * len(hosts):
        found.append(f"{len(inside)} differences of {len(hosts)} hosts")
    stragglers = {name for name, host in truth.items() if host.is_straggler}
    for metric in answer["metrics"]:
        name, verdict = metric["name"], metric["verdict"]
        low, high = metric["difference"]["ci95"]
        named = set(metric["changed"]["outliers"])
        print(f"  {name}: {verdict}, {metric['difference']['value']:.6g} [{low:.6g}, {high:.6g}]; "
              f"named are {len(named & stragglers)} of {len(stragglers)} stragglers and "
              f"{len(named - stragglers)} others")  # fmt: skip
        if verdict != VERDICTS[name]:
            found.append(f"{name} is {verdict}")
        if VERDICTS[name] != "unchanged" and not stragglers <= named:
            found.append(f"{name}: {len(stragglers - named)} hosts without the change are not named")
    print(f"  the truth lies in {100 * share:.1f} % of {len(inside)} intervals of hosts")
    return found


class Watched:
    """A server while it is asked: its CPU, and how much memory it took beside its mapped files. Use with ``with``."""

    def __init__(self, server: str, directory: Path) -> None:
        """Find the process that works in a directory."""
        self._process = next(
            process
            for process in Path("/proc").glob("[0-9]*")
            if _command(process).startswith(server) and str(directory) in _command(process)
        )
        self.peak_mb = 0.0
        self.cpu_s = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Watched":
        self.cpu_s = -self._cpu_s()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self.cpu_s += self._cpu_s()

    def _watch(self) -> None:
        while not self._ended.wait(WATCH_S):
            status = (self._process / "status").read_text()
            anonymous_kb = int(status.partition("RssAnon:")[2].split()[0])
            self.peak_mb = max(self.peak_mb, anonymous_kb * 1024 / 1e6)

    def _cpu_s(self) -> float:
        stat = (self._process / "stat").read_text()
        return sum(map(int, stat.rpartition(")")[2].split()[11:13])) / TICKS_PER_S


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_bytes().decode()
    except OSError:
        return ""


def measured(server: str, directory: Path, url: str, hosts: dict[str, PlannedHost], days: float) -> None:
    """Compare twice, print what it took, and fail where the answer is not the truth."""
    change_s = START + int(days * DAY_S) // 2
    for attempt in ("first", "again"):
        with Watched(server, directory) as watched:
            answer, cost = measure(url, hosts, change_s, days)
        shown = ", ".join(f"{key} {value:.2f}" for key, value in cost.items())
        print(
            f"  {attempt}: {shown}, server peak_mb {watched.peak_mb:.0f}, server cpu_s {watched.cpu_s:.1f}",
            flush=True,
        )
    if found := wrong(answer, hosts):
        raise SystemExit("; ".join(found))


@contextmanager
def served(
    server: str, directory: Path, hosts: dict[str, PlannedHost], times: Times, change_s: int
) -> Iterator[str]:
    """Fill a server and yield the URL of one that was started afresh on its data."""
    if server == "prometheus":
        blocks = make_blocks(openmetrics(hosts, times, change_s), directory)
        with prometheus(directory / "p", blocks=blocks) as url:
            yield url
        return
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with victoria(directory, port):
        fill(url, hosts, times, change_s)
    with victoria(directory, port):
        yield url


def main() -> None:
    """Generate, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--hosts", type=int, default=20)
    parser.add_argument("--distinct", type=int, help="hosts that are generated; the others are copies")
    parser.add_argument("--days", type=float, default=8)
    parser.add_argument("--scrape", type=int, default=15)
    parser.add_argument("--server", choices=("victoria-metrics", "prometheus"), default="victoria-metrics")
    parser.add_argument(
        "--keep", type=Path, help="a directory for VictoriaMetrics' data, used again if it is there"
    )
    asked = parser.parse_args()
    times = np.arange(START, START + int(asked.days * DAY_S) + SETTLED_S + 1, asked.scrape, dtype=np.int64)
    hosts = hosts_of(asked.hosts, asked.distinct or asked.hosts)
    print(f"{asked.server}: {asked.hosts} hosts, {asked.days:g} days, every {asked.scrape} s, "
          f"{SERIES * asked.hosts * times.size / 1e6:.1f} M samples", flush=True)  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="leapprof-fleet-") as name:
        directory = asked.keep or Path(name)
        directory.mkdir(parents=True, exist_ok=True)
        began = time.monotonic()
        with served(asked.server, directory, hosts, times, START + int(asked.days * DAY_S) // 2) as url:
            print(f"  made in {time.monotonic() - began:.0f} s", flush=True)
            measured(asked.server, directory, url, hosts, asked.days)


if __name__ == "__main__":
    main()
