"""Tests of what gates wait for, reading by reading."""

from leapprof.config.playbook_limits import HeadLagGate, MemoryGate
from leapprof.experiment.gates import HeadLagCheck, MemoryCheck
from leapprof.experiment.observe import Observation, Reading
from leapprof.ingest.survey import Survey
from leapprof.model import Host, Topology


def seen(**reading) -> Observation:
    """Return a host of which this was read."""
    survey = Survey(host=Host(name="h", boot_id="b"), topology=Topology(), nodeos=())
    return Observation(survey=survey, nodeos=None, reading=Reading(wall_ns=0, is_up=True, **reading))


def test_a_head_lag_must_stay_low():
    """A high or unknown lag begins the time anew, and the sentence says what is missing."""
    gate = HeadLagCheck(gate=HeadLagGate(below_blocks=10, lasting=60.0))
    assert "is not known" in str(gate(seen(), 0.0))
    assert "is 5 blocks" in str(gate(seen(head_lag_blocks=5.0), 10.0))
    assert gate(seen(head_lag_blocks=5.0), 69.0) is not None
    assert "is 50 blocks" in str(gate(seen(head_lag_blocks=50.0), 70.0))
    assert gate(seen(head_lag_blocks=5.0), 80.0) is not None
    assert gate(seen(head_lag_blocks=5.0), 140.0) is None


def test_memory_settles_when_it_stays_within_its_band():
    """Growing memory does not open the gate; memory that stays does, after the whole time."""
    gate = MemoryCheck(gate=MemoryGate(within_percent=2.0, lasting=60.0))
    for second in range(0, 120, 10):
        assert gate(seen(rss_bytes=2**30 + second * 2**23), float(second)) is not None
    opened = [second for second in range(120, 240, 10) if gate(seen(rss_bytes=2**31), float(second)) is None]
    assert opened[0] in (180, 190)
    assert gate(seen(), 300.0) == "the resident memory of nodeos to be known"
