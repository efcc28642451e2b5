"""The probe ``histogram``: delays that a service has counted into Prometheus histograms, per operation.

A histogram of Prometheus keeps cumulative counts by upper bound (``le``), so a quantile is known to the width of a
bucket and interpolated inside it, as histogram_quantile does. Counters that start anew are seen to by the server's
increase().

The trap of Temporal's SDKs: those built on Core (Python, TypeScript, .NET, Ruby) export milliseconds, those of Go and
Java seconds, under one name (docs.temporal.io, SDK metrics reference). The unit is therefore read off the name or the
bounds, and refused where neither tells.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.log_linear import LARGEST, Buckets, LogLinear, bucket_of, merged
from leapprof.errors import ConfigError, NotEnoughDataError
from leapprof.latency.blocks import QUANTILES, Subject, rounded, text_column
from leapprof.latency.machine import column, filled
from leapprof.model import Column, Evidence, Finding, Severity, Table
from leapprof.units import NS_PER_S, significant

PROBE = "histogram"
MOST_BOUNDS = 400
MOST_OPERATIONS = 200
UNITS_NS = {"s": NS_PER_S, "ms": NS_PER_S // 1000, "us": NS_PER_S // 1_000_000}
_SUFFIXES = {"_seconds": "s", "_milliseconds": "ms", "_microseconds": "us"}
_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,199}\Z")
_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,99}\Z")
_LARGEST_BOUND_OF_SECONDS = 1000.0
"""A bound of 1000 seconds or more is rare; one of 1000 ms is in every table of milliseconds."""


Row = tuple[Subject, int, LogLinear]
"""Operation, end of the block in seconds since the epoch, its delays."""


class Series(Protocol):
    """One series of an answer: labels, (n,) seconds since the epoch, (n,) values."""

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels."""
        ...

    @property
    def time_s(self) -> NDArray[np.float64]:
        """Return the times."""
        ...

    @property
    def value(self) -> NDArray[np.float64]:
        """Return the values."""
        ...


class Server(Protocol):
    """What is asked: importers/prom_server.py is one."""

    def over(self, query: str, start_s: int, end_s: int, step_s: int) -> Iterator[Sequence[Series]]:
        """Yield the answers over a stretch of time, in order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramName:
    """A histogram and the label that tells its operations apart.

    Attributes:
        metric: name without ``_bucket``.
        label: of operations; empty for one operation.
        only: operations wanted; empty for all.
    """

    metric: str
    label: str = ""
    only: tuple[str, ...] = ()


READY: Mapping[str, tuple[HistogramName, ...]] = {
    "temporal": (
        HistogramName(
            metric="temporal_request_latency",
            label="operation",
            only=(
                "StartWorkflowExecution",
                "SignalWorkflowExecution",
                "RespondWorkflowTaskCompleted",
                "RespondActivityTaskCompleted",
            ),
        ),
        HistogramName(metric="temporal_workflow_endtoend_latency", label="workflow_type"),
    )
}
"""Names and operations: temporalio/benchmark-latency."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramRequest:
    """Which part of which histograms.

    Attributes:
        selector: label matchers of PromQL, without braces.
        start_s, end_s: seconds since the epoch, whole blocks.
        block_s: whole seconds; several scrapes long.
        unit: s, ms or us; None to tell it from name and bounds.
        target: name of what is measured.
    """

    mapping: HistogramName
    selector: str
    start_s: int
    end_s: int
    block_s: int
    unit: str | None
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramRun:
    """What came out: rows, the unit that was taken and why, findings."""

    table: Table
    unit: str
    findings: tuple[Finding, ...]


def read_histogram(server: Server, request: HistogramRequest, first_seq: int = 1) -> HistogramRun:
    """Return the delays of each operation in each block of time.

    Args:
        server: to ask.
        request: what.
        first_seq: number of the first row.

    Raises:
        ConfigError: a name is none, or the unit cannot be told.
        NotEnoughDataError: the server has no such histogram in that time.
        SourceError: it cannot be asked.
    """
    name, answers = _answers(server, request)
    bounds = sorted({le for le, _ in answers})
    if len(bounds) > MOST_BOUNDS:
        raise ConfigError(f"{name} has {len(bounds)} bounds; narrow it with --selector", key="--metric")
    finite = [b for b in bounds if np.isfinite(b)]
    unit, why = _unit(name, finite, request.unit)
    bounds_ns = [round(b * UNITS_NS[unit]) for b in finite]
    operations = sorted({operation for _, operation in answers})[:MOST_OPERATIONS]
    times = np.arange(request.start_s + request.block_s, request.end_s + 1, request.block_s)
    rows = [
        (Subject(probe=PROBE, operation=operation, target=request.target), at, histogram)
        for operation in operations
        for at, histogram in _blocks(answers, operation, bounds, bounds_ns, times)
    ]
    if not rows:
        raise NotEnoughDataError(name, "no values in that time", "calls between --start and --end")
    buckets = Buckets(bounds=tuple(bounds_ns))
    table = _table(rows, buckets, request, first_seq)
    return HistogramRun(table=table, unit=f"{unit} ({why})", findings=tuple(_widths(rows, buckets)))


