"""Means with honest intervals: closed forms, and a small simulation of how often they hold the truth."""

import math

import numpy as np
import pytest
from arch.bootstrap import StationaryBootstrap
from scipy import signal, stats

from leapprof.analysis.batch import Span, batch_length_s, batch_means
from leapprof.analysis.compare import difference, p_value
from leapprof.analysis.estimate import (
    count_bursts,
    estimate,
    mean_interval,
    relative_spread,
    upper_limit_only,
    zero_rate_interval,
)
from leapprof.model import Estimate, Interval, Series


def series(value):
    """Return samples of one second each."""
    value = np.asarray(value, dtype=np.float64)
    return Series(
        time_s=np.arange(1.0, value.size + 1), value=value, weight_s=np.isfinite(value).astype(float)
    )


def estimated(value, **choices):
    """Return the estimate of samples of one second each."""
    samples, n = series(value), len(value)
    batches = batch_means(samples, Span(start_s=0, end_s=float(n)), batch_length_s(n))
    return estimate(batches, samples, **choices)


def ar1(rng, n, phi, mean=10.0, share=0.15):
    """Return a stationary AR(1) around a mean."""
    noise = rng.normal(size=n) * math.sqrt(1 - phi * phi)
    start = rng.normal() * phi
    return mean * (1 + share * signal.lfilter([1.0], [1.0, -phi], noise, zi=[start])[0])


def test_a_few_independent_batches_give_students_interval():
    """Seven day means that may be negative: symmetric ones give exactly the textbook interval."""
    days = np.array([-3.0, -2, -1, 0, 1, 2, 3])
    half = stats.t.ppf(0.975, 6) * stats.sem(days)
    interval = mean_interval(days, non_negative=False)
    assert (interval.low, interval.high) == pytest.approx((-half, half))


def test_a_constant_is_known_exactly():
    """No spread, no uncertainty, and no division by it."""
    found = estimated(np.full(1200, 7.0))
    assert (found.ci95.low, found.ci95.high) == pytest.approx((7.0, 7.0))
    assert found.effective_samples == 1200


def test_the_mean_comes_from_the_whole_counter():
    """Bytes of a gap move the mean, and the interval with it."""
    samples = series(np.tile([1.0, 3.0], 600))
    batches = batch_means(samples, Span(start_s=0, end_s=1200), 60)
    assert estimate(batches, samples, total_per_s=2.5).mean == 2.5
    assert estimate(batches, samples).mean == 2.0


def test_too_short_has_a_mean_but_no_interval():
    """Below 20 minutes the operator gets numbers without a claim."""
    found = estimate(None, series(np.arange(100)))
    assert found.mean == pytest.approx(49.5)
    assert found.ci95 is None
    assert found.p50 == pytest.approx(49.5)
    assert estimate(None, series([np.nan])) is None


def test_the_standard_error_agrees_with_a_block_bootstrap():
    """Arch's stationary bootstrap with blocks of several memories finds the same error within a third."""
    value = ar1(np.random.default_rng(5), 21_600, 0.9)
    bootstrap = StationaryBootstrap(200, value, seed=7)
    other = float(np.sqrt(bootstrap.cov(np.mean, 300)).squeeze())
    assert estimated(value).standard_error == pytest.approx(other, rel=0.34)


def test_intervals_hold_the_truth_and_null_differences_are_rarely_significant():
    """AR(.99), one hour: at least 91 of 100 intervals hold 10.0, at most 9 of 100 pairs alarm."""
    rng = np.random.default_rng(11)
    pairs = [(estimated(ar1(rng, 3600, 0.99)), estimated(ar1(rng, 3600, 0.99))) for _ in range(100)]
    held = sum(a.ci95.low <= 10 <= a.ci95.high for a, _ in pairs)
    alarms = sum(p_value(a, b) < 0.05 for a, b in pairs)
    assert held >= 91
    assert alarms <= 9
    assert sum(difference(a, b).ci95.low <= 0 <= difference(a, b).ci95.high for a, b in pairs) >= 91


