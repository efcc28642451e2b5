"""Windows of days that hold the hours of the day unequally."""

import numpy as np
import pytest

from leapprof.analysis.batch import Span
from leapprof.analysis.hours import at_the_same_hours, hour_means
from leapprof.model import Effect, Interval, Series

DAY_S, HOUR_S, NS = 86_400, 3600, 10**9
STEP_S = 10


def of_day(start_s, hours, *, effect=1.0, seed=None):
    """Return what swings by 30 % over the day, its window and its wall clock at the start."""
    time_s = np.arange(STEP_S, hours * HOUR_S + STEP_S, STEP_S, dtype=np.float64)
    value = 1 + 0.3 * np.sin(2 * np.pi * (start_s + time_s) / DAY_S)
    if seed is not None:
        value = value + 0.1 * np.random.default_rng(seed).normal(size=time_s.size)
    series = Series(time_s=time_s, value=effect * value, weight_s=np.full(time_s.size, float(STEP_S)))
    return series, Span(start_s=0.0, end_s=float(hours * HOUR_S)), start_s * NS


def plain(before, after, half=0.2):
    """Return the difference of two series."""
    value = float(after.value.mean() - before.value.mean())
    return Effect(value=value, ci95=Interval(low=value - half, high=value + half))


def test_other_halves_of_the_day_twice_make_no_difference():
    """A day and a half each, begun at midnight and at noon: the swing is a difference of 0.13, and is taken off."""
    sides = [of_day(0, 36), of_day(DAY_S // 2, 36)]
    effect = plain(sides[0][0], sides[1][0])
    assert abs(effect.value) > 0.1
    found = at_the_same_hours(effect, *(hour_means(*side) for side in sides))
    assert found.value == pytest.approx(0.0, abs=1e-6)
    assert found.ci95.high - found.ci95.low == pytest.approx(0.4)
    assert found.ci95.low < found.value < found.ci95.high


@pytest.mark.parametrize("hours", [30, 36, 40, 60])
def test_an_effect_stays(hours):
    """By 0.7, whatever part of the day is there twice."""
    sides = [of_day(0, hours, seed=1), of_day(5 * HOUR_S, hours + 4, effect=0.7, seed=2)]
    found = at_the_same_hours(plain(sides[0][0], sides[1][0]), *(hour_means(*side) for side in sides))
    assert found.value == pytest.approx(-0.3, abs=0.01)


def test_the_same_hours_are_left_alone():
    """Whole days hold each hour alike, and so do windows of the same hours of other days."""
    assert (
        at_the_same_hours(
            Effect(value=1.0, ci95=None), hour_means(*of_day(0, 48)), hour_means(*of_day(0, 24))
        )
        is None
    )
    same = [hour_means(*of_day(start, 36)) for start in (0, 3 * DAY_S)]
    assert at_the_same_hours(Effect(value=1.0, ci95=None), *same) is None


def test_less_than_a_day_has_not_every_hour():
    """Nor has a window with a hole of hours in it that no other day fills."""
    assert hour_means(*of_day(0, 23)) is None
    series, span, wall = of_day(0, 24)
    series.value[HOUR_S // STEP_S : 3 * HOUR_S // STEP_S] = np.nan
    assert hour_means(series, span, wall) is None
    assert at_the_same_hours(Effect(value=1.0, ci95=None), None, hour_means(*of_day(0, 36))) is None


def test_hours_are_those_of_the_wall_clock():
    """A window that begins at 20 past: its broken hours are left out, the others are where they belong."""
    found = hour_means(*of_day(20 * 60, 30))
    assert int(found.mean.argmax()) in {5, 6}
    assert found.share.sum() == pytest.approx(1.0)
    assert found.share[12] == pytest.approx(1 / 29)
    assert found.share[2] == pytest.approx(2 / 29)


def test_without_an_interval_there_is_still_a_difference():
    """Too few batches for one."""
    sides = [hour_means(*of_day(start, 36)) for start in (0, DAY_S // 2)]
    assert at_the_same_hours(Effect(value=0.0, ci95=None), *sides).ci95 is None
