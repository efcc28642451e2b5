"""Live traffic in two captures: delays, loss, reordering and repetition of a relay come back."""

import json
import shutil
import socket
import statistics
import subprocess
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from leapprof.assess.compare import compare
from leapprof.assess.load import load
from leapprof.assess.material import CompareOptions
from leapprof.cli.latency import app
from leapprof.errors import ConfigError, NotEnoughDataError, ParseError, StoreError
from leapprof.latency.captures import Seen, match
from tests.latency.test_capture import DATA, classic, frames_of
from tests.latency.test_forward import Relay, free_port
from tests.support.steady import steady

TRUTH = json.loads((DATA / "truth.json").read_text())
"""What the relay of the captures measured itself: from the kernel's stamp of a packet's arrival to its sending."""
MS = 1_000_000


def run(*arguments):
    """Run the command; an error of ours is raised as main() would see it."""
    result = CliRunner().invoke(app, ["forward", "--captures", *(str(a) for a in arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def matched(tmp_path, name, *more):
    """Return the line of the table, and the recording, of a capture of the tests: one file, in front and behind."""
    truth, path = TRUTH[name.split("-")[0]], DATA / f"{name}.pcap"
    result = run(
        path, path, "--in-port", truth["in_port"], "--out-port", truth["out_port"], "--out", tmp_path, "--block", "1s",
        "--json", *more,
    )  # fmt: skip
    (line,) = json.loads(result.stdout)
    return line, load(tmp_path / line["recording"])


@pytest.mark.parametrize(
    ("name", "count", "lost", "said", "within_s"),
    [
        ("udp-us", 38, 2, "2 of 40 packets lost, 4 reordered, 0 repeated", 0.0002),
        ("udp-any-ns", 38, 2, "2 of 40 packets lost, 4 reordered, 0 repeated", 0.0002),
        ("tcp-us", 20, 0, "0 of 20 packets lost, 0 reordered, 1 repeated", 0.00004),
    ],
)
def test_a_real_capture_tells_what_its_relay_did(tmp_path, name, count, lost, said, within_s):
    """Every 16th packet was lost, every 9th overtaken; delays are those that the relay's own kernel stamps say."""
    line, recording = matched(tmp_path, name, "--region", "here")
    assert (line["count"], line["errors"], line["region"]) == (count, lost, "here")
    assert line["p50_s"] == pytest.approx(TRUTH[name.split("-")[0]]["held_p50_s"], abs=within_s)
    messages = {f.code: f.message for f in recording.manifest.findings}
    assert said in messages["latency-packets-lost"]
    assert f"steps of {'0.00100' if name.endswith('ns') else '1.00'} µs" in messages["latency-floor"]
    assert line["clock"].startswith("one wall clock")
    assert line["start"].startswith("2026-11-30 20:31")
    assert line["valid"].startswith("not known")
    sample = Path(__file__).parent.parent.parent / "samples" / "nodeos-v5" / "mapped"
    with pytest.raises(StoreError, match="no samples of the time of this run"):
        matched(tmp_path / "again", name, "--host-recording", sample)


def test_two_captures_compare_like_any_recordings(tmp_path):
    """Before and after, by `leapprof compare`."""
    _, before = matched(tmp_path / "before", "udp-us")
    _, after = matched(tmp_path / "after", "tcp-us")
    metrics = {m.name: m for m in compare(before, after, CompareOptions(across=True)).metrics}
    assert metrics["latency.forward.p50_s"].difference.value == pytest.approx(-0.0046, abs=0.0003)
    assert metrics["latency.forward.error_percent"].before.mean == pytest.approx(5.0)


@pytest.mark.quiet
@pytest.mark.skipif(shutil.which("tcpdump") is None, reason="not installed: tcpdump")
def test_tcpdump_on_this_machine_sees_a_planted_delay(tmp_path):
    """5 ms within 0.2 ms of what the relay measured itself; within 4 % where a busy machine holds it longer."""
    to_port, file = free_port(), tmp_path / "live.pcap"
    relay = Relay(to_port, delay_s=lambda: 0.005)
    ports = f"udp port {relay.port} or udp port {to_port}"
    words = ["tcpdump", "-i", "lo", "-n", "--immediate-mode", "-w", str(file), ports]
    with steady(), subprocess.Popen(words, stderr=subprocess.PIPE) as process:
        try:
            if not any(b"listening" in line for line in process.stderr):
                pytest.skip("tcpdump may not listen here")
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                for number in range(40):
                    sender.sendto(b"live %d" % number, ("127.0.0.1", relay.port))
                    time.sleep(0.01)
            time.sleep(0.3)
        finally:
            process.terminate()
    relay.close()
    result = run(
        file, file, "--in-port", relay.port, "--out-port", to_port, "--out", tmp_path / "rec", "--json"
    )
    (line,) = json.loads(result.stdout)
    assert line["p50_s"] == pytest.approx(statistics.median(relay.held_s), rel=0.04, abs=0.0002)
    assert line["count"] + line["errors"] >= 39


def seen(times_ns, keys):
    """Return a capture of these payloads."""
    return Seen(name="x", times_ns=list(times_ns), keys=[str(key).encode() for key in keys])


def test_what_may_have_happened_outside_of_the_captures_is_counted_apart():
    """What went in after the last that came out is not lost; what came out before the first is no stranger."""
    found = match(
        seen((10 * MS, 20 * MS, 30 * MS, 40 * MS), "abcd"), seen((11 * MS, 15 * MS, 31 * MS, 35 * MS), "zacy"), 1.0
    )  # fmt: skip
    assert found.pairs == [(10 * MS, 15 * MS), (30 * MS, 31 * MS)]
    assert (found.lost, found.outside, found.unknown) == ([20 * MS], 1, 1)


def test_payloads_that_were_sent_several_times_are_matched_in_order_or_not_at_all():
    """As many came out as went in: in order. Another number: nobody knows which, so they are in no delay."""
    found = match(
        seen((1 * MS, 2 * MS, 3 * MS, 4 * MS, 9 * MS), "aabbc"), seen((5 * MS, 6 * MS, 7 * MS, 10 * MS), "aabc"), 1.0
    )  # fmt: skip
    assert found.pairs == [(1 * MS, 5 * MS), (2 * MS, 6 * MS), (9 * MS, 10 * MS)]
    assert (found.ambiguous, len(found.lost), found.duplicates) == (2, 1, 0)
    again = match(seen((1 * MS, 9 * MS), "ac"), seen((2 * MS, 3 * MS, 10 * MS), "aac"), 1.0)
    assert (again.pairs[0], again.duplicates, again.ambiguous) == ((1 * MS, 2 * MS), 1, 0)


def test_two_clocks_and_late_packets_are_no_delays():
    """What comes out before it went in is said; what comes after the time-out is lost."""
    found = match(seen((10 * MS, 20 * MS, 30 * MS), "abc"), seen((5 * MS, 31 * MS, 900 * MS), "acb"), 0.5)
    assert (found.backwards, found.lost, found.pairs) == (1, [20 * MS], [(30 * MS, 31 * MS)])


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 50), st.booleans()), min_size=1))
def test_every_packet_that_went_in_is_in_one_count(packets):
    """Delay, loss, outside, ambiguous or backwards; and delays are in the order of coming out."""
    times = sorted(at for _, at, _ in packets)
    outs = sorted((at + 5, key) for key, at, comes in packets if comes) or [(0, "z")]
    before = seen(times, [key for key, _, _ in packets])
    found = match(before, seen([at for at, _ in outs], [key for _, key in outs]), 1.0)
    in_delays = len(found.pairs) + found.backwards
    assert in_delays + len(found.lost) + found.outside <= len(packets)
    assert in_delays + len(found.lost) + found.outside + found.ambiguous >= len(packets)
    assert all(a[1] <= b[1] for a, b in pairwise(found.pairs))


