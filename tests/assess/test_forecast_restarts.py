"""What stops and starts add to a year, from the stops and starts that a recording holds."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from leapprof.assess.forecast import ForecastOptions, forecast
from leapprof.assess.load import load
from leapprof.assess.restarts import restart_windows
from leapprof.assess.starts import measure_starts
from leapprof.model import Column, Event, Table
from leapprof.units import DAY_S
from tests.support.recordings import NS, START_WALL_NS, counter, made, table

GB = 1e9


def event(second, kind, subject="eos"):
    """Return an event so many seconds after the first sample."""
    return Event(
        boottime_ns=(1000 + second) * NS,
        wall_ns=START_WALL_NS + second * NS,
        kind=kind,
        subject=subject,
        detail="",
    )


def restarting(
    seconds, stops, *, rate=1e6, exit_s=20, down_s=10, start_s=30, exit_bytes=2 * GB, start_bytes=0.0
):
    """Return a recording whose nodeos stops at these seconds: an exit, a time without it, a start."""
    rates = np.full(seconds, rate)
    answered = np.ones(seconds, bool)
    started = np.zeros(seconds, np.int64)
    events = []
    for number, stop in enumerate(stops):
        size = exit_bytes[number] if isinstance(exit_bytes, list) else exit_bytes
        gone = stop + exit_s
        rates[stop + 1 : gone + 1] += size / exit_s
        up = gone + down_s
        begin = max(up, gone + 35)
        rates[begin + 1 : begin + start_s + 1] += start_bytes / start_s
        answered[stop + 1 : begin + start_s + 1] = False
        started[up:] = (1000 + up) * 100
        events += [event(gone, "nodeos-stopped"), event(up, "nodeos-restarted")]
    recording = made(seconds=seconds, write_bytes=rates, events=tuple(events), map_mode="mapped_private")
    status = Column(values=np.where(answered, 200, 0), present=np.ones(seconds, bool))
    chain = table("chain", seconds, {"http_status": status}, texts={"nodeos": "eos"})
    nodeos = recording.tables["nodeos"]
    ticks = Column(values=np.where(started > 0, started, 100), present=np.ones(seconds, bool))
    up = Table(
        name="nodeos",
        rows=nodeos.rows,
        integers={**nodeos.integers, "start_ticks": ticks},
        texts=nodeos.texts,
    )
    return replace(recording, tables={**recording.tables, "chain": chain, "nodeos": up})


def kept(rows, keep):
    """Return a table without some of its seconds; a table of several subjects repeats them."""
    keep = np.tile(keep, rows.rows // keep.size)
    columns = {
        n: replace(c, values=c.values[keep], present=c.present[keep]) for n, c in rows.integers.items()
    }
    texts = {n: t[keep] for n, t in rows.texts.items()}
    return replace(rows, rows=int(keep.sum()), integers=columns, texts=texts)


def test_a_stop_and_the_start_after_it_are_one_restart():
    """The tracker tells a stop and, later, a restart of the same id: that is one exit, not two."""
    kinds = [w.kind for w in restart_windows(restarting(7200, [3000]))]
    assert kinds == ["exit", "start"]


def test_a_restart_between_two_ticks_is_an_exit_and_a_start():
    """No tick without the process."""
    recording = restarting(7200, [])
    recording = replace(
        recording, manifest=replace(recording.manifest, events=(event(3000, "nodeos-restarted"),))
    )
    assert [w.kind for w in restart_windows(recording)] == ["exit", "start"]


def test_exit_and_start_bytes_are_measured_over_what_the_drive_takes_anyway():
    """An exit of 2 GB and a start of 0.3 GB above 1 MB/s."""
    (cost,) = forecast(restarting(7200, [3000], start_bytes=0.3 * GB)).restarts
    assert cost.exit_bytes == pytest.approx(2 * GB, rel=0.02)
    assert cost.start_bytes == pytest.approx(0.3 * GB, rel=0.05)
    assert cost.exit_s == pytest.approx(20, abs=1)
    assert cost.uptime_s == pytest.approx(4000 - 1 + 20, abs=2)


def test_the_steady_rate_does_not_hold_the_exit():
    """2 GB of exit in two hours would be 28 % of 1 MB/s."""
    (drive,) = forecast(restarting(7200, [3000])).devices
    assert drive.bytes_per_s == pytest.approx(1e6, rel=0.02)


def test_a_year_has_steady_writes_and_restarts():
    """Twelve exits of 2 GB are 0.024 TB; the operator's number wins."""
    recording = restarting(7200, [3000])
    (drive,) = forecast(recording).devices
    assert drive.restart_tb_per_year == pytest.approx(0.024, rel=0.02)
    said = forecast(recording, ForecastOptions(restarts_per_year=52))
    assert said.devices[0].restart_tb_per_year == pytest.approx(0.104, rel=0.02)
    assert "--restarts-per-year" in said.restarts_source


