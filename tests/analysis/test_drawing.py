"""What is drawn: thinned series and shared distributions."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leapprof.analysis.hist import distributions, held
from leapprof.analysis.thin import thin
from leapprof.model import Series


def series(value):
    """Return samples of one second each; NaN is a gap."""
    value = np.asarray(value, dtype=np.float64)
    weight = np.where(np.isfinite(value), 1.0, 0.0)
    return Series(time_s=np.arange(1.0, value.size + 1), value=value, weight_s=weight)


def test_a_peak_of_one_second_in_a_day_is_still_as_high():
    """Thinning keeps lowest and highest of each stretch."""
    value = np.ones(86_400)
    value[50_000] = 99
    time_s, thinned = thin(series(value))
    assert thinned.size <= 1200
    assert thinned.max() == 99
    assert time_s[thinned.argmax()] == 50_001


def test_a_gap_breaks_the_line():
    """No line is drawn over an hour without samples."""
    value = np.ones(10_000)
    value[3000:6600] = np.nan
    _, thinned = thin(series(value))
    assert np.isnan(thinned).sum() == 1


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=200), st.integers(2, 50))
def test_thinning_never_leaves_the_range_and_times_increase(values, points):
    """Whatever the samples."""
    time_s, thinned = thin(series(values), points)
    assert np.nanmin(thinned) == min(values)
    assert np.nanmax(thinned) == max(values)
    assert (np.diff(time_s) > 0).all()


def test_both_sides_share_bins_and_each_sums_to_one():
    """A chart that uses two scales lies."""
    before, after = series(np.random.default_rng(1).random(5000)), series([0.2, 0.4, np.nan])
    found = distributions(held(before), held(after))
    for shares in (found.before, found.after):
        assert abs(shares.sum() - 1) < 1e-9


def test_bursty_writes_get_bins_that_grow():
    """Mostly nothing, sometimes a lot: equal steps would show one bar."""
    bursty = np.zeros(5000)
    bursty[::50] = np.random.default_rng(2).lognormal(12, 2, 100)
    edges = distributions(held(series(bursty)), held(series(bursty))).edges
    assert edges[-1] / edges[1] > 1000


def test_constants_and_nothing_have_bins_too():
    """A flat line is a bar, no samples are no bar."""
    flat = series(np.full(10, 7.0))
    assert distributions(held(flat), held(flat)).before.max() == 1
    none = series([np.nan])
    assert distributions(held(none), held(none)).after.sum() == 0
