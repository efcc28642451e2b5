"""Samples become means over equal stretches of whole minutes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.analysis.batch import Span, batch_length_s, batch_means, batch_shares, merge, within
from leapprof.model import Series


def series(value):
    """Return samples of one second each."""
    value = np.array(value, dtype=np.float64)
    weight = np.where(np.isfinite(value), 1.0, 0.0)
    return Series(time_s=np.arange(1.0, value.size + 1), value=value, weight_s=weight)


@given(st.integers(1200, 3 * 86_400 - 1))
def test_a_window_below_three_days_has_20_to_39_batches_of_whole_minutes(duration_s):
    """Batches cut across the writeback pattern of 5 and 30 s would hide the slow part."""
    length_s = batch_length_s(duration_s)
    assert length_s % 60 == 0
    assert 20 <= duration_s // length_s <= 39


def test_below_20_minutes_there_are_no_batches_and_from_three_days_on_they_are_days():
    """The day is the independent unit where there are enough of them."""
    assert batch_length_s(1199) is None
    assert batch_length_s(3 * 86_400) == 86_400


def test_batches_end_with_the_window():
    """What is left over lies at the start, next to the warm-up."""
    batches = batch_means(series(np.arange(130)), Span(start_s=0, end_s=130), 60)
    assert batches.start_s.tolist() == [10, 70]
    assert batches.mean.tolist() == [39.5, 99.5]


def test_a_batch_less_than_half_covered_is_dropped():
    """A mean over a few seconds is not a mean over minutes."""
    value = np.ones(120)
    value[60:91] = np.nan
    batches = batch_means(series(value), Span(start_s=0, end_s=120), 60)
    assert batches.start_s.tolist() == [0]


def test_a_servers_means_enter_by_the_same_door():
    """Minute means merged to 5 minutes are what the samples would have given."""
    samples = series(np.random.default_rng(3).random(3000))
    span = Span(start_s=0, end_s=3000)
    direct = batch_means(samples, span, 300)
    merged = merge(batch_means(samples, span, 60), 300)
    assert merged.mean == pytest.approx(direct.mean)
    assert merged.start_s == pytest.approx(direct.start_s)


@given(st.lists(st.one_of(st.just(float("nan")), st.floats(0, 1e12)), min_size=1, max_size=300))
def test_gaps_never_make_a_mean_leave_the_range_of_the_samples(values):
    """However full of holes, each batch mean lies between its lowest and highest sample."""
    batches = batch_means(series(values), Span(start_s=0, end_s=float(len(values))), 60)
    if batches.mean.size:
        known = [v for v in values if v == v]
        assert np.isfinite(batches.mean).all()
        assert batches.mean.min() >= min(known) * (1 - 1e-9) - 1e-9
        assert batches.mean.max() <= max(known) * (1 + 1e-9) + 1e-9


def test_within_takes_intervals_that_end_inside():
    """The sample at the very start belongs to the time before."""
    part = within(series(np.arange(10)), Span(start_s=3, end_s=6))
    assert part.time_s.tolist() == [4, 5, 6]


def test_shares_of_batches_are_of_the_samples_that_are_there():
    """A third of the first ten minutes is at or below 1; of the second half of the others nothing is known."""
    value = np.full(1200, 5.0)
    value[:200] = 1.0
    value[900:] = np.nan
    found = series(value)
    batches = batch_means(found, Span(start_s=0.0, end_s=1200.0), 600.0)
    low, high = batch_shares(found, batches, (1.0, 5.0))
    assert low == pytest.approx([1 / 3, 0.0])
    assert high == pytest.approx([1.0, 1.0])
