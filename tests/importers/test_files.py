"""Files of other tools become ordinary recordings, and say what they cannot know."""

import contextlib
import json
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.assess.compute import host_cpu, rate_of
from leapprof.assess.load import load
from leapprof.assess.samples import read_samples
from leapprof.errors import ConfigError, LeapprofError, ParseError
from leapprof.importers.benchmark_nodeos import parse_benchmark
from leapprof.importers.files import read_benchmark, read_smart, read_sysstat, read_table
from leapprof.importers.mapping import parse_mapping
from leapprof.importers.recording import tables_of, write_recording
from leapprof.importers.smart_history import parse_smart_history
from leapprof.importers.sysstat import parse_sadf
from leapprof.importers.table_text import parse_table

DATA = Path(__file__).parent / "data"
SADF = (DATA / "sadf-12.6.json").read_text()


def _rate(path, table, column, where=None):
    samples = read_samples(load(path), table, (column,), where)
    return rate_of(samples, column).series.value


def test_sysstat_rates_come_back_out_of_the_recording(tmp_path):
    """The rate of each interval that sadf printed is the rate of the recording's counters."""
    (found,) = read_sysstat(DATA / "sadf-12.6.json")
    path = write_recording(found, tmp_path, phase="before", command="")
    records = json.loads(SADF)["sysstat"]["hosts"][0]["statistics"]
    printed = [next(d["wr_sec"] for d in r["disk"] if d["disk-device"] == "vda") for r in records]
    seen = _rate(path, "device", "write_sectors_total", {"device": "vda"})
    assert seen[1:] == pytest.approx(printed, abs=1.0)


def test_sysstat_cpu_share_is_what_sar_prints(tmp_path):
    """Busy is everything but idle, iowait and steal."""
    (found,) = read_sysstat(DATA / "sadf-12.6.json")
    path = write_recording(found, tmp_path, phase="", command="")
    cpu = [r["cpu-load"][0] for r in json.loads(SADF)["sysstat"]["hosts"][0]["statistics"]]
    busy = [100 - c["idle"] - c["iowait"] - c["steal"] for c in cpu]
    samples = read_samples(load(path), "host", tuple(c for c in load(path).table("host").integers))
    assert host_cpu(samples).series.value[1:] == pytest.approx(busy, abs=1.0)


def test_imported_rates_are_named_in_the_manifest(tmp_path):
    """Whoever reads the recording learns that its counters were integrated."""
    (found,) = read_sysstat(DATA / "sadf-12.6.json")
    manifest = load(write_recording(found, tmp_path, phase="", command="leapprof import")).manifest
    assert [f.code for f in manifest.findings] == ["imported-rates"]
    assert manifest.transport == "import"
    assert manifest.nodeos == ()


def test_decimal_commas_of_a_locale_are_read_as_points():
    """LC_ALL=de_DE sadf -j prints 51,01, which is no JSON."""
    comma = re.sub(r"(\d)\.(\d\d)\b", r"\1,\2", SADF)
    assert comma != SADF
    (german,), (plain,) = parse_sadf(comma), parse_sadf(SADF)
    for mine, its in zip(german.blocks, plain.blocks, strict=True):
        for name in its.columns:
            np.testing.assert_array_equal(mine.columns[name], its.columns[name])


def test_sysstat_11_has_no_available_memory_and_it_stays_missing():
    """Older fields are absent, never 0."""
    document = json.loads(SADF)
    for record in document["sysstat"]["hosts"][0]["statistics"]:
        del record["memory"]["avail"]
        record["cpu-load-all"] = record.pop("cpu-load")
        del record["psi"]
    (found,) = parse_sadf(json.dumps(document))
    host = found.blocks[0].columns
    assert "mem_available_bytes" not in host
    assert "io_pressure_some_us_total" not in host
    assert "cpu_user_ticks_total" in host


def test_a_hole_between_records_starts_the_counter_again():
    """What happened between two files of sar is unknown, so the counter falls and the interval is a gap."""
    document = json.loads(SADF)
    records = document["sysstat"]["hosts"][0]["statistics"]
    del records[3]
    (found,) = parse_sadf(json.dumps(document))
    writes = next(b for b in found.blocks if b.texts.get("device") == "vda").columns["write_sectors_total"]
    assert (np.diff(writes) < 0).sum() == 1


def test_a_boot_inside_the_file_is_a_boot_of_the_recording():
    """LINUX RESTART lines become boots and an event."""
    document = json.loads(SADF)
    host = document["sysstat"]["hosts"][0]
    stamp = host["statistics"][3]["timestamp"]
    host["restarts"] = [{"boot": {"date": stamp["date"], "time": stamp["time"], "utc": 1}}]
    (found,) = parse_sadf(json.dumps(document))
    assert set(tables_of(found)["host"].integers["boot"].values) == {0, 1}


def test_local_times_are_refused_with_what_to_do():
    """A zone that nobody wrote down is not guessed."""
    with pytest.raises(ParseError, match="without -T and -t"):
        parse_sadf(SADF.replace('"utc": 1', '"utc": 0'))


