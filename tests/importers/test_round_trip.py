"""Recording → OpenMetrics → promtool → Prometheus → recording loses nothing but what docs/prometheus.md names."""

import subprocess
import sys

import numpy as np
import pytest

from leapprof.assess.load import load
from leapprof.cli.export_openmetrics import export_openmetrics
from leapprof.errors import ConfigError
from leapprof.importers.prom_access import server_access
from leapprof.importers.prom_server import Server
from leapprof.importers.prom_targets import FetchRequest
from leapprof.importers.prometheus import fetch
from leapprof.importers.recording import write_recording
from tests.importers.servers import missing, prometheus

pytestmark = pytest.mark.skipif(
    bool(missing("prometheus", "promtool")), reason=f"not installed: {missing('prometheus', 'promtool')}"
)


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """Return five real seconds of this host."""
    out = tmp_path_factory.mktemp("recorded")
    argv = [
        sys.executable,
        "-c",
        "from leapprof.cli.main import main; main()",
        "record",
        "local",
        "--phase",
        "before",
    ]
    subprocess.run(
        [*argv, "--duration", "5s", "--out", str(out)], check=True, capture_output=True, timeout=60
    )
    return load(next(out.iterdir()))


@pytest.fixture(scope="module")
def server(recording, tmp_path_factory):
    """Yield a Prometheus that holds the recording."""
    directory = tmp_path_factory.mktemp("om")
    file = export_openmetrics(recording, directory)
    argv = ["promtool", "tsdb", "create-blocks-from", "openmetrics", str(file), str(directory / "blocks")]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with prometheus(directory / "server", blocks=directory / "blocks") as url:
        yield url


@pytest.fixture(scope="module")
def again(recording, server, tmp_path_factory):
    """Return the recording that was read back."""
    manifest = recording.manifest
    request = FetchRequest(
        selector="", start_s=manifest.started_wall_ns // 10**9 - 1, end_s=manifest.ended_wall_ns // 10**9 + 2
    )
    with Server(server_access(server, {})) as asked:
        (found,) = fetch(asked, request)
    return load(write_recording(found, tmp_path_factory.mktemp("again"), phase=manifest.phase, command=""))


def _order(table):
    texts = [
        np.array([v or "" for v in table.texts[n]], dtype=str) for n in sorted(table.texts) if n != "stage"
    ]
    return np.lexsort([table.integers["seq"].values, *texts])


def test_every_integer_of_every_table_comes_back(recording, again):
    """Times come back to the millisecond, everything else exactly."""
    assert {"host", "device"} <= set(recording.table_names) == set(again.table_names)
    for name in recording.table_names:
        before, after = recording.table(name), again.table(name)
        first, second = _order(before), _order(after)
        for column, cells in before.integers.items():
            if not cells.present.any():
                continue
            mine = after.integers[column]
            np.testing.assert_array_equal(cells.present[first], mine.present[second], err_msg=column)
            kept = cells.present[first]
            if column == "wall_ns":
                assert (np.abs(cells.values[first] - mine.values[second]) < 1_000_000).all()
            else:
                np.testing.assert_array_equal(
                    cells.values[first][kept], mine.values[second][kept], err_msg=column
                )


def test_host_and_devices_come_back(recording, again):
    """Facts and the device graph, as far as comparisons need them."""
    mine, its = again.manifest, recording.manifest
    assert mine.host == its.host
    assert mine.interval_s == its.interval_s
    assert {(d.name, d.kind, d.parents) for d in mine.topology.devices} == {
        (d.name, d.kind, d.parents) for d in its.topology.devices
    }


def test_an_export_never_overwrites(recording, tmp_path):
    """The second one is refused."""
    export_openmetrics(recording, tmp_path)
    with pytest.raises(ConfigError, match="exists already"):
        export_openmetrics(recording, tmp_path)


def test_pandas_and_pyarrow_open_parquet_without_help(recording, tmp_path):
    """Integers stay integers, missing ones null."""
    import pandas as pd

    from leapprof.cli.export_files import export_tables

    paths = list(export_tables(recording, tmp_path, "parquet"))
    host = pd.read_parquet(next(p for p in paths if p.stem == "host"))
    assert len(host) == recording.table("host").rows


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_duckdb_opens_an_export_without_help(recording, tmp_path, form):
    """The file's name is all that it is told; integers are integers, and both forms hold the same."""
    duckdb = pytest.importorskip("duckdb")
    from leapprof.cli.export_files import export_tables

    path = next(p for p in export_tables(recording, tmp_path, form) if p.stem == "device")
    query = f"select sum(write_sectors_total), count(*), min(wall_ns) from '{path}' where device is not null"
    ((written, rows, first_ns),) = duckdb.sql(query).fetchall()
    table = recording.table("device")
    assert rows == table.rows
    assert written == table.integers["write_sectors_total"].values.sum()
    assert first_ns == table.integers["wall_ns"].values.min()
