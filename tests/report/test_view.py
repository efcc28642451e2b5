"""The strings of a report."""

import csv
import math
from dataclasses import replace

import pytest

from leapprof.model import Effect, Event, Grade, Headroom, Interval, PerUnit, Subject, WearSide
from leapprof.report import text
from leapprof.report.csv import wear_csv
from leapprof.report.json import to_json
from leapprof.report.labels import subject_label
from leapprof.report.view import MAX_EVENTS_A_SIDE, report_view
from leapprof.report.view_checks import check_rows
from leapprof.report.view_metrics import metric_row
from tests.support.comparisons import SCRIPT, sample


def row_of(comparison, name):
    """The line of the verdict table for that metric."""
    rows = [row for group in report_view(comparison).groups for row in group.rows if row.name == name]
    return rows[0]


def test_an_absent_value_is_a_dash_or_not_permitted_and_never_zero():
    """A refused reading says so; one that is not there is a dash."""
    refused = row_of(sample(), "nodeos.dirtied_bytes_per_s")
    assert (refused.before.value, refused.difference.value) == ("not permitted", "–")
    made = sample()
    open_sides = [replace(s, recording=replace(s.recording, denied=())) for s in (made.before, made.after)]
    absent = row_of(replace(made, before=open_sides[0], after=open_sides[1]), "nodeos.dirtied_bytes_per_s")
    assert (absent.before.value, absent.after.value, absent.p) == ("–", "–", "–")


def test_too_short_shows_means_and_difference_without_interval():
    """Both means and the difference stand; no interval is made up."""
    row = row_of(sample(), "nodeos.major_faults_per_s")
    assert row.grade == "too short"
    assert row.verdict == "inconclusive"
    assert (row.before.value, row.difference.value) == ("0.0200\xa0/s", "+0.0300\xa0/s")
    assert (row.before.interval, row.difference.interval, row.ratio.interval) == ("", "", "")
    assert row.needed == "2\xa0h"


def test_measured_pair_reads_as_it_was_measured():
    """4.095 MB/s against 23 kB/s, with interval, ratio and change."""
    row = row_of(sample(), "device.write_bytes_per_s")
    assert row.before.value == "4.09\xa0MB/s"
    assert row.before.interval == "3.94 to 4.25\xa0MB/s"
    assert row.after.value == "23.0\xa0kB/s"
    assert row.difference.value == "−4.07\xa0MB/s"
    assert row.ratio.value == "×0.00562"
    assert row.change == "−99.4\xa0%"
    assert row.p_adjusted == "<\xa00.001"


def test_a_metric_that_may_not_be_compared_says_why():
    """The refusal is the reason that is shown."""
    assert "means different things" in row_of(sample(), "nodeos.rss_bytes").reason


def test_reconstructed_side_makes_a_banner():
    """Either side's text is in the banner; measured sides make none."""
    assert report_view(sample()).banner == ()
    banner = report_view(sample(reconstructed="drawn from published figures")).banner
    assert banner == ("The before side was not measured: drawn from published figures",)


def test_changed_facts_come_apart_from_those_that_are_the_same():
    """A fact that is known on one side only has not changed."""
    view = report_view(sample())
    assert [row.cells[1] for row in view.facts_changed] == ["map_mode"]
    assert "swap_total_bytes" in [row.cells[1] for row in view.facts_same]


def test_a_flood_of_events_is_cut_and_says_so():
    """Two hundred of a side are shown; the rest is counted."""
    made = sample()
    events = tuple(
        Event(boottime_ns=i, wall_ns=i, kind="counter-reset", subject="eos", detail=str(i))
        for i in range(MAX_EVENTS_A_SIDE + 7)
    )
    flooded = replace(made.after, recording=replace(made.after.recording, events=events, gaps=()))
    view = report_view(replace(made, after=flooded))
    assert view.timeline_left_out == "7 more are in report.json."


def test_gaps_stand_among_the_events_in_order():
    """The gap follows the start of nodeos."""
    kinds = [row.cells[2] for row in report_view(sample()).timeline if row.cells[0] == "before"]
    assert kinds == ["nodeos-started", "gap"]


