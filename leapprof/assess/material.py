"""Everything measured for one comparison, gathered for those who write findings and sentences about it."""

from dataclasses import dataclass, field

from leapprof.assess.rows import Row
from leapprof.assess.sides import CutSide, WindowChoice
from leapprof.assess.subjects import DevicePair, NodeosPair
from leapprof.model import (
    ConfigChange,
    Evidence,
    FactDifference,
    Finding,
    MetricComparison,
    Severity,
    WearComparison,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """What the operator asked for.

    Attributes:
        title: of the report; None: made from host and change.
        window: part of both recordings; None: all after warm-up.
        across: two different hosts, or two overlapping recordings, are meant.
        rated_tbw: device → decimal TB, as the operator says.
        target_percent: CPU utilisation up to which there is headroom; None: what the host had before.
        repeat: commands that repeat this comparison, beside those that the recordings name.
    """

    title: str | None = None
    window: WindowChoice | None = None
    across: bool = False
    rated_tbw: dict[str, float] = field(default_factory=dict)
    target_percent: float | None = None
    repeat: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Material:
    """Everything measured for one comparison.

    Attributes:
        change_wall_ns: where one recording was cut; None of two recordings.
    """

    before: CutSide
    after: CutSide
    options: CompareOptions
    nodeos: tuple[NodeosPair, ...]
    devices: tuple[DevicePair, ...]
    rows: tuple[Row, ...]
    metrics: tuple[MetricComparison, ...]
    wear: tuple[WearComparison, ...]
    facts: tuple[FactDifference, ...]
    changes: tuple[ConfigChange, ...]
    defaults: tuple[ConfigChange, ...]
    change_wall_ns: int | None = None

    @property
    def sides(self) -> tuple[CutSide, CutSide]:
        """Return both sides."""
        return self.before, self.after


def warning(
    code: str, message: str, hint: str, *, subject: str | None = None, evidence: tuple[Evidence, ...] = ()
) -> Finding:
    """Return a finding that limits what may be concluded."""
    return Finding(
        code=code, severity=Severity.WARNING, message=message, hint=hint, subject=subject, evidence=evidence
    )


def info(
    code: str, message: str, hint: str, *, subject: str | None = None, evidence: tuple[Evidence, ...] = ()
) -> Finding:
    """Return a finding to know of."""
    return Finding(
        code=code, severity=Severity.INFO, message=message, hint=hint, subject=subject, evidence=evidence
    )
