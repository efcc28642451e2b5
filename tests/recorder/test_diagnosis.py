"""Tests of what doctor sees."""

from leapprof.ingest.survey import Survey
from leapprof.model import ClockOffset, Device, DeviceKind, Host, Nodeos, Topology
from leapprof.model.access import HostConfig
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.diagnosis import diagnose, survey_advice
from leapprof.recorder.session import HostSurvey


def surveyed(offset_s: float, *nodeos: Nodeos) -> HostSurvey:
    """Return a survey of a host with a virtual disk."""
    device = Device(name="vda", major_minor="254:0", kind=DeviceKind.VIRTUAL)
    survey = Survey(host=Host(name="h", boot_id="b"), topology=Topology(devices=(device,)), nodeos=nodeos)
    offset = ClockOffset(taken_wall_ns=0, offset_s=offset_s, round_trip_s=0.01)
    return HostSurvey(survey=survey, findings=(), agent="python", offset=offset)


def test_a_clock_that_is_off_is_said() -> None:
    """Half a second is more than a block."""
    assert "clock-offset" in [f.code for f in survey_advice("h", surveyed(-0.7))]
    assert "clock-offset" not in [f.code for f in survey_advice("h", surveyed(0.1))]


def test_each_finding_has_a_hint() -> None:
    """What is missing of a nodeos is named with what to do."""
    findings = survey_advice("h", surveyed(0, Nodeos(id="eos", pid=1, start_ticks=1)))
    expected = ["nodeos-api-silent", "nodeos-config-unseen", "nodeos-shares-cgroup", "virtual-disk"]
    assert [f.code for f in findings] == expected
    assert all(f.hint and f.subject for f in findings)


def test_a_host_that_does_not_answer_is_a_finding() -> None:
    """The failure is part of the answer and hides no other host."""
    host = HostConfig(name="far", address="127.0.0.1", port=1, transport="replay", replay="/nonexistent")
    found = diagnose(host, (), SystemClock())
    assert found.surveyed is None
    assert found.error is not None
    assert found.findings[0].hint


def test_why_a_host_cannot_be_sampled_has_its_own_code() -> None:
    """A closed port is told apart from a survey that failed, and the host's name stands once in the line."""
    host = HostConfig(name="far", address="127.0.0.1", port=1, transport="ssh", ssh_config="/dev/null")
    (failure,) = diagnose(host, (), SystemClock()).findings
    assert (failure.code, failure.subject) == ("connect-failed", "far")
    assert not failure.message.startswith("far")
