"""Tests of expectations: read, judged on intervals, worst outcome."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.config.playbook_expect import parse_expectation
from leapprof.experiment.judge import judge, worst
from leapprof.model import (
    Better,
    Effect,
    Estimate,
    Grade,
    Interval,
    MetricComparison,
    Outcome,
    Subject,
    Verdict,
)


class Compared:
    """What judge needs of a comparison."""

    def __init__(self, *metrics):
        self.metrics = metrics


def estimate(low=None, high=None) -> Estimate:
    """Return an estimate with an interval, or without."""
    interval = None if low is None else Interval(low=low, high=high)
    return Estimate(
        mean=1.0,
        ci95=interval,
        p50=None,
        p95=None,
        p99=None,
        samples=9,
        effective_samples=None,
        covered_seconds=9.0,
    )


def metric(name, *, ratio=None, difference=None, after=None, refused=None, **subject) -> MetricComparison:
    """Return a metric with these intervals."""

    def effect(interval):
        return (
            None if interval is None else Effect(value=0.0, ci95=Interval(low=interval[0], high=interval[1]))
        )

    return MetricComparison(
        name=name, unit="bytes" if "bytes" in name else "percent", subject=Subject(**subject), better=Better.LOWER,
        before=estimate(), after=estimate(*(after or ())), difference=effect(difference), ratio=effect(ratio),
        adjusted=None, p_value=None, p_adjusted=None, grade=Grade.FULL, verdict=Verdict.INCONCLUSIVE,
        reason="Too short.", refused=refused,
    )  # fmt: skip


CPU = "nodeos.cpu_percent"


@pytest.mark.parametrize(
    ("text", "found", "outcome"),
    [
        ("decrease >= 10 %", {"ratio": (0.7, 0.85)}, Outcome.MET),
        ("decrease >= 10 %", {"ratio": (0.85, 0.95)}, Outcome.CANNOT_TELL),
        ("decrease >= 10 %", {"ratio": (0.95, 1.2)}, Outcome.NOT_MET),
        ("increase <= 5 %", {"ratio": (0.9, 1.04)}, Outcome.MET),
        ("increase <= 5 %", {"ratio": (1.06, 1.2)}, Outcome.NOT_MET),
        ("increase <= 5 %", {}, Outcome.CANNOT_TELL),
        ("decrease >= 3", {"difference": (-6.0, -4.0)}, Outcome.MET),
        ("increase >= 3", {"difference": (-6.0, -4.0)}, Outcome.NOT_MET),
        ("<= 40 %", {"after": (30.0, 39.0)}, Outcome.MET),
        ("<= 40 %", {"after": (39.0, 41.0)}, Outcome.CANNOT_TELL),
        (">= 40 %", {"after": (30.0, 39.0)}, Outcome.NOT_MET),
        ("decrease >= 10 %", {"ratio": (0.1, 0.2), "refused": "Other map modes."}, Outcome.CANNOT_TELL),
    ],
)  # fmt: skip
def test_an_expectation_is_judged_on_the_interval(text, found, outcome):
    """Met when all of the interval says so, not met when none of it does."""
    result = judge(parse_expectation(CPU, text), Compared(metric(CPU, **found)))
    assert result.outcome is outcome
    assert result.reason


def test_sizes_are_sizes():
    """8 GiB is binary, 1 MB/s decimal."""
    assert parse_expectation("nodeos.swap_bytes", "<= 8 GiB").limit == 8 * 2**30
    assert parse_expectation("device.write_bytes_per_s[state]", "<= 1 MB/s").limit == 1e6


def test_the_subject_is_a_role_a_device_or_a_nodeos():
    """Only the metric that is meant is judged, and of several the worst counts."""
    name = "device.write_bytes_per_s"
    both = Compared(
        metric(name, ratio=(0.1, 0.2), device="sda", role="state, blocks"),
        metric(name, ratio=(1.1, 1.2), device="sdb", role="os"),
    )
    assert judge(parse_expectation(f"{name}[state]", "decrease >= 50 %"), both).outcome is Outcome.MET
    assert judge(parse_expectation(f"{name}[sdb]", "decrease >= 50 %"), both).outcome is Outcome.NOT_MET
    assert judge(parse_expectation(name, "decrease >= 50 %"), both).outcome is Outcome.NOT_MET
    assert judge(parse_expectation(f"{name}[swap]", "decrease >= 50 %"), both).outcome is Outcome.CANNOT_TELL


def test_the_worst_outcome_is_the_whole_outcome():
    """Not met beats cannot tell, which beats met."""
    assert worst([Outcome.MET, Outcome.CANNOT_TELL, Outcome.NOT_MET]) is Outcome.NOT_MET
    assert worst([Outcome.MET, Outcome.CANNOT_TELL]) is Outcome.CANNOT_TELL
    assert worst([Outcome.MET]) is Outcome.MET


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_text_is_an_expectation_or_a_value_error(name, text):
    """Nothing else leaves the parser."""
    try:
        parse_expectation(name, text)
    except ValueError:
        return
