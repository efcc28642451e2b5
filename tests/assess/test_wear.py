"""Writes a year of a drive."""

import pytest

from leapprof.units import tb_per_year
from tests.support.sample_comparisons import comparison


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_year_stands_on_the_interval_of_the_rate(side):
    """Of an hour that is the one that allows for a short window."""
    found = comparison("standin-two-hours")
    rates = {m.subject.device: m for m in found.metrics if m.name == "device.write_bytes_per_s"}
    assert found.wear
    for wear in found.wear:
        rate, year = getattr(rates[wear.device], side), getattr(wear, side)
        assert rate.widening >= 2.0
        assert year.tb_per_year == tb_per_year(rate.mean)
        assert (year.ci95.low, year.ci95.high) == (tb_per_year(rate.ci95.low), tb_per_year(rate.ci95.high))