def test_what_cannot_be_done_is_said_before_a_recording_is_made(tmp_path):
    """No file, no capture, nothing in common, nothing to that port, options that exclude each other."""
    good, other = DATA / "udp-us.pcap", DATA / "tcp-us.pcap"
    junk, cut = tmp_path / "junk", tmp_path / "cut.pcap"
    junk.write_bytes(b"junk" * 9)
    out = ("--out", tmp_path / "rec")
    frames, _ = frames_of(good.read_bytes())
    cut.write_bytes(classic([type(f)(f.wall_ns, f.link_type, f.data[:50]) for f in frames]))
    with pytest.raises(ConfigError, match="cannot be read"):
        run(tmp_path / "nothing", good, *out)
    with pytest.raises(ParseError, match="pcap or pcapng in junk"):
        run(good, junk, *out)
    with pytest.raises(NotEnoughDataError, match="payloads in common"):
        run(good, other, *out)
    with pytest.raises(NotEnoughDataError, match="packets to port 7"):
        run(good, good, "--in-port", "7", *out)
    with pytest.raises(NotEnoughDataError, match=r"\(\d\d cut short\)"):
        run(cut, good, *out)
    with pytest.raises(ConfigError, match="instead of a relay"):
        run(good, good, "127.0.0.1:9000", *out)
    assert not (tmp_path / "rec").exists()


@settings(max_examples=15)
@given(st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=4))
def test_stamps_at_any_time_are_a_recording_or_an_error_of_ours(tmp_path_factory, seconds):
    """From 1970 to 2106, years apart: no memory is filled with empty blocks."""
    frames, _ = frames_of((DATA / "udp-us.pcap").read_bytes())
    moved = [
        type(f)(at * 10**9, f.link_type, f.data)
        for f, at in zip(frames[: len(seconds)], seconds, strict=True)
    ]
    directory = tmp_path_factory.mktemp("moved")
    file = directory / "moved.pcap"
    file.write_bytes(classic(moved))
    with suppress(ConfigError, NotEnoughDataError):
        run(file, file, "--out", directory / "rec", "--timeout", "1d")


def test_a_file_for_a_path_of_packets_needs_a_relay_or_captures(tmp_path: Path):
    """Neither is an error of the command line."""
    result = CliRunner().invoke(app, ["forward", "--out", str(tmp_path)])
    assert isinstance(result.exception, ConfigError)
    assert "--captures IN OUT" in str(result.exception)