def test_nothing_written_is_not_no_wear():
    """An hour without a byte allows three bursts of the largest size known."""
    interval = zero_rate_interval(3600, 12e6)
    assert interval.low == 0
    assert interval.high == pytest.approx(3 * 12e6 / 3600)


def test_bursts_are_counted_by_their_weight():
    """Four equal bursts are worth four; one that holds everything is worth one."""
    even = np.zeros(100)
    even[::25] = 5
    assert count_bursts(series(even)).effective == pytest.approx(4)
    assert count_bursts(series(even)).largest_share == pytest.approx(0.25)
    single = np.zeros(100)
    single[3] = 9
    assert count_bursts(series(single)).effective == 1
    assert count_bursts(series(single)).largest == 9


def test_quantiles_have_intervals_where_the_window_is_long_for_the_memory():
    """Independent values of two hours, with a prior of 60 s: 20 memories for the median, 80 and 150 for the others."""
    value = np.random.default_rng(2).random(7200)
    found = estimated(value, memory_s=60.0)
    assert found.p50_ci95.low <= 0.5 <= found.p50_ci95.high
    assert found.p95_ci95.low <= 0.95 <= found.p95_ci95.high
    assert found.p95_ci95.low <= found.p95 <= found.p95_ci95.high
    assert found.p99_ci95 is None
    assert estimated(value).p50_ci95 is None
    assert estimated(value, memory_s=40.0).p99_ci95.low < 0.99 < estimated(value, memory_s=40.0).p99_ci95.high


def test_a_quantile_whose_upper_limit_is_not_seen_has_no_interval():
    """All that lies above the 99th percentile came at once: how much more may come is unknown."""
    value = np.random.default_rng(3).random(7200)
    value[3000:3073] += 10
    found = estimated(value, memory_s=10.0)
    assert found.p99_ci95 is None
    assert found.p50_ci95 is not None


def test_intervals_of_quantiles_hold_the_truth():
    """An AR(1) with a memory of 19 s over two hours: in 93 of 100 or more, within three errors of 60 draws."""
    rng, truth = np.random.default_rng(5), {"p50": 10.0, "p95": 10 + 1.5 * 1.6449}
    found = [estimated(ar1(rng, 7200, 0.9), memory_s=60.0) for _ in range(60)]
    for name, value in truth.items():
        intervals = [getattr(one, f"{name}_ci95") for one in found]
        assert np.mean([i.low <= value <= i.high for i in intervals]) >= 0.84


def test_a_late_sample_is_no_burst():
    """A constant stays known exactly where one of its samples stands for three intervals."""
    samples = series(np.full(3600, 7.0))
    samples.weight_s[1800:1803] = (0.0, 0.0, 3.0)
    samples.value[1800:1802] = np.nan
    found = estimate(batch_means(samples, Span(start_s=0.0, end_s=3600.0), 180.0), samples)
    assert found.ci95 == Interval(low=7.0, high=7.0)


def test_half_minute_means_tell_what_goes_on_and_off_from_noise():
    """White noise of any size averages out; on and off does not."""
    n = 3600
    noise = np.random.default_rng(1).poisson(0.5, n).astype(float)
    switched = np.where(np.arange(n) // 120 % 2, 1.0, 0.0)
    for value, low, high in ((noise, 0.0, 0.4), (switched, 0.9, 1.1)):
        series = Series(time_s=np.arange(1.0, n + 1), value=value, weight_s=np.ones(n))
        assert low <= relative_spread(series, Span(start_s=0.0, end_s=float(n))) <= high


def test_few_bursts_leave_only_an_upper_limit():
    """The lower one is 0, the upper stays."""
    plain = Estimate(
        mean=2.0, ci95=Interval(low=1.0, high=4.0), p50=None, p95=None, p99=None, samples=9,
        effective_samples=None, covered_seconds=9.0,
    )  # fmt: skip
    assert upper_limit_only(plain).ci95 == Interval(low=0.0, high=4.0)
