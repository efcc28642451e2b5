"""Counters and gauges become series; a reset is a gap, an absent reading is no zero."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leapprof.analysis.rates import counter_rate, counter_total, gauge
from leapprof.model import Column


def column(values, present=None):
    """Return a column; all of it present unless said otherwise."""
    values = np.array(values, dtype=np.int64)
    flags = np.ones(values.size, bool) if present is None else np.array(present, bool)
    return Column(values=values, present=flags)


def seconds(n):
    """Return the first n seconds."""
    return np.arange(n, dtype=np.float64)


def test_a_counter_becomes_a_rate_of_each_interval():
    """Each value is the difference over the elapsed time that ends there."""
    series = counter_rate(np.array([0.0, 1.0, 3.0]), column([10, 20, 60]))
    assert np.isnan(series.value[0])
    assert series.value[1:].tolist() == [10.0, 20.0]
    assert series.weight_s.tolist() == [0.0, 1.0, 2.0]


def test_a_counter_that_went_down_leaves_a_gap_and_a_lower_bound():
    """A reset is neither clamped to 0 nor taken for a wrap."""
    counter = column([100, 200, 5, 15])
    assert np.isnan(counter_rate(seconds(4), counter).value[2])
    total = counter_total(seconds(4), counter)
    assert (total.amount, total.duration_s, total.lower_bound) == (110.0, 2.0, True)


def test_bytes_counted_during_a_gap_stay_in_the_total():
    """The counter went on while nobody looked: no rate is drawn, but nothing is lost."""
    time_s = np.array([0.0, 1.0, 2.0, 100.0, 101.0])
    counter = column([0, 10, 20, 1000, 1010])
    assert np.isnan(counter_rate(time_s, counter).value[3])
    total = counter_total(time_s, counter)
    assert (total.amount, total.duration_s, total.lower_bound) == (1010.0, 101.0, False)


def test_a_new_identity_starts_a_segment_even_if_the_counter_went_up():
    """Another process's counter may be higher by chance."""
    counter, breaks = column([10, 20, 500, 510]), np.array([False, False, True, False])
    assert np.isnan(counter_rate(seconds(4), counter, breaks).value[2])
    assert counter_total(seconds(4), counter, breaks).amount == 20


def test_an_absent_gauge_is_not_zero():
    """Where a level was not read its series has no value and no weight."""
    series = gauge(seconds(3), column([5, 0, 7], [True, False, True]))
    assert np.isnan(series.value[1])
    assert series.weight_s[1] == 0


@given(
    st.lists(st.tuples(st.integers(0, 2**63 - 1), st.booleans(), st.booleans()), max_size=30),
)
def test_no_counter_gives_a_negative_rate(rows):
    """Whatever a host says, rates are NaN or at least 0, and NaN has no weight."""
    values, present, breaks = ([r[i] for r in rows] for i in range(3))
    counter = column(values, present)
    series = counter_rate(seconds(len(rows)), counter, np.array(breaks, bool))
    known = np.isfinite(series.value)
    assert (series.value[known] >= 0).all()
    assert (series.weight_s[~known] == 0).all()
    total = counter_total(seconds(len(rows)), counter, np.array(breaks, bool))
    assert total is None or total.amount >= 0
