"""Quantiles and medians are those of numpy, to the last digit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from leapprof.analysis.quantiles import median, quantiles

NUMBERS = st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=60).map(np.array)


@given(NUMBERS, st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_quantiles_are_those_of_numpy(value, probabilities):
    """Sorting once finds the same numbers as numpy's partition, in whatever order they are asked for."""
    assert quantiles(value, probabilities) == tuple(np.quantile(value, probabilities).tolist())


@given(NUMBERS)
def test_the_median_is_that_of_numpy(value):
    """An even number of values has the mean of its two middle ones."""
    assert median(value) == float(np.median(value))


def test_what_is_asked_of_stays_in_its_order():
    """The array is sorted as a copy."""
    value = np.array([3.0, 1.0, 2.0])
    quantiles(value, (0.5,))
    median(value)
    assert value.tolist() == [3.0, 1.0, 2.0]