def test_key_figures_open_with_the_wear_of_the_state_drive():
    """At most four numbers; drive writes a year first."""
    figures = report_view(sample()).key_figures
    assert len(figures) == 4
    assert (figures[0].label, figures[0].before, figures[0].after) == (
        "Drive writes a year",
        "129\xa0TB/year",
        "0.725\xa0TB/year",
    )


def test_without_a_ratio_every_key_figure_is_a_difference():
    """The large number means the same on each card: what became of the value, not the value."""
    made = sample()
    bare = replace(made, metrics=tuple(replace(metric, ratio=None) for metric in made.metrics))
    figures = report_view(bare).key_figures
    assert len(figures) == len(report_view(made).key_figures)
    assert all(figure.change[0] in "+−" for figure in figures)
    assert figures[0].change.endswith("TB/year")


def test_headroom_and_costs_read_as_sentences():
    """One number where both ends are the same; an interval in brackets."""
    cost = Effect(value=2.0, ci95=Interval(low=1.5, high=2.5))
    per_unit = PerUnit(
        name="nodeos.cpu_cores", subject=Subject(nodeos="eos"), unit="cpu_seconds", per="block",
        before=cost, after=cost, ratio=Effect(value=0.9, ci95=Interval(low=0.8, high=1.0)),
    )  # fmt: skip
    room = Headroom(
        metric="host.cpu_percent", side="after", target_percent=60.0, why="as stated", cpu_percent=cost,
        peers=Interval(low=2.0, high=2.2), clients=Interval(low=40.0, high=52.0), at=(), assumption="so it is",
    )  # fmt: skip
    said = dict(check_rows(replace(sample(), per_unit=(per_unit,), headroom=room)))
    assert next(value for name, value in said.items() if "per block" in name).endswith(
        "ratio ×0.900 (0.800 to 1.00)"
    )
    assert "40 to 52 incoming peers would bring the CPU to 60.0" in said["headroom"]
    assert ", from 2 peers at 2.00" in said["headroom"]


def test_key_figures_leave_out_what_is_nothing_on_both_sides():
    """No card says that 0 became 0."""
    assert "Swap in use" not in [figure.label for figure in report_view(sample()).key_figures]


def test_ratios_beyond_a_million_are_not_written_out():
    """An interval that is nearly unbounded stays readable."""
    assert text.ratio_interval_text(Interval(low=0.0, high=3.4e41)) == "0 to >\xa01,000,000"
    assert text.ratio_text(1e-9) == "×<\xa00.000001"


def test_a_side_whose_label_is_its_name_says_it_once():
    """``before: before`` helps nobody."""
    made = sample()
    assert report_view(replace(made, before=replace(made.before, label="before"))).before.label == ""


def test_a_comparison_of_nothing_has_a_view():
    """No metric, no wear, no chart: still a report."""
    empty = replace(
        sample(), metrics=(), wear=(), charts=(), facts=(), config_changes=(), findings=(), headline=(),
        repeat=(), not_measured=(), method={}, control=None,
    )  # fmt: skip
    view = report_view(empty)
    assert (view.groups, view.tally, view.key_figures) == ((), (), ())


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("plain", "plain"),
        ("two\nlines\tand tabs", "two lines and tabs"),
        ("bell\x07", "bell\\u0007"),
        ("turned\u202egnirts", "turned\\u202egnirts"),
        ("half\udc80", "half\\udc80"),
        (SCRIPT, SCRIPT),
    ],
)
def test_text_of_hosts_is_one_line_of_printable_characters(given, shown):
    """Control characters, direction marks and lone surrogates are written as escapes."""
    assert text.clean(given) == shown


def test_text_of_hosts_is_bounded():
    """A megabyte becomes at most six hundred characters."""
    assert len(text.clean("x" * 1_000_000)) == text.MAX_TEXT_CHARS


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None])
def test_numbers_that_are_none_are_dashes(bad):
    """NaN and infinity are never printed."""
    assert text.value_text(bad, "s") == "–"
    assert text.signed_text(bad, "s") == "–"
    assert text.ratio_text(bad) == "–"
    assert text.p_text(bad) == "–"
    assert text.percent_change_text(bad) == ""
    if bad is not None:
        assert text.interval_text(Interval(low=bad, high=1.0), "s") == ""


