"""One metric of one subject on one side: samples → series → batch means → estimate."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.allowance import ON_OFF_SPREAD, Bursts, Nature, allowing, dominated
from leapprof.analysis.batch import (
    Span,
    Weighed,
    batch_length_s,
    batch_means,
    rows_within,
    weighed,
    within,
)
from leapprof.analysis.estimate import (
    count_bursts,
    estimate,
    relative_spread,
    upper_limit_only,
    zero_rate_interval,
)
from leapprof.analysis.hours import HourMeans, hour_means
from leapprof.analysis.quantiles import median
from leapprof.assess.compute import Context, Measured, covering
from leapprof.assess.liveness import Stretches
from leapprof.assess.metrics import FLOW_UNITS, MetricSpec
from leapprof.assess.samples import Samples, read_samples
from leapprof.assess.sides import CutSide
from leapprof.model import BatchMeans, Column, Estimate, Interval, Nodeos, Series

DEFAULT_PAGE_BYTES = 4096
NO_GAPS = 0.999
"""Share of a window that samples cover where none is missing."""
HIGHEST_PERCENT = 100.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredSide:
    """One metric of one subject on one side.

    Attributes:
        series: within the window, not-live stretches taken out.
        batches: None when the window is under 20 minutes.
        bursts: None when the metric does not come in bursts.
        largest_burst: size of the largest sample of a rate, in the metric's unit times seconds.
        spread: of its half-minute means, as a share of their mean; 0 for levels and what comes in bursts.
        hours: of a flow by the hours of the day, from a window of a day on that saw them all.
        lower_bound: a counter went back inside the window without another boot or process, so the total is a lower
            bound.
    """

    estimate: Estimate
    series: Series
    batches: BatchMeans | None
    bursts: Bursts | None = None
    largest_burst: float = 0.0
    spread: float = 0.0
    hours: HourMeans | None = None
    lower_bound: bool = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reading:
    """One subject on one side, its columns read once for all metrics.

    Attributes:
        batch_s: length of its batches; None when the window is under 20 minutes.
    """

    side: CutSide
    samples: Samples
    context: Context
    batch_s: float | None


def reading_of(side: CutSide, samples: Samples, nodeos: Nodeos | None = None) -> Reading:
    """Return the rows of one subject on one side, with what all its metrics share."""
    usual_s = _usual_s(samples.time_s[rows_within(samples.time_s, side.span)])
    return Reading(
        side=side,
        samples=samples,
        context=_context_of(side, nodeos),
        batch_s=batch_length_s(side.span.duration_s * (1 + 1e-9) + usual_s),
    )


def _context_of(side: CutSide, nodeos: Nodeos | None) -> Context:
    """Return what computations need to know of a host and a nodeos."""
    manifest = side.tables.manifest
    facts = manifest.host.facts
    mount = manifest.topology.mount_of(nodeos.state_dir) if nodeos and nodeos.state_dir else None
    return Context(
        cpus=_number(facts.get("cores")) or _cpus_online(side),
        page_bytes=manifest.host.number("page_size_bytes") or DEFAULT_PAGE_BYTES,
        nodeos=nodeos,
        state_on_tmpfs=mount is not None and mount.filesystem == "tmpfs",
    )


def measure(spec: MetricSpec, read: Reading) -> MeasuredSide | None:
    """Return a metric on one side; None when the recording does not hold it."""
    measured = spec.compute(read.samples, read.context)
    if measured is None:
        return None
    side = read.side
    series = _compared(measured, side)
    total, lower_bound = _total(measured, side, read.samples)
    ready = weighed(series)
    batches = batch_means(ready, side.span, read.batch_s) if read.batch_s else None
    spread = 0.0 if spec.bursty or spec.unit == "bytes" else relative_spread(ready, side.span)
    found = estimate(
        batches, series, total_per_s=total, on_off=spread > ON_OFF_SPREAD, memory_s=spec.memory_s
    )
    if found is None:
        return None
    bursts, largest = None, 0.0
    if spec.bursty:
        count = count_bursts(series)
        bursts = Bursts(effective=count.effective, largest_share=count.largest_share)
        largest = count.largest
        found = replace(found, bursts=count.effective)
        if dominated(bursts):
            found = upper_limit_only(found)
    nature = Nature(
        memory_s=spec.memory_s,
        bursts=bursts,
        range=range_of(batches),
        on_off=spread > ON_OFF_SPREAD,
        non_negative=series.non_negative,
    )
    return MeasuredSide(
        estimate=_possible(_as_far_as_gaps(allowing(found, nature), series, side), spec.unit),
        series=series,
        batches=batches,
        bursts=bursts,
        largest_burst=largest,
        spread=spread,
        hours=_hours(spec, ready, side),
        lower_bound=lower_bound,
    )


def _hours(spec: MetricSpec, ready: Weighed, side: CutSide) -> HourMeans | None:
    """Return a flow by the hours of the day; None of a level, which does not follow them."""
    if spec.unit not in FLOW_UNITS:
        return None
    return hour_means(ready, side.span, side.side.window.start_wall_ns)


def _as_far_as_gaps(found: Estimate, series: Series, side: CutSide) -> Estimate:
    """Return an estimate that reaches as far as what was counted in gaps moved its mean: more is not known of it."""
    if found.ci95 is None or found.covered_seconds >= NO_GAPS * side.span.duration_s:
        return found
    good = np.isfinite(series.value) & (series.weight_s > 0)
    weight = series.weight_s[good]
    moved = abs(found.mean - float(series.value[good] @ weight / weight.sum()))
    low, high = min(found.ci95.low, found.mean - moved), max(found.ci95.high, found.mean + moved)
    return replace(
        found,
        ci95=Interval(low=max(low, 0.0) if series.non_negative else low, high=high),
        standard_error=max(found.standard_error or 0.0, moved / 2),
    )


def _possible(estimate: Estimate, unit: str) -> Estimate:
    """Return an estimate whose interval does not exceed what can be: a share is never above 100 %."""
    interval = estimate.ci95
    if unit != "percent" or interval is None or interval.high <= HIGHEST_PERCENT:
        return estimate
    high = max(HIGHEST_PERCENT, estimate.mean)
    return replace(estimate, ci95=Interval(low=interval.low, high=high))


def range_of(batches: BatchMeans | None) -> Interval | None:
    """Return the lowest and highest batch mean; None without batches."""
    if batches is None or not batches.mean.size:
        return None
    return Interval(low=float(batches.mean.min()), high=float(batches.mean.max()))


def with_zero_interval(side: MeasuredSide, other: MeasuredSide | None) -> MeasuredSide:
    """Return a side of which nothing was counted with the upper limit of the rule of three.

    The largest burst of the other side is what may have been missed; never is nothing seen taken for nothing.
    """
    if side.bursts is None or side.estimate.mean > 0 or side.estimate.ci95 is None or other is None:
        return side
    interval = zero_rate_interval(max(side.estimate.covered_seconds, 1.0), other.largest_burst)
    return replace(side, estimate=replace(side.estimate, ci95=interval))


def _compared(measured: Measured, side: CutSide) -> Series:
    """Return the part of a series that is compared; its weights cover the seconds of that part."""
    series = without(within(measured.series, side.span), side.left_out)
    if measured.clock_s is None:
        return series
    clock = replace(measured.series, weight_s=measured.clock_s)
    return covering(series, without(within(clock, side.span), side.left_out).weight_s)


def without(series: Series, left_out: Stretches) -> Series:
    """Return a series with gaps where it is not to be compared."""
    if not left_out.any:
        return series
    gone = left_out.hold(series.time_s)
    return Series(
        time_s=series.time_s,
        value=np.where(gone, np.nan, series.value),
        weight_s=np.where(gone, 0.0, series.weight_s),
        non_negative=series.non_negative,
    )


def batches_within(series: Series, side: CutSide) -> BatchMeans | None:
    """Return batch means of any series over the side's window, of the same length as its metrics have."""
    length_s = batch_length_s(side.span.duration_s + _usual_s(series.time_s))
    return batch_means(series, side.span, length_s) if length_s else None


