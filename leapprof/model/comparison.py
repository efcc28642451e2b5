"""A comparison: everything that a report says, computed. Renderers add nothing to it.

Field names follow report.json (docs/report-json.md); report/json.py writes them.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from leapprof.model.estimate import Better, Estimate, Grade, Interval, Verdict
from leapprof.model.finding import Finding
from leapprof.model.recording import Recording


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a metric is about: the host itself when all are None.

    Attributes:
        nodeos: id of a nodeos.
        device: kernel name of a device.
        role: what the device carries (state, blocks, state-history, swap, os), comma-joined.
    """

    nodeos: str | None = None
    device: str | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """A difference or ratio, after against before, with its interval (None when too short)."""

    value: float
    ci95: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricComparison:
    """One metric of one subject on both sides; ``None`` on a side where it was not seen.

    Attributes:
        name, unit: of the metric table.
        reason: one sentence that explains verdict and grade.
        needed_seconds: how long each side would have to be for a verdict; None when there is one or
            it cannot be computed.
        threshold: difference that matters in practice, in the metric's unit.
        refused: a sentence why this metric may not be compared across the two sides (e.g. RSS across
            map modes); verdict is then inconclusive.
    """

    name: str
    unit: str
    subject: Subject
    better: Better
    before: Estimate | None
    after: Estimate | None
    difference: Effect | None
    ratio: Effect | None
    adjusted: Effect | None
    p_value: float | None
    p_adjusted: float | None
    grade: Grade
    verdict: Verdict
    reason: str
    threshold: float | None = None
    needed_seconds: float | None = None
    refused: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WearSide:
    """Writes of one device in one phase: mean rate, its yearly projection and interval (TB a year)."""

    bytes_per_s: float
    tb_per_year: float
    ci95: Interval | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WearComparison:
    """Wear of one physical device on both sides.

    Attributes:
        stacked_views: logical devices whose writes are already counted here (not added again).
        rated_tbw: decimal TB; None when not known.
        lifetime_years_before, lifetime_years_after: of the rating, from new; None when not known.
        note: what limits this row (virtual disk, unknown drive …).
    """

    device: str
    role: str | None
    model: str | None
    before: WearSide | None
    after: WearSide | None
    rated_tbw: float | None = None
    lifetime_years_before: Interval | None = None
    lifetime_years_after: Interval | None = None
    stacked_views: tuple[str, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactDifference:
    """A fact of host or nodeos on both sides (None: not known there)."""

    name: str
    subject: str
    before: str | None
    after: str | None

    @property
    def changed(self) -> bool:
        """Whether both sides are known and differ."""
        return self.before is not None and self.after is not None and self.before != self.after


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigChange:
    """A config option whose value differs; a value that may not leave its host reads ``(not shown)``."""

    nodeos: str
    option: str
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The part of a recording that is compared, on the host's clocks.

    Attributes:
        start_s, end_s: CLOCK_BOOTTIME, seconds.
        start_wall_ns, end_wall_ns: host's wall clock.
        left_out_s: seconds of the recording that are left out, by reason (warm-up, not-live, …).
    """

    start_s: float
    end_s: float
    start_wall_ns: int
    end_wall_ns: int
    left_out_s: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One side of a comparison."""

    recording: Recording
    window: Window
    label: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Chart:
    """Thinned data of one metric for drawing: peaks kept, (m,) arrays.

    Attributes:
        before_t_s, after_t_s: seconds relative to the window's start.
        before_value, after_value: base unit; NaN breaks the line.
        bin_edges: (b+1,) float64 shared by both distributions.
        before_share, after_share: (b,) float64, share of time in each bin.
    """

    name: str
    unit: str
    subject: Subject
    before_t_s: NDArray[np.float64]
    before_value: NDArray[np.float64]
    after_t_s: NDArray[np.float64]
    after_value: NDArray[np.float64]
    bin_edges: NDArray[np.float64]
    before_share: NDArray[np.float64]
    after_share: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure:
    """A figure that somebody published, beside ours (reports of reconstructed samples)."""

    what: str
    published: str
    ours: str
    why_different: str


class Outcome(StrEnum):
    """What an interval says of an expectation."""

    MET = "met"
    NOT_MET = "not met"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectationResult:
    """An expectation of a playbook, judged.

    Attributes:
        metric: name of the metric table.
        subject: role, device or nodeos as the playbook says; None: not said.
        text: as the playbook says, e.g. ``decrease >= 10 %``.
        reason: one sentence with the interval that decided, or why none could.
    """

    metric: str
    subject: str | None
    text: str
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything that a report of one before-and-after pair says.

    Attributes:
        title: of the report.
        metrics: in the order of the metric table.
        headline: the sentences that a reader in a hurry needs, most important first.
        repeat: commands that repeat recording and comparison.
        not_measured: sentences: what this report does not measure.
        method: name → text: estimator, thresholds, units, year.
        change: text of what was changed, as far as facts and config show.
        expectations: of the playbook, judged; empty without one.
    """

    title: str
    before: Side
    after: Side
    metrics: tuple[MetricComparison, ...]
    wear: tuple[WearComparison, ...]
    facts: tuple[FactDifference, ...]
    config_changes: tuple[ConfigChange, ...]
    findings: tuple[Finding, ...]
    charts: tuple[Chart, ...]
    headline: tuple[str, ...]
    repeat: tuple[str, ...]
    not_measured: tuple[str, ...]
    method: dict[str, str]
    published: tuple[PublishedFigure, ...] = ()
    control: dict[str, str] | None = None
    change_point: dict[str, str] | None = None
    expectations: tuple[ExpectationResult, ...] = ()