def test_a_unit_that_is_not_known_is_printed_as_it_is():
    """No exception for a metric that a newer leapprof wrote."""
    assert text.value_text(2.0, "parsecs") == "2.00 parsecs".replace(" ", "\xa0")


def test_a_moment_out_of_range_is_a_dash():
    """A host's clock can say anything."""
    assert text.moment_text(2**63) == "2262-04-11 23:47:16 UTC"
    assert text.moment_text(10**30) == "–"


def test_a_span_within_a_day_has_its_date_once():
    """One over midnight has both."""
    noon = 1_772_366_400_000_000_000
    assert text.span_text(noon, noon + 10**10) == "2026-03-01 12:00:00 – 12:00:10 UTC"
    assert text.span_text(noon, noon + 86_400 * 10**9).count("2026-03-0") == 2
    assert text.span_text(noon, None) == "2026-03-01 12:00:00 UTC – –"


def test_subjects_read_as_nodeos_and_device():
    """The host itself is ``host``."""
    assert subject_label(Subject()) == "host"
    assert subject_label(Subject(nodeos="eos", device="sda", role="state")) == "eos · sda (state)"


def test_every_grade_has_a_text():
    """None is missing from the table."""
    from leapprof.report.labels import GRADES

    assert set(GRADES) == set(Grade)


@pytest.mark.parametrize(
    ("adjusted_for", "shown"),
    [
        ("beyond the control b, which moved by +1.00 kB/s (no interval)", "beyond the control b"),
        ("at equal load, for the sides cover different hours of the day", "at equal load"),
        ("beyond the growth of the state, which holds 1.00 GiB more", "beyond the growth of the state"),
    ],
)
def test_what_an_adjusted_difference_takes_off_is_named_beside_it(adjusted_for, shown):
    """Load, growth and a control are three things."""
    made = sample()
    first = replace(made.metrics[0], adjusted=made.metrics[0].difference, adjusted_for=adjusted_for)
    assert metric_row(first, made).adjusted_for == shown


def test_what_is_left_out_within_the_window_is_not_counted_as_compared():
    """35 minutes of which 140 s were not live are 32 min 40 s compared, in every format."""
    made = sample()
    window = replace(made.after.window, end_s=made.after.window.start_s + 2100)
    window = replace(window, left_out_s={"not-live": 140.0}, left_out_inside_s=140.0)
    view = report_view(replace(made, after=replace(made.after, window=window)))
    assert (view.after.length, view.after.left_out) == (
        "32\xa0min\xa040\xa0s",
        "2\xa0min\xa020\xa0s not-live",
    )


def test_a_year_of_no_writes_is_at_most_what_may_have_been_missed():
    """The table of wear and the card above it say the upper limit, not nothing."""
    made = sample()
    first, second = made.wear
    after = WearSide(bytes_per_s=0.0, tb_per_year=0.0, ci95=Interval(low=0.0, high=0.168))
    view = report_view(replace(made, wear=(replace(first, after=after), second)))
    assert view.wear[0].after.value == "at\xa0most\xa00.168\xa0TB/year"
    assert view.key_figures[0].after == view.wear[0].after.value


def test_a_lifetime_without_end_is_at_least_its_low_end():
    """The interval of the writes reaches down to 0: JSON has null, CSV nothing, people read at least."""
    made = sample()
    first, second = made.wear
    found = replace(
        made, wear=(replace(first, lifetime_years_after=Interval(low=4.4, high=math.inf)), second)
    )
    assert report_view(found).wear[0].years_after == "at least 4.40\xa0years"
    assert to_json(found)["wear"][0]["lifetime_years"]["after"] == {"low": 4.4, "high": None}
    head, line, *_ = csv.reader(wear_csv(found).splitlines())
    ends = dict(zip(head, line, strict=True))
    assert (ends["lifetime_years_after_low"], ends["lifetime_years_after_high"]) == ("4.4", "")
