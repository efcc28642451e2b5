"""Delays of probes on both sides: quantiles over all requests of a window, with intervals over blocks of time.

A maximum has no interval; how quantiles get theirs is in delay_rows.py.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.allowance import Nature, allowing
from leapprof.analysis.estimate import estimate
from leapprof.analysis.log_linear import Buckets, LogLinear, decode, merged
from leapprof.assess.delay_rows import DelayRows, delay_batches, plain_estimate, quantile_estimate
from leapprof.assess.measure import MeasuredSide, range_of
from leapprof.assess.metrics import METRICS, MetricSpec, SubjectKind
from leapprof.assess.samples import RecordingTables, timeline_s
from leapprof.assess.sides import CutSide
from leapprof.errors import ParseError
from leapprof.model import Subject, Table
from leapprof.units import NS_PER_S

TABLE = "latency"
TRANSPORT = "latency"
PROBABILITIES = {"p50_s": 0.5, "p90_s": 0.9, "p95_s": 0.95, "p99_s": 0.99}
MAX_REFUSED = "a maximum is one request: it has no interval and grows with the length of a run"
_COLUMNS = ("block_ns", "errors", *(f"{name.removesuffix('_s')}_ns" for name in PROBABILITIES), "max_ns")
_PERCENT = 100.0
Key = tuple[str, str, str]
"""Probe, operation and target."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LatencySides:
    """One metric of one operation, measured on both sides; None where a side does not hold it."""

    spec: MetricSpec
    subject: Subject
    before: MeasuredSide | None
    after: MeasuredSide | None
    refused: str | None


def latency_sides(before: CutSide, after: CutSide) -> Iterator[LatencySides]:
    """Yield every metric of every operation that a probe asked on at least one side."""
    for probe, operation, first, second in _pairs(_keys(before.tables), _keys(after.tables)):
        rows = (_rows(before, first), _rows(after, second))
        subject = Subject(operation=operation or None, target=_target(first, second))
        for spec in (s for s in METRICS if s.subject is SubjectKind.LATENCY):
            if spec.name.split(".")[1] != probe:
                continue
            sides = (_measured(spec, rows[0], before), _measured(spec, rows[1], after))
            if any(sides):
                refused = MAX_REFUSED if spec.name.endswith(".max_s") else None
                yield LatencySides(
                    spec=spec, subject=subject, before=sides[0], after=sides[1], refused=refused
                )
    for side in (before, after):
        side.tables.release(TABLE)


def delay_subjects(recording: RecordingTables) -> Iterator[tuple[Subject, str, Mapping[str, str]]]:
    """Yield what the probes of a recording asked of whom, the probe, and what selects its rows."""
    for key in _keys(recording):
        yield Subject(operation=key[1] or None, target=key[2]), key[0], _where(key)


def _target(first: Key | None, second: Key | None) -> str:
    names = dict.fromkeys(key[2] for key in (first, second) if key is not None)
    return " → ".join(names)


def _keys(tables: RecordingTables) -> tuple[Key, ...]:
    table = tables.table(TABLE, ())
    if not table.rows or not {"probe", "operation", "target"} <= set(table.texts):
        return ()
    rows = zip(*(table.texts[name] for name in ("probe", "operation", "target")), strict=True)
    return tuple(sorted({(str(p), str(o), str(t)) for p, o, t in rows}))


def _pairs(
    before: tuple[Key, ...], after: tuple[Key, ...]
) -> Iterator[tuple[str, str, Key | None, Key | None]]:
    """Yield what is compared: the same operation and target, or the same operation where each side asked one target."""
    left = [k for k in before if k not in after]
    left_after = [k for k in after if k not in before]
    for key in before:
        if key in after:
            yield key[0], key[1], key, key
            continue
        same = [k for k in left_after if k[:2] == key[:2]]
        alone = len([k for k in left if k[:2] == key[:2]]) == 1 and len(same) == 1
        yield key[0], key[1], key, same[0] if alone else None
        if alone:
            left_after.remove(same[0])
    yield from ((key[0], key[1], None, key) for key in left_after)