def _answers(
    server: Server, request: HistogramRequest
) -> tuple[str, dict[tuple[float, str], dict[int, float]]]:
    """Return the metric's full name and (bound, operation) → block's end → cumulative increase."""
    mapping = request.mapping
    if not _METRIC.match(mapping.metric) or (mapping.label and not _LABEL.match(mapping.label)):
        raise ConfigError(f"{mapping.metric!r} by {mapping.label!r} is no metric and label", key="--metric")
    for suffix in ("", *_SUFFIXES):
        found = _asked(server, request, f"{mapping.metric}{suffix}_bucket")
        if found:
            return mapping.metric + suffix, found
    raise NotEnoughDataError(
        mapping.metric,
        "no histogram of this name in that time",
        f"{mapping.metric}_bucket on the server (is --block several scrapes long?)",
    )


def _asked(
    server: Server, request: HistogramRequest, bucket: str
) -> dict[tuple[float, str], dict[int, float]]:
    mapping = request.mapping
    only = f'{mapping.label}=~"{"|".join(mapping.only)}"' if mapping.only else ""
    matchers = ",".join(part for part in (request.selector.strip(), only) if part)
    by = ",".join(part for part in ("le", mapping.label) if part)
    query = f"sum by ({by}) (increase({bucket}{{{matchers}}}[{request.block_s}s]))"
    found: dict[tuple[float, str], dict[int, float]] = {}
    first_s = request.start_s + request.block_s
    for part in server.over(query, first_s, request.end_s, request.block_s):
        for series in part:
            le = _bound(series.labels.get("le", ""))
            if le is None:
                continue
            into = found.setdefault((le, series.labels.get(mapping.label, "")), {})
            into.update(_finite(series.time_s, series.value))
    return found


def _finite(time_s: NDArray[np.float64], value: NDArray[np.float64]) -> Iterable[tuple[int, float]]:
    return [(round(t), v) for t, v in zip(time_s.tolist(), value.tolist(), strict=True) if np.isfinite(v)]


