"""The swing of a day in batch means."""

import numpy as np
import pytest

from leapprof.analysis.cycle import without_daily_swing
from leapprof.analysis.estimate import estimate, lag1
from leapprof.model import BatchMeans

DAY_S = 86_400
BATCH_S = 4320.0


def swinging(days, share, *, seed=1, batch_s=BATCH_S):
    """Return batch means around 1 that swing by a share over the day, with noise of 0.03."""
    start = batch_s * np.arange(round(days * DAY_S / batch_s))
    noise = np.random.default_rng(seed).normal(0, 0.03, start.size)
    wave = share * np.sin(2 * np.pi * start / DAY_S)
    return BatchMeans(
        start_s=start, batch_s=batch_s, mean=1 + wave + noise, covered_s=np.full(start.size, batch_s), non_negative=True
    )  # fmt: skip


@pytest.mark.parametrize("days", [0.95, 1, 2])
def test_the_swing_of_a_day_is_taken_out(days):
    """What is left is the noise, which does not follow itself."""
    batches = swinging(days, 0.3)
    left, waves = without_daily_swing(batches)
    assert waves == 4
    assert lag1(batches.mean) > 0.7
    assert abs(lag1(left)) < 0.45
    assert left.std() < 0.05


@pytest.mark.parametrize(
    "batches", [swinging(0.5, 0.3), swinging(1, 0.0), swinging(7, 0.3, batch_s=float(DAY_S))]
)
def test_less_than_a_day_or_noise_or_whole_days_stay_as_they_are(batches):
    """Half a day does not show a swing, noise has none, and within a day as a batch it is gone already."""
    left, waves = without_daily_swing(batches)
    assert waves == 0
    assert left is batches.mean


def test_a_day_with_a_swing_is_known_by_its_spread_and_without_a_trend():
    """A third of what taking the swing for memory makes, and still far wider than the noise alone."""
    found = estimate(swinging(1, 0.3))
    taken_for_memory = estimate(swinging(1, 0.3), on_off=True)
    assert found.lag1 < 0.5 < taken_for_memory.lag1
    assert found.standard_error < 0.5 * taken_for_memory.standard_error
    assert found.standard_error > 0.2 / np.sqrt(20)


def test_a_slow_rise_over_a_day_is_no_swing():
    """It stays a trend."""
    batches = swinging(1, 0.0)
    rising = BatchMeans(
        start_s=batches.start_s, batch_s=BATCH_S, mean=batches.mean + np.linspace(0, 1, 20),
        covered_s=batches.covered_s, non_negative=True,
    )  # fmt: skip
    assert estimate(rising).lag1 > 0.5
