"""Starts and stops of a real nodeos are measured as its log, its counters and its timeline say."""

from dataclasses import replace
from pathlib import Path

import pytest

from leapprof.assess.compare import compare, compare_cut
from leapprof.assess.load import load
from leapprof.assess.material import CompareOptions
from leapprof.assess.starts import measure_starts
from leapprof.model.start import EndKind, StartKind

STARTS = Path(__file__).parents[2] / "samples" / "nodeos-v5-starts"
MIB = 2**20


@pytest.fixture(scope="module")
def private():
    """The recording of a long run's stop, a first start from a snapshot, and a second start, in mapped_private."""
    return load(STARTS / "mapped_private")


def test_kinds_are_told(private) -> None:
    """The log says snapshot and clean; of the run before the recording nothing is known."""
    found = measure_starts(private)
    assert [(s.kind, s.kind_source, s.is_start_seen) for s in found] == [
        (StartKind.UNKNOWN, None, False),
        (StartKind.SNAPSHOT, "log", True),
        (StartKind.CLEAN, "log", True),
    ]
    assert {s.end for s in found} == {EndKind.CLEAN}
    assert {s.map_mode for s in found} == {"mapped_private"}


def test_the_first_start_holds_the_state_and_the_second_does_not(private) -> None:
    """900 MiB of anonymous memory after a snapshot, 1 MiB after a clean start."""
    _, first, second = measure_starts(private)
    assert first.start_s == pytest.approx(5.5, abs=0.1)
    assert first.start_peak_anon_bytes == pytest.approx(900 * MIB, rel=0.01)
    assert second.start_s == pytest.approx(0.69, abs=0.05)
    assert second.start_peak_anon_bytes < 2 * MIB
    assert first.start_read_bytes > 20 * second.start_read_bytes


def test_stops_are_timed_and_their_writes_counted(private) -> None:
    """36, 16 and 71 s; without soft-dirty support two of them dirtied 2.15 GB."""
    found = measure_starts(private)
    assert [round(s.stop_s) for s in found] == [36, 16, 71]
    assert [round(s.stop_written_bytes / 1e8) for s in found] == [21, 21, 6]
    assert found[0].stop_peak_rss_bytes > 5 * 10**9
    assert round(found[0].uptime_s) == 2364


def test_curves_end_where_the_stop_begins(private) -> None:
    """The panel shows starts."""
    for one in measure_starts(private)[1:]:
        assert one.curve is not None
        assert one.curve.t_s[-1] <= one.uptime_s
        assert len(one.curve.t_s) == len(one.curve.cpu_cores) == len(one.curve.swap_bytes)


def without_log(recording):
    """Return a recording whose log was not read."""
    events = tuple(e for e in recording.manifest.events if not e.kind.startswith("log-"))
    nodeos = tuple(replace(n, options={}, start_ticks=1_005_553) for n in recording.manifest.nodeos)
    return replace(recording, manifest=replace(recording.manifest, events=events, nodeos=nodeos))


def test_memory_tells_a_first_start_where_no_log_was_read(private) -> None:
    """Anonymous memory as large as the state within the first minute."""
    found = measure_starts(without_log(private))
    assert (found[1].kind, found[1].kind_source) == (StartKind.SNAPSHOT, "memory")
    assert found[1].end is EndKind.UNKNOWN
    assert found[1].stop_s is not None


def test_a_first_start_is_flagged(private) -> None:
    """The window begins in the run from a snapshot."""
    made = compare(load(STARTS / "mapped"), private, CompareOptions(across=True))
    codes = [f.code for f in made.findings]
    assert "after-is-first-start" in codes
    assert len(made.starts) == 5
    assert {s.label for s in made.starts} == {"before", "after"}


def test_a_start_that_was_not_recorded_is_not_guessed() -> None:
    """A long recording begins in the middle of a run."""
    long = load(STARTS.parent / "nodeos-v5" / "mapped_private")
    (one,) = measure_starts(long)
    assert one.end is EndKind.STILL_RUNNING
    assert one.stop_s is one.stop_written_bytes is None


def test_a_stop_between_two_samples_has_no_bytes() -> None:
    """Mapped stopped within a second: nothing was sampled meanwhile, and nothing sampled is not nothing written."""
    found = measure_starts(load(STARTS / "mapped"))
    assert [(s.end, s.stop_written_bytes) for s in found] == [(EndKind.CLEAN, None), (EndKind.CLEAN, None)]


def test_of_one_recording_cut_at_a_restart_each_run_stands_on_its_side() -> None:
    """Once: the run that ended before the change, and the one that began with it."""
    found = compare_cut(load(STARTS / "mapped"), None).starts
    assert [(one.label, one.kind) for one in found] == [
        ("before", StartKind.UNKNOWN),
        ("after", StartKind.CLEAN),
    ]


@pytest.mark.parametrize("late_s", [-20, 0, 60])
def test_a_stated_time_may_be_a_minute_off(late_s) -> None:
    """The run that began a minute before it is the one that the change was about."""
    recording = load(STARTS / "mapped")
    restart_ns = next(e.wall_ns for e in recording.manifest.events if e.kind == "nodeos-restarted")
    found = compare_cut(recording, restart_ns + late_s * 10**9).starts
    assert [one.label for one in found] == ["before", "after"]
