"""Directories of several hosts' recordings, paired by host and phase."""

import pytest

from leapprof.assess.host_pairs import of_one_host, pair_hosts, recordings_below
from leapprof.errors import ConfigError
from tests.support.fleets import recorded


def _hosts(directory, names, phases=("before", "after")):
    directory.mkdir(exist_ok=True)
    return [recorded(directory, n, p, 0.5, i, hours=0.1) for i, n in enumerate(names) for p in phases]


def _paired(found):
    return {pair.host: (pair.before.name, pair.after.name) for pair in found.pairs}


def test_one_directory_of_both_phases_is_both_sides(tmp_path):
    """What ``record a b --out DIR`` leaves in both phases; the phase says which side it is."""
    _hosts(tmp_path, ["a", "b"])
    for given in ([tmp_path], [tmp_path, tmp_path]):
        found = pair_hosts(given)
        assert found.findings == ()
        assert set(_paired(found)) == {"a", "b"}
        assert all("-before-" in first and "-after-" in second for first, second in _paired(found).values())


def test_a_directory_a_side_needs_no_phases(tmp_path):
    """Recordings of other phases are told apart by the arguments."""
    _hosts(tmp_path / "old", ["a", "b"], ["canary"])
    _hosts(tmp_path / "new", ["a", "b"], ["later"])
    found = pair_hosts([tmp_path / "old", tmp_path / "new"])
    assert {first.partition("-")[2][:6] for first, _ in _paired(found).values()} == {"canary"}


def test_recordings_of_several_hosts_may_be_named_one_by_one(tmp_path):
    """As a shell's wildcard does; of one host they stay phases that alternate."""
    assert set(_paired(pair_hosts(_hosts(tmp_path / "many", ["a", "b"])))) == {"a", "b"}
    assert pair_hosts(_hosts(tmp_path / "one", ["a"]) * 2) is None


def test_one_host_is_no_fleet(tmp_path):
    """Two recordings, or two directories that hold one each, are compared as ever."""
    before, after = _hosts(tmp_path / "a", ["a"], ["before"]) + _hosts(tmp_path / "b", ["a"], ["after"])
    assert pair_hosts([before, after]) is None
    assert pair_hosts([tmp_path / "a", tmp_path / "b"]) is None
    assert of_one_host([tmp_path / "a", tmp_path / "b"]) == (before, after)


def test_a_directory_of_both_phases_of_one_host_is_its_pair(tmp_path):
    """What ``record a --out DIR`` leaves in both phases."""
    before, after = _hosts(tmp_path, ["a"])
    assert pair_hosts([tmp_path]).alone.host == "a"
    assert of_one_host([tmp_path]) == (before, after)


def test_who_has_no_partner_is_named(tmp_path):
    """And the others are paired."""
    _hosts(tmp_path, ["a", "b"])
    _hosts(tmp_path, ["c"], ["before"])
    _hosts(tmp_path, ["d"], ["after"])
    found = pair_hosts([tmp_path])
    assert set(_paired(found)) == {"a", "b"}
    assert [(f.code, f.subject) for f in found.findings] == [
        ("host-without-partner", "c"),
        ("host-without-partner", "d"),
    ]
    assert "recorded before the change and not after" in found.findings[0].message


def test_of_several_recordings_of_a_host_the_latest_is_taken_and_the_others_named(tmp_path):
    """An aborted first try does not stop the comparison."""
    first, _, *_ = _hosts(tmp_path, ["a", "b"])
    again = recorded(tmp_path / "x", "a", "before", 0.5, 9, hours=0.1)
    again.rename(tmp_path / "a-before-again")
    found = pair_hosts([tmp_path])
    (finding,) = found.findings
    assert finding.code == "several-recordings"
    assert {first.name in finding.message, "a-before-again" in finding.message} == {True}
    assert finding.evidence[0].value == 2


def test_a_damaged_recording_is_named(tmp_path):
    """Its manifest cannot be read."""
    _hosts(tmp_path, ["a", "b", "c"])
    broken = next(tmp_path.glob("c-after-*")) / "recording.json"
    broken.write_text("{")
    found = pair_hosts([tmp_path])
    assert [f.code for f in found.findings] == ["recording-unreadable", "host-without-partner"]
    assert set(_paired(found)) == {"a", "b"}


def test_recordings_that_nothing_tells_apart_are_refused(tmp_path):
    """One directory of one phase: which is before?"""
    _hosts(tmp_path, ["a", "b"], ["before"])
    with pytest.raises(ConfigError, match=r"several recordings \(.*a-before-.*\): name BEFORE and AFTER"):
        pair_hosts([tmp_path])


def test_what_is_no_directory_of_recordings_stands_for_itself(tmp_path):
    """It is said when it is read, as ever."""
    assert recordings_below(tmp_path) == (tmp_path,)
    assert recordings_below(tmp_path / "nowhere") == (tmp_path / "nowhere",)
