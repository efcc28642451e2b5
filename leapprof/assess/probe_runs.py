"""How the probes of delay ran on both sides: where, when, how many values, how they were set, by which clock. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from leapprof.assess.latency import TRANSPORT
from leapprof.model import Estimate, MetricComparison, Recording, Side
from leapprof.units import NS_PER_S, format_duration, significant

SETTING = "latency_"
"""Facts of a recording that begin with it are settings of its probe."""
_STANDING = "latency_standing_"
_SAID_ELSEWHERE = frozenset({"probe", "target"})


def settings_text(recording: Recording) -> str:
    """Return what was set, ``rate 20 requests/s, timeout 5 s``."""
    settings = {
        name.removeprefix(SETTING): text
        for name, text in sorted(recording.host.facts.items())
        if name.startswith(SETTING)
    }
    return ", ".join(f"{name} {text}" for name, text in settings.items() if name not in _SAID_ELSEWHERE)


def region_of(recording: Recording) -> str:
    """Return the label of where a probe ran."""
    return recording.host.facts.get("region", recording.host.name)


def clock_and_validity(recording: Recording) -> tuple[str, str]:
    """Return by which clock delays were measured, with its error; and whether the machines had CPU to spare."""
    notes = recording.notes
    return notes.get("latency_clock", "not known"), notes.get("latency_valid", "not known")


def standings_of(notes: Mapping[str, str]) -> tuple[str, ...]:
    """Return how each endpoint of a stream did against the others, from the notes of a recording."""
    return tuple(text for name, text in sorted(notes.items()) if name.startswith(_STANDING))


def probe_runs(sides: Sequence[Side], metrics: Sequence[MetricComparison]) -> dict[str, str]:
    """Return a sentence a side; none for recordings that no probe of delay made."""
    return {
        f"probe {side.label}": "; ".join(_clauses(side, metrics))
        for side in sides
        if side.recording.transport == TRANSPORT
    }


def _clauses(side: Side, metrics: Sequence[MetricComparison]) -> Iterator[str]:
    recording, window = side.recording, side.window
    yield f"region {region_of(recording)}"
    if window.start_wall_ns is not None:
        start = datetime.fromtimestamp(window.start_wall_ns // NS_PER_S, tz=UTC)
        yield f"{start:%Y-%m-%d %H:%M:%S} UTC, {format_duration(window.compared_s)}"
    yield from _counts(side.label, metrics)
    yield settings_text(recording)
    clock, valid = clock_and_validity(recording)
    yield f"clock: {clock}"
    yield f"machines below 80 % CPU: {valid}"
    yield from standings_of(recording.notes)


def _counts(label: str, metrics: Sequence[MetricComparison]) -> Iterator[str]:
    """Yield how many values there are of each operation, and what share of its attempts failed."""
    failed = {m.subject: _of(m, label) for m in metrics if m.name.endswith(".error_percent")}
    for metric in metrics:
        estimate = _of(metric, label)
        if metric.name.startswith("latency.") and metric.name.endswith(".p50_s") and estimate:
            share = failed.get(metric.subject)
            lost = f", {significant(share.mean)} % failed" if share else ""
            yield f"{estimate.samples:,} values of {metric.subject.operation}{lost}"


def _of(metric: MetricComparison, label: str) -> Estimate | None:
    return metric.before if label == "before" else metric.after
