"""Memories: white noise has none, a level that wanders has its own, however much noise lies over it."""

import numpy as np
import pytest

from leapprof.analysis.wandering import memory_steps, needed_s


def wandering(seed, count, memory, noise=1.0):
    """Return values whose level has a memory of some steps, with as much white noise."""
    rng = np.random.default_rng(seed)
    kept = np.exp(-1 / memory)
    level = np.zeros(count)
    for i, step in enumerate(rng.standard_normal(count - 1), 1):
        level[i] = kept * level[i - 1] + step * np.sqrt(1 - kept**2)
    return level + noise * rng.standard_normal(count)


def test_white_noise_has_no_memory():
    """In 200 windows of 360 values at most one is taken for one that remembers."""
    rng = np.random.default_rng(3)
    assert sum(memory_steps(rng.standard_normal(360)) > 0 for _ in range(200)) <= 1


@pytest.mark.parametrize("memory", [10, 30, 100])
def test_a_memory_is_found_under_noise(memory):
    """Within a third, from many times its length; the noise does not make it shorter."""
    found = [memory_steps(wandering(seed, 200 * memory, memory)) for seed in range(9)]
    assert np.median(found) == pytest.approx(memory, rel=0.34)


def test_a_trend_remembers_for_as_long_as_can_be_seen():
    """A straight line: a good part of the window."""
    assert memory_steps(np.arange(360.0)) > 60


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 7, [2.0] * 100, [0.1 + 0.2, 0.3, 0.3] * 40])
def test_too_few_or_constant_values_have_none(values):
    """Nothing can be seen of them."""
    assert memory_steps(np.array(values, dtype=np.float64)) == 0


def test_the_higher_the_quantile_the_longer():
    """20, 50, 80 and 150 memories; a 99th percentile 50 minutes at least."""
    assert [needed_s(p, 100.0) for p in (0.5, 0.9, 0.95, 0.99)] == [2000, 5000, 8000, 15_000]
    assert [needed_s(p, 0.0) for p in (0.5, 0.99)] == [0, 3000]
