"""A comparison: everything that a report says, computed. Renderers add nothing to it.

Field names follow report.json (docs/report-json.md); report/json.py writes them.
"""

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from leapprof.model.estimate import Better, Estimate, Grade, Interval, Verdict
from leapprof.model.finding import Evidence, Finding
from leapprof.model.recording import Recording
from leapprof.model.start import StartMeasure


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a metric is about: the host itself when all are None.

    Attributes:
        nodeos: id of a nodeos.
        device: kernel name of a device.
        role: what the device carries (state, blocks, state-history, swap, os), comma-joined.
        operation, target: what a probe of delay asked of whom.
    """

    nodeos: str | None = None
    device: str | None = None
    role: str | None = None
    operation: str | None = None
    target: str | None = None


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
        headline: one of the metrics that the headline speaks of and whose p values Holm adjusts together.
        view_of: drives below the subject, where it is a logical device.
        design_seconds: how long each side has to be for the grade full.
        adjusted_for: a clause that says what adjusted takes off (another load, growth of the state, a
            control's difference); the verdict then stands on adjusted. None: it stands on difference or ratio.
        confounded: what else than the change may have made the difference, each a clause.
        by_ratio: the verdict stands on the ratio, as a share of the mean before, and not on the difference.
        immovable: a clause why it cannot move on either side (neither has swap); it is then no question, outside the
            headline and of all p values that are adjusted together. None: it can move.
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
    headline: bool = False
    view_of: tuple[str, ...] = ()
    design_seconds: float | None = None
    adjusted_for: str | None = None
    confounded: tuple[str, ...] = ()
    by_ratio: bool = False
    immovable: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PerUnit:
    """What one unit of the chain's work costs on both sides: a ratio of sums, never a mean of ratios.

    Attributes:
        name: of the metric that is divided, e.g. device.write_bytes_per_s.
        unit: of the result: bytes or cpu_seconds.
        per: ``transaction`` or ``block``.
        ratio: after against before.
    """

    name: str
    subject: Subject
    unit: str
    per: str
    before: Effect
    after: Effect
    ratio: Effect


@dataclass(frozen=True, slots=True, kw_only=True)
class Utilisation:
    """CPU of the host that a number of peers would bring, percent."""

    clients: int
    percent: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """How many incoming peers would bring the CPU to a stated utilisation.

    Attributes:
        metric: whose utilisation: host.cpu_percent.
        side: whose figures are projected: after.
        target_percent: the stated utilisation.
        why: where the target comes from.
        cpu_percent: mean of that side, with its interval.
        peers: lowest and highest usual number of incoming peers there (5th and 95th percentile).
        clients: what max-clients reaches the target, from and to.
        at: what some round numbers of peers would bring.
        assumption: on which all this stands.
    """

    metric: str
    side: str
    target_percent: float
    why: str
    cpu_percent: Effect
    peers: Interval
    clients: Interval
    at: tuple[Utilisation, ...]
    assumption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPair:
    """One metric over the alternation of repeated phases.

    Attributes:
        before, after: mean of each run, in the order of time.
        difference: of each pair, with its interval within the runs.
        between: mean of the pairs' differences with its t interval over the pairs; no interval below two.
    """

    name: str
    subject: Subject
    unit: str
    before: tuple[float, ...]
    after: tuple[float, ...]
    difference: tuple[Effect, ...]
    between: Effect


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
        rated_tbw: decimal TB of the device before; None when not known.
        lifetime_years_before, lifetime_years_after: of the rating, from new; None when not known. The high end is
            infinite where the rate may be 0. Where another device is there after, of its own rating, which the note
            says.
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
    """A config option whose value differs; a value that may not leave its host reads ``(not shown)``.

    Attributes:
        before, after: as it is set; None where it is not.
        before_default, after_default: what nodeos takes where it is not set; None where that is not known.
    """

    nodeos: str
    option: str
    before: str | None
    after: str | None
    before_default: str | None = None
    after_default: str | None = None

    @property
    def takes_effect(self) -> bool:
        """Return whether nodeos takes another value: a default that is written out changes nothing."""
        before = self.before_default if self.before is None else self.before
        return before != (self.after_default if self.after is None else self.after)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The part of a recording that is compared, on the host's clocks.

    Attributes:
        start_s, end_s: CLOCK_BOOTTIME, seconds.
        start_wall_ns, end_wall_ns: host's wall clock.
        left_out_s: seconds of the recording that are left out, by reason (warm-up, not-live, …).
        left_out_inside_s: those of them that lie between start and end.
    """

    start_s: float
    end_s: float
    start_wall_ns: int
    end_wall_ns: int
    left_out_s: dict[str, float] = field(default_factory=dict)
    left_out_inside_s: float = 0.0

    @property
    def compared_s(self) -> float:
        """Return the seconds that are compared: its length without what is left out inside it."""
        return self.end_s - self.start_s - self.left_out_inside_s


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlEffect:
    """One metric beyond a control: the control's own difference, and what is left of the changed node's."""

    name: str
    subject: Subject
    unit: str
    control: Effect
    beyond: Effect


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
        starts: runs of nodeos on both sides, with what was measured of their starts and stops.
        per_unit: writes and CPU per block and per transaction.
        headroom: None where CPU and peers are not both known.
        run_pairs: the headline metrics of repeated, alternating phases; empty for one pair.
        default_changes: options that neither config.ini sets, whose default is another one in the other version.
        control_effects: numbers of control; change_evidence: numbers of change_point.
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
    starts: tuple[StartMeasure, ...] = ()
    expectations: tuple[ExpectationResult, ...] = ()
    per_unit: tuple[PerUnit, ...] = ()
    headroom: Headroom | None = None
    run_pairs: tuple[RunPair, ...] = ()
    default_changes: tuple[ConfigChange, ...] = ()
    control_effects: tuple[ControlEffect, ...] = ()
    change_evidence: tuple[Evidence, ...] = ()
