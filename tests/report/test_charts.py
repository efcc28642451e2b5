"""Charts: thinned so that peaks stay, aligned on the change, scaled for reading."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.report.charts import (
    MAX_POINTS,
    drawn_charts,
    figure,
    points_a_series,
    shared_layout,
    thin,
    undrawn_charts,
    value_scale,
)
from tests.support.comparisons import SCRIPT, large, sample


@given(st.lists(st.floats(-1e9, 1e9) | st.just(float("nan")), min_size=1, max_size=300), st.integers(2, 60))
def test_thinning_keeps_peaks_order_and_the_limit(values, limit):
    """For any series: highest and lowest stay, times increase, there are not more points than allowed."""
    value = np.array(values)
    time, thinned = thin(np.arange(len(value), dtype=np.float64), value, limit)
    assert len(thinned) <= max(limit, 2)
    assert np.all(np.diff(time) > 0)
    if np.isfinite(value).any():
        assert np.nanmax(thinned) == np.nanmax(value)
        assert np.nanmin(thinned) == np.nanmin(value)


def plainly_thinned(value: np.ndarray, limit: int) -> list[int]:
    """Return the indices that stay, one stretch after the other."""
    kept = []
    for first, last in pairwise(np.linspace(0, len(value), max(1, limit // 2) + 1).astype(int)):
        part = value[first:last]
        known = not np.isnan(part).all()
        kept += sorted({first + np.nanargmin(part), first + np.nanargmax(part)}) if known else [first]
    return kept


@given(st.lists(st.sampled_from((0.0, -0.0, 1.0, 2.5, -3.0, np.nan)), max_size=300), st.integers(2, 60))
def test_thinning_keeps_the_first_of_equal_peaks(values, limit):
    """All stretches at once give what each gives alone: its first lowest and its first highest point."""
    value = np.array(values, dtype=np.float64)
    time, _ = thin(np.arange(len(value), dtype=np.float64), value, limit)
    assert time.tolist() == (plainly_thinned(value, limit) if len(value) > limit else list(range(len(value))))


def test_figures_are_those_that_plotly_writes():
    """Plotly for Python takes each figure as valid, and writes it as we do."""
    import plotly.graph_objects as go

    for drawn in drawn_charts(sample()):
        made = figure(drawn)
        written = go.Figure(data=made["data"], layout={**made["layout"], "template": None}).to_plotly_json()
        written["layout"].pop("template", None)
        assert written == made
        assert go.Figure(layout=shared_layout())


def test_before_ends_at_the_change_and_after_starts_there():
    """Times in minutes: before below 0, after from 0 on."""
    drawn = drawn_charts(sample())[0]
    assert drawn.time_unit == "min"
    assert drawn.before_time[0] == -28.5
    assert np.all(drawn.before_time < 0)
    assert drawn.after_time[0] == 0


@pytest.mark.parametrize(
    ("unit", "largest", "factor", "text"),
    [
        ("bytes", 3 * 2**30, 2**30, "GiB"), ("bytes", 5, 1, "B"), ("bytes_per_s", 4.1e6, 10**6, "MB/s"),
        ("bytes_per_s", 5, 1, "B/s"), ("percent", 80, 1, "%"), ("count", 7, 1, ""), ("parsecs", 7, 1, "parsecs"),
        ("s", 3.2, 1, "s"), ("s", 0.02, 1e-3, "ms"), ("s", 6e-5, 1e-6, "µs"), ("s", 0, 1, "s"),
    ],
)  # fmt: skip
def test_values_are_scaled_for_reading(unit, largest, factor, text):
    """Memory binary, rates decimal, delays in the unit that they are said in."""
    scale = value_scale(unit, largest)
    assert (scale.factor, scale.unit) == (factor, text)


def test_many_charts_share_the_room_for_points():
    """Sixty charts have together not more than the page can hold."""
    assert points_a_series(60) * 60 * 2 <= MAX_POINTS
    drawn = drawn_charts(large(points=900))
    assert sum(len(d.before_value) + len(d.after_value) for d in drawn) <= MAX_POINTS


def test_no_text_of_a_host_is_within_a_figure():
    """Plotly knows a few tags: titles and subjects stay outside it, in the page."""
    for drawn in drawn_charts(sample(nasty=True)):
        assert SCRIPT not in str(figure(drawn))


def test_figures_say_which_side_is_which_without_colour():
    """Line style and label differ."""
    dashes = [trace["line"].get("dash") for trace in figure(drawn_charts(sample())[0])["data"][2:]]
    assert dashes == ["solid", "dot"]
    assert [a["text"] for a in shared_layout()["annotations"]] == ["before ◂", "▸ after"]


def test_what_was_zero_throughout_is_named_and_not_drawn():
    """An empty chart tells nothing; a chart without any value is no chart of zeros."""
    made = sample()
    assert undrawn_charts(made) == ("Swap in use (host)",)
    assert "host.swap_used_bytes" not in {drawn.metric for drawn in drawn_charts(made)}
    assert len(drawn_charts(made)) + 1 == len(made.charts)


def test_an_empty_chart_is_drawn():
    """A side without points, and no bins."""
    from dataclasses import replace

    none = np.array([])
    made = sample()
    empty = replace(
        made.charts[0], before_t_s=none, before_value=none, after_t_s=none, after_value=none,
        bin_edges=none, before_share=none, after_share=none,
    )  # fmt: skip
    assert figure(drawn_charts(replace(made, charts=(empty,)))[0])["data"]


def test_what_changed_is_drawn_first() -> None:
    """A reader sees the charts of the verdicts before those of metrics that stayed the same."""
    made = sample()
    verdicts = {m.name: m.verdict for m in made.metrics}
    moved = [verdicts.get(d.metric) in {"improved", "regressed", "changed"} for d in drawn_charts(made)]
    assert moved == sorted(moved, reverse=True)
    assert any(moved)
    assert len(moved) + len(undrawn_charts(made)) == len(made.charts)
