"""Warm-up, change point, drift and hours of the day."""

import numpy as np
import pytest

from leapprof.analysis.batch import Span, batch_means
from leapprof.analysis.windows import change_point, drift, hours_covered, settled_at_s, warm_up_cut_s
from leapprof.model import Series

HOUR = Span(start_s=1000.0, end_s=4600.0)


def series(value, start_s=0.0):
    """Return samples of one second each."""
    value = np.asarray(value, dtype=np.float64)
    time_s = start_s + np.arange(1.0, value.size + 1)
    return Series(time_s=time_s, value=value, weight_s=np.ones(value.size))


def test_a_node_that_ran_for_days_needs_no_warm_up():
    """Warm-up counts from the start of nodeos, not of the recording."""
    assert warm_up_cut_s(HOUR, started_s=10.0, settled_s=None) == 0


def test_a_fresh_node_warms_up_for_five_minutes_or_until_it_has_caught_up():
    """At most half of the recording is cut."""
    assert warm_up_cut_s(HOUR, started_s=1000.0, settled_s=None) == 300
    assert warm_up_cut_s(HOUR, started_s=None, settled_s=1900.0) == 900
    assert warm_up_cut_s(HOUR, started_s=1000.0, settled_s=9000.0) == 1800


def test_settled_is_a_minute_at_the_head():
    """A lag that comes back starts the minute anew."""
    lag = np.concatenate([np.full(100, 50.0), np.full(30, 0.5), np.full(10, 9.0), np.full(200, 0.5)])
    assert settled_at_s(series(lag)) == 201
    assert settled_at_s(series(np.full(100, 0.5))) == 1
    assert settled_at_s(series(np.full(100, 9.0))) is None
    assert settled_at_s(series(np.full(100, np.nan))) is None


def test_a_step_is_found_where_it_is_and_noise_is_not_one():
    """Half-minute means of an hour: a step of two deviations at half time."""
    noise = np.random.default_rng(4).normal(10, 1, 3600)
    span = Span(start_s=0.0, end_s=3600.0)
    assert not change_point(series(noise), span).detected
    noise[1800:] += 2
    found = change_point(series(noise), span)
    assert found.detected
    assert found.agrees_with(1800.0)
    assert not found.agrees_with(900.0)


def test_a_change_point_needs_ten_minutes():
    """With fewer half-minutes there is nothing to split."""
    assert change_point(series(np.ones(300)), Span(start_s=0.0, end_s=300.0)) is None


def test_drift_is_the_rise_over_the_window():
    """A line of 0.01 a second rises by 36 in an hour."""
    value = 5 + 0.01 * np.arange(3600.0)
    rise, interval = drift(batch_means(series(value), Span(start_s=0.0, end_s=3600.0), 180))
    assert rise == pytest.approx(36)
    assert interval.low <= 36.000001
    assert interval.high >= 35.999999


def test_hours_count_when_half_of_them_is_covered():
    """From 22:10 to 00:40 UTC: hours 22, 23 and 0."""
    start = (22 * 3600 + 600) * 10**9
    assert hours_covered(start, start + 9000 * 10**9) == {22, 23, 0}