def _bound(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return None if np.isnan(found) or found < 0 else found


def _unit(name: str, bounds: list[float], given: str | None) -> tuple[str, str]:
    """Return the unit of a histogram and how it is known.

    Raises:
        ConfigError: it cannot be told, or contradicts what was given.
    """
    said = next((unit for suffix, unit in _SUFFIXES.items() if name.endswith(suffix)), None)
    if given is not None:
        if said not in {None, given}:
            raise ConfigError(f"{name} says {said} itself, not {given}", key="--unit")
        return given, "as given"
    if said is not None:
        return said, "by its name"
    above = [b for b in bounds if b > 0]
    if above and max(above) < _LARGEST_BOUND_OF_SECONDS and min(above) < 1:
        return "s", f"by its bounds {significant(min(above))} to {significant(max(above))}"
    if above and max(above) >= _LARGEST_BOUND_OF_SECONDS and min(above) >= 1:
        return "ms", f"by its bounds {significant(min(above))} to {significant(max(above))}"
    raise ConfigError(
        f"whether {name} counts seconds or milliseconds cannot be told from its bounds; SDKs of Temporal built on "
        "Core export milliseconds, those of Go and Java seconds: say --unit s or --unit ms",
        key="--unit",
    )


def _blocks(
    answers: dict[tuple[float, str], dict[int, float]],
    operation: str,
    bounds: list[float],
    bounds_ns: list[int],
    times: NDArray[np.int64],
) -> Iterator[tuple[int, LogLinear]]:
    """Yield end and counts by bound of each block in which something was counted."""
    for at in times.tolist():
        cumulative = [answers.get((bound, operation), {}).get(at, float("nan")) for bound in bounds]
        known = np.array(cumulative)
        if not np.isfinite(known).any():
            continue
        filled_up = np.maximum.accumulate(np.nan_to_num(known, nan=0.0))
        counts = np.rint(np.diff(filled_up, prepend=0.0)).astype(np.int64)
        if counts.sum():
            yield at, _histogram(counts.tolist(), bounds_ns)


def _histogram(counts: list[int], bounds_ns: list[int]) -> LogLinear:
    """Return counts at the upper bounds of their buckets; what lies beyond all bounds at the largest delay."""
    uppers = [*bounds_ns, LARGEST]
    return LogLinear(counts={bucket_of(upper): n for upper, n in zip(uppers, counts, strict=False) if n > 0})


def _widths(rows: list[Row], buckets: Buckets) -> Iterator[Finding]:
    """Yield for each operation between which bounds its p50 and p90 lie."""
    for subject in dict.fromkeys(subject for subject, _, _ in rows):
        whole = merged(histogram.counts for s, _, histogram in rows if s == subject)
        said: list[str] = []
        evidence: list[Evidence] = []
        for name in ("p50", "p90"):
            bucket = whole.quantile_bucket(QUANTILES[name])
            assert bucket is not None
            low, high = buckets.edges(bucket)
            upper = "no bound" if high is None else f"{significant(high / 1e6)} ms"
            edges = [edge for edge in (low, high) if edge is not None]
            evidence += [Evidence(name=name, value=edge / NS_PER_S, unit="s") for edge in edges]
            said.append(f"{name} between {significant(low / 1e6)} ms and {upper}")
        yield Finding(
            code="latency-bucket-width",
            severity=Severity.INFO,
            message=f"{subject.operation or subject.target}: its histogram tells {' and '.join(said)}; "
            "a number between is interpolated.",
            hint="Finer buckets in the service's histogram make narrower intervals.",
            subject=subject.target,
            evidence=tuple(evidence),
        )


def _table(rows: list[Row], buckets: Buckets, request: HistogramRequest, first_seq: int) -> Table:
    ends = [at * NS_PER_S for _, at, _ in rows]
    histograms = [histogram for _, _, histogram in rows]
    texts = {
        "probe": [PROBE] * len(rows),
        "operation": [s.operation for s, _, _ in rows],
        "target": [s.target for s, _, _ in rows],
        "histogram": [h.encode() for h in histograms],
        "failures": [""] * len(rows),
        "bounds_ns": [",".join(str(b) for b in buckets.bounds)] * len(rows),
    }
    return Table(
        name="latency",
        rows=len(rows),
        integers={
            "seq": filled(range(first_seq, first_seq + len(rows))),
            **wall_columns(ends),
            "block_ns": filled([request.block_s * NS_PER_S] * len(rows)),
            "count": filled([h.total for h in histograms]),
            "errors": filled([0] * len(rows)),
            **{
                f"{name}_ns": column([rounded(buckets.quantile(h, q)) for h in histograms])
                for name, q in QUANTILES.items()
            },
            "max_ns": column([None] * len(rows)),
        },
        texts={name: text_column(values) for name, values in texts.items()},
    )


def wall_columns(ends_ns: list[int]) -> dict[str, Column]:
    """Return the time columns of readings that only have a server's wall clock."""
    return {
        "boottime_ns": filled(ends_ns),
        "wall_ns": filled(ends_ns),
        "boot": filled([0] * len(ends_ns)),
    }


SATURATION = {
    "node": '1 - avg by (instance) (rate(node_cpu_seconds_total{{mode="idle"}}[{window}]))',
    "pod": 'sum by (pod) (rate(container_cpu_usage_seconds_total{{container!="",container!="POD"}}[{window}])) / '
    "sum by (pod) (container_spec_cpu_quota / container_spec_cpu_period)",
}
"""Busy shares of nodes (node_exporter) and of pods against their limits (cAdvisor)."""


def saturation(server: Server, query: str, request: HistogramRequest) -> dict[str, list[float]]:
    """Return the busy shares of each thing that a query tells apart, over the time of a request.

    Raises:
        SourceError: the server cannot be asked.
    """
    found: dict[str, list[float]] = {}
    for part in server.over(query, request.start_s + request.block_s, request.end_s, request.block_s):
        for series in part:
            name = ", ".join(f"{n} {t}" for n, t in sorted(series.labels.items())) or "the database"
            found.setdefault(name, []).extend(v for v in series.value.tolist() if np.isfinite(v))
    return found
