"""Comparison → CSV files: metrics, wear, drawn series and distributions, in base units.

A spreadsheet runs a cell that opens with ``=``, ``+``, ``-``, ``@`` or a tab (OWASP, CSV Injection):
such a text gets a leading apostrophe, a number stays a number.
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence

from leapprof.model import Chart, Comparison, Effect, Estimate, Interval, MetricComparison, Subject, WearSide

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r")
Cell = str | float | int | None

_ESTIMATE_HEADS = (
    "mean", "ci95_low", "ci95_high",
    "p50", "p50_ci95_low", "p50_ci95_high", "p95", "p95_ci95_low", "p95_ci95_high", "p99", "p99_ci95_low",
    "p99_ci95_high", "samples", "effective_samples", "covered_seconds",
)  # fmt: skip
_SUBJECT_HEADS = ("nodeos", "device", "role")
_EFFECT_HEADS = ("", "_ci95_low", "_ci95_high")


def guarded(cell: Cell) -> str:
    """Return a cell that a spreadsheet takes as text or number, never as a formula; None is empty."""
    if isinstance(cell, str):
        text = cell.replace("\0", "")
        return "'" + text if text.lstrip(" \n").startswith(_DANGEROUS) or text[:1] in _DANGEROUS else text
    if cell is None or not math.isfinite(cell):
        return ""
    return repr(cell) if isinstance(cell, float) else str(cell)


def _reconstructed(comparison: Comparison) -> str:
    """Return which sides were not measured: empty, ``before``, ``after`` or ``before after``."""
    sides = (("before", comparison.before), ("after", comparison.after))
    return " ".join(name for name, side in sides if side.recording.reconstructed is not None)


def _lines(rows: Iterable[Sequence[Cell]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(map(guarded, row) for row in rows)
    return out.getvalue()


def _table(comparison: Comparison, heads: Sequence[str], rows: Iterable[Sequence[Cell]]) -> str:
    mark = _reconstructed(comparison)
    return _lines(([*heads, "reconstructed"], *([*row, mark] for row in rows)))


def _ends(interval: Interval | None) -> tuple[Cell, Cell]:
    return (None, None) if interval is None else (interval.low, interval.high)


def _estimate(estimate: Estimate | None) -> tuple[Cell, ...]:
    if estimate is None:
        return (None,) * len(_ESTIMATE_HEADS)
    return (
        estimate.mean, *_ends(estimate.ci95), estimate.p50, *_ends(estimate.p50_ci95), estimate.p95,
        *_ends(estimate.p95_ci95), estimate.p99, *_ends(estimate.p99_ci95), estimate.samples,
        estimate.effective_samples, estimate.covered_seconds,
    )  # fmt: skip


def _effect(effect: Effect | None) -> tuple[Cell, ...]:
    return (None,) * 3 if effect is None else (effect.value, *_ends(effect.ci95))


def _subject(subject: Subject) -> tuple[Cell, ...]:
    return subject.nodeos or subject.target, subject.device, subject.role or subject.operation


def _metric(metric: MetricComparison) -> tuple[Cell, ...]:
    return (
        metric.name, metric.unit, *_subject(metric.subject), metric.better.value,
        *_estimate(metric.before), *_estimate(metric.after),
        *_effect(metric.difference), *_effect(metric.ratio), *_effect(metric.adjusted),
        metric.p_value, metric.p_adjusted, metric.grade.value, metric.verdict.value, metric.reason, metric.refused,
    )  # fmt: skip


def metrics_csv(comparison: Comparison) -> str:
    """Return one line a metric."""
    heads = [
        "name", "unit", *_SUBJECT_HEADS, "better",
        *(f"{side}_{head}" for side in ("before", "after") for head in _ESTIMATE_HEADS),
        *(f"{effect}{head}" for effect in ("difference", "ratio", "adjusted") for head in _EFFECT_HEADS),
        "p_value", "p_adjusted", "grade", "verdict", "reason", "refused",
    ]  # fmt: skip
    return _table(comparison, heads, map(_metric, comparison.metrics))


def _wear_side(side: WearSide | None) -> tuple[Cell, ...]:
    return (None,) * 4 if side is None else (side.bytes_per_s, side.tb_per_year, *_ends(side.ci95))


def wear_csv(comparison: Comparison) -> str:
    """Return one line a device."""
    side_heads = ("bytes_per_s", "tb_per_year", "tb_per_year_ci95_low", "tb_per_year_ci95_high")
    heads = [
        "device", "role", "model",
        *(f"{side}_{head}" for side in ("before", "after") for head in side_heads),
        "rated_tbw",
        *(f"lifetime_years_{side}_{end}" for side in ("before", "after") for end in ("low", "high")),
        "stacked_views", "note",
    ]  # fmt: skip
    rows = (
        (
            w.device, w.role, w.model, *_wear_side(w.before), *_wear_side(w.after), w.rated_tbw,
            *_ends(w.lifetime_years_before), *_ends(w.lifetime_years_after), " ".join(w.stacked_views), w.note,
        )
        for w in comparison.wear
    )  # fmt: skip
    return _table(comparison, heads, rows)


def _series(chart: Chart, mark: str) -> Iterator[str]:
    """Yield the lines of a chart: its texts are the same in each, and a number needs no guard."""
    sides = (
        ("before", chart.before_t_s, chart.before_value),
        ("after", chart.after_t_s, chart.after_value),
    )
    for side, times, values in sides:
        texts = _lines([(chart.name, chart.unit, *_subject(chart.subject), side)]).rstrip("\n")
        for t_s, value in zip(times.tolist(), values.tolist(), strict=True):
            yield f"{texts},{t_s},{value if math.isfinite(value) else ''},{mark}\n"


def series_csv(comparison: Comparison) -> str:
    """Return the points of every chart; an empty value is a gap."""
    heads = ["name", "unit", *_SUBJECT_HEADS, "side", "seconds_in_window", "value"]
    mark = _reconstructed(comparison)
    points = (line for chart in comparison.charts for line in _series(chart, mark))
    return _table(comparison, heads, ()) + "".join(points)


def _bins(chart: Chart) -> Iterable[tuple[Cell, ...]]:
    edges = chart.bin_edges.tolist()
    shares = zip(chart.before_share.tolist(), chart.after_share.tolist(), strict=True)
    for low, high, (before, after) in zip(edges[:-1], edges[1:], shares, strict=True):
        yield chart.name, chart.unit, *_subject(chart.subject), low, high, before, after


def distributions_csv(comparison: Comparison) -> str:
    """Return the share of time that each side spent in each bin of every chart."""
    heads = ["name", "unit", *_SUBJECT_HEADS, "bin_low", "bin_high", "before_share", "after_share"]
    return _table(comparison, heads, (row for chart in comparison.charts for row in _bins(chart)))
