"""What is left of a difference beyond that of a node which was left alone."""

from dataclasses import replace

import pytest

from leapprof.assess.compare import compare
from leapprof.assess.control import beyond_control, with_control, with_neighbour
from leapprof.errors import ConfigError
from leapprof.model import Effect, Interval, Subject, Verdict
from tests.support.recordings import noisy, pair


def test_the_difference_of_the_control_is_taken_off():
    """Arms of 3 and 4 give one of 5."""
    changed = Effect(value=-10.0, ci95=Interval(low=-13.0, high=-7.0))
    control = Effect(value=-2.0, ci95=Interval(low=-6.0, high=2.0))
    found = beyond_control(changed, control)
    assert found.value == -8
    assert (found.ci95.low, found.ci95.high) == pytest.approx((-13, -3))
    assert beyond_control(changed, Effect(value=1.0, ci95=None)).ci95 is None


def test_a_busier_day_that_both_nodes_saw_is_no_effect():
    """Both gained 0.1 cores: nothing is left."""
    sides = {
        "before": {"cpu_cores": noisy(1800, 0.5, seed=1)},
        "after": {"cpu_cores": noisy(1800, 0.6, seed=2)},
    }
    other = {
        "before": {"cpu_cores": noisy(1800, 0.3, seed=3)},
        "after": {"cpu_cores": noisy(1800, 0.4, seed=4)},
    }
    changed, control = (
        compare(*pair(seconds=1800, **sides)),
        compare(*pair(seconds=1800, host="eos-2", **other)),
    )
    said = with_control(changed, control).control
    assert said["control host"] == "eos-2"
    assert "beyond the control's +0." in said["nodeos.cpu_cores eos"]
    assert said["nodeos.cpu_cores eos"].startswith(("+0.0", "−0.0"))


def test_the_verdict_stands_on_what_is_left_beyond_the_control():
    """The changed node rose with its chain; the control rose as much: no regression is left."""
    seconds = 7200
    changed = compare(
        *pair(
            seconds=seconds,
            before={"cpu_cores": noisy(seconds, 0.5, seed=1)},
            after={"cpu_cores": noisy(seconds, 0.7, seed=2)},
        )
    )
    control = compare(
        *pair(
            seconds=seconds,
            host="eos-2",
            before={"cpu_cores": noisy(seconds, 0.3, seed=3)},
            after={"cpu_cores": noisy(seconds, 0.5, seed=4)},
        )
    )
    (plain,) = [m for m in changed.metrics if m.name == "nodeos.cpu_cores"]
    assert plain.verdict is Verdict.REGRESSED
    found = with_control(changed, control)
    (metric,) = [m for m in found.metrics if m.name == "nodeos.cpu_cores"]
    assert metric.verdict is not Verdict.REGRESSED
    assert metric.adjusted.value == pytest.approx(0, abs=0.02)
    assert "beyond the control eos-2" in metric.adjusted_for
    assert any("beyond the control eos-2" in sentence for sentence in found.headline)


def test_another_nodeos_of_the_same_host_is_a_control():
    """What the neighbour gained is taken off the changed nodeos; host and neighbour itself stay as they are."""
    seconds = 7200
    changed, left_alone = (
        compare(
            *pair(
                seconds=seconds,
                before={"cpu_cores": noisy(seconds, level, seed=1)},
                after={"cpu_cores": noisy(seconds, level + 0.2, seed=2)},
            )
        )
        for level in (0.5, 0.3)
    )
    nodeos = changed.before.recording.nodeos[0]
    both = (nodeos, replace(nodeos, id="other", state_dir=None))
    more = (
        replace(m, subject=Subject(nodeos="other"))
        for m in left_alone.metrics
        if m.subject.nodeos == nodeos.id
    )
    before = replace(changed.before, recording=replace(changed.before.recording, nodeos=both))
    found = with_neighbour(replace(changed, before=before, metrics=(*changed.metrics, *more)), "other")
    cpu = {m.subject.nodeos: m for m in found.metrics if m.name == "nodeos.cpu_cores"}
    assert cpu[nodeos.id].adjusted.value == pytest.approx(0, abs=0.02)
    assert cpu[nodeos.id].adjusted_for.startswith("beyond the control other, which moved by +0.2")
    assert cpu["other"].adjusted is None
    assert all(m.adjusted is None for m in found.metrics if m.subject.nodeos is None)
    assert found.control["control nodeos"] == "other"
    assert {effect.subject.nodeos for effect in found.control_effects} == {nodeos.id}


@pytest.mark.parametrize("name", ["eos", "nobody"])
def test_a_nodeos_alone_has_no_neighbour(name):
    """One nodeos on the host, or a name that is none: said with the names that there are."""
    alone = compare(*pair(seconds=1800))
    with pytest.raises(ConfigError, match=r"--control-nodeos: .*several nodeos: eos"):
        with_neighbour(alone, name)
