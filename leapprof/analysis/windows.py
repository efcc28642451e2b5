"""Which part of a recording is compared, and whether it is steady.

Warm-up is cut by time and events, never by the metric under test: rules that look for a steady stretch
(MSER-5) cut large early bursts of writes and lie by up to 28 %. The change point is the best single split
of 30 s means, tested by a CUSUM scaled with the long-run variance of the residuals (Ploberger and
Kraemer 1992: 1.628 is the 1 % point).
"""

import math
from dataclasses import dataclass

import numpy as np

from leapprof.analysis.batch import Span, batch_means
from leapprof.analysis.estimate import inflation, lag1, t_quantile
from leapprof.model import BatchMeans, Interval, Series
from leapprof.units import NS_PER_S

WARM_UP_S = 300.0
WARM_UP_SHARE = 0.05
LARGEST_WARM_UP_SHARE = 0.5
SETTLED_LAG_S = 2.0
SETTLED_FOR_S = 60.0
CHANGE_BATCH_S = 30.0
CHANGE_CRITICAL = 1.628
CHANGE_EDGE = 5
HIGHEST_CHANGE_LAG1 = 0.9
CONSISTENT_S = 120.0
HOUR_S = 3600
SHARED_HOURS = 0.8


def warm_up_cut_s(span: Span, started_s: float | None, settled_s: float | None) -> float:
    """Return how many seconds at the start of a recording are warm-up.

    Args:
        span: the recording.
        started_s: when nodeos was started, on the clock of span; None when not known, which counts as
            the start of the recording.
        settled_s: when nodeos had caught up with its chain; None when not known.

    Returns:
        At most half of the recording; 0 for a nodeos that has been up for long.
    """
    began_s = span.start_s if started_s is None else started_s
    ready_s = began_s + max(WARM_UP_S, WARM_UP_SHARE * span.duration_s)
    if settled_s is not None:
        ready_s = max(ready_s, settled_s)
    return min(max(ready_s - span.start_s, 0.0), LARGEST_WARM_UP_SHARE * span.duration_s)


def settled_at_s(head_lag: Series) -> float | None:
    """Return when the head block had been within 2 s of the wall clock for a minute; None if it never was.

    Where it was so from the first sample on, that is the moment: the node had settled before.
    """
    known = np.isfinite(head_lag.value)
    time_s, good = head_lag.time_s[known], head_lag.value[known] <= SETTLED_LAG_S
    if not good.any():
        return None
    position = np.arange(good.size)
    last_bad = np.maximum.accumulate(np.where(good, -1, position))
    since = time_s[np.minimum(last_bad + 1, good.size - 1)]
    held = np.flatnonzero(good & (time_s - since >= SETTLED_FOR_S))
    if not held.size:
        return None
    was_settled = last_bad[held[0]] < 0
    return float(time_s[0] if was_settled else time_s[held[0]])


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePoint:
    """Where a series splits best, and whether the split is more than noise (1 % level).

    Attributes:
        batch_s: length of the means that were looked at.
    """

    at_s: float
    statistic: float
    detected: bool
    batch_s: float = CHANGE_BATCH_S

    def agrees_with(self, stated_s: float) -> bool:
        """Return whether it is at the stated time, as near as it can be located."""
        return abs(self.at_s - stated_s) <= max(CONSISTENT_S, 2 * self.batch_s)


def change_point(series: Series, span: Span) -> ChangePoint | None:
    """Return the best single split of a series; None with fewer than 20 half-minutes, or longer intervals."""
    sampled_s = float(np.median(series.weight_s[series.weight_s > 0])) if (series.weight_s > 0).any() else 0.0
    batch_s = CHANGE_BATCH_S * max(math.ceil(sampled_s / CHANGE_BATCH_S - 1e-6), 1)
    batches = batch_means(series, span, batch_s)
    batch = batches.mean
    k = batch.size
    if k < 4 * CHANGE_EDGE:
        return None
    if series.non_negative and float(batch.min()) > 0:
        batch = np.log(batch)
    sums = np.cumsum(batch)
    j = np.arange(CHANGE_EDGE, k - CHANGE_EDGE)
    gain = j * (k - j) / k * (sums[j - 1] / j - (sums[-1] - sums[j - 1]) / (k - j)) ** 2
    at = int(j[int(np.argmax(gain))])
    residual = np.concatenate([batch[:at] - batch[:at].mean(), batch[at:] - batch[at:].mean()])
    square = float(residual @ residual)
    if square <= 0:
        moved = bool(batch[0] != batch[-1])
        return ChangePoint(
            at_s=float(batches.start_s[at]),
            statistic=math.inf if moved else 0.0,
            detected=moved,
            batch_s=batch_s,
        )
    r = min(max(float(residual[1:] @ residual[:-1]) / square + 2 / k, 0.0), HIGHEST_CHANGE_LAG1)
    variance = square / k * (1 + r) / (1 - r) * k / (k - 2)
    statistic = float(np.abs(np.cumsum(batch - batch.mean())).max()) / math.sqrt(k * variance)
    return ChangePoint(
        at_s=float(batches.start_s[at]),
        statistic=statistic,
        detected=statistic > CHANGE_CRITICAL,
        batch_s=batch_s,
    )


def drift(batches: BatchMeans) -> tuple[float, Interval] | None:
    """Return by how much the metric rises over the whole window, with its interval; None below 4 batches."""
    k = batches.mean.size
    if k < CHANGE_EDGE:
        return None
    x = batches.start_s - batches.start_s.mean()
    spread = float(x @ x)
    slope = float(x @ batches.mean) / spread
    residual = batches.mean - batches.mean.mean() - slope * x
    se = math.sqrt(float(residual @ residual) / (k - 2) / spread) * inflation(lag1(residual), 2 / k)
    length_s = float(batches.start_s[-1] - batches.start_s[0]) + batches.batch_s
    half = t_quantile(0.975, k - 2) * se * length_s
    rise = slope * length_s
    return rise, Interval(low=rise - half, high=rise + half)


def hours_covered(start_wall_ns: int, end_wall_ns: int) -> frozenset[int]:
    """Return the hours of the day (UTC) of which a window covers at least half; of a short one that of its middle."""
    start, end = start_wall_ns // NS_PER_S, end_wall_ns // NS_PER_S
    first = start // HOUR_S
    found: set[int] = set()
    for hour in range(first, min(end // HOUR_S, first + 48) + 1):
        covered = min(end, (hour + 1) * HOUR_S) - max(start, hour * HOUR_S)
        if covered >= HOUR_S // 2:
            found.add(hour % 24)
    return frozenset(found or {(start + end) // 2 // HOUR_S % 24})


def share_hours(first: frozenset[int], second: frozenset[int]) -> bool:
    """Return whether two windows cover nearly the same hours of the day."""
    return len(first & second) >= SHARED_HOURS * len(first | second)
