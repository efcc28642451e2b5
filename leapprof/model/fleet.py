"""What many hosts say together."""

from dataclasses import dataclass

from leapprof.model.estimate import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetSummary:
    """What many hosts say together.

    Attributes:
        hosts: their number, k.
        mean: of the differences.
        ci95: of the mean.
        standard_error: of the mean.
        p_value: two-sided, of no difference.
        tau: standard deviation between hosts.
        q, q_p_value: Cochran's heterogeneity statistic and its p value.
        i2: share of the variance that lies between hosts, 0 to 1.
        prediction95: where the difference of one more host would lie; None below three hosts.
        outliers: names of hosts that stand out, the farthest first.
    """

    hosts: int
    mean: float
    ci95: Interval
    standard_error: float
    p_value: float
    tau: float
    q: float
    q_p_value: float
    i2: float
    prediction95: Interval | None
    outliers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetReference:
    """What hosts moved by that were not changed.

    Attributes:
        freedom: degrees of freedom of its standard error.
    """

    hosts: int
    mean: float
    standard_error: float
    freedom: float
