"""Two estimates: difference, ratio, p values."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from leapprof.analysis.compare import benjamini_hochberg, difference, holm, p_value, ratio
from leapprof.model import Estimate, Interval


def known(mean, half=1.0, *, se=0.5, freedom=19, seconds=7200.0):
    """Return an estimate with a symmetric interval."""
    return Estimate(
        mean=mean, ci95=Interval(low=mean - half, high=mean + half), p50=None, p95=None, p99=None,
        samples=int(seconds), effective_samples=400.0, covered_seconds=seconds, standard_error=se,
        degrees_of_freedom=freedom, lag1=0.0, batches=freedom + 1,
    )  # fmt: skip


def test_the_interval_of_a_difference_adds_the_arms_by_squares():
    """Two symmetric arms of 3 and 4 give one of 5 (MOVER is Welch's there)."""
    effect = difference(known(10, 3), known(7, 4))
    assert effect.value == -3
    assert (effect.ci95.low, effect.ci95.high) == pytest.approx((-8, 2))


def test_an_asymmetric_side_makes_an_asymmetric_difference():
    """The long upper arm of bursty writes before is the long lower arm of the difference."""
    before = known(10)
    before = Estimate(
        **{f: getattr(before, f) for f in before.__slots__} | {"ci95": Interval(low=9, high=30)}
    )
    effect = difference(before, known(10))
    assert effect.ci95.low == pytest.approx(-math.hypot(1, 20))
    assert effect.ci95.high == pytest.approx(math.hypot(1, 1))


def test_a_ratio_needs_both_means_above_zero():
    """Nothing divided by something is no ratio with an interval."""
    assert ratio(known(0), known(1)) is None
    assert ratio(known(4), known(2)).value == 0.5


def test_too_short_sides_have_a_difference_without_interval():
    """The operator sees the number, without a claim."""
    short = Estimate(
        mean=2.0,
        ci95=None,
        p50=None,
        p95=None,
        p99=None,
        samples=10,
        effective_samples=None,
        covered_seconds=10,
    )
    assert difference(short, known(3)).value == 1
    assert difference(short, known(3)).ci95 is None
    assert ratio(short, known(3)).ci95 is None
    assert p_value(short, known(3)) is None


def test_p_is_welchs():
    """The same as scipy's from means, deviations and counts."""
    a, b = known(10, se=0.5, freedom=19), known(11, se=0.3, freedom=24)
    other = stats.ttest_ind_from_stats(
        10, 0.5 * math.sqrt(20), 20, 11, 0.3 * math.sqrt(25), 25, equal_var=False
    )
    assert p_value(a, b) == pytest.approx(other.pvalue)


def test_two_constants_differ_certainly_or_not_at_all():
    """Without any spread there is no t."""
    assert p_value(known(1, se=0.0), known(1, se=0.0)) == 1
    assert p_value(known(1, se=0.0), known(2, se=0.0)) == 0


def test_what_is_left_of_rounding_is_no_difference():
    """Sums of a week differ in the last digits."""
    before, after = known(629145600.0, se=0.0), known(629145600.0000001, se=0.0)
    assert p_value(before, after) == 1.0


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=12))
def test_adjusted_p_values_never_get_smaller_and_keep_their_place(values):
    """None stays None; Holm is the stricter of both."""
    strict, loose = holm(values), benjamini_hochberg(values)
    for p, h, b in zip(values, strict, loose, strict=True):
        if p is None:
            assert h is None
            assert b is None
        else:
            assert p <= b + 1e-12
            assert b <= h + 1e-12
            assert h <= 1


def test_benjamini_hochberg_agrees_with_scipy():
    """On a plain list both say the same."""
    values = [0.01, 0.04, 0.03, 0.5]
    assert benjamini_hochberg(values) == pytest.approx(tuple(stats.false_discovery_control(values)))
