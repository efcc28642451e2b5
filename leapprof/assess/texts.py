"""The sentences of a comparison: title, headline, method, what is not measured, how to repeat it.

Every number of the headline is one of the metrics, with its unit and its interval.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from leapprof.analysis import allowance
from leapprof.analysis.verdict import TOO_SHORT_S
from leapprof.assess.delay_texts import DELAYS, FLOOR, delay_words
from leapprof.assess.facts import change_text
from leapprof.assess.material import Material
from leapprof.assess.probe_runs import probe_runs
from leapprof.assess.sides import CutSide
from leapprof.assess.subjects import devices_of_states
from leapprof.assess.wear import WRITES
from leapprof.model import Effect, Grade, MetricComparison, Side, Verdict, WearComparison, WearSide
from leapprof.units import DAY_S, NS_PER_S, format_duration, format_tb_per_year, format_value, significant

MOST_SENTENCES = 10
DIRTIED = "nodeos.dirtied_bytes_per_s"
MINUS = "−"

LABELS = {
    **dict.fromkeys(DELAYS, "Delay"),
    "device.write_bytes_per_s": "Writes to",
    "host.drive_write_bytes_per_s": "Writes to all drives of the host",
    "nodeos.cpu_cores": "CPU of",
    "host.cpu_percent": "CPU of the host",
    "nodeos.state_resident_bytes": "Memory that holds the state of",
    "nodeos.rss_bytes": "Resident memory of",
    "host.swap_used_bytes": "Swap used on the host",
    "nodeos.swap_bytes": "Swapped memory of",
}
"""The metrics that the headline speaks of, most important first; delay_words says more of a delay."""

COUNTED = (
    Verdict.IMPROVED,
    Verdict.REGRESSED,
    Verdict.UNCHANGED,
    Verdict.CHANGED,
    Verdict.INCONCLUSIVE,
)

NOT_MEASURED = (
    "What a drive writes inside (write amplification, wear levelling): only what the host sent to it.",
    "How runs of nodeos differ from each other, unless each side holds several starts.",
    "Who wrote pages that the kernel wrote back later, swapped out or kept as metadata: the device counter has them, "
    "/proc/PID/io has not.",
    "What happens below a virtual or network disk.",
    "Memory of the state apart from nodeos's own heap: both are in the same counters.",
)


def title(material: Material) -> str:
    """Return the title of the report."""
    if material.options.title:
        return material.options.title
    host, other = (side.side.recording.host.name for side in material.sides)
    where = host if host == other else f"{host} against {other}"
    return f"{where}: {change_text(material.nodeos, material.changes)}"


def headline(
    metrics: Sequence[MetricComparison],
    wear: Sequence[WearComparison],
    sides: tuple[Side, Side],
    also_changed: str | None,
) -> tuple[str, ...]:
    """Return the sentences for a reader in a hurry: the count of verdicts, then the metrics that matter most.

    Args:
        metrics: of the comparison.
        wear: of the comparison.
        sides: before and after.
        also_changed: sentence that names what else than the stated change may be the cause.
    """
    chosen = [m for name in LABELS for m in _of(metrics, name)]
    by_device = {w.device: w for w in wear}
    of_states = devices_of_states(sides[0].recording)
    sentences = [_count(chosen)]
    for metric in chosen:
        remark = _remark(metric, chosen, of_states)
        sentences.append(_sentence(metric, by_device.get(metric.subject.device or ""), remark))
        owners = of_states.get(metric.subject.device or "", ())
        if metric.name == WRITES and (owners if len(of_states) > 1 else metric is chosen[0]):
            sentences += _dirtied(metrics, sides, owners)
    return (*sentences[:MOST_SENTENCES], *([also_changed] if also_changed else []))


def method(material: Material) -> dict[str, str]:
    """Return how the numbers were made."""
    hours = {side.side.label: _hours(side) for side in material.sides}
    return {
        "estimator": "batch means (20 to 39 of whole minutes; whole days from three days on), standard error adjusted "
        "for AR(1), 95 % interval: skewness-adjusted t (Johnson, Willink) united with the log scale, upper limit with "
        "one more of the largest sample",
        "quantiles": "of the samples; intervals by Woodruff's inversion, where the window is 20 (median), 80 (95th "
        "percentile) or 150 (99th) times the metric's memory",
        "difference and ratio": "MOVER (Zou and Donner 2008); the verdict on CPU and rates stands on the ratio, as a "
        "share of the mean before, where no load adjusts it; that on levels on the difference",
        "p values": "Welch on the adjusted standard errors; Holm over the headline metrics, Benjamini-Hochberg over "
        "the others",
        "grades": f"too_short under {TOO_SHORT_S / 60:.0f} min after warm-up; full from "
        f"{allowance.FULL_FROM_S / 60:.0f} min and 20 times the metric's autocorrelation time on; preliminary between, "
        "or with a trend, too few independent samples, few bursts or another load",
        "short windows": "where a side is preliminary for its length or its samples, intervals and standard errors are "
        f"{allowance.SHORT_WIDENING:g} times as long as its samples make them "
        f"({allowance.VERY_SHORT_WIDENING:g} times under {allowance.VERY_SHORT_S / 60:.0f} min), with a trend at least "
        f"{allowance.RANGE_WIDENING:g} times as far as the range of its batch means; where only load or hours make a "
        "verdict preliminary, twice the interval has to show the effect",
        "at equal load": "analysis of covariance on batch means with a slope per side, at the mean of both loads "
        "(transactions/s)",
        "mean of a counter": "last minus first over the time between, gaps included; resets start a new segment",
        "warm-up": "5 min or 5 % after the start of nodeos, and until its head block was current for a minute; decided "
        "by time and events, for all metrics alike",
        "cpu": "busy = user + nice + system + irq + softirq; iowait, idle and steal are not busy; guest is inside user",
        "units": "TB and TBW decimal (10^12 bytes), memory binary (GiB), rates decimal; diskstats sectors of 512 bytes",
        "year": "365 days = 31,536,000 s",
        "window before": hours["before"],
        "window after": hours["after"],
        **probe_runs([side.side for side in material.sides], material.metrics),
    }


def repeat(material: Material) -> tuple[str, ...]:
    """Return the commands that repeat recordings and comparison."""
    commands = [c for side in material.sides for c in side.side.recording.commands]
    return tuple(dict.fromkeys((*commands, *material.options.repeat)))


def short_effect(effect: Effect | None, unit: str) -> str:
    """Return a difference with sign and interval: ``−4.07 MB/s (95 % −4.3 to −3.8)``."""
    if effect is None:
        return "–"
    text = signed(effect.value, unit)
    if effect.ci95 is None:
        return f"{text} (no interval)"
    return f"{text} (95 % interval {signed(effect.ci95.low, unit)} to {signed(effect.ci95.high, unit)})"


def signed(value: float, unit: str) -> str:
    """Return a value with its sign and unit."""
    text = format_value(abs(value), unit)
    if unit == "percent":
        text = text.removesuffix("%") + "points"
    is_nothing = not any(digit in text for digit in "123456789")
    return text if is_nothing else (MINUS if value < 0 else "+") + text


def _of(metrics: Sequence[MetricComparison], name: str) -> list[MetricComparison]:
    """Return the headline's comparisons of a metric: what carries the state most directly first."""
    found = [m for m in metrics if m.name == name and m.headline]
    with_role = [m for m in found if m.subject.role]
    return sorted(
        with_role or found,
        key=lambda m: ("state" not in (m.subject.role or ""), not m.view_of, m.subject.operation == FLOOR),
    )


