"""Windows of days that hold the hours of the day unequally: each hour is to count alike on both sides.

A window of a day and a half holds half of the day twice, and load swings with the day: of two such windows that began
at other hours the difference is partly that of their hours. Taking the mean of each hour of the day first takes that
off. It moves the difference and not its interval: matched hours alone would make it far too narrow, for days differ
by themselves (differences of matched hours hold in 57 of 100 where days differ by 5 %), and the day is the
independent unit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.batch import Span, Weighed, batch_means
from leapprof.analysis.windows import HOUR_S
from leapprof.model import Effect, Interval, Series
from leapprof.units import DAY_S, NS_PER_S

HOURS = 24
LEAST_UNEQUAL = 0.02
"""Share of the time that lies in other hours; with a swing of 60 % of the mean it moves a difference by 1.2 %."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HourMeans:
    """A metric by the hours of the day (UTC).

    Attributes:
        mean: (24,) of each hour of the day.
        share: (24,) of the window's whole hours.
    """

    mean: NDArray[np.float64]
    share: NDArray[np.float64]

    @property
    def unequal(self) -> float:
        """Return by how much the mean of the window exceeds that in which each hour of the day counts alike."""
        return float(self.mean @ self.share - self.mean.mean())


def hour_means(samples: Series | Weighed, span: Span, start_wall_ns: int) -> HourMeans | None:
    """Return a metric by the hours of the day; None below a day, or where an hour of the day was never seen.

    Args:
        samples: of it.
        span: the window.
        start_wall_ns: wall clock at its start.
    """
    if span.duration_s < DAY_S:
        return None
    start_s = start_wall_ns / NS_PER_S
    over_s = (start_s + span.duration_s) % HOUR_S
    batches = batch_means(samples, Span(start_s=span.start_s, end_s=span.end_s - over_s), HOUR_S)
    hour = np.rint((start_s + batches.start_s - span.start_s) / HOUR_S).astype(np.int64) % HOURS
    count = np.bincount(hour, minlength=HOURS)
    if not count.all():
        return None
    return HourMeans(
        mean=np.bincount(hour, weights=batches.mean, minlength=HOURS) / count, share=count / count.sum()
    )


def at_the_same_hours(plain: Effect, before: HourMeans | None, after: HourMeans | None) -> Effect | None:
    """Return a difference to which each hour of the day contributes alike; None where it does anyway, or is not known.

    Args:
        plain: after minus before.
        before: by the hours of the day.
        after: by the hours of the day.
    """
    if before is None or after is None or np.abs(before.share - after.share).sum() / 2 < LEAST_UNEQUAL:
        return None
    shift = before.unequal - after.unequal
    interval = plain.ci95
    moved = Interval(low=interval.low + shift, high=interval.high + shift) if interval else None
    return Effect(value=plain.value + shift, ci95=moved)
