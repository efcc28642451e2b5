"""Tests of what a host is asked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.agent.plan import encode_plan
from leapprof.errors import ConfigError
from leapprof.ingest.survey import Survey
from leapprof.model import Host, Nodeos, Topology
from leapprof.model.access import NodeosSelector
from leapprof.probes import PROBES
from leapprof.recorder.planning import (
    RecordOptions,
    check_interval,
    clock_plan,
    follow_up_plan,
    sampling_plan,
    survey_plan,
)


def nodeos(**changes: object) -> Nodeos:
    """Return a nodeos."""
    facts = {"id": "eos", "pid": 7, "start_ticks": 1, "config_dir": "/etc/eos", "data_dir": "/data/eos"}
    return Nodeos(**{**facts, **changes})  # type: ignore[arg-type]


def test_every_plan_is_one_that_the_agent_takes() -> None:
    """The agent's own encoder refuses none of our plans."""
    found = (nodeos(http_address="127.0.0.1:8888", state_dir="/data/eos/state"),)
    survey = Survey(host=Host(name="h", boot_id="b"), topology=Topology(), nodeos=())
    plans = (
        clock_plan(),
        survey_plan(()),
        follow_up_plan((), survey),
        sampling_plan((), found, RecordOptions()),
    )
    assert all(encode_plan(plan).endswith(b"end\n") for plan in plans)


def test_every_probe_of_the_host_is_sampled() -> None:
    """No probe of host or process is forgotten in the sampling plan."""
    plan = sampling_plan((), (nodeos(),), RecordOptions())
    paths = {read.path for read in plan.reads}
    assert {p.file for p in PROBES if p.scope == "host"} <= paths
    assert {p.file for p in PROBES if p.scope == "nodeos"} <= {f.name for f in plan.process_files}
    assert {f.name for f in plan.cgroup_files} >= {"cpu.stat", "io.stat", "memory.stat"}


def test_slow_groups_keep_their_seconds_at_another_tick() -> None:
    """At a tick of 5 s what is read every 10 s is read at every second tick."""
    plan = sampling_plan((), (nodeos(http_address="127.0.0.1:8888"),), RecordOptions(interval_s=5))
    assert {question.every_ticks for question in plan.https} == {2}
    assert next(r for r in plan.reads if r.path == "/proc/stat").every_ticks == 1


def test_no_option_that_is_secret_may_leave() -> None:
    """The plan's allow-list holds no option whose value is a key."""
    allowed = set(survey_plan(()).allowed_options)
    assert "signature-provider" not in allowed
    assert "chain-state-db-size-mb" in allowed


@pytest.mark.parametrize(
    ("found", "kinds"),
    [
        ((), [("exe_name", "nodeos")]),
        ((nodeos(),), [("exe_name", "nodeos")]),
        ((nodeos(unit="eos.service"),), [("unit", "eos.service")]),
        (
            (nodeos(), nodeos(id="wax", data_dir="/data/wax")),
            [("cmdline", "/data/eos"), ("cmdline", "/data/wax")],
        ),
        ((nodeos(data_dir=None), nodeos(id="b", pid=8, data_dir=None)), [("pid", "7"), ("pid", "8")]),
    ],
)
def test_each_nodeos_is_named_apart_and_found_again(found: tuple, kinds: list) -> None:
    """A unit or directory finds a nodeos after a restart; a pid is the last resort."""
    plan = sampling_plan((), found, RecordOptions())
    assert [(match.kind, match.value) for match in plan.matches] == kinds


def test_the_operators_selectors_are_taken_as_they_are() -> None:
    """What the operator says wins over what was found."""
    chosen = (NodeosSelector(id="x", kind="comm", value="nodeos-wax"),)
    plan = sampling_plan(chosen, (nodeos(unit="eos.service"),), RecordOptions())
    assert [(match.id, match.kind) for match in plan.matches] == [("x", "comm")]


@given(st.one_of(st.floats(max_value=0.09), st.floats(min_value=60.01), st.just(float("nan"))))
def test_a_tick_that_nobody_can_keep_is_refused(interval_s: float) -> None:
    """Zero, negative, tiny and huge ticks say what is accepted."""
    with pytest.raises(ConfigError, match=r"give 0\.1s to 60s"):
        check_interval(interval_s)