def _count(chosen: list[MetricComparison]) -> str:
    """Return the sentence that counts the verdicts."""
    if not chosen:
        return "Nothing that both sides hold can be compared."
    if all(m.grade is Grade.TOO_SHORT for m in chosen):
        return (
            "Too short for a verdict: means and differences are shown without intervals; "
            f"{format_duration(TOO_SHORT_S)} after warm-up are the least."
        )
    parts = [f"{n} {v.value}" for v in COUNTED if (n := sum(m.verdict is v for m in chosen))]
    return f"Of {len(chosen)} headline metric{'s' if len(chosen) > 1 else ''}: {', '.join(parts)}."


def _sentence(metric: MetricComparison, wear: WearComparison | None, remark: str) -> str:
    """Return one metric as a sentence; the effect on which the verdict stands comes first."""
    assert metric.before is not None
    assert metric.after is not None
    before, after = (format_value(e.mean, metric.unit) for e in (metric.before, metric.after))
    plain = (
        f"{before} before, {after} after, {short_effect(metric.difference, metric.unit)}{_of_ratio(metric)}"
    )
    text = f"{_about(metric)}{remark}: "
    if metric.adjusted is not None and metric.adjusted_for:
        text += f"{short_effect(metric.adjusted, metric.unit)} {metric.adjusted_for}; as it was {plain}"
    else:
        text += plain
    if metric.name == WRITES and wear and wear.before and wear.after:
        text += f"; {_yearly(wear.before)} before and {_yearly(wear.after)} after{_if_short(metric)}"
    return f"{text}{_ending(metric)}"


