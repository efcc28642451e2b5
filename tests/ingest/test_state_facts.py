"""Facts of one nodeos that need a question of their own: state file, filesystem, stop time-out."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.agent.plan import Plan, encode_plan
from leapprof.ingest.state_facts import facts_of, mount_facts, parse_time_span, questions_of
from leapprof.model import Mount, Nodeos, Topology

STATE = "peek:/srv/eos/state/shared_memory.bin"
UNIT = "/etc/systemd/system/nodeos@.service"


def nodeos(**changes: object) -> Nodeos:
    """Return a nodeos in a unit made from a template."""
    known: dict = {
        "id": "eos",
        "pid": 7,
        "start_ticks": 1,
        "state_dir": "/srv/eos/state",
        "unit": "nodeos@eos.service",
    }
    return Nodeos(**(known | changes))


def told(texts: dict[str, str], **changes: object) -> dict[str, str]:
    """Return the facts without their front part."""
    return {
        name.removeprefix("nodeos.eos."): value for name, value in facts_of(nodeos(**changes), texts).items()
    }


def test_an_agent_takes_every_question() -> None:
    """They are a plan's readings; in a container they go through the process's own root."""
    inside = questions_of(nodeos(root="/proc/7/root", unit=None))
    assert {question.path for question in inside} == {
        "/proc/7/root/srv/eos/state/shared_memory.bin",
        "/proc/7/root/srv/eos/state",
    }
    reads = tuple(q for q in questions_of(nodeos()) if hasattr(q, "keep"))
    assert encode_plan(Plan(reads=reads)).endswith(b"end\n")
    assert questions_of(nodeos(state_dir=None, unit="../etc/passwd")) == ()


@pytest.mark.parametrize(("byte", "dirty"), [("0", "no"), ("1", "yes"), ("denied", None), ("", None)])
def test_the_state_file_tells_size_and_whether_it_is_dirty(byte: str, dirty: str | None) -> None:
    """Without permission to read it the size alone is known."""
    facts = told({STATE: f"size 1073741824\nallocated 4096\nbytes {byte}\n"}, unit=None)
    assert facts["state_file_bytes"] == "1073741824"
    assert facts["state_file_allocated_bytes"] == "4096"
    assert facts.get("state_dirty") == dirty


def test_the_filesystem_tells_size_and_room() -> None:
    """From statvfs of the state directory."""
    facts = told({"statvfs:/srv/eos/state": "f_frsize 4096\nf_blocks 100\nf_bavail 10\n"}, unit=None)
    assert facts == {"state_filesystem_bytes": "409600", "state_filesystem_available_bytes": "40960"}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ({}, {}),
        ({UNIT: ""}, {"stop_timeout_s": "90", "stop_timeout_source": "systemd's default"}),
        ({UNIT: "", "/etc/systemd/system.conf": "DefaultTimeoutStopSec=2min\n"}, {"stop_timeout_s": "120"}),
        ({UNIT: "TimeoutStopSec=5min 20s\n"}, {"stop_timeout_s": "320", "stop_timeout_source": UNIT}),
        ({UNIT: "TimeoutSec=infinity\n"}, {"stop_timeout_s": "infinity"}),
        ({UNIT: "TimeoutStopSec=0\n"}, {"stop_timeout_s": "infinity"}),
        ({UNIT: "TimeoutStopSec=1\nTimeoutStopSec=2\n"}, {"stop_timeout_s": "2"}),
        ({UNIT: "TimeoutStopSec=soon\n"}, {}),
        ({UNIT: "TimeoutStopSec=1\n", f"{UNIT}.d/a.conf": "TimeoutStopSec=7\n"}, {"stop_timeout_s": "7"}),
        (
            {
                UNIT: "TimeoutStopSec=1\n",
                f"{UNIT}.d/z.conf": "TimeoutStopSec=7\n",
                "/etc/systemd/system/nodeos@eos.service.d/z.conf": "TimeoutStopSec=8\n",
                "/lib/systemd/system/nodeos@eos.service.d/z.conf": "TimeoutStopSec=9\n",
            },
            {"stop_timeout_s": "8"},
        ),
    ],
)
def test_the_stop_time_out_is_the_units(texts: dict[str, str], expected: dict[str, str]) -> None:
    """Drop-ins win over the unit, /etc over /lib, the unit over its template, and all over the manager's default."""
    facts = told(texts)
    assert {name: facts.get(name) for name in expected} == expected
    assert ("stop_timeout_s" in facts) is bool(expected)


def test_docker_waits_ten_seconds() -> None:
    """As `docker stop` does unless it is told otherwise; podman is not known here."""
    assert told({}, unit=None, container="docker 0123456789ab")["stop_timeout_s"] == "10"
    assert told({}, unit=None, container="podman 0123456789ab") == {}


def test_directories_lie_on_the_mounts_that_the_process_sees() -> None:
    """The nearest mount point above a directory."""
    mounts = (
        Mount(point="/", major_minor="8:1", filesystem="ext4", source="/dev/sda1", options="rw"),
        Mount(point="/srv/eos/state", major_minor="0:40", filesystem="tmpfs", source="tmpfs", options="rw"),
    )
    facts = mount_facts(nodeos(blocks_dir="/srv/eos/blocks"), Topology(mounts=mounts))
    assert facts == {
        "nodeos.eos.state_mount": "/srv/eos/state",
        "nodeos.eos.state_filesystem": "tmpfs",
        "nodeos.eos.blocks_mount": "/",
        "nodeos.eos.blocks_filesystem": "ext4",
    }


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", "90"),
        ("1.5h", "5400"),
        ("500ms", "0.5"),
        ("1d", "86400"),
        ("5 min", "300"),
        ("-1", None),
        ("", None),
    ],
)
def test_time_spans_are_systemds(text: str, seconds: str | None) -> None:
    """As systemd.time(7) writes them."""
    assert parse_time_span(text) == seconds


@given(st.text(max_size=60), st.text(max_size=60))
def test_any_text_is_a_fact_or_none(first: str, second: str) -> None:
    """No exception comes out of a host's text."""
    told({STATE: first, "statvfs:/srv/eos/state": second, UNIT: f"TimeoutStopSec={first}"})
    parse_time_span(second)