def test_without_a_stop_it_says_that_restarts_are_not_measured():
    """0 bytes counted, and why."""
    found = forecast(made(map_mode="mapped_private"))
    assert found.devices[0].restart_tb_per_year == 0
    (finding,) = [f for f in found.findings if f.code == "restart-writes-not-measured"]
    assert "each exit writes the state" in finding.message


def test_a_stop_whose_begin_nobody_saw_is_not_measured():
    """Without API and log the exit flush cannot be told from what came before."""
    recording = restarting(7200, [3000])
    tables = {name: t for name, t in recording.tables.items() if name != "chain"}
    found = forecast(replace(recording, tables=tables))
    assert found.restarts[0].exit_bytes is None
    assert "restart-writes-not-measured" in {f.code for f in found.findings}


def test_a_stop_in_a_gap_has_bytes_and_no_time():
    """Nothing was sampled from its begin until long after: 510 s from answer to answer were not its own."""
    recording = restarting(7200, [3000])
    keep = np.ones(7200, bool)
    keep[3005:3500] = False
    tables = {name: kept(rows, keep) for name, rows in recording.tables.items()}
    events = (event(3500, "nodeos-stopped"), event(3500, "nodeos-restarted"))
    manifest = replace(recording.manifest, events=events)
    recording = replace(recording, tables=tables, manifest=manifest)
    (cost,) = forecast(recording).restarts
    assert cost.exit_s is None
    assert cost.exit_bytes == pytest.approx(2 * GB, rel=0.02)
    first, _ = measure_starts(recording)
    assert first.stop_s is None


def test_the_log_tells_when_a_stop_began():
    """A shutdown message comes before the last answer."""
    recording = restarting(7200, [3000])
    events = (*recording.manifest.events, event(2990, "log-shutdown"))
    recording = replace(recording, manifest=replace(recording.manifest, events=events))
    (stop, _) = restart_windows(recording)
    assert stop.start_s == pytest.approx(1000 + 2990)


def test_a_long_uptime_without_a_stop_is_a_history():
    """A nodeos that has been up for 100 days: one restart in that time is assumed, not twelve a year."""
    recording = made()
    for name in ("host", "device", "nodeos"):
        recording.tables[name].integers["boottime_ns"].values[:] += 100 * DAY_S * NS
    found = forecast(recording)
    assert found.restarts_per_year == pytest.approx(3.65, rel=0.01)
    assert "no stop" in found.restarts_source


def test_stops_of_a_week_are_a_history():
    """Two stops in a nodeos's ten days: 73 a year."""
    recording = restarting(7200, [3000, 5000])
    for name in ("host", "device", "nodeos", "chain"):
        recording.tables[name].integers["boottime_ns"].values[:] += 10 * DAY_S * NS
    found = forecast(recording)
    assert found.restarts_per_year == pytest.approx(73, rel=0.02)
    assert found.restarts_source.startswith("2 stops in 10 d")


def test_a_short_history_takes_the_default():
    """An hour of uptime says nothing of restarts a year."""
    found = forecast(made())
    assert (found.restarts_per_year, "default" in found.restarts_source) == (12, True)


def test_exits_that_grow_with_uptime_are_fitted():
    """Stops after 1, 2 and 4 thousand seconds wrote 0.5, 1 and 2 GB: the next is told from uptime."""
    stops = [500, 2600, 6700]
    recording = restarting(9000, stops, exit_bytes=[0.75 * GB, 1.03 * GB, 2.03 * GB])
    found = forecast(recording, ForecastOptions(restarts_per_year=365 * 24))
    (growth,) = found.devices[0].growth
    assert growth.stops == 3
    assert growth.bytes_per_s == pytest.approx(0.5e6, rel=0.1)
    assert growth.exit_bytes == pytest.approx(3600 * 0.5e6, rel=0.1)


def test_an_extrapolated_exit_says_so_and_ends_at_the_size_of_the_state():
    """A month of growth is more than the state: no exit passes that."""
    stops = [500, 2600, 6700]
    recording = restarting(9000, stops, exit_bytes=[0.75 * GB, 1.03 * GB, 2.03 * GB])
    recording.tables["chain"].integers["state_size_bytes"] = Column(
        values=np.full(9000, int(20e9)), present=np.ones(9000, bool)
    )
    found = forecast(recording)
    assert found.devices[0].growth[0].exit_bytes == pytest.approx(20e9)
    assert "exit-extrapolated" in {f.code for f in found.findings}


def test_without_the_size_of_the_state_an_exit_ends_at_the_memory():
    """What is dirty lies in RAM and swap until the exit writes it."""
    recording = restarting(9000, [500, 2600, 6700], exit_bytes=[0.75 * GB, 1.03 * GB, 2.03 * GB])
    host = replace(
        recording.manifest.host, facts={"mem_total_bytes": "8000000000", "swap_total_bytes": "2000000000"}
    )
    recording = replace(recording, manifest=replace(recording.manifest, host=host))
    assert forecast(recording).devices[0].growth[0].exit_bytes == pytest.approx(10e9)