def _about(metric: MetricComparison) -> str:
    """Return what a metric is and of whom."""
    subject = metric.subject
    if metric.name in DELAYS:
        return delay_words(metric.name, subject.operation, subject.target)
    return f"{LABELS[metric.name]} {subject.device or subject.nodeos or ''}".strip()


def _yearly(side: WearSide) -> str:
    return format_tb_per_year(side.tb_per_year, side.ci95.high if side.ci95 else None)


def _of_ratio(metric: MetricComparison) -> str:
    """Return the ratio of a metric whose verdict stands on it."""
    ratio = metric.ratio
    if not metric.by_ratio or ratio is None or ratio.ci95 is None or not math.isfinite(ratio.ci95.high):
        return ""
    low, high = (f"×{significant(end)}" for end in (ratio.ci95.low, ratio.ci95.high))
    return f", ×{significant(ratio.value)} ({low} to {high})"


def _remark(
    metric: MetricComparison, chosen: Sequence[MetricComparison], of_states: Mapping[str, tuple[str, ...]]
) -> str:
    """Return what a device carries, of which of several nodeos, and whose bytes are in its figures besides."""
    if not metric.subject.role:
        return ""
    if metric.view_of:
        owners = of_states.get(metric.subject.device or "", ()) if len(of_states) > 1 else ()
        whose = f" of {', '.join(owners)}" if owners else ""
        return f" ({metric.subject.role}{whose}; part of what its drive takes)"
    above = [m.subject.device for m in chosen if metric.subject.device in m.view_of]
    said = f"; below {', '.join(filter(None, above))}, with the bytes of all other writers" if above else ""
    return f" ({metric.subject.role}{said})"


def _ending(metric: MetricComparison) -> str:
    """Return the verdict as the end of a sentence."""
    if metric.grade is Grade.TOO_SHORT:
        return "."
    said = [metric.grade] if metric.grade is Grade.PRELIMINARY else []
    if metric.verdict is Verdict.INCONCLUSIVE:
        return f": inconclusive{_in_brackets(said)}, {_own_reason(metric)}."
    return f": {metric.verdict}{_in_brackets([*said, *metric.confounded])}."


def _in_brackets(clauses: Sequence[str]) -> str:
    return f" ({'; '.join(clauses)})" if clauses else ""


def _own_reason(metric: MetricComparison) -> str:
    """Return the reason without what the sentence has said already."""
    return metric.reason.removeprefix(f"{metric.adjusted_for}: ")


def _dirtied(
    metrics: Sequence[MetricComparison], sides: tuple[Side, Side], owners: tuple[str, ...]
) -> list[str]:
    """Return what a stand-in itself dirtied: on a busy machine the drive's figures hold other writers' bytes.

    Args:
        metrics: of the comparison.
        sides: before and after.
        owners: whose state lies on the device that was spoken of; empty: all.
    """
    names = {n.id for side in sides for n in side.recording.nodeos if n.stand_in}
    names &= set(owners) or names
    return [
        f"Of what was dirtied, {m.subject.nodeos} itself, which is a stand-in and no nodeos, made "
        f"{format_value(m.before.mean, m.unit)} before and {format_value(m.after.mean, m.unit)} after "
        "(/proc/PID/io, which charges no pages of a private mapping)."
        for m in metrics
        if m.name == DIRTIED and m.subject.nodeos in names and m.before and m.after
    ]


def _if_short(metric: MetricComparison) -> str:
    """Return the condition of a yearly figure that stands on less than a day."""
    sides = (metric.before, metric.after)
    short = any(side is not None and side.covered_seconds < DAY_S for side in sides)
    return " if every hour is like these" if short else ""


def _hours(cut: CutSide) -> str:
    """Return a window as text."""
    window = cut.side.window
    left_out = ", ".join(f"{format_duration(s)} {why}" for why, s in sorted(window.left_out_s.items()))
    text = f"{_moment(window.start_wall_ns)} to {_moment(window.end_wall_ns)} ({format_duration(window.compared_s)})"
    return text + (f"; left out: {left_out}" if left_out else "")


def _moment(wall_ns: int) -> str:
    """Return a moment in UTC to the second."""
    return datetime.fromtimestamp(wall_ns // NS_PER_S, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
