"""Charts of a comparison as plotly figures: the series around the change, and both distributions beside it.

One figure has two panels that share their value axis: time runs through the change (before is left of
0 and ends there, after starts at 0), and each distribution lies at its side. What `before` and `after`
are is told by place, by line style and by colour; colours come from the page's style sheet, so that
dark mode and print can choose others. Typed arrays travel as base64 (plotly.js ``bdata``): what plotly for
Python would write, without the second that it takes to load and to check.
"""

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leapprof import units
from leapprof.model import Chart, Comparison, Verdict
from leapprof.report import text
from leapprof.report.labels import metric_label, subject_label

# A point is 2 float32 in base64, 10.7 bytes; 66,000 of them are 0.7 MB of a page of at most 2.5 MB,
# of which plotly.js takes 1.2.
MAX_POINTS = 66_000
MIN_POINTS_A_SERIES = 100
_TIME_UNITS = ((2 * units.DAY_S, units.DAY_S, "d"), (2 * 3600, 3600, "h"), (120, 60, "min"), (0, 1, "s"))
_DECIMAL = ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k"))
_BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_SHORT_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_UNIT_TEXT = {"percent": "%", "s": "s", "cores": "cores", "per_s": "/s", "count": "", "years": "years"}
_SERIES_SHARE = 0.76
_MOVED = frozenset({Verdict.IMPROVED, Verdict.REGRESSED, Verdict.CHANGED})
_PANEL_GAP = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueScale:
    """How the values of a chart are written: divided by `factor`, followed by `unit`."""

    factor: float
    unit: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnChart:
    """A chart in the units in which it is drawn.

    Attributes:
        key: identifier within the page, safe in HTML.
        title, subject: for people.
        metric: name of the metric.
        scale: of the values.
        time_unit: of both times.
        before_time, after_time: (m,) float64 in time_unit; the change is 0.
        before_value, after_value: (m,) float64, scaled.
        edges: (b+1,) float64, scaled.
        centres: (b,) float64, scaled middle of each bin.
        before_percent, after_percent: (b,) float64, share of time.
        reconstructed: a side of it was not measured.
    """

    key: str
    title: str
    subject: str
    metric: str
    scale: ValueScale
    time_unit: str
    before_time: NDArray[np.float64]
    before_value: NDArray[np.float64]
    after_time: NDArray[np.float64]
    after_value: NDArray[np.float64]
    edges: NDArray[np.float64]
    centres: NDArray[np.float64]
    before_percent: NDArray[np.float64]
    after_percent: NDArray[np.float64]
    reconstructed: bool


def value_scale(unit: str, largest: float) -> ValueScale:
    """Return the scale in which values up to largest are read without many digits."""
    steps = {"bytes": _BINARY, "bytes_per_s": _DECIMAL, "s": _SHORT_TIMES}.get(unit, ())
    suffix = {"bytes": "", "bytes_per_s": "B/s", "s": ""}.get(
        unit, _UNIT_TEXT.get(unit, text.clean(unit, 20))
    )
    for factor, name in steps:
        if largest >= factor:
            return ValueScale(factor=float(factor), unit=name + suffix)
    return ValueScale(factor=1.0, unit=suffix or {"bytes": "B", "s": "s"}.get(unit, ""))


def _largest(*values: NDArray[np.float64]) -> float:
    finite = [v[np.isfinite(v)] for v in values]
    return max((float(np.max(np.abs(v))) for v in finite if v.size), default=0.0)


def is_reconstructed(comparison: Comparison) -> bool:
    """Whether a side of the comparison was not measured."""
    return any(side.recording.reconstructed is not None for side in (comparison.before, comparison.after))