def histogram_of(rows: Table) -> tuple[LogLinear, Buckets]:
    """Return the delays of all rows of one operation together; a damaged histogram is left out."""
    decoded = [_decoded(text) for text in rows.texts["histogram"]]
    whole = merged(h.counts for h in decoded if h is not None)
    return whole, _buckets(rows, np.arange(rows.rows)) if rows.rows else Buckets()


def _where(key: Key) -> Mapping[str, str]:
    return {"probe": key[0], "operation": key[1], "target": key[2]}


def _rows(side: CutSide, key: Key | None) -> DelayRows | None:
    """Return the blocks of one operation in the window; a block whose histogram is damaged is left out."""
    if key is None:
        return None
    table = side.tables.table(TABLE, _COLUMNS, _where(key))
    time_s = timeline_s(table)
    edge = 1e-6
    inside = np.flatnonzero((time_s > side.span.start_s + edge) & (time_s <= side.span.end_s + edge))
    found = {int(i): _decoded(table.texts["histogram"][i]) for i in inside}
    keep = np.array([i for i, h in found.items() if h is not None], dtype=np.int64)
    if not keep.size:
        return None
    return DelayRows(
        time_s=time_s[keep],
        weight_s=table.integers["block_ns"].values[keep] / NS_PER_S,
        histograms=tuple(h for h in found.values() if h is not None),
        errors=table.integers["errors"].values[keep],
        columns={name: _seconds(table, name, keep) for name in (*PROBABILITIES, "max_s")},
        buckets=_buckets(table, keep),
    )


def _buckets(table: Table, keep: NDArray[np.int64]) -> Buckets:
    """Return the buckets of the first block; the probe makes all blocks of a run alike."""
    texts = table.texts.get("bounds_ns")
    text = texts[keep[0]] if texts is not None else None
    parts = str(text).split(",") if text else []
    return Buckets(bounds=tuple(int(p) for p in parts if p.isascii() and p.isdigit()))


def _decoded(text: object) -> LogLinear | None:
    try:
        return decode(str(text))
    except ParseError:
        return None


def _seconds(table: Table, name: str, keep: NDArray[np.int64]) -> NDArray[np.float64]:
    column = table.integers[f"{name.removesuffix('_s')}_ns"]
    return np.where(column.present, column.values / NS_PER_S, np.nan)[keep]


def _measured(spec: MetricSpec, rows: DelayRows | None, side: CutSide) -> MeasuredSide | None:
    """Return one metric of one operation on one side."""
    if rows is None:
        return None
    name = spec.name.split(".")[2]
    if name == "error_percent":
        return _error_share(spec, rows, side)
    series = rows.series(rows.columns[name])
    whole = merged(h.counts for h in rows.histograms)
    if not whole.total or not np.isfinite(series.value).any():
        return None
    plain = plain_estimate(rows, whole, float(np.nanmax(series.value)))
    batches = delay_batches(series, side.span)
    if name in PROBABILITIES:
        plain = quantile_estimate(PROBABILITIES[name], rows, whole, side.span)
    return MeasuredSide(estimate=plain, series=series, batches=batches)


def _error_share(spec: MetricSpec, rows: DelayRows, side: CutSide) -> MeasuredSide:
    """Return the share of attempts that failed, in percent."""
    attempts = rows.counts + rows.errors
    total = float(attempts.sum())
    share = _PERCENT * float(rows.errors.sum()) / total if total else 0.0
    with np.errstate(invalid="ignore"):
        series = rows.series(np.where(attempts > 0, _PERCENT * rows.errors / attempts, np.nan))
    batches = delay_batches(series, side.span)
    found = estimate(batches, series)
    if found is None:
        found = plain_estimate(rows, LogLinear(counts={0: 1}), share)
    found = allowing(replace(found, mean=share), Nature(memory_s=spec.memory_s, range=range_of(batches)))
    return MeasuredSide(estimate=found, series=series, batches=batches)
