"""A wear forecast: where a host's writes go, how many TB a year that is, and how long each drive lasts."""

from dataclasses import dataclass, field

from leapprof.model.estimate import Interval
from leapprof.model.finding import Finding
from leapprof.model.recording import Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who wrote to a device.

    Attributes:
        who: id of a nodeos, ``swap`` or ``the rest``.
        bytes_per_s: its mean rate; None when it cannot be known.
        meter: what measured it, or why it cannot be known.
    """

    who: str
    bytes_per_s: float | None
    meter: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestartCost:
    """What one stop and start of a nodeos wrote, over what the device takes anyway.

    Attributes:
        nodeos: its id.
        stopped_wall_ns: host's wall clock when the process had gone.
        uptime_s: how long it had run; None when its start is not known.
        exit_s: from the last answer of its API to the end of the process; None when not known.
        exit_bytes, start_bytes: written by the exit flush and by the start-up; None when not in the recording.
    """

    nodeos: str
    stopped_wall_ns: int
    uptime_s: float | None
    exit_s: float | None
    exit_bytes: float | None
    start_bytes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedYears:
    """Years until a rating is used up, from now: at the mean rate, and as an interval (None: not known)."""

    rated_tbw: float
    years: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """One of the meters of what a drive took in the recording's time."""

    name: str
    written_bytes: float | None
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeLoad:
    """How near a cloud volume is to its limits: 95th percentiles as shares of them."""

    volume: str
    iops_limit: float | None
    bytes_per_s_limit: float | None
    iops_share: float | None
    bytes_share: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """What a planned change would make of a device, from a measured pair.

    Attributes:
        source: which pair, and what it is.
        ratio, ratio_ci95: after against before in that pair.
        tb_per_year, ci95: of this device after the change.
    """

    source: str
    ratio: float
    ratio_ci95: Interval | None
    tb_per_year: float
    ci95: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceForecast:
    """One physical device.

    Attributes:
        device, model, capacity_bytes: who it is.
        kind: of the device graph, in a word (disk, virtual disk, network …).
        roles: what it carries.
        views: logical devices above it, whose writes are counted here and not again.
        bytes_per_s, ci95: mean rate of the device counter.
        lower_bound: the counter was reset, so at least this much.
        writers: who wrote it.
        steady_tb_per_year, steady_ci95, restart_tb_per_year: the yearly writes.
        rating: decimal TBW; rating_source: where it comes from. None when not known.
        written_tb: host writes so far; percent_used: the drive's own estimate.
        years: at the rating, or at common ratings where none is known.
        nodes_per_rating: how many such nodes would just fit the rating within the warranty.
        notes: what limits this forecast.
    """

    device: str
    model: str | None
    capacity_bytes: int | None
    kind: str
    roles: tuple[str, ...]
    views: tuple[str, ...]
    bytes_per_s: float
    ci95: Interval | None
    lower_bound: bool
    writers: tuple[Writer, ...]
    steady_tb_per_year: float
    steady_ci95: Interval | None
    restart_tb_per_year: float
    rating: float | None
    rating_source: str | None
    written_tb: float | None
    percent_used: int | None
    years: tuple[RatedYears, ...]
    nodes_per_rating: int | None = None
    waf: float | None = None
    lifetime_mean_bytes_per_s: float | None = None
    meters: tuple[Meter, ...] = ()
    volume: VolumeLoad | None = None
    what_if: WhatIf | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LogicalWrites:
    """Writes of a logical device, shown beside its drives and never added to them."""

    device: str
    roles: tuple[str, ...]
    drives: tuple[str, ...]
    bytes_per_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WearForecast:
    """Everything that `leapprof wear` says of one recording.

    Attributes:
        covered_s: time that the device counters cover.
        restarts_per_year, restarts_source: the assumption and where it comes from.
    """

    recording: Recording
    covered_s: float
    devices: tuple[DeviceForecast, ...]
    logical: tuple[LogicalWrites, ...]
    restarts: tuple[RestartCost, ...]
    restarts_per_year: float
    restarts_source: str
    findings: tuple[Finding, ...]
    method: dict[str, str] = field(default_factory=dict)
