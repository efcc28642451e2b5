"""Recordings of probes: what is written while a run goes on is read as one, and stays in few files."""

import os
import signal
import subprocess
import sys
import time

import pytest

from leapprof.assess.load import load
from leapprof.latency import recording
from leapprof.latency.blocks import Subject
from leapprof.latency.recording import RunFacts, recorded, start_in

SUBJECT = Subject(probe="stream", operation="behind the fastest", target="a:1")
STREAM = """
import sys
from leapprof.cli.main import main
from leapprof.latency import recording
recording.SEAL_EVERY_S = 0.3
sys.argv[0] = "leapprof"
main()
"""


def facts(directory):
    """Return the facts of a run."""
    return RunFacts(
        directory=directory, phase="", region="here", block_s=1.0, settings={}, command="leapprof latency"
    )


def counts(directory):
    """Return the values of each row of a recording, live or closed."""
    return load(directory).table("latency").integers["count"].values.tolist()


def test_a_run_that_is_rewritten_holds_what_was_last_known(tmp_path):
    """Delays that were against another fastest are replaced, also while the run goes on; notes are there already."""
    start = start_in(-10.0)
    with recorded(facts(tmp_path / "rec"), start) as writer:
        for known in (4, 8):
            blocks = writer.blocks.anew()
            for number in range(known):
                blocks.succeeded(SUBJECT, start.monotonic_ns + number * 10**9 // 2, 1000 * known)
            writer.notes["latency_clock"] = f"after {known}"
            writer.rewrite(blocks)
        table = load(tmp_path / "rec").table("latency")
        assert table.integers["count"].values.tolist() == [2, 2, 2, 2]
        assert set(table.integers["max_ns"].values.tolist()) == {8000}
        assert load(tmp_path / "rec").manifest.notes["latency_clock"] == "after 8"
    assert counts(tmp_path / "rec") == [2, 2, 2, 2]


def test_a_long_run_begins_new_files_now_and_then(tmp_path, monkeypatch):
    """Within a segment's time one file a table is written anew; after it the next begins; no row is twice or lost."""
    start = start_in(-100.0)
    with recorded(facts(tmp_path / "rec"), start) as writer:
        for number, segment_s in enumerate((1000, 1000, 1000, 0, 1000, 1000)):
            monkeypatch.setattr(recording, "SEGMENT_S", segment_s)
            writer.blocks.succeeded(SUBJECT, start.monotonic_ns + number * 10**9, 1000)
            writer.seal(start.monotonic_ns + (number + 1) * 10**9)
            assert counts(tmp_path / "rec") == [1] * (number + 1)
    assert counts(tmp_path / "rec") == [1] * 6
    assert len(list((tmp_path / "rec").glob("latency-*.parquet"))) == 2


def test_sealing_waits_its_time(tmp_path, monkeypatch):
    """Not before it is due, and then not at once again; what takes long is done more rarely."""
    done = []
    with recorded(facts(tmp_path / "rec"), start_in(0.0)) as writer:
        writer.when_due(lambda: done.append("too early"))
        monkeypatch.setattr(recording, "SEAL_EVERY_S", 0)
        writer._due_ns = 0
        began_s = time.monotonic()
        writer.when_due(lambda: time.sleep(0.05))
        while not done and time.monotonic() < began_s + 120:
            writer.when_due(lambda: done.append(time.monotonic()))
            time.sleep(0.01)
    assert done[0] - began_s >= 0.05 * (1 + recording.WRITING_SHARE)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_stream_that_is_ended_leaves_what_came(tmp_path, number):
    """A kill costs what came since the last sealing; Ctrl-C nothing, and its manifest is closed."""
    log = tmp_path / "nodeos.log"
    log.write_text(line(1))
    words = ["latency", "stream", "--log", str(log), "--out", str(tmp_path / "rec"), "--block", "200ms"]
    with subprocess.Popen(
        [sys.executable, "-c", STREAM, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        for block in range(2, 4000):
            time.sleep(0.05)
            with log.open("a") as out:
                out.write(line(block))
            if block % 10 == 0 and kept(tmp_path / "rec") >= 20:
                break
        os.kill(process.pid, number)
        said, _ = process.communicate(timeout=60)
    (directory,) = (tmp_path / "rec").iterdir()
    manifest = load(directory).manifest
    closed = "recording-not-closed" not in {f.code for f in manifest.findings}
    assert (process.returncode, closed) == ((-9, False) if number is signal.SIGKILL else (130, True)), said
    assert kept(tmp_path / "rec") >= 20
    assert "wall clock against" in manifest.notes["latency_clock"]


def kept(out):
    """Return how many values the recording below a directory holds; 0 as long as there is none."""
    found = list(out.glob("*/latency-0001.parquet"))
    return sum(counts(found[0].parent)) // 3 if found else 0


def line(number):
    """Return a line of nodeos's log of a block that is stamped now."""
    seconds, ms = divmod(time.time_ns() // 10**6 - 5, 1000)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{ms:03d}"
    return (
        f"info  {stamp} nodeos    controller.cpp:2940           log_applied          ] Received block "
        f"{number:016x}... #{number} @ {stamp} signed by eosio [trxs: 0, lib: 1, net: 0, cpu: 100 us, elapsed: 10 us, "
        "applying time: 200 us, latency: 5 ms]\n"
    )
