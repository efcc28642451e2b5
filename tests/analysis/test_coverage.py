"""A small run of benchmarks/coverage.py with fixed seeds: the level where a verdict is given, and no wolf cried."""

import numpy as np
import pytest

from benchmarks.families import FAMILIES, HELD_OUT
from benchmarks.other_methods import alarms
from benchmarks.simulation import arm, judgement, narrowest, report_alarms, scaled, simulate

FAMILY = {family.name: family for family in (*FAMILIES, *HELD_OUT)}
DRAWS = 40
LEAST = 84.0
"""Percent: below 93 by more than two and a half standard errors of 40 draws."""


@pytest.mark.parametrize("name", ["ar09", "burst", "rare", "pareto2"])
def test_intervals_on_which_verdicts_stand_hold_the_truth(name):
    """An hour, and never a false alarm in more than a few draws."""
    tally = simulate(FAMILY[name], 3600, DRAWS, seed=11)
    assert tally.percent("judged") >= LEAST
    assert tally.percent("level") >= LEAST
    assert tally.percent("alarm") <= 5
    assert tally.percent("false unchanged") <= 5


@pytest.mark.parametrize("name", ["ar0999", "wb", "onoff", "daily"])
def test_what_an_hour_cannot_tell_is_not_graded_full(name):
    """What their samples alone tell does not hold; what the verdict stands on does, and alarms are rare."""
    tally = simulate(FAMILY[name], 3600, DRAWS, seed=12)
    assert (tally.percent("full") or 0.0) <= 5
    assert tally.percent("judged") >= LEAST
    assert tally.percent("alarm") <= 5


@pytest.mark.parametrize("n", [3600, 21_600])
def test_the_same_hours_of_two_days_are_judged_by_what_carries_over(n):
    """The ratio holds for the day; of the difference only a part does, for it is that of these hours."""
    tally = simulate(FAMILY["daily-same"], n, DRAWS, seed=13)
    assert tally.percent("judged") >= LEAST
    assert tally.percent("ratio") >= LEAST
    assert tally.percent("difference of hours") >= LEAST
    assert tally.percent("level") < 93
    assert tally.percent("alarm") <= 5


def test_an_hour_of_a_memory_of_200_s_is_never_full():
    """It is 18 times the memory, and by chance some look longer."""
    tally = simulate(FAMILY["ar099"], 3600, DRAWS, seed=14)
    assert tally.percent("full") == 0
    assert tally.percent("judged") >= LEAST
    assert tally.percent("found") > 50


@pytest.mark.parametrize(("name", "n"), [("wb", 1200), ("wb", 3600), ("ar0999", 3600), ("onoff", 3600)])
def test_what_is_printed_of_a_short_window_holds(name, n):
    """It allows for what the window is too short to show; its samples alone hold less often."""
    tally = simulate(FAMILY[name], n, DRAWS, seed=15)
    assert all(tally.percent(printed) >= LEAST for printed in ("level", "difference", "ratio"))
    assert tally.percent("level") > tally.percent("alone")


def test_a_single_day_with_a_swing_is_told_as_narrowly_as_its_spread_allows():
    """And a difference of 30 % is found in it."""
    tally = simulate(FAMILY["daily-same"], 86_400, 8, seed=16)
    assert tally.percent("level") == 100
    assert tally.percent("judged") == 100
    assert (narrowest(tally) or 9.0) <= 1.3
    assert tally.percent("found") >= 50


def test_reports_without_a_change_are_quiet():
    """Seven metrics, Holm over all."""
    assert report_alarms(3600, 20, seed=3) <= 10


def test_the_rules_of_others_see_changes_in_noise():
    """Autocorrelated CPU without any change: what independent samples would never do."""
    tally = simulate(FAMILY["ar099"], 3600, 30, seed=4)
    assert tally.percent("benchstat", "seen by others") > 60
    assert tally.percent("pyperf", "seen by others") > 60


def test_the_interval_is_not_much_wider_than_the_narrowest_that_holds():
    """At most 1.3 times, where any other method holds and the window is long enough."""
    ratio = narrowest(simulate(FAMILY["ar09"], 7200, DRAWS, seed=5))
    assert ratio is None or ratio <= 1.3


def test_a_shift_that_everybody_sees_is_seen_by_all():
    """Independent noise, a mean of three times the other."""
    rng = np.random.default_rng(1)
    first, second = rng.normal(1, 0.1, 7200), rng.normal(3, 0.1, 7200)
    assert all(alarms(first, second).values())
    sides = [arm(FAMILY["ar09"], value) for value in (first, second)]
    assert judgement(FAMILY["ar09"], sides[0], sides[1])[0].verdict == "regressed"


@pytest.mark.parametrize("name", ["ar099", "burst"])
def test_a_scaled_side_is_what_leapprof_makes_of_scaled_samples(name):
    """So one draw serves both the pair that does not differ and the pair that does."""
    value = FAMILY[name].draw(np.random.default_rng(2), 3600, 1.0, 0.0)
    once, again = scaled(arm(FAMILY[name], value), 0.7), arm(FAMILY[name], 0.7 * value)
    for field in ("mean", "standard_error", "lag1", "effective_samples"):
        assert getattr(once.estimate, field) == pytest.approx(getattr(again.estimate, field))
    assert once.estimate.ci95.low == pytest.approx(again.estimate.ci95.low)
    assert once.estimate.ci95.high == pytest.approx(again.estimate.ci95.high)
    assert once.bursts == again.bursts or once.bursts.effective == pytest.approx(again.bursts.effective)
