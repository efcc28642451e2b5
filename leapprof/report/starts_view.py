"""Starts and stops of nodeos for people: a table, curves side by side, and stops against uptime. SVG, no script."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from leapprof.model import Comparison
from leapprof.model.start import EndKind, StartCurve, StartKind, StartMeasure
from leapprof.report import text
from leapprof.units import format_bytes

WIDTH, HEIGHT = 220.0, 84.0
LEFT, TOP, RIGHT, BOTTOM = 4.0, 6.0, 216.0, 78.0
MAX_STARTS = 12
DOT = 3.5
HOUR_S = 3600.0

START_HEADS = (
    "side", "nodeos", "map mode", "start", "took", "peak RSS", "of it anonymous", "peak swap", "read",
)  # fmt: skip
STOP_HEADS = ("side", "nodeos", "map mode", "ran for", "stop", "took", "peak RSS", "peak swap", "dirtied")


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of a small plot: path data of SVG, and the class that colours it."""

    d: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """One small plot with what a screen reader says of it."""

    title: str
    side: str
    lines: tuple[Line, ...]
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotRow:
    """The same quantity of each start, side by side, on one scale."""

    title: str
    top: str
    end: str
    legend: tuple[str, ...]
    plots: tuple[Plot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """One stop in a plot against uptime."""

    x: float
    y: float
    side: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitPlot:
    """Stops against uptime."""

    title: str
    top: str
    end: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartTable:
    """One table: starts, or stops."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StartsView:
    """Everything of the panel."""

    tables: tuple[StartTable, ...]
    plot_rows: tuple[PlotRow, ...]
    exits: tuple[ExitPlot, ...]
    left_out: str


_Values = tuple[float | None, ...]
_ROWS: tuple[tuple[str, str, tuple[tuple[str, str, Callable[[StartCurve], _Values]], ...]], ...] = (
    ("CPU", "cores", (("solid", "", lambda c: c.cpu_cores),)),
    (
        "resident memory",
        "bytes",
        (
            ("solid", "anonymous", lambda c: c.rss_anon_bytes),
            ("dash", "file", lambda c: c.rss_file_bytes),
            ("dot", "shmem", lambda c: c.rss_shmem_bytes),
        ),
    ),
    ("swap", "bytes", (("solid", "", lambda c: c.swap_bytes),)),
    ("reads", "bytes_per_s", (("solid", "", lambda c: c.read_bytes_per_s),)),
)


def starts_view(comparison: Comparison) -> StartsView | None:
    """Return the panel; None when no run of nodeos was measured."""
    starts = comparison.starts
    if not starts:
        return None
    drawn = [s for s in starts if s.curve is not None and len(s.curve.t_s) > 1]
    hidden = max(len(drawn) - MAX_STARTS, 0)
    return StartsView(
        tables=(
            StartTable(heads=START_HEADS, rows=tuple(_start_row(one) for one in starts)),
            StartTable(heads=STOP_HEADS, rows=tuple(_stop_row(one) for one in starts)),
        ),
        plot_rows=_plot_rows(drawn[:MAX_STARTS]),
        exits=_exits(starts),
        left_out=f"{hidden} more starts are in report.json." if hidden else "",
    )


def start_json(one: StartMeasure) -> dict[str, Any]:
    """Return one run for report.json; the curve as lists of one length."""
    curve = one.curve
    names = ("t_s", "cpu_cores", "read_bytes_per_s", *_LEVELS)
    return {
        "side": one.label,
        **{name: getattr(one, name) for name in _PLAIN},
        "kind": one.kind.value,
        "end": one.end.value,
        "curve": None if curve is None else {name: list(getattr(curve, name)) for name in names},
    }


_LEVELS = ("rss_anon_bytes", "rss_file_bytes", "rss_shmem_bytes", "swap_bytes")
_PLAIN = (
    "nodeos", "pid", "started_wall_ns", "map_mode", "kind_source", "is_start_seen", "start_s", "start_peak_rss_bytes",
    "start_peak_anon_bytes", "start_peak_swap_bytes", "start_read_bytes", "uptime_s", "stop_s", "stop_peak_rss_bytes",
    "stop_peak_swap_bytes", "stop_written_bytes",
)  # fmt: skip


def _who(one: StartMeasure) -> tuple[str, ...]:
    return text.clean(one.label), text.clean(one.nodeos), text.clean_or_absent(one.map_mode)


def _start_row(one: StartMeasure) -> tuple[str, ...]:
    kind = "" if one.kind is StartKind.UNKNOWN else one.kind.value
    start = f"{kind} ({one.kind_source})" if one.kind_source else kind or "kind not known"
    if not one.is_start_seen:
        start += ", before the recording"
    return (
        *_who(one),
        text.clean(start),
        text.value_text(one.start_s, "s"),
        text.value_text(one.start_peak_rss_bytes, "bytes"),
        text.value_text(one.start_peak_anon_bytes, "bytes"),
        text.value_text(one.start_peak_swap_bytes, "bytes"),
        _moved(one.start_read_bytes),
    )


def _stop_row(one: StartMeasure) -> tuple[str, ...]:
    stop = "kind not known" if one.end is EndKind.UNKNOWN else one.end.value
    return (
        *_who(one),
        text.ABSENT if one.uptime_s is None else text.duration_text(one.uptime_s),
        stop,
        text.value_text(one.stop_s, "s"),
        text.value_text(one.stop_peak_rss_bytes, "bytes"),
        text.value_text(one.stop_peak_swap_bytes, "bytes"),
        _moved(one.stop_written_bytes),
    )


def _moved(value_bytes: float | None) -> str:
    """Return bytes read or written, decimal as drives count."""
    return text.ABSENT if value_bytes is None else format_bytes(value_bytes)


def _plot_rows(starts: Sequence[StartMeasure]) -> tuple[PlotRow, ...]:
    """Return a row of plots a quantity; one that is not known, or 0, in all starts is left out."""
    curves = [s.curve for s in starts if s.curve is not None]
    if not curves:
        return ()
    span_s = max(curve.t_s[-1] for curve in curves)
    rows = []
    for title, unit, lines in _ROWS:
        known = [v for c in curves for _, _, pick in lines for v in pick(c) if v is not None]
        top = max(known, default=0.0)
        if top <= 0:
            continue
        rows.append(
            PlotRow(
                title=title,
                top=text.value_text(top, unit),
                end=text.duration_text(span_s),
                legend=tuple(f"{kind}: {name}" for kind, name, _ in lines if name),
                plots=tuple(_plot(s, s.curve, lines, top, span_s) for s in starts if s.curve is not None),
            )
        )
    return tuple(rows)


def _plot(
    one: StartMeasure,
    curve: StartCurve,
    lines: Sequence[tuple[str, str, Callable[[StartCurve], _Values]]],
    top: float,
    span_s: float,
) -> Plot:
    name = text.clean(f"{one.label}: {one.map_mode or one.nodeos}, {one.kind.value} start")
    return Plot(
        title=name,
        side="before" if one.label == "before" else "after",
        lines=tuple(Line(d=_path(curve.t_s, pick(curve), top, span_s), kind=kind) for kind, _, pick in lines),
        label=name,
    )


def _path(t_s: Sequence[float], values: Sequence[float | None], top: float, span_s: float) -> str:
    """Return SVG path data; a missing value lifts the pen."""
    parts, is_down = [], False
    for t, value in zip(t_s, values, strict=True):
        if value is None:
            is_down = False
            continue
        x = LEFT + (RIGHT - LEFT) * t / span_s
        y = BOTTOM - (BOTTOM - TOP) * min(value / top, 1.0)
        parts.append(f"{'L' if is_down else 'M'}{x:.1f} {y:.1f}")
        is_down = True
    return "".join(parts)


def _exits(starts: Sequence[StartMeasure]) -> tuple[ExitPlot, ...]:
    """Return seconds and bytes of the stops against how long the process had run."""
    found = []
    for title, unit, name in (
        ("seconds of a stop", "s", "stop_s"),
        ("dirtied by a stop", "bytes", "stop_written_bytes"),
    ):
        values: list[tuple[StartMeasure, float | None]] = [(s, getattr(s, name)) for s in starts]
        points = [(s, s.uptime_s, v) for s, v in values if s.uptime_s is not None and v is not None]
        top = max((value for _, _, value in points), default=0)
        end = max((uptime for _, uptime, _ in points), default=0)
        if len(points) < 2 or top <= 0 or end <= 0:
            continue
        found.append(
            ExitPlot(
                title=f"{title}, against how long it had run",
                top=text.value_text(top, unit) if unit == "s" else _moved(top),
                end=text.duration_text(end),
                dots=tuple(
                    _dot(one, uptime / end, value / top, unit, value) for one, uptime, value in points
                ),
            )
        )
    return tuple(found)


def _dot(one: StartMeasure, x: float, y: float, unit: str, value: float) -> Dot:
    shown = text.value_text(value, "s") if unit == "s" else _moved(value)
    return Dot(
        x=round(LEFT + DOT + (RIGHT - LEFT - 2 * DOT) * x, 1),
        y=round(BOTTOM - (BOTTOM - TOP) * y, 1),
        side="before" if one.label == "before" else "after",
        label=text.clean(f"{one.label}, {one.map_mode or one.nodeos}: {shown}"),
    )
