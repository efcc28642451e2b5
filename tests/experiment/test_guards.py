"""Tests of guards on readings: which is breached, when, and that the unknown is not judged."""

from dataclasses import replace

import pytest

from leapprof.config.playbook_limits import AboveGuard, BelowGuard, DownGuard, Guards
from leapprof.config.playbook_types import Action
from leapprof.experiment.guards import GuardWatch
from leapprof.experiment.observe import Reading

WELL = Reading(
    wall_ns=10**18, is_up=True, head_block=100, head_lag_blocks=1.0, mem_available_bytes=2**33,
    swap_free_bytes=2**30, disk_free_bytes=10**11, temperature_celsius=50.0,
)  # fmt: skip
GUARDS = Guards(
    head_lag=AboveGuard(above=600, then=Action.PAUSE),
    missed_blocks=AboveGuard(above=10),
    memory_available=BelowGuard(below=2**30, then=Action.ROLL_BACK),
    swap_free=BelowGuard(below=2**20),
    disk_free=BelowGuard(below=10**9),
    temperature=AboveGuard(above=90),
    node_down=DownGuard(lasting=0.0),
)


@pytest.mark.parametrize(
    ("changes", "guard", "action"),
    [
        ({"head_lag_blocks": 601.0}, "head_lag", Action.PAUSE),
        ({"mem_available_bytes": 2**29}, "memory_available", Action.ROLL_BACK),
        ({"swap_free_bytes": 0}, "swap_free", Action.STOP),
        ({"disk_free_bytes": 10**8}, "disk_free", Action.STOP),
        ({"temperature_celsius": 91.0}, "temperature", Action.STOP),
        ({"is_up": False}, "node_down", Action.STOP),
        ({"wall_ns": 10**18 + 20 * 10**9}, "missed_blocks", Action.STOP),
    ],
)
def test_each_guard_has_its_limit(changes, guard, action):
    """What lies beyond the limit is a breach, with the guard's action and a sentence."""
    watch = GuardWatch(host="h", guards=GUARDS)
    assert watch.judge(WELL, 0.0) is None
    breach = watch.judge(replace(WELL, **changes), 1.0)
    assert breach is not None
    assert (breach.guard, breach.action, breach.host) == (guard, action, "h")
    assert breach.reason


def test_what_is_not_known_is_not_judged():
    """A host without swap, sensors or API breaches nothing."""
    watch = GuardWatch(host="h", guards=GUARDS)
    assert watch.judge(Reading(wall_ns=0, is_up=True), 0.0) is None


def test_a_node_that_never_ran_is_not_down():
    """The first frames of a recording may come before nodeos is matched."""
    watch = GuardWatch(host="h", guards=GUARDS)
    assert watch.judge(replace(WELL, is_up=False), 0.0) is None


def test_a_breach_must_last():
    """Between two breaches that are too short the time begins anew."""
    watch = GuardWatch(host="h", guards=Guards(head_lag=AboveGuard(above=10, lasting=5.0)))
    late = replace(WELL, head_lag_blocks=11.0)
    assert watch.judge(late, 0.0) is None
    assert watch.judge(WELL, 3.0) is None
    assert watch.judge(late, 4.0) is None
    assert watch.judge(late, 8.0) is None
    assert watch.judge(late, 9.5) is not None


def test_a_head_that_moves_on_misses_nothing():
    """Two blocks a second are due."""
    watch = GuardWatch(host="h", guards=GUARDS)
    for second in range(60):
        reading = replace(WELL, wall_ns=10**18 + second * 10**9, head_block=100 + 2 * second)
        assert watch.judge(reading, float(second)) is None
