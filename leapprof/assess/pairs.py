"""Repeated and alternating phases (before, after, before, after …): each alternation is a pair, analysed as pairs.

From three pairs on the verdict stands on Student's t over the pairs' differences, which holds for the change and
not only for these runs. With two it stands on the intervals within the runs and stays preliminary; the spread
between the runs is shown either way.
"""

from collections.abc import Sequence
from dataclasses import replace

from leapprof.analysis.allowance import is_widened
from leapprof.analysis.compare import holm, p_of_effect
from leapprof.analysis.runs import FEWEST_PAIRS, between_pairs, p_between, within_runs
from leapprof.analysis.verdict import GRADES, Traits, settle
from leapprof.assess.compare import compare
from leapprof.assess.confounders import beside
from leapprof.assess.immovable import reason_of
from leapprof.assess.material import CompareOptions, info
from leapprof.assess.measure import HIGHEST_PERCENT
from leapprof.assess.metrics import SubjectKind, spec_of
from leapprof.assess.samples import RecordingTables
from leapprof.assess.texts import headline
from leapprof.errors import ConfigError
from leapprof.model import (
    Comparison,
    Effect,
    Estimate,
    Finding,
    Grade,
    Interval,
    MetricComparison,
    RunPair,
    WearComparison,
    WearSide,
    evidence,
)
from leapprof.units import tb_per_year


def compare_pairs(recordings: Sequence[RecordingTables], options: CompareOptions | None = None) -> Comparison:
    """Return the comparison of alternating phases.

    Args:
        recordings: an even number, at least four; put in the order of time, each two are a pair.
        options: what the operator asked for.

    Raises:
        ConfigError: they are not an even number, or their phases do not alternate.
        NotEnoughDataError: a recording is empty, or nothing is on both sides.
    """
    ordered = sorted(recordings, key=lambda r: r.manifest.started_wall_ns or 0)
    _check(ordered)
    found = [compare(a, b, options) for a, b in zip(ordered[::2], ordered[1::2], strict=True)]
    return combined(found)


def _check(ordered: Sequence[RecordingTables]) -> None:
    """Refuse phases that do not alternate.

    Raises:
        ConfigError: see above.
    """
    if len(ordered) % 2:
        raise ConfigError(
            "phases that alternate are an even number of recordings: before, after, before, after",
            key="RECORDING",
        )
    phases = [r.manifest.phase for r in ordered]
    if len(set(phases[::2])) > 1 or len(set(phases[1::2])) > 1 or (phases[0] and phases[0] == phases[1]):
        raise ConfigError(
            f"the phases do not alternate in the order of time: {', '.join(p or 'unnamed' for p in phases)}",
            key="RECORDING",
        )


def combined(pairs: Sequence[Comparison]) -> Comparison:
    """Return one comparison of several pairs of the same change.

    Both sides, facts and charts are those of the last pair; metrics, wear, headline and the windows named are of all.

    Args:
        pairs: in the order of time, at least two.
    """
    last = pairs[-1]
    rows = [(m, [_same(m, c) for c in pairs]) for m in last.metrics]
    runs = {i: _runs([m for m in of if m]) for i, (_, of) in enumerate(rows) if all(of)}
    p_values = [_p(runs.get(i)) if m.headline else None for i, (m, _) in enumerate(rows)]
    strict = holm(p_values)
    metrics = tuple(
        _judged([x for x in of if x], runs[i], p_values[i], strict[i]) if i in runs else _unpaired(m)
        for i, (m, of) in enumerate(rows)
    )
    wear = tuple(_mean_wear(row, pairs) for row in last.wear)
    findings = tuple(dict.fromkeys(f for c in pairs for f in c.findings if f.code != "run-to-run-unknown"))
    return replace(
        last,
        method={**last.method, **_windows(pairs)},
        metrics=metrics,
        wear=wear,
        findings=(*findings, _spread_finding(len(pairs))),
        headline=(
            _first_sentence(pairs),
            *headline(
                metrics,
                wear,
                (pairs[0].before, last.after),
                beside(last.facts, last.config_changes, last.default_changes),
            ),
        ),
        run_pairs=tuple(runs[i] for i, (m, _) in enumerate(rows) if i in runs and _is_listed(m)),
        repeat=tuple(dict.fromkeys(command for c in pairs for command in c.repeat)),
    )


def _windows(pairs: Sequence[Comparison]) -> dict[str, str]:
    """Return what was compared of every run, by side."""
    names = ("window before", "window after")
    return {name: " · ".join(pair.method[name] for pair in pairs if name in pair.method) for name in names}


def _is_listed(metric: MetricComparison) -> bool:
    """Return whether the runs of a metric are shown one by one: those of the headline, and all of delay."""
    return metric.headline or spec_of(metric.name).subject is SubjectKind.LATENCY


def _mean_wear(row: WearComparison, pairs: Sequence[Comparison]) -> WearComparison:
    """Return a device's wear as the mean over the pairs; its metric tells how they differ, so without interval."""
    rows = [w for c in pairs for w in c.wear if w.device == row.device]
    note = f"mean of {len(pairs)} pairs" + (f"; {row.note}" if row.note else "")
    return replace(
        row,
        before=_mean_side([w.before for w in rows if w.before]),
        after=_mean_side([w.after for w in rows if w.after]),
        lifetime_years_before=None,
        lifetime_years_after=None,
        note=note,
    )


