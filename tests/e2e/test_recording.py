"""From sshd to report: what is recorded over real connections, as the owner of nodeos and as another user.

One file, so that workers side by side do not each make the recordings.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leapprof.agent.frame import decode_body
from leapprof.analysis.rates import counter_rate, counter_total
from leapprof.assess.load import load
from leapprof.assess.samples import read_samples
from leapprof.store import open_recording
from tests.e2e.lab import MODERN_KEY, PEER, PRODUCER, WIF, leapprof, of
from tests.support.sshd import needs_sshd

pytestmark = needs_sshd
HOSTS = pytest.mark.parametrize("host", ["wax-owner", "wax-other"])
BARE_HOSTS = pytest.mark.parametrize("host", ["bare-wax-owner", "bare-wax-other"])
ALL_HOSTS = pytest.mark.parametrize("host", ["wax-owner", "wax-other", "bare-wax-owner", "bare-wax-other"])
REFUSED = ("nodeos/eos/cwd", "nodeos/eos/exe", "nodeos/eos/io")
SECTOR_BYTES = 512
KEYS = (WIF.encode(), MODERN_KEY.encode(), MODERN_KEY.removeprefix("PVT_K1_").encode())


def codes(document: dict[str, Any]) -> list[str]:
    """Return the codes of a recording's findings."""
    return [finding["code"] for finding in document["recording"]["findings"]]


def kinds(document: dict[str, Any]) -> list[str]:
    """Return the kinds of a recording's events."""
    return [event["kind"] for event in document["recording"]["events"]]


def largest(document: dict[str, Any], metric: str) -> float:
    """Return the largest sample of a metric, over all its subjects."""
    return max(float(row["maximum"]) for row in document["summary"] if row["name"] == metric)


@HOSTS
def test_a_recording_over_ssh_is_whole(pair, documents, host) -> None:
    """No gap, no rejected frame, nodeos known with version and map mode, before and after."""
    for recorded, mode in ((pair.before, "mapped"), (pair.after, "mapped_private")):
        document = documents(of(recorded, host))
        manifest = document["recording"]
        assert [gap for gap in manifest["gaps"] if gap["reason"] != "agent-late"] == []
        assert manifest["cost"]["rejected_frames"] == 0
        assert manifest["cost"]["samples"] >= 4
        (nodeos,) = manifest["nodeos"]
        assert (nodeos["version"], nodeos["map_mode"], nodeos["stand_in"]) == ("v5.0.3", mode, True)
        names = {row["name"] for row in document["summary"]}
        assert {
            "host.cpu_percent",
            "nodeos.cpu_cores",
            "nodeos.rss_bytes",
            "device.write_bytes_per_s",
        } <= names


def test_one_host_that_is_down_ends_nobody_elses_recording(pair) -> None:
    """Exit code 3 names it; every other host has its recording; without it the code is 0."""
    assert pair.done_before.code == 3, pair.done_before.err
    assert "leapprof: down failed: " in pair.done_before.err
    assert "refused" in pair.done_before.err
    assert "down" not in pair.before
    assert pair.before.keys() == pair.after.keys()
    assert len(pair.before) >= 2
    assert pair.done_after.code == 0, pair.done_after.err


@ALL_HOSTS
def test_each_refused_reading_is_named_in_the_report(pair, report, host) -> None:
    """Another user may not read three things: report.json, report.md and report.html name each; the owner may."""
    is_other = host.endswith("wax-other")
    denied = load(of(pair.before, host)).manifest.denied
    assert set(denied) >= set(REFUSED) if is_other else not set(denied) & set(REFUSED)
    folder = report(host)
    for name in ("report.json", "report.md", "report.html"):
        text = (folder / name).read_text()
        assert [reading for reading in REFUSED if reading in text] == (list(REFUSED) if is_other else [])
    document = json.loads((folder / "report.json").read_text())
    dirtied = {metric["name"] for metric in document["metrics"] if metric["before"] is not None}
    assert ("nodeos.dirtied_bytes_per_s" in dirtied) is not is_other


@BARE_HOSTS
def test_a_host_without_python_is_sampled_and_says_what_is_missing(pair, documents, report, host) -> None:
    """The sh agent's samples hold CPU, memory and drives; report and recording list what it leaves out."""
    document = documents(of(pair.before, host))
    assert document["recording"]["cost"]["agent"] == "sh"
    assert document["recording"]["cost"]["rejected_frames"] == 0
    assert {"nodeos.cpu_cores", "nodeos.rss_bytes", "device.write_bytes_per_s"} <= {
        row["name"] for row in document["summary"]
    }
    (finding,) = [f for f in document["recording"]["findings"] if f["code"] == "agent-limited"]
    for what in ("HTTP API", "config.ini", "CPU by thread", "log"):
        assert what in finding["message"]
    assert finding["message"] in (report(host) / "report.md").read_text()


@HOSTS
def test_a_restart_is_an_event_and_no_spike(troubled, documents, host) -> None:
    """Stop, start and the changed map mode are said once; no rate jumps where the counters began anew."""
    document = documents(of(troubled.paths, host))
    found = kinds(document)
    for kind in ("nodeos-stopped", "nodeos-restarted", "map-mode-changed"):
        assert kind in found
    assert found.count("nodeos-restarted") == 1
    cores = float(document["recording"]["host"]["facts"]["cores"])
    assert 0 <= largest(document, "nodeos.cpu_cores") <= 2 * cores
    table = load(of(troubled.paths, host)).table("nodeos", ("start_ticks",))
    assert len(set(table.integers["start_ticks"].values.tolist())) == 2


