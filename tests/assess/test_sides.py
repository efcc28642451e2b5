"""Windows and pairs."""

from dataclasses import replace

import numpy as np
import pytest

from leapprof.analysis.batch import Span
from leapprof.assess.sides import WindowChoice, cut_side, pair_devices, pair_nodeos
from leapprof.errors import NotEnoughDataError
from leapprof.model import Column, Device, DeviceKind, Nodeos
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
    window = side.side.window
    assert window.left_out_s == {"not-live": 899}
    assert window.left_out_inside_s == 300
    assert window.compared_s == 4599 - 1599 - 300, "what was left out within is not compared"


def test_of_several_nodeos_the_one_that_stopped_is_named():
    """The second goes away for the last ten minutes: the window of both is cut there, and its name is said."""
    base = made(seconds=3600)
    stages = {name: np.full(3600, "live", dtype=object) for name in ("a", "b")}
    stages["b"][3000:] = "stopping"
    stages["a"][3300:3360] = "syncing"
    stages["a"][1000:1060] = "syncing"
    texts = {
        "nodeos": np.array(["a"] * 3600 + ["b"] * 3600, dtype=object),
        "stage": np.concatenate([stages["a"], stages["b"]]),
    }
    one = base.tables["nodeos"]
    twice = {
        name: Column(values=np.tile(c.values, 2), present=np.tile(c.present, 2))
        for name, c in one.integers.items()
    }
    both = replace(one, rows=7200, integers=twice, texts=texts)
    two = replace(
        base,
        manifest=replace(base.manifest, nodeos=(nodeos("a"), nodeos("b"))),
        tables=base.tables | {"nodeos": both},
    )
    side = cut_side(two, "before")
    window = side.side.window
    assert window.left_out_s == {"not-live (a)": 60, "not-live (a, b)": 60, "not-live (b)": 540}
    assert window.left_out_inside_s == 60
    assert side.span.end_s == 1000 + 2999


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
