"""What a comparison says beside its metrics: control, change point, headroom, costs a transaction, pairs of runs."""

from collections.abc import Iterator

from leapprof.model import Comparison, Effect, Interval, PerUnit, RunPair
from leapprof.report import text
from leapprof.report.labels import metric_label, subject_label

_PER_UNIT = {"bytes": "moved_bytes", "cpu_seconds": "s"}


def check_rows(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    """Return a name and a sentence for each of them."""
    return tuple((text.clean(name), text.clean(said, 2000)) for name, said in _rows(comparison))


def _rows(comparison: Comparison) -> Iterator[tuple[str, str]]:
    for what, values in (("control", comparison.control), ("change point", comparison.change_point)):
        for key, value in sorted((values or {}).items()):
            yield f"{what}: {key}", value
    for figure in comparison.per_unit:
        yield f"{metric_label(figure.name)} per {figure.per}, {subject_label(figure.subject)}", _cost(figure)
    for runs in comparison.run_pairs:
        yield f"runs: {metric_label(runs.name)}, {subject_label(runs.subject)}", _runs(runs)
    if comparison.headroom is not None:
        room = comparison.headroom
        yield (
            "headroom",
            f"{_range(room.clients)} incoming peers would bring the CPU to "
            f"{text.value_text(room.target_percent, 'percent')} ({room.why}), from {_range(room.peers)} "
            f"peers at {_figure(room.cpu_percent, 'percent')}; "
            + "; ".join(
                f"{p.clients} would run at {text.interval_text(p.percent, 'percent')}" for p in room.at
            )
            + f". Assumed: {room.assumption}.",
        )


def _range(counts: Interval) -> str:
    low, high = f"{counts.low:.0f}", f"{counts.high:.0f}"
    return low if low == high else f"{low} to {high}"


def _cost(figure: PerUnit) -> str:
    unit = _PER_UNIT[figure.unit]
    interval = text.ratio_interval_text(figure.ratio.ci95)
    ratio = text.ratio_text(figure.ratio.value) + text.bracketed(interval)
    return f"{_figure(figure.before, unit)} before, {_figure(figure.after, unit)} after; ratio {ratio}"


def _runs(runs: RunPair) -> str:
    pairs = "; ".join(
        f"{text.value_text(a, runs.unit)} → {text.value_text(b, runs.unit)}"
        for a, b in zip(runs.before, runs.after, strict=True)
    )
    between = text.signed_text(runs.between.value, runs.unit)
    interval = text.signed_interval_text(runs.between.ci95, runs.unit)
    return f"{pairs}; mean of the differences {between} {interval}".rstrip()


def _figure(effect: Effect, unit: str) -> str:
    interval = text.interval_text(effect.ci95, unit)
    return text.value_text(effect.value, unit) + text.bracketed(interval)
