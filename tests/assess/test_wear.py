"""Writes a year of a drive."""

import pytest

from leapprof.assess.wear import yearly
from leapprof.model import Estimate, Interval


def rate(seconds, low=90.0, high=120.0):
    """Return a rate of 100 bytes a second."""
    return Estimate(
        mean=100.0, ci95=Interval(low=low, high=high), p50=None, p95=None, p99=None, samples=int(seconds),
        effective_samples=None, covered_seconds=seconds,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "low", "expected"),
    [
        (3600.0, 90.0, Interval(low=80.0, high=140.0)),
        (3600.0, 30.0, Interval(low=0.0, high=140.0)),
        (6000.0, 90.0, Interval(low=90.0, high=120.0)),
    ],
)
def test_a_year_from_less_than_100_minutes_stands_on_twice_the_interval(seconds, low, expected):
    """Both arms, and never below nothing."""
    assert yearly(rate(seconds, low)) == expected
