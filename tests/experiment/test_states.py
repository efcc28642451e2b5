"""Tests of what is said about hosts, and of whether nodeos is what a situation says."""

from leapprof.config.playbook import playbook_of
from leapprof.config.playbook_schema import Situation
from leapprof.config.playbook_yaml import parse_document
from leapprof.experiment.observe import Observation, Reading
from leapprof.experiment.runlog import Entry
from leapprof.experiment.situation import difference, is_version
from leapprof.experiment.states import host_states, status_lines
from leapprof.ingest.survey import Survey
from leapprof.model import Host, Nodeos, Topology

BOOK = playbook_of(
    parse_document(
        "playbook: 1\ntitle: t\nhosts: [{host: h}]\nphase: {duration: 1h}\n"
        "change: {config: {set: {a: 1}}}\nrestart: {systemd: n}\n",
        "b",
    )
)
EDIT = {"path": "/c.ini", "suffix": "s", "before": "1", "after": "2"}


def entry(kind: str, what: str, to: str = "b", **data) -> Entry:
    """Return a line of the log."""
    return Entry(wall_ns=1, kind=kind, step=f"00-{what}", data={"host": "h", "to": to, "what": what, **data})


def test_an_untouched_host_is_as_it_was():
    """Nothing in the log, nothing changed."""
    assert host_states(BOOK, ()) == ("h: as it was, nothing was changed",)


def test_a_changed_host_is_described_with_its_backup():
    """File, backup and process are named."""
    said = host_states(
        BOOK, (entry("intent", "edit", **EDIT), entry("done", "edit", **EDIT), entry("done", "start"))
    )[0]
    assert "/c.ini is edited, its backup is /c.ini.s.bak" in said
    assert "nodeos was restarted and came up" in said


def test_a_stopped_nodeos_is_said_to_be_stopped():
    """With a dirty state when it is."""
    said = host_states(BOOK, (entry("done", "stop", dirty=1),))[0]
    assert "nodeos is stopped with a dirty state and was not started again" in said


def test_what_was_begun_is_said_to_be_unknown():
    """Nobody claims more than is known."""
    said = host_states(BOOK, (entry("intent", "stop"),))[0]
    assert "step 00-stop was begun and not seen to end" in said


def test_a_start_that_was_begun_is_neither_up_nor_down():
    """Stopped for sure, started perhaps."""
    said = host_states(BOOK, (entry("done", "stop", dirty=0), entry("intent", "start")))[0]
    assert (
        said
        == "h: nodeos was stopped; the start of nodeos: step 00-start was begun and not seen to end; --resume finds out"
    )


def test_a_host_that_was_taken_back_is_as_it_was():
    """The file is back."""
    said = host_states(BOOK, (entry("done", "edit", **EDIT), entry("done", "edit", to="a", **EDIT)))[0]
    assert "/c.ini is back as it was" in said


def test_status_lists_every_step():
    """Done, begun, failed, and the rest."""
    lines = status_lines(BOOK, (Entry(wall_ns=1, kind="done", step="001-check", data={}),))
    assert lines[0].split()[:2] == ["done", "001-check"]
    assert lines[-1] == "not ended; go on with --resume"


def seen(nodeos: Nodeos | None, filesystem: str | None = "ext4", others: tuple = ()) -> Observation:
    """Return a host on which this was found."""
    survey = Survey(host=Host(name="h", boot_id="b"), topology=Topology(), nodeos=())
    return Observation(
        survey=survey, nodeos=nodeos, reading=Reading(wall_ns=0, is_up=nodeos is not None),
        state_filesystem=filesystem, others=others,
    )  # fmt: skip


NODEOS = Nodeos(
    id="n", pid=1, start_ticks=2, version="v5.0.3", map_mode="mapped", options={"chain-threads": ("4",)}
)


def test_the_first_difference_is_named():
    """A sentence that goes on "waiting for"."""
    assert difference(seen(NODEOS), Situation()) is None
    assert difference(seen(None), Situation()) == "nodeos to run"
    assert "2 nodeos fit" in str(difference(seen(None, others=("a", "b")), Situation()))
    assert "version v4.0.6, is v5.0.3" in str(difference(seen(NODEOS), Situation(version="v4.0.6")))
    assert "map mode heap" in str(difference(seen(NODEOS), Situation(map_mode="heap")))
    assert "tmpfs" in str(difference(seen(NODEOS), Situation(state_on="tmpfs")))
    assert difference(seen(NODEOS, "tmpfs"), Situation(state_on="tmpfs")) is None
    assert "chain-threads = 2, is 4" in str(
        difference(seen(NODEOS), Situation(options={"chain-threads": "2"}))
    )


def test_a_short_version_means_all_its_patches():
    """leap-5.0 is any 5.0; an unknown version is none."""
    assert is_version("v5.0.3", "leap-5.0")
    assert is_version("v5.0.3", "v5.0.3")
    assert not is_version("v5.0.3", "v5.0.2")
    assert not is_version(None, "v5.0.3")
    assert not is_version("nonsense", "v5.0.3")
