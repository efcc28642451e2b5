"""`leapprof import` and `compare --prometheus` through the program."""

import json
import math
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.importers.servers import History, free_port, make_blocks, missing, prometheus

DATA = Path(__file__).parents[1] / "importers" / "data"
START = 1_700_000_000
CHANGE = START + 7200
needs_prometheus = pytest.mark.skipif(
    bool(missing("prometheus", "promtool")), reason=f"not installed: {missing('prometheus', 'promtool')}"
)


def _program(*arguments):
    return subprocess.run(
        [sys.executable, "-c", "from leapprof.cli.main import main; main()", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def _time(seconds):
    return datetime.fromtimestamp(seconds, UTC).isoformat()


def test_what_was_imported_is_shown_like_any_recording(tmp_path):
    """From sysstat to a recording to what is in it."""
    done = _program("import", "sysstat", str(DATA / "sadf-12.6.json"), "--out", str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    (row,) = json.loads(done.stdout)["recordings"]
    assert [f["code"] for f in row["findings"]] == ["imported-rates"]
    shown = _program("show", row["recording"])
    assert shown.returncode == 0, shown.stderr
    assert "device.write_bytes_per_s" in shown.stdout


def test_a_file_that_is_none_ends_with_one_line(tmp_path):
    """Exit code 4 for unreadable input."""
    file = tmp_path / "x"
    file.write_text("<html>")
    done = _program("import", "sysstat", str(file), "--out", str(tmp_path))
    assert done.returncode == 4
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """Yield a Prometheus with four hours of two hosts, changed in the middle."""
    history = History(START, START + 4 * 3600, 15)
    for host in ("a", "b"):
        node = f'instance="{host}:9100"'
        for mode, before, after, wobble in (
            ("user", 0.6, 0.3, 2.0),
            ("nice", 0.0, 0.0, 0.0),
            ("system", 0.0, 0.0, 0.0),
            ("idle", 0.4, 0.7, -2.0),
        ):
            history.add(
                "node_cpu_seconds_total",
                f'{node},cpu="0",mode="{mode}"',
                lambda t, b=before, a=after, w=wobble: (
                    10 + b * min(t, 7200) + a * max(t - 7200, 0) + w * math.sin(t / 30)
                ),
            )
        history.add("node_boot_time_seconds", node, lambda t: START - 1e6)
    directory = tmp_path_factory.mktemp("cli")
    with prometheus(directory / "server", blocks=make_blocks(history.openmetrics(), directory)) as address:
        yield address


@needs_prometheus
def test_a_servers_history_is_compared_at_the_change(url, tmp_path):
    """CPU fell from 60 % to 30 %."""
    done = _program(
        "compare", "--prometheus", url, "--change-at", _time(CHANGE), "--before", "2h", "--after", "2h",
        "--selector", 'instance="a:9100"', "--out", str(tmp_path), "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (cpu,) = [m for m in json.loads(done.stdout)["metrics"] if m["name"] == "host.cpu_percent"]
    assert cpu["difference"]["value"] == pytest.approx(-30, abs=1.0)
    assert cpu["difference"]["ci95"][1] < -25


@needs_prometheus
@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--selector", 'instance=~".*"'), 2, "matches 2 hosts"),
        (("--selector", 'instance="z:9100"'), 6, "no series"),
        (("--selector", 'instance="a:9100"', "--change-at", "2999-01-01T00:00:00Z"), 2, "in the future"),
        (("--selector", 'instance="a:9100"', "--change-at", _time(START - 100)), 2, "not inside"),
        (("somewhere", "--selector", "a"), 2, "name none"),
    ],
)
def test_what_a_server_cannot_answer_is_said(url, arguments, status, message):
    """One line, and the exit code of its kind."""
    given = () if "--change-at" in arguments else ("--change-at", _time(CHANGE))
    done = _program("compare", "--prometheus", url, "--before", "2h", "--after", "2h", *given, *arguments)
    assert done.returncode == status, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@needs_prometheus
def test_a_fleet_on_a_server_is_one_verdict(url):
    """Both hosts fell by 30 points; the answer says what crossed the wire."""
    done = _program(
        "fleet", "--prometheus", url, "--change-at", _time(CHANGE), "--before", "2h", "--after", "90min", "--json"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    (cpu,) = [m for m in answer["metrics"] if m["name"] == "host.cpu_percent"]
    assert (cpu["verdict"], cpu["grade"]) == ("improved", "preliminary")
    assert cpu["difference"]["value"] == pytest.approx(-30, abs=1.0)
    assert "fleet-hours-differ" in {finding["code"] for finding in answer["findings"]}
    assert 0 < answer["cost"]["wire_bytes"] < 100_000


def test_an_export_to_openmetrics_says_its_file(tmp_path):
    """With --json for machines."""
    done = _program("import", "sysstat", str(DATA / "sadf-12.6.json"), "--out", str(tmp_path / "r"), "--json")
    recording = json.loads(done.stdout)["recordings"][0]["recording"]
    done = _program("export", recording, "--out", str(tmp_path / "o"), "--format", "openmetrics", "--json")
    assert done.returncode == 0, done.stderr
    (file,) = json.loads(done.stdout)["files"]
    assert Path(file).read_text().endswith("# EOF\n")


def test_a_server_that_is_not_there_is_exit_code_3(tmp_path):
    """Source failed."""
    done = _program(
        "import", "prometheus", f"http://127.0.0.1:{free_port()}", "--start", _time(START), "--end",
        _time(CHANGE), "--out", str(tmp_path),
    )  # fmt: skip
    assert done.returncode == 3
    assert "cannot be reached" in done.stderr
