"""What may be said of two estimates."""

from dataclasses import replace

import pytest

from leapprof.analysis.allowance import Bursts, Nature, allowing
from leapprof.analysis.compare import difference
from leapprof.analysis.verdict import Sides, Threshold, Traits, judge, settle, standing
from leapprof.model import Better, Estimate, Grade, Interval, Verdict

HOURS_2 = 7200.0


def known(mean, half=1.0, **changes):
    """Return a good estimate with a symmetric interval."""
    plain = Estimate(
        mean=mean, ci95=Interval(low=mean - half, high=mean + half), p50=None, p95=None, p99=None,
        samples=7200, effective_samples=400.0, covered_seconds=HOURS_2, standard_error=half / 2,
        degrees_of_freedom=19, lag1=0.1, batches=20,
    )  # fmt: skip
    return replace(plain, **changes)


def judged(before, after, *, better=Better.LOWER, threshold=3.0, p_adjusted=None, memory=120.0, **sides):
    """Return the judgement of a pair."""
    return judge(
        difference(before, after),
        p_adjusted,
        Sides(before=before, after=after, **sides),
        Traits(better=better, threshold=threshold, memory_s=memory),
    )


@pytest.mark.parametrize(
    ("after", "better", "verdict"),
    [
        (20, Better.LOWER, Verdict.REGRESSED),
        (0, Better.LOWER, Verdict.IMPROVED),
        (20, Better.HIGHER, Verdict.IMPROVED),
        (20, Better.NEITHER, Verdict.CHANGED),
        (10.5, Better.LOWER, Verdict.UNCHANGED),
        (13, Better.LOWER, Verdict.CHANGED),
    ],
)
def test_the_interval_against_the_threshold_gives_the_verdict(after, better, verdict):
    """Beyond it, inside it, or certainly different by an unknown amount."""
    found = judged(known(10), known(after), better=better)
    assert (found.grade, found.verdict) == (Grade.FULL, verdict)


def test_an_interval_that_holds_both_is_inconclusive_and_says_what_is_needed():
    """More of the same would be needed, in whole ten minutes."""
    found = judged(known(10, 5), known(12, 5))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.needed_seconds > HOURS_2
    assert found.needed_seconds % 600 == 0


def test_under_20_minutes_nothing_is_claimed():
    """However large the difference."""
    found = judged(known(10, covered_seconds=1000.0), known(90))
    assert (found.grade, found.verdict) == (Grade.TOO_SHORT, Verdict.INCONCLUSIVE)


def test_a_window_short_for_the_memory_needs_twice_the_interval():
    """20 memories of 300 s are 100 min: at 50 min a moderate effect is not enough, a huge one is."""
    half_hour = {"covered_seconds": 3000.0}
    before = known(10, **half_hour)
    assert (
        judged(before, known(5.5, **half_hour), memory=300.0, threshold=2.5).verdict is not Verdict.IMPROVED
    )
    found = judged(before, known(0, **half_hour), memory=300.0, threshold=2.5)
    assert (found.grade, found.verdict) == (Grade.PRELIMINARY, Verdict.IMPROVED)


def test_flags_of_the_data_only_add_refusals():
    """A trend or few independent samples make a full verdict preliminary."""
    assert judged(known(10, lag1=0.7), known(10)).grade is Grade.PRELIMINARY
    assert judged(known(10, effective_samples=12.0), known(10)).grade is Grade.PRELIMINARY
    few = judged(known(10), known(10), after_bursts=Bursts(effective=3.0, largest_share=0.6))
    assert few.grade is Grade.PRELIMINARY
    assert "3 bursts" in few.reason


def test_a_window_that_is_allowed_for_is_not_widened_again():
    """What the estimates allow for is in the interval that is printed: the verdict stands on that one."""
    nature = Nature(memory_s=300.0)
    before, after = (allowing(known(m, covered_seconds=3000.0), nature) for m in (10.0, 0.5))
    effect = difference(before, after)
    assert standing(effect, Sides(before=before, after=after), Grade.PRELIMINARY) == effect
    assert judged(before, after, memory=300.0).reason.startswith("the whole interval lies beyond")


