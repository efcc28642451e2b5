"""grafana/leapprof.json asks only for what is there, and every panel shows data, watched live and exported."""

import json
import math
import re
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

from leapprof.assess.load import load
from leapprof.cli.export_openmetrics import export_openmetrics
from leapprof.ingest.columns import TABLES
from leapprof.ingest.exposition import PREFIX, columns_by_sample
from leapprof.standin.runner import Running, free_address
from leapprof.units import NS_PER_S
from tests.importers.servers import free_port, make_blocks, missing, prometheus

pytestmark = pytest.mark.skipif(
    bool(missing("prometheus", "promtool")), reason=f"not installed: {missing('prometheus', 'promtool')}"
)
DASHBOARD = json.loads((Path(__file__).parents[2] / "grafana" / "leapprof.json").read_text())
TARGETS = [
    pytest.param(target["expr"], id=f"{panel['title']}-{target['refId']}")
    for panel in DASHBOARD["panels"]
    for target in panel["targets"]
]
VARIABLES = {v["name"]: v for v in DASHBOARD["templating"]["list"] if v["type"] == "query"}
CLI = "from leapprof.cli.main import main; main()"
SECONDS = 22
"""The chain is asked every ten seconds, and a rate needs two answers."""


@pytest.fixture(scope="module")
def watched(tmp_path_factory):
    """Yield a Prometheus that scraped `record --metrics-listen` beside a stand-in, the recording, and when it was."""
    base = tmp_path_factory.mktemp("watched")
    config, address, port = base / "config", free_address(), free_port()
    config.mkdir()
    (config / "config.ini").write_text(f"chain-state-db-size-mb = 64\nhttp-server-address = {address}\n")
    scraping = (
        "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
        f"scrape_configs: [{{job_name: leapprof, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}]\n"
    )
    arguments = ("--config-dir", str(config), "--used-mb", "8")
    with (
        Running(base / "data", arguments, base / "log") as standin,
        prometheus(base / "server", config=scraping) as url,
    ):
        standin.wait_until_ready()
        argv = [sys.executable, "-c", CLI, "record", "local", "--phase", "before", "--out", str(base / "out")]
        argv += ["--nodeos", f"node=data-dir:{base / 'data'}", "--duration", f"{SECONDS}s"]
        done = subprocess.run(
            [*argv, "--metrics-listen", f"127.0.0.1:{port}"],
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
        assert done.returncode == 0, done.stderr
        recording = load(next((base / "out").iterdir()))
        manifest = recording.manifest
        yield url, recording, (manifest.started_wall_ns / NS_PER_S, manifest.ended_wall_ns / NS_PER_S)


@pytest.fixture(scope="module")
def exported(watched, tmp_path_factory):
    """Yield a Prometheus that holds the same recording as it was exported."""
    directory = tmp_path_factory.mktemp("exported")
    file = export_openmetrics(watched[1], directory)
    blocks = make_blocks(file.read_text(), directory)
    with prometheus(directory / "server", blocks=blocks) as url:
        yield url, watched[2]


@pytest.fixture(params=["watched", "exported"])
def source(request):
    """Return the URL of each server in turn, and when its data was recorded."""
    found = request.getfixturevalue(request.param)
    return found[0], found[-1]


def _asked(url, path, **query):
    with urllib.request.urlopen(f"{url}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=10) as answer:
        return json.load(answer)["data"]


def _values(url, name, span):
    """Return what Grafana offers for a variable: label_values(selector, label)."""
    selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", VARIABLES[name]["query"]["query"]).groups()
    selector = re.sub(r"\$\w+", ".*", selector)
    return _asked(url, f"label/{label}/values", **{"match[]": selector, "start": span[0], "end": span[1]})


def test_the_dashboard_asks_only_for_metrics_that_exist():
    """Each name is a column of a table, or an info metric."""
    known = {sample for table in TABLES for sample in columns_by_sample(table)}
    asked = {name for target in TARGETS for name in re.findall(rf"{PREFIX}_\w+", target.values[0])}
    assert asked
    assert asked <= known


@pytest.mark.parametrize("expression", TARGETS)
def test_every_panel_shows_data(source, expression):
    """Two readings or more of a series, with Grafana's variables filled in as it does."""
    url, span = source
    for name in VARIABLES:
        expression = expression.replace(f"${name}", "|".join(_values(url, name, span)))
    query = expression.replace("$__rate_interval", "1m")
    assert "$" not in query
    found = _asked(url, "query_range", query=query, start=span[0], end=span[1], step=1)["result"]
    shown = [value for series in found for _, value in series["values"] if math.isfinite(float(value))]
    assert len(shown) >= 2


@pytest.mark.parametrize("name", VARIABLES)
def test_every_variable_offers_something(source, name):
    """The lists at the top of the dashboard are not empty."""
    assert _values(source[0], name, source[1])


def test_events_are_asked_for_in_words_that_the_server_understands(exported):
    """The annotation's expression is parsed, whether there were events or not."""
    (annotation,) = DASHBOARD["annotations"]["list"]
    query = re.sub(r"\$\w+", ".*", annotation["expr"])
    assert _asked(exported[0], "query", query=query)["resultType"] == "vector"
