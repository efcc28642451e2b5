"""Tests of what the sampling costs."""

from leapprof.model import Frame, ReadStatus, Section
from leapprof.recorder.cost import CostMeter


def frame(cpu_ns: int | None, dropped: int = 0, *sections: Section) -> Frame:
    """Return a frame with these costs."""
    return Frame(
        seq=1,
        boottime_ns=0,
        wall_ns=0,
        deadline_ns=0,
        agent_cpu_ns=cpu_ns,
        agent_rss_bytes=None if cpu_ns is None else 9_000_000,
        dropped=dropped,
        sections=sections,
    )


def test_costs_of_several_runs_add_up() -> None:
    """After a lost connection another agent counts from 0; the sum goes on."""
    meter = CostMeter(agent="python")
    for cpu_ns in (1_000_000_000, 2_000_000_000):
        meter.add(frame(cpu_ns, 1))
    meter.new_run()
    meter.add(frame(500_000_000, 2))
    total = meter.total()
    assert (total.cpu_s, total.dropped_frames, total.samples, total.rss_bytes) == (2.5, 3, 3, 9_000_000)


def test_unknown_costs_stay_unknown() -> None:
    """The sh agent that does not know its CPU time has no cost of 0."""
    meter = CostMeter(agent="sh")
    meter.add(frame(None))
    assert meter.total().cpu_s is None
    assert meter.total().rss_bytes is None


def test_questions_to_nodeos_are_counted() -> None:
    """Each answer adds its response time; a foreign first line adds none."""
    meter = CostMeter(agent="python")
    sections = [
        Section(name="http/eos/v1/chain/get_info", status=ReadStatus.OK, text=b"200 1500 nodeos/v5.0.3\n{}"),
        Section(name="http/eos/v1/db_size/get", status=ReadStatus.FAILED, text=b"timed out"),
    ]
    meter.add(frame(1, 0, *sections))
    assert meter.total().http_requests == 2
    assert meter.total().http_s == 0.0015