def _mean_side(sides: Sequence[WearSide]) -> WearSide | None:
    if not sides:
        return None
    mean = sum(side.bytes_per_s for side in sides) / len(sides)
    return WearSide(bytes_per_s=mean, tb_per_year=tb_per_year(mean), ci95=None)


def _same(metric: MetricComparison, comparison: Comparison) -> MetricComparison | None:
    """Return a comparison's metric of the same name and subject that both of its sides hold."""
    of_name = [m for m in comparison.metrics if m.name == metric.name and m.difference is not None]
    exact = [m for m in of_name if m.subject == metric.subject]
    return exact[0] if exact else None


def _runs(of: Sequence[MetricComparison]) -> RunPair:
    """Return the runs of one metric."""
    before = tuple(m.before.mean for m in of if m.before)
    after = tuple(m.after.mean for m in of if m.after)
    return RunPair(
        name=of[0].name,
        subject=of[0].subject,
        unit=of[0].unit,
        before=before,
        after=after,
        difference=tuple(_standing(m) for m in of),
        between=_possible(between_pairs([_standing(m).value for m in of]), of[0].unit),
    )


def _possible(effect: Effect, unit: str) -> Effect:
    """Return an effect whose interval does not exceed what can be: no share moves by more than 100 points."""
    if unit != "percent" or effect.ci95 is None:
        return effect
    low, high = max(effect.ci95.low, -HIGHEST_PERCENT), min(effect.ci95.high, HIGHEST_PERCENT)
    return replace(effect, ci95=Interval(low=low, high=high))


def _standing(metric: MetricComparison) -> Effect:
    """Return the effect on which a metric's verdict stands."""
    effect = metric.adjusted or metric.difference
    assert effect is not None
    return effect


def _p(runs: RunPair | None) -> float | None:
    """Return the p value over pairs, or within runs where there are too few pairs."""
    if runs is None:
        return None
    if len(runs.difference) >= FEWEST_PAIRS:
        return p_between([e.value for e in runs.difference])
    return p_of_effect(within_runs(runs.difference))


def _judged(
    of: Sequence[MetricComparison], runs: RunPair, p: float | None, p_adjusted: float | None
) -> MetricComparison:
    """Return one metric over all pairs."""
    last, enough = of[-1], len(of) >= FEWEST_PAIRS
    grade = min((m.grade for m in of), key=GRADES.index)
    if not enough:
        grade = min(grade, Grade.PRELIMINARY, key=GRADES.index)
    effect = runs.between if enough else within_runs(runs.difference)
    threshold = max((m.threshold for m in of if m.threshold is not None), default=0.0)
    traits = Traits(better=last.better, threshold=threshold, memory_s=spec_of(last.name).memory_s)
    # The spread over pairs knows nothing of what the windows allow for.
    allowed = not enough and is_widened(*(side for m in of for side in (m.before, m.after)))
    verdict, reason = settle(effect, p_adjusted, traits, grade, allowed=allowed)
    if not enough:
        reason += f" (within these runs: from {len(of)} pairs it is not known how runs differ)"
    if last.refused is not None:
        return _unpaired(last)
    if last.immovable is not None:
        reason = reason_of(last.immovable, verdict, reason)
    return replace(
        last,
        before=_mean([m.before for m in of if m.before]),
        after=_mean([m.after for m in of if m.after]),
        difference=effect,
        ratio=None,
        adjusted=None,
        adjusted_for=None,
        by_ratio=False,
        p_value=p,
        p_adjusted=p_adjusted,
        grade=grade,
        verdict=verdict,
        reason=reason,
        threshold=threshold,
        confounded=tuple(dict.fromkeys(clause for m in of for clause in m.confounded)),
    )


def _unpaired(metric: MetricComparison) -> MetricComparison:
    """Return a metric that not all pairs hold, as the last pair has it."""
    return metric


def _mean(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of the runs' means; its interval is that within the runs."""
    within = within_runs([Effect(value=e.mean, ci95=e.ci95) for e in estimates])
    return replace(
        estimates[-1],
        mean=within.value,
        ci95=within.ci95,
        p50=None,
        p95=None,
        p99=None,
        p50_ci95=None,
        p95_ci95=None,
        p99_ci95=None,
        samples=sum(e.samples for e in estimates),
        covered_seconds=sum(e.covered_seconds for e in estimates),
        effective_samples=None,
        standard_error=None,
        degrees_of_freedom=None,
        lag1=None,
        batches=sum(e.batches for e in estimates),
    )


def _first_sentence(pairs: Sequence[Comparison]) -> str:
    """Return how many pairs there are, and on what verdicts stand."""
    if len(pairs) >= FEWEST_PAIRS:
        return f"{len(pairs)} pairs of alternating phases: intervals are over the pairs."
    return (
        f"{len(pairs)} pairs of alternating phases: {FEWEST_PAIRS} or more would tell how runs differ, so intervals "
        "are those within these runs."
    )


def _spread_finding(count: int) -> Finding:
    """Return what the number of pairs means."""
    if count >= FEWEST_PAIRS:
        return info(
            "runs-paired",
            f"{count} alternations are analysed as pairs: the intervals hold for the change, not only for these runs.",
            "The mean of each run is listed in this report.",
            evidence=evidence("count", alternations=count),
        )
    return info(
        "few-pairs",
        f"{count} alternations do not tell how runs differ; all verdicts are preliminary.",
        f"Record {FEWEST_PAIRS} pairs or more for intervals over the pairs.",
        evidence=evidence("count", alternations=count, needed=FEWEST_PAIRS),
    )
