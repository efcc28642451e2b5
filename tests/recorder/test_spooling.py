"""Tests of samplers that outlive their connection, with the real agent on this machine."""

import importlib.util
from pathlib import Path

import pytest

from leapprof.assess.load import load
from leapprof.errors import ConfigError
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.link import AgentLink
from leapprof.recorder.spooling import SpoolChoice, find_spool, list_spools
from leapprof.sources.local import LocalSource

_spec = importlib.util.spec_from_file_location(
    "live_tests", Path(__file__).with_name("test_recording_live.py")
)
assert _spec is not None and _spec.loader is not None
live = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(live)


def spools(parent: Path) -> tuple:
    """Return what the agent says of the spools in a directory."""
    with LocalSource() as source, AgentLink.open(source, "python", SystemClock()) as link:
        return list_spools(link, str(parent))


def test_a_sampler_goes_on_after_its_collector_and_is_followed_later(tmp_path: Path) -> None:
    """What was sampled while nobody listened is in the second recording; the duration's end ends the sampler."""
    parent = tmp_path / "spools"
    parent.mkdir()
    watcher = live.Watcher()
    first = live.session(tmp_path / "a", watcher)
    first.spool = SpoolChoice(parent=str(parent))
    watcher.at(5, first.stop.set)
    early = load(first.run())
    assert [status.alive for status in spools(parent)] == [True]
    second = live.session(tmp_path / "b", live.Watcher(), duration_s=1.0)
    second.spool = SpoolChoice(parent=str(parent), attach=True)
    late = load(second.run())
    assert [status.alive for status in spools(parent)] == [False]
    first_of_late = late.table("host").integers["boottime_ns"].values[0]
    assert first_of_late <= early.table("host").integers["boottime_ns"].values[0]
    assert "connection-lost" not in {gap.reason for gap in late.manifest.gaps}


def test_a_lost_connection_costs_a_spool_no_sample(tmp_path: Path) -> None:
    """After reconnecting the frames go on where they ended; those sent again are dropped."""
    parent = tmp_path / "spools"
    parent.mkdir()
    watcher = live.Watcher()
    source = live.BreakingSource()
    one = live.session(tmp_path / "a", watcher, source, duration_s=8.0)
    watcher.at(5, source.is_cut.set)
    one.spool = SpoolChoice(parent=str(parent))
    recording = load(one.run())
    assert watcher.troubles[:1] == ["connection lost"]
    sequence = recording.table("host").integers["seq"].values.tolist()
    assert sequence == list(range(1, len(sequence) + 1))
    assert "connection-lost" not in {gap.reason for gap in recording.manifest.gaps}


def test_no_spool_to_follow_is_said(tmp_path: Path) -> None:
    """The message names the command that lists spools."""
    with (
        LocalSource() as source,
        AgentLink.open(source, "python", SystemClock()) as link,
        pytest.raises(ConfigError, match=r"has no spool in .*: see `leapprof agents"),
    ):
        find_spool(link, str(tmp_path))