def test_what_is_preliminary_for_another_load_needs_twice_the_interval():
    """The window is long enough, so its interval is not; the verdict asks for more, and says so."""
    before, after = known(10), known(5.5)
    assert judged(before, after).verdict is Verdict.IMPROVED
    found = judged(before, after, confounded=("another load",))
    assert found.verdict is not Verdict.IMPROVED
    assert "widened for being preliminary" in judged(known(10), known(10.1), confounded=("x",)).reason


def test_an_effect_of_a_known_grade_is_settled_alike():
    """Twice the interval when preliminary, unless it allows for its window."""
    traits = Traits(better=Better.LOWER, threshold=3.0, memory_s=120.0)
    effect = difference(known(10), known(5.5))
    assert settle(effect, None, traits, Grade.FULL, allowed=False)[0] is Verdict.IMPROVED
    assert settle(effect, None, traits, Grade.PRELIMINARY, allowed=True)[0] is Verdict.IMPROVED
    assert settle(effect, None, traits, Grade.PRELIMINARY, allowed=False)[0] is not Verdict.IMPROVED


def test_how_long_to_record_does_not_count_what_is_widened():
    """A window that is long enough is not widened: the time is told from the samples alone."""
    plain = [known(m, 5, covered_seconds=3000.0) for m in (10.0, 12.0)]
    wide = [allowing(e, Nature(memory_s=300.0, non_negative=False)) for e in plain]
    assert judged(*wide).needed_seconds == judged(*plain).needed_seconds


def test_holm_can_take_a_verdict_back():
    """One of many metrics is significant by chance."""
    assert judged(known(10), known(0), p_adjusted=0.2).verdict is Verdict.INCONCLUSIVE


def test_the_larger_threshold_counts():
    """2 % of 100 GiB is more than 256 MiB; of 1 GiB it is less."""
    threshold = Threshold(absolute=256.0, relative=0.02)
    assert threshold.of(100_000) == 2000
    assert threshold.of(1000) == 256


def test_other_hours_need_an_effect_beyond_the_swing_of_a_day():
    """What a busy hour alone could be is no verdict."""
    confounded = {"confounded": ("other hours",), "swing": 6.0}
    assert judged(known(10), known(4), **confounded).verdict is not Verdict.IMPROVED
    far = judged(known(100), known(10), **confounded)
    assert (far.grade, far.verdict) == (Grade.PRELIMINARY, Verdict.IMPROVED)


def test_what_goes_on_and_off_needs_longer():
    """Three whole days: its memory has no end."""
    found = judged(known(10), known(4), on_off=True)
    assert found.grade is Grade.PRELIMINARY
    assert found.design_seconds == 3 * 86_400


def test_a_flow_is_judged_by_its_ratio():
    """A tenth of before: as a difference it may be anything, as a ratio it is certain, and it never falls by more."""
    before, after = known(10, 9), known(1, 0.2)
    assert judged(before, after).verdict is not Verdict.IMPROVED
    wide = known(10, ci95=Interval(low=5, high=19))
    effect, sides = difference(wide, after), Sides(before=wide, after=after, by_ratio=True)
    found = standing(effect, sides, Grade.FULL)
    assert found.value == effect.value
    assert -10 <= found.ci95.low < found.ci95.high < -7
    assert judged(wide, after, by_ratio=True).verdict is Verdict.IMPROVED


def test_without_a_ratio_the_difference_counts():
    """Nothing was counted before."""
    before, after = known(0, 0.1), known(10)
    effect = difference(before, after)
    assert standing(effect, Sides(before=before, after=after, by_ratio=True), Grade.FULL) == effect


def test_an_hour_is_preliminary_whatever_it_looks_like():
    """An hour cannot tell a memory of 120 s from one of 200 s; 100 minutes can."""
    hour, longer = ({"covered_seconds": s, "effective_samples": 400.0} for s in (3600.0, 6000.0))
    assert judged(known(10, **hour), known(0, **hour)).grade is Grade.PRELIMINARY
    assert judged(known(10, **longer), known(0, **longer)).grade is Grade.FULL
