"""The sentences of a comparison: title, headline, method, what is not measured, how to repeat it.

Every number of the headline is one of the metrics, with its unit and its interval.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from leapprof.analysis import verdict as rules
from leapprof.assess.facts import change_text
from leapprof.assess.material import Material
from leapprof.assess.sides import CutSide
from leapprof.assess.wear import WRITES
from leapprof.model import Effect, Grade, MetricComparison, Verdict, WearComparison
from leapprof.units import DAY_S, NS_PER_S, format_duration, format_tb_per_year, format_value

MOST_SENTENCES = 8
MINUS = "−"

_LABELS = {
    "device.write_bytes_per_s": "Writes to",
    "nodeos.cpu_cores": "CPU of",
    "host.cpu_percent": "CPU of the host",
    "nodeos.state_resident_bytes": "Memory that holds the state of",
    "nodeos.rss_bytes": "Resident memory of",
    "host.swap_used_bytes": "Swap used on the host",
    "nodeos.swap_bytes": "Swapped memory of",
}
"""The metrics that the headline speaks of, most important first."""

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


def headline(material: Material) -> tuple[str, ...]:
    """Return the sentences for a reader in a hurry: the count of verdicts, then the metrics that matter most."""
    chosen = [m for name in _LABELS for m in _of(material, name) if m.before and m.after and not m.refused]
    wear = {w.device: w for w in material.wear}
    sentences = [_count(chosen), *(_sentence(m, wear.get(m.subject.device or "")) for m in chosen)]
    return tuple(sentences[:MOST_SENTENCES])


def method(material: Material) -> dict[str, str]:
    """Return how the numbers were made."""
    hours = {side.side.label: _hours(side) for side in material.sides}
    return {
        "estimator": "batch means (20 to 39 of whole minutes; whole days from three days on), standard error adjusted "
        "for AR(1), 95 % interval: skewness-adjusted t (Johnson, Willink) united with the log scale, upper limit with "
        "one more of the largest sample",
        "difference and ratio": "MOVER (Zou and Donner 2008)",
        "p values": "Welch on the adjusted standard errors; Holm over the headline metrics, Benjamini-Hochberg over "
        "the others",
        "grades": f"too_short under {rules.TOO_SHORT_S / 60:.0f} min after warm-up; full from 1 h and 20 times the "
        "metric's autocorrelation time on; preliminary between, or with a trend, too few independent samples or few "
        "bursts: then twice the interval has to show the effect",
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
    return text if value == 0 else (MINUS if value < 0 else "+") + text


def _of(material: Material, name: str) -> Iterator[MetricComparison]:
    """Yield the comparisons of a metric, those of the state first; of logical views those that tell more."""
    of_drives = {r.subject.role for r in material.rows if r.spec.name == name and not r.view_of}
    found = [
        m
        for row, m in zip(material.rows, material.metrics, strict=True)
        if m.name == name and (not row.view_of or _tells_more(m, of_drives))
    ]
    with_role = [m for m in found if m.subject.role]
    yield from sorted(with_role or found, key=lambda m: "state" not in (m.subject.role or ""))


def _tells_more(metric: MetricComparison, of_drives: set[str | None]) -> bool:
    """Return whether a logical device holds the state and less beside it than any drive does."""
    role = metric.subject.role or ""
    return "state" in role.split(", ") and role not in of_drives


def _count(chosen: list[MetricComparison]) -> str:
    """Return the sentence that counts the verdicts."""
    if not chosen:
        return "Nothing that both sides hold can be compared."
    if all(m.grade is Grade.TOO_SHORT for m in chosen):
        return (
            "Too short for a verdict: means and differences are shown without intervals; "
            "20 minutes after warm-up are the least."
        )
    words = {
        Verdict.IMPROVED: "improved",
        Verdict.REGRESSED: "regressed",
        Verdict.UNCHANGED: "unchanged",
        Verdict.CHANGED: "changed",
        Verdict.INCONCLUSIVE: "inconclusive",
    }
    parts = [f"{n} {word}" for v, word in words.items() if (n := sum(m.verdict is v for m in chosen))]
    return f"Of {len(chosen)} headline metrics: {', '.join(parts)}."


def _sentence(metric: MetricComparison, wear: WearComparison | None) -> str:
    """Return one metric as a sentence."""
    assert metric.before is not None
    assert metric.after is not None
    whom = metric.subject.device or metric.subject.nodeos or ""
    role = f" ({metric.subject.role})" if metric.subject.role else ""
    if wear and wear.note and wear.note.startswith("a view of "):
        role = f" ({metric.subject.role}; part of what its drive takes)"
    before, after = (format_value(e.mean, metric.unit) for e in (metric.before, metric.after))
    text = f"{_LABELS[metric.name]} {whom}".strip() + f"{role}: {before} before, {after} after, "
    text += short_effect(metric.difference, metric.unit)
    if metric.name == WRITES and wear and wear.before and wear.after:
        text += (
            f"; {format_tb_per_year(wear.before.tb_per_year)} before and "
            f"{format_tb_per_year(wear.after.tb_per_year)} after{_if_short(metric)}"
        )
    grade = " (preliminary)" if metric.grade is Grade.PRELIMINARY else ""
    if metric.verdict is Verdict.INCONCLUSIVE:
        return f"{text}: inconclusive, {metric.reason}."
    return f"{text}: {metric.verdict}{grade}."


def _if_short(metric: MetricComparison) -> str:
    """Return the condition of a yearly figure that stands on less than a day."""
    sides = (metric.before, metric.after)
    short = any(side is not None and side.covered_seconds < DAY_S for side in sides)
    return " if every hour is like these" if short else ""


def _hours(cut: CutSide) -> str:
    """Return a window as text."""
    window = cut.side.window
    left_out = ", ".join(f"{format_duration(s)} {why}" for why, s in sorted(window.left_out_s.items()))
    text = f"{_moment(window.start_wall_ns)} to {_moment(window.end_wall_ns)} ({format_duration(cut.span.duration_s)})"
    return text + (f"; left out: {left_out}" if left_out else "")


def _moment(wall_ns: int) -> str:
    """Return a moment in UTC to the second."""
    return datetime.fromtimestamp(wall_ns // NS_PER_S, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
