"""Phases that alternate: each two are a pair."""

from datetime import UTC, datetime

import pytest

from leapprof.assess.pairs import combined, compare_pairs
from leapprof.errors import ConfigError
from leapprof.model import Grade, Verdict
from tests.support.recordings import NS, START_WALL_NS, made, noisy
from tests.support.sample_comparisons import comparison

SECONDS = 6600


def run(number, cores, seed):
    """Return the recording of one run: a day apart, phases in turn."""
    return made(
        seconds=SECONDS,
        cpu_cores=noisy(SECONDS, cores, seed=seed),
        phase="after" if number % 2 else "before",
        start_wall_ns=START_WALL_NS + number * 86_400 * NS,
        map_mode="mapped_private" if number % 2 else "mapped",
    )


def alternating(levels):
    """Return runs at these levels of CPU."""
    return [run(number, cores, seed=number) for number, cores in enumerate(levels)]


def cpu(comparison):
    """Return the CPU of nodeos."""
    return next(m for m in comparison.metrics if m.name == "nodeos.cpu_cores")


def test_three_pairs_stand_on_the_differences_of_the_pairs():
    """Student's t with two degrees of freedom over three differences of about -0.2."""
    found = compare_pairs(alternating([0.5, 0.3, 0.52, 0.31, 0.48, 0.29]))
    (runs,) = [r for r in found.run_pairs if r.name == "nodeos.cpu_cores"]
    assert [round(d.value, 2) for d in runs.difference] == pytest.approx([-0.2, -0.21, -0.19], abs=0.02)
    assert cpu(found).difference == runs.between
    assert (cpu(found).verdict, cpu(found).grade) == (Verdict.IMPROVED, Grade.FULL)
    assert cpu(found).before.mean == pytest.approx(0.5, abs=0.02)
    assert "runs-paired" in {f.code for f in found.findings}


def test_runs_that_differ_as_much_as_the_change_prove_nothing():
    """Within each run the effect is certain; over the pairs it is not."""
    found = compare_pairs(alternating([0.5, 0.3, 0.5, 0.49, 0.5, 0.45]))
    assert cpu(found).verdict is Verdict.INCONCLUSIVE


def test_two_pairs_stay_preliminary_and_say_why():
    """The intervals within the runs are shown."""
    found = compare_pairs(alternating([0.5, 0.3, 0.52, 0.31]))
    assert cpu(found).grade is Grade.PRELIMINARY
    assert cpu(found).difference.ci95 is not None
    assert "from 2 pairs it is not known how runs differ" in cpu(found).reason
    assert found.headline[0].startswith("2 pairs of alternating phases")
    assert "few-pairs" in {f.code for f in found.findings}


def test_both_sides_are_of_one_pair_and_the_windows_of_all_are_named():
    """The charts lie around the change of the last pair, so its windows are those of the sides."""
    found = compare_pairs(alternating([0.5, 0.3, 0.52, 0.31]))
    for name, side in (("before", found.before), ("after", found.after)):
        windows = found.method[f"window {name}"].split(" · ")
        assert len(set(windows)) == 2
        start = datetime.fromtimestamp(side.window.start_wall_ns / NS, tz=UTC)
        assert windows[-1].startswith(f"{start:%Y-%m-%d %H:%M:%S}")
    assert found.before.window.start_wall_ns >= START_WALL_NS + 2 * 86_400 * NS


def test_order_of_the_arguments_does_not_matter_but_phases_have_to_alternate():
    """They are put in the order of time."""
    runs = alternating([0.5, 0.3, 0.52, 0.31])
    assert compare_pairs([runs[2], runs[0], runs[3], runs[1]]).headline == compare_pairs(runs).headline
    with pytest.raises(ConfigError, match="even number"):
        compare_pairs(runs[:3])
    with pytest.raises(ConfigError, match="do not alternate"):
        compare_pairs([runs[0], run(4, 0.5, 9), runs[1], runs[3]])
    assert combined


def test_no_share_moves_by_more_than_a_hundred_points():
    """The captured runs on a busy machine: -34 points from two pairs is no interval of -485 to +417."""
    (cpu,) = [r for r in comparison("standin-abab").run_pairs if r.name == "host.cpu_percent"]
    assert (cpu.between.ci95.low, cpu.between.ci95.high) == (-100.0, 100.0)
