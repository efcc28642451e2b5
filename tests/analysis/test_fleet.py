"""The random-effects summary against closed forms and published figures."""

import math

import numpy as np
import pytest
from scipy import stats

from leapprof.analysis.fleet import Unit, against_controls, random_effects, reference_of


def _units(y, se):
    return [
        Unit(name=f"h{i}", difference=a, standard_error=b) for i, (a, b) in enumerate(zip(y, se, strict=True))
    ]


def test_equal_errors_are_a_one_sample_t_test():
    """With equal errors and spread beyond them, Hartung and Knapp's interval is Student's on the plain mean."""
    y = np.array([1.0, 4.0, 2.5, 7.0, 3.0, 5.5])
    found = random_effects(_units(y, [0.1] * 6))
    plain = stats.ttest_1samp(y, 0)
    low, high = plain.confidence_interval(0.95)
    assert found.mean == pytest.approx(y.mean())
    assert (found.ci95.low, found.ci95.high) == pytest.approx((low, high))
    assert found.p_value == pytest.approx(plain.pvalue)
    assert found.tau**2 == pytest.approx(y.var(ddof=1) - 0.01)


def test_hosts_that_agree_have_no_variance_between_them():
    """Q below its degrees of freedom: tau is 0, and the interval is not narrower than the plain one."""
    found = random_effects(_units([1.0, 1.01, 0.99], [0.5, 0.5, 0.5]))
    assert found.tau == 0
    assert found.i2 == 0
    assert found.standard_error == pytest.approx(0.5 / math.sqrt(3))


def test_der_simonian_laird_by_hand():
    """Two hosts: Q = (y1 - y2)^2 / (v1 + v2), tau^2 = ((y1 - y2)^2 - v1 - v2) / 2."""
    found = random_effects(_units([0.0, 3.0], [1.0, 0.5]))
    assert found.q == pytest.approx(9 / 1.25)
    assert found.tau**2 == pytest.approx((9 - 1.25) / 2)
    assert found.q_p_value == pytest.approx(stats.chi2.sf(found.q, 1))
    assert found.prediction95 is None


def test_the_interval_holds_the_truth_as_often_as_it_says():
    """2,000 fleets of 8 hosts with unequal errors and real differences between them."""
    rng = np.random.default_rng(20240122)
    hits = 0
    for _ in range(2000):
        se = rng.uniform(0.2, 1.0, 8)
        found = random_effects(_units(2.0 + rng.normal(0, 0.7, 8) + rng.normal(0, se), se))
        hits += found.ci95.low <= 2.0 <= found.ci95.high
    assert 0.93 < hits / 2000 < 0.98


def test_a_host_unlike_the_others_is_named():
    """It inflates the variance between hosts, so it is left out of what it is held against."""
    y = [1.0, 1.1, 0.9, 1.05, 0.95, 1.02, 6.0]
    assert random_effects(_units(y, [0.1] * 7)).outliers == ("h6",)
    assert random_effects(_units(y[:6], [0.1] * 6)).outliers == ()


def test_false_alarms_for_outliers_stay_rare():
    """At most one fleet in twenty of like hosts has somebody named."""
    rng = np.random.default_rng(7)
    named = sum(bool(random_effects(_units(rng.normal(0, 1, 20), [1.0] * 20)).outliers) for _ in range(400))
    assert named / 400 < 0.08


def test_controls_take_off_what_happened_to_everybody():
    """A busier chain moved all hosts by 2; the change moved half of them by 1 more."""
    rng = np.random.default_rng(3)
    changed = random_effects(_units(3 + rng.normal(0, 0.1, 30), [0.1] * 30))
    controls = reference_of(_units(2 + rng.normal(0, 0.1, 30), [0.1] * 30), 1.0)
    value, ci95, p = against_controls(changed, controls)
    assert value == pytest.approx(1.0, abs=0.1)
    assert ci95.low < 1.0 < ci95.high
    assert p < 1e-6


def test_a_single_control_is_taken_off_with_its_own_error():
    """Its standard error and degrees of freedom count; two fall back on the spread between them."""
    changed = random_effects(_units([3.0, 3.1, 2.9], [0.1] * 3))
    one = reference_of(_units([2.0], [0.5]), 20.0)
    value, ci95, _ = against_controls(changed, one)
    error = math.hypot(changed.standard_error, 0.5)
    freedom = error**4 / (changed.standard_error**4 / 2 + 0.5**4 / 20)
    assert value == pytest.approx(1.0)
    assert ci95.high - value == pytest.approx(stats.t.ppf(0.975, freedom) * error)
    assert reference_of(_units([2.0, 4.0], [0.1, 0.1]), 20.0).freedom == 1
    assert reference_of([], 20.0) is None


def test_one_host_is_no_fleet():
    """There is nothing to summarise."""
    assert random_effects(_units([1.0], [0.1])) is None


def test_constant_hosts_give_a_finite_summary():
    """Nothing was written anywhere: all differences and errors are 0."""
    found = random_effects(_units([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]))
    assert found.mean == 0
    assert math.isfinite(found.ci95.high)