@given(st.text())
def test_any_text_is_a_value_or_a_parse_error_of_sysstat(text):
    """Nothing else ever comes out."""
    with pytest.raises(LeapprofError):
        parse_sadf(text)


@given(st.text(), st.text())
def test_any_text_is_a_value_or_a_parse_error_of_benchmark_nodeos(stats, host):
    """Nothing else ever comes out."""
    with contextlib.suppress(ParseError):
        parse_benchmark("x", stats, host)


def test_benchmark_nodeos_gives_levels_and_never_rates(tmp_path):
    """Its CPU and I/O columns are averages since boot: no counter, but a note and a finding."""
    (found,) = read_benchmark(DATA / "benchmark")
    loaded = load(write_recording(found, tmp_path, phase="", command=""))
    host = loaded.table("host").integers
    assert not [name for name in host if name.endswith("_total")]
    assert host["swap_total_bytes"].values[0] == 8 * 2**30
    assert "averages-since-boot" in {f.code for f in loaded.manifest.findings}
    assert loaded.manifest.notes["vmstat_since_boot_columns"].startswith("si so bi bo")
    assert [e.detail for e in loaded.manifest.events] == ["catch-up", "terminating"]
    assert loaded.manifest.nodeos[0].map_mode == "heap"


def test_benchmark_without_host_file_leaves_swap_out(tmp_path):
    """The size of swap is not known, so its use is missing, not 0."""
    found = parse_benchmark("run", (DATA / "benchmark/stats-1.txt").read_text(), "")
    assert "swap_free_bytes" not in found.blocks[0].columns
    assert "swap-size-unknown" in {f.code for f in found.findings}


def test_atop_amounts_become_counters(tmp_path):
    """Sectors of an interval add up to a counter (`atop -P DSK`); the first record, counted since boot, is left out."""
    (found,) = read_table(DATA / "atop-2.8.txt", DATA / "atop.toml")
    path = write_recording(found, tmp_path, phase="", command="")
    written = load(path).table("device", ("write_sectors_total",), {"device": "vda"})
    values = written.integers["write_sectors_total"].values
    since_boot, _, text = (DATA / "atop-2.8.txt").read_text().partition("SEP\n")
    assert since_boot.startswith("RESET\n")
    lines = [line.split() for line in text.splitlines() if line.startswith("DSK")]
    assert values[-1] - values[0] == sum(int(line[11]) for line in lines if line[6] == "vda")
    assert np.ptp(written.integers["wall_ns"].values) == 10**9 * sum(int(line[5]) for line in lines)


def test_raw_counters_of_pcp_stay_raw():
    """`pmrep -r -o csv` prints counters: nothing is integrated, and no finding says so."""
    (found,) = read_table(DATA / "pmrep-6.0.csv", DATA / "pmrep.toml")
    assert found.findings == ()
    printed = [line.split(",") for line in (DATA / "pmrep-6.0.csv").read_text().splitlines()[1:]]
    tables = tables_of(found)
    written = tables["device"].integers["write_sectors_total"].values
    assert written.tolist() == [2 * int(row[1]) for row in printed]
    busy = tables["host"].integers["cpu_user_ticks_total"].values
    assert busy.tolist() == [round(int(row[3]) / 10) for row in printed]


CSV = """time;kB
2026-01-01T00:00:00;1.000,5
2026-01-01T00:01:00;-
2026-01-01T00:02:00;3,0
"""
MAPPING = """host = "a"
[time]
column = "time"
{zone}
[[sections]]
delimiter = ";"
decimal = ","
[[sections.columns]]
column = "{column}"
to = "mem_free_bytes"
kind = "{kind}"
scale = 1024
"""


def _csv(tmp_path, **changes):
    filled = {"zone": 'zone = "Europe/Berlin"', "column": "kB", "kind": "level"} | changes
    (tmp_path / "a.csv").write_text(CSV)
    (tmp_path / "a.toml").write_text(MAPPING.format(**filled))
    return read_table(tmp_path / "a.csv", tmp_path / "a.toml")[0]


def test_a_csv_with_decimal_commas_and_a_zone_is_read(tmp_path):
    """A cell without a number is missing."""
    column = tables_of(_csv(tmp_path))["host"].integers["mem_free_bytes"]
    assert column.present.tolist() == [True, False, True]
    assert column.values[0] == 1000.5 * 1024


def test_a_mapping_that_is_wrong_is_refused_by_name(tmp_path):
    """Unknown columns, a level that counts, and times without a zone each say what is wrong."""
    with pytest.raises(ParseError, match="'nope'"):
        _csv(tmp_path, column="nope")
    with pytest.raises(ConfigError, match="is a level"):
        _csv(tmp_path, kind="rate")
    with pytest.raises(ParseError, match=r"time\.zone"):
        _csv(tmp_path, zone="")


