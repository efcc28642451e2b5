"""Writes a year of a drive."""

import math
from dataclasses import replace

import pytest

from leapprof.assess.compare import compare
from leapprof.assess.material import CompareOptions
from leapprof.units import format_tb_per_year, tb_per_year
from tests.support.recordings import DRIVE, pair
from tests.support.sample_comparisons import comparison

OTHER = replace(DRIVE, model="Samsung SSD 980 PRO 1TB", serial="S2", size_bytes=1_000_204_886_016)


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


def test_a_drive_that_took_nothing_takes_at_most_what_may_have_been_missed():
    """Rule of three: a burst of 4 MB may have been missed in the half hour; its rating lasts at least so long."""
    found = compare(*pair(seconds=3600, after={"write_bytes": 0.0}))
    (row,) = [w for w in found.wear if w.rated_tbw]
    most = row.after.ci95.high
    assert (row.after.tb_per_year, row.after.ci95.low) == (0.0, 0.0)
    assert most > 0
    assert f" before and at most {format_tb_per_year(most)} after" in found.headline[1]
    assert (row.lifetime_years_after.low, row.lifetime_years_after.high) == (row.rated_tbw / most, math.inf)


def test_a_drive_that_was_replaced_lasts_by_its_own_rating():
    """A PM9A3 of 1,752 TBW before, a 980 PRO of 600 TBW under the same name after."""
    sides = pair(seconds=1800, before={"devices": (DRIVE,)}, after={"devices": (OTHER,)})
    found = compare(*sides)
    (row,) = found.wear
    assert row.rated_tbw == 1752
    assert row.lifetime_years_before.low == pytest.approx(1752 / row.before.ci95.high)
    assert row.lifetime_years_after.low == pytest.approx(600 / row.after.ci95.high)
    assert "after it is another device: nvme0n1, Samsung SSD 980 PRO 1TB, rated 600 TBW" in row.note
    (finding,) = [f for f in found.findings if f.code == "device-differs"]
    assert f"nvme0n1 ({DRIVE.model}) before and on nvme0n1 ({OTHER.model}) after" in finding.message


def test_what_the_operator_says_of_a_drive_is_not_said_of_another():
    """--rated-tbw names the drive that is there before."""
    sides = pair(seconds=1800, before={"devices": (DRIVE,)}, after={"devices": (OTHER,)})
    (row,) = compare(*sides, CompareOptions(rated_tbw={"nvme0n1": 1000.0})).wear
    assert row.lifetime_years_before.low == pytest.approx(1000 / row.before.ci95.high)
    assert row.lifetime_years_after.low == pytest.approx(600 / row.after.ci95.high)
