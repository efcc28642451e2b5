"""What nodeos was on either side of a change, from the events of one recording."""

from leapprof.assess.compare import compare_cut
from leapprof.assess.eras import eras
from leapprof.model import Event
from tests.support.recordings import NS, START_WALL_NS, made

CHANGE_NS = START_WALL_NS + 3600 * NS


def event(kind, detail, offset_s=0):
    """Return an event about the change."""
    return Event(boottime_ns=0, wall_ns=CHANGE_NS + offset_s * NS, kind=kind, subject="eos", detail=detail)


def nodeos(*events, until_ns=None):
    """Return nodeos before and after."""
    first, second = eras(made(events=events, options={"chain-threads": ("2",)}), CHANGE_NS, until_ns)
    return first.manifest.nodeos[0], second.manifest.nodeos[0]


def test_version_mode_and_options_after_are_those_that_the_events_tell():
    """The manifest alone knows only the start."""
    before, after = nodeos(
        event("version-changed", "v5.0.3 before, v1.1.0 now"),
        event("map-mode-changed", "mapped before, mapped_private now"),
        event("config-changed", "config file: chain-threads, database-map-mode"),
    )
    assert (before.version, before.map_mode) == ("v5.0.3", "mapped")
    assert (after.version, after.map_mode) == ("v1.1.0", "mapped_private")
    assert after.options["chain-threads"] == (None,)
    assert before.options["chain-threads"] == ("2",)


def test_people_round_up_the_time_of_a_change():
    """A version seen five minutes before the stated time is the change; an hour before it is not."""
    soon, long_ago = (event("version-changed", "v5.0.3 before, v1.1.0 now", s) for s in (-300, -3000))
    assert nodeos(soon)[0].version == "v5.0.3"
    assert nodeos(long_ago)[0].version == "v1.1.0"


def test_what_happens_after_the_window_is_of_neither_side():
    """A later upgrade does not rename the side."""
    later = event("version-changed", "v5.0.3 before, v1.1.0 now", 1800)
    assert nodeos(later, until_ns=CHANGE_NS + 600 * NS)[1].version == "v5.0.3"


def test_a_mode_that_is_no_longer_set_is_the_default():
    """mapped, in every version."""
    _, after = nodeos(event("map-mode-changed", "mapped_private before, not set now"))
    assert after.map_mode == "mapped"
    assert "database-map-mode" not in after.options


def test_a_cut_comparison_names_what_changed():
    """In title and facts."""
    recording = made(seconds=7200, events=(event("version-changed", "v5.0.3 before, v1.1.0 now"),))
    found = compare_cut(recording, CHANGE_NS)
    assert "nodeos v5.0.3 → v1.1.0" in found.title
    (fact,) = [f for f in found.facts if f.name == "version"]
    assert (fact.before, fact.after) == ("v5.0.3", "v1.1.0")
