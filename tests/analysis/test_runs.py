"""Repeated runs: the pair is the unit."""

import numpy as np
import pytest
from scipy import stats

from leapprof.analysis.runs import between_pairs, p_between, within_runs
from leapprof.model import Effect, Interval


def test_over_pairs_it_is_students_t():
    """As scipy has it."""
    values = [-1.0, -1.4, -0.8, -1.1]
    found = between_pairs(values)
    half = stats.t.ppf(0.975, 3) * np.std(values, ddof=1) / 2
    assert (found.ci95.low, found.ci95.high) == pytest.approx((found.value - half, found.value + half))
    assert p_between(values) == pytest.approx(stats.ttest_1samp(values, 0).pvalue)


def test_one_pair_has_no_spread():
    """No interval is made of one number."""
    assert between_pairs([3.0]).ci95 is None
    assert p_between([3.0]) is None
    assert (p_between([0.0, 0.0]), p_between([2.0, 2.0])) == (1.0, 0.0)


def test_intervals_within_runs_add_by_squares():
    """Two arms of 3 and 4 are one of 2.5 for the mean."""
    one = Effect(value=1.0, ci95=Interval(low=-2.0, high=4.0))
    two = Effect(value=3.0, ci95=Interval(low=-1.0, high=7.0))
    found = within_runs([one, two])
    assert (found.value, found.ci95.low, found.ci95.high) == pytest.approx((2.0, -0.5, 4.5))
    assert within_runs([one, Effect(value=1.0, ci95=None)]).ci95 is None
