"""A forest plot: each host's difference with its interval, and below them what they say together. Positions only."""

from collections.abc import Sequence
from dataclasses import dataclass

from leapprof.assess.fleet import FleetVerdict
from leapprof.assess.fleet_hosts import HostDifference
from leapprof.model import Effect
from leapprof.report import text

WIDTH, MARGIN, ROW, TOP, HALF = 600.0, 8.0, 26.0, 8.0, 5.0
MOST_HOSTS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """From differences to the drawing."""

    low: float
    high: float

    def at(self, value: float) -> float:
        """Return where a difference lies, within the drawing."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return MARGIN + share * (WIDTH - 2 * MARGIN)


@dataclass(frozen=True, slots=True, kw_only=True)
class ForestLine:
    """One difference, drawn: texts with one digit.

    Attributes:
        kind: host, control, together or ahead (one more host).
        diamond: points of the summary's; empty for others.
    """

    name: str
    said: str
    kind: str
    y: str
    x: str
    low: str
    high: str
    diamond: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Forest:
    """The drawing; coordinates are texts with one digit.

    Attributes:
        band_x, band_width: differences that do not matter.
        zero_x: no difference.
        low, high: what the edges stand for.
        left_out: sentence on hosts that are not drawn; empty when all are.
    """

    height: str
    band_x: str
    band_width: str
    zero_x: str
    low: str
    high: str
    lines: tuple[ForestLine, ...]
    left_out: str


def forest(one: FleetVerdict, hosts: Sequence[HostDifference]) -> Forest:
    """Return the forest plot of a metric that has a summary."""
    unit, drawn = one.metric.unit, _drawn(hosts, one.changed.outliers if one.changed else ())
    rows = [(d.name, "control" if d.is_control else "host", d.effect) for d in drawn]
    rows += _summaries(one)
    scale = _scale([effect for _, _, effect in rows], one.threshold)
    hidden = len(hosts) - len(drawn)
    low, high = scale.at(-one.threshold), scale.at(one.threshold)
    return Forest(
        height=f"{2 * TOP + ROW * len(rows):.0f}",
        band_x=f"{low:.1f}",
        band_width=f"{high - low:.1f}",
        zero_x=f"{scale.at(0.0):.1f}",
        low=text.signed_text(scale.low, unit),
        high=text.signed_text(scale.high, unit),
        lines=tuple(
            _line(text.clean(name), kind, effect, unit, TOP + ROW * (i + 0.5), scale)
            for i, (name, kind, effect) in enumerate(rows)
        ),
        left_out=f"Drawn are hosts that stand out, and others evenly by their difference: {hidden} more hosts are in "
        "the table."
        if hidden
        else "",
    )


def _drawn(hosts: Sequence[HostDifference], outliers: Sequence[str]) -> Sequence[HostDifference]:
    """Return the hosts that are drawn: all, or those that stand out and some of the others, evenly by difference."""
    if len(hosts) <= MOST_HOSTS:
        return hosts
    apart = [d for d in hosts if d.name in outliers and not d.is_control][: MOST_HOSTS // 2]
    others = sorted((d for d in hosts if d not in apart), key=lambda d: d.effect.value)
    room = MOST_HOSTS - len(apart)
    return [*apart, *(others[i * (len(others) - 1) // (room - 1)] for i in range(room))]


def _summaries(one: FleetVerdict) -> list[tuple[str, str, Effect]]:
    """Return what the hosts say together, and where one more would lie."""
    if one.value is None or one.changed is None:
        return []
    beyond = ", beyond the controls" if one.controls else ""
    rows = [(f"together{beyond}", "together", Effect(value=one.value, ci95=one.ci95))]
    if one.changed.prediction95 is not None and not one.controls:
        rows.append(("one more host", "ahead", Effect(value=one.value, ci95=one.changed.prediction95)))
    return rows


def _scale(effects: Sequence[Effect], threshold: float) -> Scale:
    """Return a scale that holds every interval, no difference and what does not matter."""
    ends = [-threshold, threshold]
    for effect in effects:
        ends += [effect.value] if effect.ci95 is None else [effect.ci95.low, effect.ci95.high]
    low, high = min(ends), max(ends)
    return Scale(low=low, high=high if high > low else low + 1.0)


def _line(name: str, kind: str, effect: Effect, unit: str, y: float, scale: Scale) -> ForestLine:
    x = scale.at(effect.value)
    low, high = (x, x) if effect.ci95 is None else (scale.at(effect.ci95.low), scale.at(effect.ci95.high))
    interval = text.signed_interval_text(effect.ci95, unit)
    said = interval if kind == "ahead" else f"{text.signed_text(effect.value, unit)} ({interval})"
    ends = min(low, x - HALF), max(high, x + HALF)
    points = ((ends[0], y), (x, y - HALF), (ends[1], y), (x, y + HALF)) if kind == "together" else ()
    return ForestLine(
        name=name,
        said=said,
        kind=kind,
        y=f"{y:.1f}",
        x=f"{x:.1f}",
        low=f"{low:.1f}",
        high=f"{high:.1f}",
        diamond=" ".join(f"{a:.1f},{b:.1f}" for a, b in points),
    )
