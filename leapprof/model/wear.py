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
        exit_by_device, start_by_device: the same for each drive of the state.
    """

    nodeos: str
    stopped_wall_ns: int
    uptime_s: float | None
    exit_s: float | None
    exit_bytes: float | None
    start_bytes: float | None
    exit_by_device: dict[str, float] = field(default_factory=dict)
    start_by_device: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitGrowth:
    """How the bytes of an exit flush grow with uptime: in proportion, until all pages in use are dirty.

    Attributes:
        nodeos, device: whose exits, written to which drive.
        stops: how many were seen.
        bytes_per_s: growth; None when every stop wrote the same, however long it had run.
        most_bytes: where it ends; None when the stops that were seen do not show an end.
        uptime_s: time between restarts that the forecast assumes.
        exit_bytes: what one exit writes after that time.
        longest_uptime_s: of the stops seen; beyond it exit_bytes is an extrapolation.
    """

    nodeos: str
    device: str
    stops: int
    bytes_per_s: float | None
    most_bytes: float | None
    uptime_s: float
    exit_bytes: float
    longest_uptime_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedYears:
    """Years until a rating is used up, from now: at the mean rate, and as an interval (None: not known).

    Attributes:
        rated_tbw: decimal TB.
        years, low, high: None at high: no end can be told.
        nodes: how many hosts that write this much would use the rating up just within five years (or the
            warranty that the rating names); None when nothing is written.
        price_per_year: what a year costs of the drive's price; None without a price.
    """

    rated_tbw: float
    years: float
    low: float | None
    high: float | None
    nodes: int | None = None
    price_per_year: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Meter:
    """One of the meters of what a drive took in the recording's time.

    Attributes:
        name: what counts.
        written_bytes: between the two readings; None when it cannot be told.
        resolution_bytes: its smallest step; None when not known.
        life_bytes: over the drive's life; None when it does not say.
        note: what limits it.
    """

    name: str
    written_bytes: float | None
    note: str
    resolution_bytes: float | None = None
    life_bytes: float | None = None


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
        years: at its rating, or at the same common ratings as before the change.
        notes: what was assumed.
    """

    source: str
    ratio: float
    ratio_ci95: Interval | None
    tb_per_year: float
    ci95: Interval | None
    years: tuple[RatedYears, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Smart:
    """What a drive says of its own state; None is "does not say"."""

    percent_used: int | None = None
    spare_percent: int | None = None
    spare_threshold_percent: int | None = None
    power_on_hours: int | None = None
    media_errors: int | None = None
    temperature_celsius: int | None = None
    warning: str | None = None


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
        warranty_years: of the rating; price: of the drive, as the operator says.
        waf: bytes that the flash wrote for each byte of the host, over the drive's life.
        lifetime_mean_bytes_per_s: host writes over power-on time.
        meters: device counter, SMART and flash side by side, where the recording has SMART at both ends.
        smart: what the drive says of itself; None without SMART.
        growth: how exits grow with uptime, where several were seen.
        notes: what limits this forecast.
        most_writes_per_year: where nothing was written, how often it may be (95 %, rule of three); None else.
        burst_bytes: the largest write that was seen before the part that the rate stands on; ci95 of a drive that
            wrote nothing stands on it. None: its size is not known, and no upper limit of a year is.
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
    warranty_years: float | None = None
    price: float | None = None
    waf: float | None = None
    lifetime_mean_bytes_per_s: float | None = None
    meters: tuple[Meter, ...] = ()
    smart: Smart | None = None
    growth: tuple[ExitGrowth, ...] = ()
    volume: VolumeLoad | None = None
    what_if: WhatIf | None = None
    notes: tuple[str, ...] = ()
    most_writes_per_year: float | None = None
    burst_bytes: float | None = None

    @property
    def is_unknown(self) -> bool:
        """Return whether nothing was written and nothing tells how much it is when something is."""
        return self.bytes_per_s == 0 and self.ci95 is None

    @property
    def total_tb_per_year(self) -> float:
        """Return steady writes and restarts together."""
        return self.steady_tb_per_year + self.restart_tb_per_year

    @property
    def total_ci95(self) -> Interval | None:
        """Return the interval of the total; restarts shift it and do not widen it."""
        if self.steady_ci95 is None:
            return None
        low, high = (end + self.restart_tb_per_year for end in (self.steady_ci95.low, self.steady_ci95.high))
        return Interval(low=low, high=high)


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
        covered_s: time that the device counters cover, after warm-up.
        left_out_s: why → seconds of the recording that the rates leave out.
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
    left_out_s: dict[str, float] = field(default_factory=dict)
    method: dict[str, str] = field(default_factory=dict)
