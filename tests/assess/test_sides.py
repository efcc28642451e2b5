"""Windows and pairs."""

import numpy as np
import pytest

from leapprof.analysis.batch import Span
from leapprof.assess.sides import WindowChoice, cut_side, pair_devices, pair_nodeos
from leapprof.errors import NotEnoughDataError
from leapprof.model import Device, DeviceKind, Nodeos
from tests.support.recordings import made


def device(name, **facts):
    """Return a disk."""
    return Device(name=name, major_minor="8:0", kind=DeviceKind.DISK, **facts)


def nodeos(name):
    """Return a nodeos of that id."""
    return Nodeos(id=name, pid=1, start_ticks=1)


def test_a_recording_of_a_running_node_is_compared_whole():
    """Nodeos was started 999 s before: no warm-up."""
    side = cut_side(made(seconds=3600), "before")
    assert side.span == Span(start_s=1000, end_s=4599)
    assert side.side.window.left_out_s == {}
    assert not side.stages_known


def test_only_live_samples_count_where_stages_are_known():
    """Ten minutes of catching up at the start, five minutes in the middle."""
    stage = np.full(3600, "live", dtype=object)
    stage[:600] = "syncing"
    stage[2000:2300] = "syncing"
    side = cut_side(made(seconds=3600, stage=stage), "before")
    assert side.span.start_s == pytest.approx(1599, abs=1)
    assert side.left_out.hold(np.array([1000.0 + 2100, 1000.0 + 2500])).tolist() == [True, False]
    assert side.side.window.left_out_s["not-live"] == pytest.approx(900, abs=3)


def test_the_operators_window_replaces_the_warm_up():
    """Its last half hour, or from 10 to 30 minutes after its start."""
    recording = made(seconds=3600)
    last = cut_side(recording, "before", WindowChoice(last_s=1800))
    assert (last.span.start_s, last.span.end_s) == (2799, 4599)
    part = cut_side(recording, "before", WindowChoice(from_s=600, to_s=1800))
    assert (part.span.start_s, part.span.end_s) == (1600, 2800)
    with pytest.raises(NotEnoughDataError):
        cut_side(recording, "before", WindowChoice(from_s=9000))


def test_wall_clock_of_the_window_is_the_hosts():
    """As far after the first sample as on the other clock."""
    window = cut_side(made(seconds=3600), "before", WindowChoice(from_s=600)).side.window
    assert window.start_wall_ns - made(seconds=2).manifest.started_wall_ns == 600 * 10**9


def test_an_empty_recording_is_nothing_to_compare():
    """Exit code 6, not a division by zero."""
    empty = made(seconds=2)
    empty.tables.clear()
    with pytest.raises(NotEnoughDataError):
        cut_side(empty, "before")


def test_drives_are_known_again_by_their_identity_not_their_name():
    """The drives sda and sdb changed places over the reboot."""
    before = (device("sda", wwid="w1"), device("sdb", serial="s2"), device("vda"))
    after = (device("sda", serial="s2"), device("sdb", wwid="w1"), device("vda"))
    names = [(a.name, b.name) for a, b in pair_devices(before, after)]
    assert names == [("sda", "sdb"), ("sdb", "sda"), ("vda", "vda")]


def test_another_drive_under_the_same_name_is_not_the_same():
    """Two serial numbers, two drives."""
    assert pair_devices((device("sda", serial="1"),), (device("sda", serial="2"),)) == ()


def test_nodeos_are_paired_by_id_or_as_the_only_ones():
    """A renamed unit is still the only nodeos of its host."""
    assert pair_nodeos((nodeos("a"), nodeos("b")), (nodeos("b"),))[0][0].id == "b"
    assert pair_nodeos((nodeos("a"),), (nodeos("z"),))[0][1].id == "z"
    assert pair_nodeos((nodeos("a"), nodeos("b")), (nodeos("z"),)) == ()
