"""How long a drive lasts: its rating, what was written so far, and the rate as an interval.

The drive's own ``percentage used`` is a second opinion; the worse of both is what counts (a drive of 150 TBW with
32 TB of host writes was at 98 % by its own account: write amplification of 23.5).
"""

import math
from dataclasses import dataclass

from leapprof.model import Interval
from leapprof.units import TB, tb_per_year

COMMON_RATINGS_TBW = (150.0, 600.0, 2_000.0, 10_000.0)
"""What to show where no model is known: small and usual consumer drives, large consumer or small datacenter, 10 PB."""
DEFAULT_RESTARTS_PER_YEAR = 12.0
MAX_YEARS = 10_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class YearlyWrites:
    """What a drive takes in a year, in decimal TB.

    Attributes:
        steady: from the rate; steady_ci95: its interval, None when too short.
        restarts: from start-ups and exits.
        restarts_per_year: how many were assumed.
    """

    steady: float
    steady_ci95: Interval | None
    restarts: float
    restarts_per_year: float

    @property
    def total(self) -> float:
        """Steady writes and restarts together."""
        return self.steady + self.restarts

    @property
    def total_ci95(self) -> Interval | None:
        """The interval of the total; restarts shift it and do not widen it."""
        if self.steady_ci95 is None:
            return None
        return Interval(low=self.steady_ci95.low + self.restarts, high=self.steady_ci95.high + self.restarts)


def yearly_writes(
    bytes_per_s: float,
    ci95: Interval | None = None,
    *,
    bytes_per_restart: float = 0.0,
    restarts_per_year: float = DEFAULT_RESTARTS_PER_YEAR,
) -> YearlyWrites:
    """Project a rate and its restarts to a year of 365 days.

    Args:
        bytes_per_s: mean rate of the device counter while the node runs.
        ci95: of the rate, bytes a second.
        bytes_per_restart: written by one exit flush and the start-up after it.
        restarts_per_year: how often that happens.
    """
    return YearlyWrites(
        steady=tb_per_year(bytes_per_s),
        steady_ci95=Interval(low=tb_per_year(ci95.low), high=tb_per_year(ci95.high)) if ci95 else None,
        restarts=bytes_per_restart * restarts_per_year / TB,
        restarts_per_year=restarts_per_year,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifetime:
    """Years that are left of a rating.

    Attributes:
        years: at the mean rate; infinite when nothing is written.
        ci95: from the rate's interval; its high end is None when the rate may be 0.
        used_percent: of the rating, by host writes so far; None when not known.
        by_drive_percent: the drive's own percentage used; None when it does not say.
        spent: the worse of both is at 100 % or more.
    """

    years: float
    ci95_low: float | None
    ci95_high: float | None
    used_percent: float | None
    by_drive_percent: int | None
    spent: bool


def _years(left_tb: float, tb_a_year: float) -> float:
    if left_tb <= 0:
        return 0.0
    return min(left_tb / tb_a_year, MAX_YEARS) if tb_a_year > 0 else math.inf


def lifetime(
    rated_tbw: float,
    writes: YearlyWrites,
    *,
    written_bytes: float | None = None,
    percent_used: int | None = None,
) -> Lifetime:
    """Return how long a rating lasts at a yearly rate.

    Args:
        rated_tbw: decimal TB, above 0.
        writes: what a year takes.
        written_bytes: host writes so far (SMART); None counts from new.
        percent_used: the drive's own estimate; where it is worse than the host's bytes say, it decides.
    """
    by_bytes = written_bytes / TB / rated_tbw * 100 if written_bytes is not None else None
    worst = max((p for p in (by_bytes, percent_used) if p is not None), default=0.0)
    left_tb = rated_tbw * max(0.0, 100.0 - worst) / 100
    interval = writes.total_ci95
    high = _years(left_tb, interval.low) if interval else None
    return Lifetime(
        years=_years(left_tb, writes.total),
        ci95_low=_years(left_tb, interval.high) if interval else None,
        ci95_high=high if high is not None and math.isfinite(high) else None,
        used_percent=by_bytes,
        by_drive_percent=percent_used,
        spent=worst >= 100,
    )


def nodes_per_drive(rated_tbw: float, warranty_years: float, tb_a_year: float) -> int | None:
    """Return how many nodes that write this much would use up a rating just within the warranty."""
    return math.floor(rated_tbw / warranty_years / tb_a_year) if tb_a_year > 0 else None


def lifetime_mean_bytes_per_s(written_bytes: float, power_on_hours: float) -> float | None:
    """Return the drive's average rate over its life, to hold against a recording's."""
    return written_bytes / (power_on_hours * 3600) if power_on_hours > 0 else None


def plausible_bytes(written_bytes: float, power_on_hours: float, link_bytes_per_s: float) -> bool:
    """Return whether a drive can have taken that much at all over its link since it was first switched on."""
    return written_bytes <= link_bytes_per_s * power_on_hours * 3600