def _total(measured: Measured, side: CutSide, samples: Samples) -> tuple[float | None, bool]:
    """Return the mean rate from the whole counter, and whether it is a lower bound.

    With stretches taken out, the counter holds what was counted in them too: then the samples decide. Another boot or
    process has counters of its own: it loses no rate.
    """
    keep = _rows_with_ends(samples, side.span)
    total = measured.total(samples, keep)
    if total is None or measured.counter is None:
        return None, False
    lower_bound = total.lower_bound and went_back(samples, measured.counter, keep)
    return None if side.left_out.any else total.per_s, lower_bound


def went_back(samples: Samples, column: Column, keep: slice = slice(None)) -> bool:
    """Return whether a counter went down although no other boot or process began."""
    present = column.present[keep]
    values, begun = column.values[keep][present], np.cumsum(samples.breaks[keep])[present]
    return bool(np.any((np.diff(values) < 0) & (np.diff(begun) == 0)))


def _rows_with_ends(samples: Samples, span: Span) -> slice:
    """Return which rows lie in a span, its two ends included."""
    edge = 1e-6
    first, last = np.searchsorted(samples.time_s, [span.start_s - edge, span.end_s + edge])
    return slice(int(first), int(last))


def _usual_s(time_s: NDArray[np.float64]) -> float:
    """Return the usual interval of a series, so that 20 minutes of ticks count as 20 minutes; at most 1 s."""
    if time_s.size < 2:
        return 0.0
    return min(median(np.diff(time_s)), 1.0)


def _cpus_online(side: CutSide) -> float | None:
    """Return the median number of CPUs online; None when never read."""
    samples = read_samples(side.tables, "host", ("cpus_online",))
    if samples is None or not samples.has("cpus_online"):
        return None
    column = samples.columns["cpus_online"]
    return float(np.median(column.values[column.present]))


def _number(text: str | None) -> float | None:
    """Return the number that a fact holds; None when it holds none."""
    try:
        number = float(text) if text is not None else float("nan")
    except ValueError:
        return None
    return number if np.isfinite(number) else None