def test_smart_history_of_scrutiny_is_read_as_smartctl_would_be():
    """Data units are 512,000 bytes in both; the answer has the newest reading first (the form of Scrutiny 0.8)."""
    (found,) = read_smart("h", (DATA / "scrutiny-nvme.json",))
    (block,) = found.blocks
    assert block.columns["host_written_bytes_total"].tolist() == [
        512e3 * (7_000_000 + 1000 * d) for d in (1, 2, 3)
    ]
    assert block.columns["percent_used"].tolist() == [3, 3, 3]
    assert found.interval_s == 86_400
    assert found.findings == ()


def test_smart_history_of_smartctl_is_put_in_order():
    """Documents hold their time; one without is refused."""
    documents = [
        {
            "local_time": {"time_t": 1_700_000_000 + day * 86_400},
            "device": {"name": "/dev/nvme0", "protocol": "NVMe"},
            "model_name": "X",
            "serial_number": "S",
            "nvme_smart_health_information_log": {"data_units_written": 1000 * day, "percentage_used": 1},
        }
        for day in (2, 1)
    ]
    found = parse_smart_history("h", [json.dumps(document) for document in documents])
    assert found.blocks[0].columns["host_written_bytes_total"].tolist() == [512e6, 1024e6]
    del documents[0]["local_time"]
    with pytest.raises(ParseError, match="local_time"):
        parse_smart_history("h", [json.dumps(documents[0])])


def _smartctl(name):
    """Return smartctl's document of the drive of scrutiny-ata.json: its attribute 241 has a name."""
    row = {
        "id": 241,
        "name": name,
        "value": 100,
        "thresh": 0,
        "raw": {"value": 1_015_000, "string": "1015000"},
    }
    return json.dumps(
        {
            "local_time": {"time_t": 1_768_000_000},
            "device": {"name": "/dev/sda", "protocol": "ATA"},
            "model_name": "INTEL SSDSC2BB480G4",
            "serial_number": "BTWL0001",
            "ata_smart_attributes": {"table": [row]},
        }
    )


@pytest.mark.parametrize(
    ("name", "column", "unit"),
    [
        ("Host_Writes_32MiB", "host_written_bytes_total", 2**25),
        ("Total_LBAs_Written", "undeclared_writes_total", 1),
    ],
)
def test_a_document_of_smartctl_names_the_attributes_of_scrutiny(name, column, unit):
    """A name that says its unit is bytes; the default name is no unit, since nobody says that the drive is known."""
    found = parse_smart_history("h", [(DATA / "scrutiny-ata.json").read_text(), _smartctl(name)])
    (block,) = found.blocks
    assert block.columns[column].tolist() == [unit * n for n in (1_003_000, 1_006_000, 1_009_000, 1_015_000)]
    assert found.findings == ()


def test_scrutiny_alone_says_that_names_are_missing():
    """Its own display name, "Total LBAs Written", would be wrong by 65,536 for this drive, and is not taken."""
    (found,) = read_smart("h", (DATA / "scrutiny-ata.json",))
    assert not [name for name in found.blocks[0].columns if "writ" in name]
    assert found.topology.devices[0].model == "INTEL SSDSC2BB480G4"
    assert [f.code for f in found.findings] == ["smart-names-missing"]


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_text_is_a_value_or_a_parse_error_of_smart_history(text):
    """Nothing else ever comes out."""
    with pytest.raises(ParseError):
        parse_smart_history("h", [text])


def _mutated(value, rng):
    if rng.random() < 0.02:
        return rng.choice([None, [], {}, "x", -1, 1e300, True, 10**30])
    if isinstance(value, dict):
        return {k: _mutated(v, rng) for k, v in value.items() if rng.random() > 0.01}
    return [_mutated(v, rng) for v in value] if isinstance(value, list) else value


def test_a_damaged_output_of_sadf_is_readings_or_a_parse_error():
    """150 documents with values of other kinds, and with keys missing."""
    rng = random.Random(355)
    document = json.loads(SADF)
    for _ in range(150):
        with contextlib.suppress(LeapprofError):
            for found in parse_sadf(json.dumps(_mutated(document, rng))):
                tables_of(found)


def test_a_damaged_table_is_readings_or_a_parse_error():
    """200 copies of atop's output with wrong characters in it."""
    rng = random.Random(312)
    mapping = parse_mapping((DATA / "atop.toml").read_text(), "atop.toml")
    whole = (DATA / "atop-2.8.txt").read_text()
    for _ in range(200):
        text = list(whole)
        for _ in range(5):
            text[rng.randrange(len(text))] = rng.choice(["9" * 20, "\0", "-", "é", "\n", "", "nan", "1e309"])
        with contextlib.suppress(LeapprofError):
            tables_of(parse_table("".join(text), mapping))


def test_a_recording_is_never_overwritten(tmp_path):
    """The second import of one file gets another directory."""
    (found,) = read_benchmark(DATA / "benchmark")
    first, second = (write_recording(found, tmp_path, phase="", command="") for _ in range(2))
    assert first != second
