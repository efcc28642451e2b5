r"""Writes what Prometheus servers have of some series in some stretches of time as OpenMetrics: data for tests.

    python -m benchmarks.server_window window.om.gz --every 15 --span START END --span START END \
        --series http://metrics:9090 '{__name__=~"node_.*"}' --series http://other:9090 '{job="nodeos"}'

Samples are raw, at their own times; of scrapes that are closer than --every seconds the first is kept.
"""

import argparse
import gzip
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from leapprof.importers.prom_access import server_access
from leapprof.importers.prom_server import Server

LEFT_OUT = ("__name__", "job")
SLACK_S = 0.5


def families(
    url: str, selector: str, spans: list[tuple[float, float]], every_s: float
) -> dict[str, list[str]]:
    """Return the lines of each metric."""
    found: dict[str, list[str]] = {}
    with Server(server_access(url, {})) as server:
        for start_s, end_s in spans:
            for series in server.at(f"{selector}[{end_s - start_s:.0f}s]", end_s):
                name = series.labels["__name__"]
                labels = ",".join(
                    f"{label}={json.dumps(value)}"
                    for label, value in sorted(series.labels.items())
                    if label not in LEFT_OUT
                )
                found.setdefault(name, []).extend(
                    f"{name}{{{labels}}} {value!r} {time_s:.3f}\n"
                    for time_s, value in _thinned(series.time_s.tolist(), series.value.tolist(), every_s)
                )
    return found


def _thinned(times: list[float], values: list[float], every_s: float) -> Iterator[tuple[float, float]]:
    last_s = -every_s
    for time_s, value in zip(times, values, strict=True):
        if time_s - last_s >= every_s - SLACK_S:
            yield time_s, value
            last_s = time_s


def _moment_s(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def main() -> None:
    """Ask and write."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--series", nargs=2, action="append", required=True, metavar=("URL", "SELECTOR"))
    parser.add_argument("--span", nargs=2, action="append", required=True, metavar=("START", "END"))
    parser.add_argument("--every", type=float, default=15.0)
    asked = parser.parse_args()
    spans = [(_moment_s(start), _moment_s(end)) for start, end in asked.span]
    lines: dict[str, list[str]] = {}
    for url, selector in asked.series:
        for name, found in families(url, selector, spans, asked.every).items():
            lines.setdefault(name, []).extend(found)
    text = "".join(f"# TYPE {name} unknown\n{''.join(lines[name])}" for name in sorted(lines)) + "# EOF\n"
    asked.file.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main()