def test_each_leg_of_a_mirror_takes_the_exit_once():
    """Two drives below the state: each gets its own bytes, not the sum of both."""
    recording = restarting(7200, [3000])
    nodeos = replace(recording.manifest.nodeos[0], roles={"state": ("nvme0n1", "nvme1n1")})
    drive = recording.manifest.topology.devices[0]
    second = replace(drive, name="nvme1n1", major_minor="259:9", serial="S2")
    topology = replace(recording.manifest.topology, devices=(drive, second))
    counters = recording.tables["device"]
    texts = counters.texts["device"].copy()
    texts[texts == "nvme0n1p1"] = "nvme1n1"
    counters = Table(name="device", rows=counters.rows, integers=counters.integers, texts={"device": texts})
    recording = replace(
        recording,
        manifest=replace(recording.manifest, nodeos=(nodeos,), topology=topology),
        tables={**recording.tables, "device": counters},
    )
    found = forecast(recording)
    assert [d.restart_tb_per_year for d in found.devices] == pytest.approx([0.024, 0.024], rel=0.02)
    assert found.restarts[0].exit_bytes == pytest.approx(4 * GB, rel=0.02)


def test_counters_go_on_over_a_reboot():
    """Boottime begins anew: rates are taken within each boot, and no time is counted twice."""
    recording = made(seconds=7200, write_bytes=2e6)
    for name in recording.tables:
        integers = recording.tables[name].integers
        half = recording.tables[name].rows // (2 if name == "device" else 1)
        for block in range(recording.tables[name].rows // half):
            later = slice(block * half + 3600, (block + 1) * half)
            integers["boot"].values[later] = 1
            integers["boottime_ns"].values[later] -= 4590 * NS
            if name == "device":
                integers["write_sectors_total"].values[later] -= integers["write_sectors_total"].values[
                    later
                ][0]
    found = forecast(recording)
    assert found.devices[0].bytes_per_s == pytest.approx(2e6, rel=0.01)
    assert not found.devices[0].lower_bound
    assert found.covered_s == pytest.approx(7200, abs=400)


def test_counter_helper_is_what_the_tests_mean():
    """The made counters count bytes in sectors."""
    assert counter(np.full(3, 2.0)).values.tolist() == [1_000_002, 1_000_004, 1_000_006]


def test_what_an_earlier_process_said_does_not_begin_a_later_stop():
    """The log of the first stop is not the begin of the second."""
    recording = restarting(7200, [3000, 3600])
    events = (*recording.manifest.events, event(2995, "log-shutdown"))
    recording = replace(recording, manifest=replace(recording.manifest, events=events))
    exits = [w for w in restart_windows(recording) if w.kind == "exit"]
    assert [round(w.start_s) for w in exits] == [1000 + 2995, 1000 + 3600]


def test_an_exit_is_read_at_a_volume_of_its_own():
    """Others write 50 MB/s to the drive during the stop: they are not in the exit."""
    recording = restarting(7200, [3000])
    rows = recording.tables["device"].texts["device"] == "nvme0n1"
    sectors = recording.tables["device"].integers["write_sectors_total"].values
    others = np.zeros(7200)
    others[3000:3060] = 50e6
    sectors[rows] += np.cumsum(others / 512).astype(np.int64)
    (cost,) = forecast(recording).restarts
    assert cost.exit_bytes == pytest.approx(2 * GB, rel=0.02)


def test_where_nodeos_never_settled_restarts_are_not_counted_twice():
    """A recording of nothing but stops and starts: they are in the rate, and not added again."""
    found = forecast(restarting(56, [0], exit_s=20, down_s=3, start_s=20))
    assert "not-settled" in {f.code for f in found.findings}
    in_rate = found.devices[0].bytes_per_s * 55 > 1.5 * GB
    assert in_rate is not (found.devices[0].restart_tb_per_year > 0)


def test_the_captured_stops_of_a_real_nodeos_come_out():
    """Two exits of mapped_private after a first start wrote 2.15 GB each by /proc/PID/io; the drive took 2.1."""
    recording = load(Path(__file__).parent.parent.parent / "samples" / "nodeos-v5-starts" / "mapped_private")
    first, second, _ = forecast(recording).restarts
    assert first.exit_bytes == pytest.approx(2.15e9, rel=0.03)
    assert second.exit_bytes == pytest.approx(2.15e9, rel=0.03)
    assert first.exit_s == pytest.approx(36, abs=2)


def test_what_was_written_in_a_gap_after_a_stop_is_not_the_stops():
    """The captured stop of mapped wrote 9.7 MB; then nothing was sampled for 287 s, while others wrote 644 MB."""
    recording = load(Path(__file__).parent.parent.parent / "samples" / "nodeos-v5-starts" / "mapped")
    first, _ = forecast(recording).restarts
    assert first.exit_bytes == pytest.approx(9.7e6, rel=0.02)
