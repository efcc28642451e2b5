"""Selectors that an agent cannot match are resolved from the survey; names follow the operator."""

import pytest

from leapprof.config.selector import parse_selector
from leapprof.ingest.processes import UNNAMED_MATCH, Found
from leapprof.ingest.survey import Survey
from leapprof.model import Host, Nodeos, Topology
from leapprof.recorder.planning import RecordOptions, sampling_plan, survey_plan
from leapprof.recorder.selecting import pid_files, select, survey_selectors


def survey() -> Survey:
    """Return a host with two nodeos."""
    nodeos = (
        Nodeos(id="eos", pid=7, start_ticks=1, data_dir="/srv/eos/data", http_address="127.0.0.1:8888"),
        Nodeos(id="wax", pid=8, start_ticks=2, data_dir="/srv/wax", http_address="127.0.0.1:8889"),
    )
    found = tuple(Found(id=n.id, section_id="x", pid=n.pid, start_ticks=n.start_ticks) for n in nodeos)
    facts = {"kernel": "6.1", "nodeos.eos.state_dirty": "no", "nodeos.wax.state_dirty": "yes"}
    return Survey(
        host=Host(name="h", boot_id="b", facts=facts),
        topology=Topology(),
        nodeos=nodeos,
        found=found,
        denied=("/proc/x", "nodeos/eos/exe", "nodeos/wax/exe"),
    )


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("name:wax", {"wax": 8}),
        ("data-dir:/srv/eos/data/", {"eos": 7}),
        ("mine=data-dir:/srv/eos/data", {"mine": 7}),
        ("mine=port:8889", {"mine": 8}),
        ("mine=pid-file:/run/eos.pid", {"mine": 7}),
    ],
)
def test_one_is_chosen_and_named(text: str, chosen: dict[str, int]) -> None:
    """The other one, its facts and its refusals are left out."""
    found, findings = select(survey(), (parse_selector(text),), {"/run/eos.pid": "7\n"})
    assert {n.id: n.pid for n in found.nodeos} == chosen
    assert findings == ()
    (name,) = chosen
    assert [p.id for p in found.found] == [name]
    assert [fact for fact in found.host.facts if fact.startswith("nodeos.")] == [f"nodeos.{name}.state_dirty"]
    assert found.denied == ("/proc/x", f"nodeos/{name}/exe")


def test_what_fits_nothing_is_a_finding_that_names_what_is_there() -> None:
    """The operator sees what to choose from."""
    found, (finding,) = select(survey(), (parse_selector("port:9999"),), {})
    assert found.nodeos == ()
    assert finding.code == "selector-finds-none"
    assert "eos (pid 7), wax (pid 8)" in finding.message


def test_kinds_of_the_agent_stay_as_the_survey_named_them() -> None:
    """An agent has already chosen."""
    found, findings = select(survey(), (parse_selector("unit:eos.service"),), {})
    assert found is not None
    assert len(found.nodeos) == 2
    assert findings == ()


def test_both_kinds_together_choose_both() -> None:
    """The agent's under its own name."""
    selectors = (parse_selector("eos=exe:nodeos"), parse_selector("w=port:8889"))
    found, _ = select(survey(), selectors, {})
    assert {n.id: n.pid for n in found.nodeos} == {"eos": 7, "w": 8}


def test_a_renamed_program_is_looked_for_by_its_threads_name() -> None:
    """Nodeos names its main thread itself, whatever its file is called."""
    kinds = {(s.kind, s.value) for s in survey_selectors(())}
    assert {("exe_name", "nodeos"), ("comm", "nodeos")} <= kinds
    assert {s.id for s in survey_selectors(())} == {UNNAMED_MATCH}


def test_a_pid_file_is_read_in_the_survey() -> None:
    """It is a reading like any other."""
    selectors = (parse_selector("pid-file:/run/eos.pid"),)
    assert pid_files(selectors) == ("/run/eos.pid",)
    assert "/run/eos.pid" in {read.path for read in survey_plan(selectors).reads}


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("data-dir:/srv/eos", ("cmdline", "/srv/eos")),
        ("port:8888", ("exe_name", "nodeos")),
        ("unit:eos.service", ("unit", "eos.service")),
    ],
)
def test_a_nodeos_that_does_not_run_yet_is_waited_for(text: str, match: tuple[str, str]) -> None:
    """By the nearest kind that an agent knows."""
    (found,) = sampling_plan((parse_selector(text),), (), RecordOptions()).matches
    assert (found.kind, found.value) == match


def test_a_chosen_nodeos_is_found_again_after_a_restart() -> None:
    """Its data directory stays when its pid goes."""
    chosen, _ = select(survey(), (parse_selector("mine=port:8889"),), {})
    nodeos = (*survey().nodeos[:1], *chosen.nodeos)
    matches = sampling_plan((parse_selector("mine=port:8889"),), nodeos, RecordOptions()).matches
    assert [(m.id, m.kind, m.value) for m in matches] == [
        ("eos", "cmdline", "/srv/eos/data"),
        ("mine", "cmdline", "/srv/wax"),
    ]