def thin(
    time: NDArray[np.float64], value: NDArray[np.float64], limit: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return at most limit points that keep every stretch's lowest and highest value, in their order."""
    n = len(value)
    if n <= limit:
        return time, value
    first = np.linspace(0, n, max(1, limit // 2) + 1).astype(np.intp)[:-1]
    stretch = np.searchsorted(first, np.arange(n), side="right") - 1
    lowest, highest = np.fmin.reduceat(value, first), np.fmax.reduceat(value, first)
    kept = [
        _first_of_each(stretch, value == lowest[stretch]),
        _first_of_each(stretch, value == highest[stretch]),
        first[np.isnan(lowest)],
    ]
    index = np.unique(np.concatenate(kept))
    return time[index], value[index]


def _first_of_each(stretch: NDArray[np.intp], wanted: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return where the first wanted value of each stretch is."""
    at = np.flatnonzero(wanted)
    return at[np.unique(stretch[at], return_index=True)[1]]


def points_a_series(charts: int) -> int:
    """Return how many points each side of each chart may have, so that the page stays small."""
    return max(MIN_POINTS_A_SERIES, MAX_POINTS // max(1, 2 * charts))


def drawn_chart(chart: Chart, comparison: Comparison, *, key: str, limit: int) -> DrawnChart:
    """Return a chart in the units in which it is drawn."""
    window = comparison.before.window
    before_length_s = window.end_s - window.start_s
    span_s = max(before_length_s, float(np.max(chart.after_t_s)) if chart.after_t_s.size else 0.0)
    _, second, time_unit = next(u for u in _TIME_UNITS if span_s >= u[0])
    scale = value_scale(chart.unit, _largest(chart.before_value, chart.after_value))
    before_t, before_v = thin(chart.before_t_s - before_length_s, chart.before_value, limit)
    after_t, after_v = thin(chart.after_t_s, chart.after_value, limit)
    edges = chart.bin_edges / scale.factor
    return DrawnChart(
        key=key,
        title=text.clean(metric_label(chart.name)),
        subject=text.clean(subject_label(chart.subject)),
        metric=text.clean(chart.name),
        scale=scale,
        time_unit=time_unit,
        before_time=before_t / second,
        before_value=before_v / scale.factor,
        after_time=after_t / second,
        after_value=after_v / scale.factor,
        edges=edges,
        centres=(edges[:-1] + edges[1:]) / 2,
        before_percent=chart.before_share * 100,
        after_percent=chart.after_share * 100,
        reconstructed=is_reconstructed(comparison),
    )


def _in_reading_order(comparison: Comparison) -> list[Chart]:
    """Return what changed first, then the other headline metrics, then the rest; each in the order of the table."""
    ranks = {
        (m.name, m.subject): 0 if m.verdict in _MOVED else 1 if m.headline else 2 for m in comparison.metrics
    }
    return sorted(comparison.charts, key=lambda chart: ranks.get((chart.name, chart.subject), 2))


def drawn_charts(comparison: Comparison) -> tuple[DrawnChart, ...]:
    """Return the charts of a comparison as they are drawn; those of nothing but zeros are not."""
    charts = [chart for chart in _in_reading_order(comparison) if not _is_all_zero(chart)]
    limit = points_a_series(len(charts))
    return tuple(
        drawn_chart(chart, comparison, key=f"chart-{i}", limit=limit)
        for i, chart in enumerate(charts, start=1)
    )


def undrawn_charts(comparison: Comparison) -> tuple[str, ...]:
    """Return title and subject of what was 0 throughout on both sides."""
    return tuple(
        text.clean(f"{metric_label(chart.name)} ({subject_label(chart.subject)})")
        for chart in _in_reading_order(comparison)
        if _is_all_zero(chart)
    )


def _is_all_zero(chart: Chart) -> bool:
    values = np.concatenate([chart.before_value, chart.after_value])
    finite = values[np.isfinite(values)]
    return bool(finite.size) and not finite.any()


Json = dict[str, Any]


def _array(values: NDArray[np.float64]) -> Json | list[float]:
    """Return a typed array as plotly.js reads it."""
    if not values.size:
        return []
    return {"dtype": "f4", "bdata": base64.b64encode(values.astype("<f4").tobytes()).decode("ascii")}


def _series(name: str, time: NDArray[np.float64], value: NDArray[np.float64], drawn: DrawnChart) -> Json:
    return {
        "type": "scatter",
        "x": _array(time),
        "y": _array(value),
        "mode": "lines",
        "name": name,
        "meta": name,
        "line": {"width": 1.2},
        "hovertemplate": f"{name}, %{{x:.4~g}} {drawn.time_unit}: %{{y:.4~g}} {drawn.scale.unit}<extra></extra>",
        "xaxis": "x",
    }


def _distribution(name: str, percent: NDArray[np.float64], drawn: DrawnChart) -> Json:
    hover = f"{name}: %{{x:.1f}} % of the time near %{{y:.3~g}} {drawn.scale.unit}<extra></extra>"
    return {
        "type": "scatter",
        "x": _array(percent),
        "y": _array(drawn.centres),
        "mode": "lines",
        "name": name,
        "meta": name,
        "line": {"shape": "vhv", "width": 1.5, "dash": "solid" if name == "before" else "dot"},
        "fill": "tozerox",
        "hovertemplate": hover,
        "xaxis": "x2",
    }


def figure(drawn: DrawnChart) -> Json:
    """Return one chart as plotly.js reads it: its traces, and its part of the layout."""
    value_axis: Json = {"title": {"text": drawn.scale.unit or "count"}}
    return {
        "data": [
            _series("before", drawn.before_time, drawn.before_value, drawn),
            _series("after", drawn.after_time, drawn.after_value, drawn),
            _distribution("before", drawn.before_percent, drawn),
            _distribution("after", drawn.after_percent, drawn),
        ],
        "layout": {"yaxis": value_axis, "xaxis": {"title": {"text": f"{drawn.time_unit} from the change"}}},
    }


def shared_layout() -> Json:
    """Return the layout that all figures have in common; the page's script merges it, and the colours."""
    label = {
        "xref": "x",
        "yref": "paper",
        "x": 0,
        "y": 1,
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 12},
    }
    return {
        "margin": {"l": 62, "r": 10, "t": 24, "b": 44},
        "height": 250,
        "showlegend": False,
        "hovermode": "closest",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "xaxis": {"domain": [0, _SERIES_SHARE], "zeroline": False, "nticks": 8, "ticks": "outside"},
        "xaxis2": {
            "domain": [_SERIES_SHARE + _PANEL_GAP, 1],
            "title": {"text": "% of time"},
            "rangemode": "tozero",
            "nticks": 4,
            "ticks": "outside",
        },
        "yaxis": {"rangemode": "tozero", "nticks": 6, "title": {"standoff": 6}},
        "shapes": [{"type": "line", "xref": "x", "yref": "paper", "x0": 0, "x1": 0, "y0": 0, "y1": 1}],
        "annotations": [
            {**label, "text": "before ◂", "xanchor": "right", "xshift": -3},
            {**label, "text": "▸ after", "xanchor": "left", "xshift": 3},
        ],
    }
