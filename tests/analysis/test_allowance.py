"""What an interval allows for when its window is short."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.analysis.allowance import (
    FULL_FROM_S,
    ON_OFF_FULL_FROM_S,
    Bursts,
    Nature,
    allowing,
    design_s,
    doubts,
    is_widened,
    memory_s,
)
from leapprof.model import Estimate, Interval

LONG = Estimate(
    mean=10.0, ci95=Interval(low=9.0, high=11.0), p50=None, p95=None, p99=None, samples=7200,
    effective_samples=400.0, covered_seconds=7200.0, standard_error=0.5, degrees_of_freedom=19, lag1=0.1, batches=20,
)  # fmt: skip
SHORT = replace(LONG, covered_seconds=3600.0)
SEEN = Interval(low=8.0, high=13.0)
LEVEL = Nature(memory_s=120.0, range=SEEN, non_negative=False)


def test_a_window_that_is_long_enough_stays_as_it_is():
    """100 minutes and 20 memories."""
    assert allowing(LONG, LEVEL) == LONG


def test_in_an_hour_arms_and_standard_error_are_twice_as_long():
    """The mean stays."""
    found = allowing(SHORT, LEVEL)
    assert (found.mean, found.ci95) == (10.0, Interval(low=8.0, high=12.0))
    assert (found.standard_error, found.widening) == (1.0, 2.0)
    assert is_widened(LONG, found)
    assert not is_widened(LONG, None)


def test_in_20_minutes_they_are_longer_still():
    """A memory may be longer than the whole window."""
    assert allowing(replace(LONG, covered_seconds=1200.0), LEVEL).ci95 == Interval(low=7.5, high=12.5)


@pytest.mark.parametrize(
    ("changes", "nature"),
    [
        ({}, replace(LEVEL, memory_s=600.0)),
        ({"effective_samples": 15.0}, LEVEL),
        ({}, replace(LEVEL, bursts=Bursts(effective=4.0, largest_share=0.3))),
    ],
)
def test_samples_that_tell_little_make_it_longer_too(changes, nature):
    """A long memory, few independent samples, few bursts: each as a short window."""
    assert allowing(replace(LONG, **changes), nature).widening == 2.0


def test_with_a_trend_it_reaches_beyond_the_range_of_the_batch_means():
    """Two and a half times as far as they went: their spread says little of the mean."""
    found = allowing(replace(LONG, lag1=0.9), LEVEL)
    assert found.ci95 == Interval(low=5.0, high=17.5)
    assert found.widening == 7.5


def test_what_goes_on_and_off_reaches_beyond_its_range_for_hours():
    """Until 20 times its least memory; then twice, until three days."""
    nature = replace(LEVEL, on_off=True)
    assert allowing(LONG, nature).ci95 == Interval(low=5.0, high=17.5)
    assert allowing(replace(LONG, covered_seconds=86_400.0), nature).ci95 == Interval(low=8.0, high=12.0)
    assert allowing(replace(LONG, covered_seconds=ON_OFF_FULL_FROM_S), nature).widening == 1.0


def test_what_cannot_be_negative_keeps_a_ratio():
    """Its lower arm is longer on the log scale: 2 of 10 becomes 0.4, and not 0."""
    wide = replace(SHORT, ci95=Interval(low=2.0, high=30.0))
    found = allowing(wide, Nature(memory_s=120.0))
    assert found.ci95.low == pytest.approx(0.4)
    assert found.ci95.high == 50.0


def test_without_an_interval_there_is_nothing_to_make_longer():
    """Under 20 minutes."""
    none = replace(SHORT, ci95=None, standard_error=None)
    assert allowing(none, LEVEL) == none


def test_a_constant_stays_one():
    """No spread, no interval: nothing is made of nothing."""
    still = replace(SHORT, ci95=Interval(low=10.0, high=10.0), standard_error=0.0)
    assert allowing(still, replace(LEVEL, range=None)).ci95 == still.ci95


@given(
    st.floats(0, 1e6),
    st.floats(0, 1e6),
    st.floats(0, 1e6),
    st.floats(-1, 1),
    st.booleans(),
    st.floats(0, 1e5),
)
def test_it_only_ever_gets_longer(mean, down, up, lag1, non_negative, covered_s):
    """It holds the mean and the interval of the samples, and stays above 0 where that is the least."""
    low = max(mean - down, 0.0) if non_negative else mean - down
    before = replace(
        LONG, mean=mean, ci95=Interval(low=low, high=mean + up), lag1=lag1, covered_seconds=covered_s
    )
    found = allowing(before, Nature(memory_s=120.0, range=before.ci95, non_negative=non_negative))
    slack = 1e-9 * (1 + mean + down + up)
    assert found.ci95.low <= low + slack
    assert found.ci95.high >= mean + up - slack
    assert found.widening >= 1.0
    if non_negative:
        assert found.ci95.low >= 0.0


def test_only_a_day_or_more_may_shorten_the_memory():
    """A short window under-estimates its own memory."""
    assert memory_s(replace(LONG, effective_samples=7200.0), 120.0) == 120
    assert memory_s(replace(LONG, effective_samples=7.2), 120.0) == 1000
    assert memory_s(replace(LONG, covered_seconds=86_400.0, effective_samples=8640.0), 120.0) == 10


def test_a_full_grade_takes_100_minutes_or_20_memories():
    """Or three days of what goes on and off."""
    assert design_s(LONG, 120.0, on_off=False) == FULL_FROM_S
    assert design_s(LONG, 600.0, on_off=False) == 12_000
    assert design_s(LONG, 120.0, on_off=True) == ON_OFF_FULL_FROM_S


def test_doubts_are_told_in_words():
    """Each is a clause after before or after."""
    assert list(doubts(LONG, None)) == []
    assert list(doubts(replace(LONG, effective_samples=12.4), None)) == [
        "is worth 12 independent samples of 20"
    ]
    assert "4 bursts" in next(doubts(LONG, Bursts(effective=4.0, largest_share=0.3)))
    assert "trend" in next(doubts(replace(LONG, lag1=0.7), None))