@HOSTS
def test_a_lost_connection_is_a_gap_and_no_spike(troubled, documents, host) -> None:
    """Both losses are gaps and events; what was written meanwhile is in the total and in no rate."""
    path = of(troubled.paths, host)
    document = documents(path)
    lost = [gap for gap in document["recording"]["gaps"] if gap["reason"] == "connection-lost"]
    assert kinds(document).count("connection-lost") == 2
    assert len(lost) in (1, 2)  # who is back before the next sample is due has missed none
    assert kinds(document).count("connection-restored") == 2
    loaded = load(path)
    for device in loaded.manifest.topology.physical():
        samples = read_samples(loaded, "device", ("write_sectors_total",), {"device": device.name})
        assert samples is not None
        column = samples.columns["write_sectors_total"]
        total, series = counter_total(samples.time_s, column), counter_rate(samples.time_s, column)
        assert total is not None
        assert not total.lower_bound
        assert total.amount == column.values[-1] - column.values[0]
        assert total.duration_s == pytest.approx(samples.time_s[-1] - samples.time_s[0])
        longest = int(np.argmax(np.diff(samples.time_s)))
        assert np.isnan(series.value[longest + 1])
        steps = np.diff(column.values) / np.diff(samples.time_s)
        assert np.nanmax(series.value) <= steps.max()
        rows = [r for r in document["summary"] if r["subject"].get("device") == device.name]
        shown = next(float(r["maximum"]) for r in rows if r["name"] == "device.write_bytes_per_s")
        assert shown <= SECTOR_BYTES * steps.max() * 1.001


@HOSTS
def test_sigterm_ends_a_recording_in_good_order(troubled, host) -> None:
    """Exit code 130, what was recorded is named, nothing is left in the journal."""
    assert troubled.done.code == 130
    assert "interrupted; what was recorded is kept" in troubled.done.err
    path = of(troubled.paths, host)
    assert str(path) in troubled.done.err
    assert not list(path.glob("journal*"))


@HOSTS
def test_one_recording_is_cut_where_the_change_was_seen(troubled, host, tmp_path) -> None:
    """--change-at auto finds the restart into another map mode."""
    done = leapprof("compare", of(troubled.paths, host), "--change-at", "auto", "--out", tmp_path, "--json")
    assert done.code == 0, done.err
    assert "map-mode-changed" in json.dumps(json.loads(done.out))
    assert list(tmp_path.glob("*/report.html"))


@HOSTS
def test_a_recording_whose_recorder_was_killed_is_read(killed, pair, documents, host, tmp_path) -> None:
    """After kill -9 show and compare read everything up to the last samples, and say what happened."""
    path = of(killed, host)
    document = documents(path)
    assert "recording-not-closed" in codes(document)
    assert document["recording"]["cost"]["samples"] >= 5
    before = of(pair.before, host)
    done = leapprof("compare", before, path, "--out", tmp_path, "--format", "html,md,json,csv", "--json")
    assert done.code == 0, done.err
    assert "recording-not-closed" in {finding["code"] for finding in json.loads(done.out)["findings"]}
    assert {p.suffix for p in tmp_path.glob("*/*")} == {".html", ".md", ".json", ".csv"}


def contents(directory: Path) -> Iterator[bytes]:
    """Yield every byte of the files of a directory."""
    for path in directory.rglob("*"):
        if path.is_file():
            yield path.read_bytes()


def unpacked(recording: Path) -> Iterator[bytes]:
    """Yield what a recording holds in compressed form: texts of tables, sections of frames."""
    loaded = load(recording)
    for name in loaded.table_names:
        for column in loaded.table(name).texts.values():
            yield repr(set(column.tolist())).encode()
    for body in open_recording(recording).frames():
        yield from (section.name.encode() + section.text for section in decode_body(body).sections)


@ALL_HOSTS
def test_no_private_key_is_in_a_recording_or_a_report(pair, troubled, killed, report, host) -> None:
    """Keys of config.ini, of its comments and of the command line are in no byte, packed or not."""
    recorded = [of(pair.before, host), of(pair.after, host)]
    recorded += [paths[host] for paths in (troubled.paths, killed) if host in paths]
    for directory in recorded:
        for data in (*contents(directory), *unpacked(directory)):
            assert not [key for key in KEYS if key in data]
    for data in contents(report(host)):
        assert not [key for key in KEYS if key in data]
    for done in (pair.done_before, pair.done_after, troubled.done):
        assert not [key for key in KEYS if key in (done.out + done.err).encode()]


@HOSTS
def test_a_public_report_names_no_host_producer_or_peer(report, host) -> None:
    """All that the same report without --public names is hidden, in every format and in what is printed."""
    planted = {host, PRODUCER, PEER.partition(":")[0]}
    private = b"".join(contents(report(host)))
    assert [word for word in planted if word.encode() not in private] == []
    for data in contents(report(host, "--public")):
        assert [word for word in {*planted, "wax-owner", "wax-other"} if word.encode() in data] == []
