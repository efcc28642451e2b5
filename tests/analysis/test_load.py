"""The effect at equal load."""

import numpy as np
import pytest

from leapprof.analysis.load import at_equal_load, per_unit
from leapprof.model import BatchMeans


def batches(mean):
    """Return batch means of three minutes."""
    mean = np.asarray(mean, dtype=np.float64)
    return BatchMeans(
        start_s=np.arange(mean.size) * 180.0, batch_s=180.0, mean=mean, covered_s=np.full(mean.size, 180.0)
    )


def test_a_busier_chain_is_not_mistaken_for_the_change():
    """CPU is 10 + 2 x load before and 7 + 2 x load after, at loads of 5 and 8: the effect is -3."""
    rng = np.random.default_rng(1)
    x0, x1 = 5 + rng.random(30) * 4, 6 + rng.random(30) * 4
    y0, y1 = 10 + 2 * x0 + rng.normal(0, 0.1, 30), 7 + 2 * x1 + rng.normal(0, 0.1, 30)
    found = at_equal_load(batches(y0), batches(x0), batches(y1), batches(x1))
    assert found.effect.value == pytest.approx(-3, abs=0.1)
    assert found.effect.ci95.low < -3 < found.effect.ci95.high
    assert not found.extrapolated


def test_loads_that_never_met_are_extrapolated():
    """The common load was seen by neither side."""
    x0, x1 = np.linspace(1, 2, 20), np.linspace(8, 9, 20)
    found = at_equal_load(batches(x0), batches(x0), batches(x1), batches(x1))
    assert found.extrapolated
    assert found.overlap == 0


def test_constant_or_missing_load_adjusts_nothing():
    """There is no slope to be had."""
    y = np.linspace(1, 2, 20)
    assert at_equal_load(batches(y), batches(np.ones(20)), batches(y), batches(y)) is None
    assert at_equal_load(batches(y[:5]), batches(y[:5]), batches(y), batches(y)) is None


def test_bytes_per_transaction_are_a_ratio_of_sums():
    """Never a mean of ratios."""
    value, interval = per_unit(batches(np.tile([10.0, 30.0], 10)), batches(np.tile([1.0, 9.0], 10)))
    assert value == 4
    assert interval.low < 4 < interval.high
    assert per_unit(batches(np.zeros(20)), batches(np.ones(20))) is None
