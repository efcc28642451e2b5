"""Findings: what limits this comparison, from the recordings themselves."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from leapprof.analysis.verdict import TOO_SHORT_S
from leapprof.analysis.windows import LARGEST_WARM_UP_SHARE, change_point, drift
from leapprof.assess.material import Material, info, warning
from leapprof.assess.sides import CutSide
from leapprof.model import Event, Finding, Gap, Grade, MetricComparison, Severity, evidence
from leapprof.model.recording import REBOOTED
from leapprof.units import DAY_S, NS_PER_S, format_duration, format_value

RESTART_KINDS = frozenset({"nodeos-restarted", "nodeos-started", "nodeos-stopped", "reboot"})
RESTARTS_FOR_VARIATION = 2
GAP_SHARE = 0.01
MOST_NAMED = 8
HOST_PREFIX = "host."


def limits(material: Material) -> Iterator[Finding]:
    """Yield one finding per thing that limits what may be concluded."""
    for side in material.sides:
        yield from _window(side)
        yield from gaps_in_window(side)
        yield from _events(side)
        yield from _kept(side)
    yield from _missing(material)
    yield from _modes(material)
    yield from _short_of_a_day(material)
    yield from _run_to_run(material)
    yield from _drifting(material)
    yield from _resets(material)
    yield from _preliminary(material)


def _window(cut: CutSide) -> Iterator[Finding]:
    """Yield what the window lacks."""
    label, seconds = cut.side.label, cut.side.window.compared_s
    if seconds < TOO_SHORT_S:
        yield warning(
            "too-short",
            f"{label}: {format_duration(seconds)} are left after warm-up; under 20 min no interval holds its level.",
            "Record two hours or more, six for writes.",
            evidence=evidence("s", left_after_warm_up=seconds),
        )
    warm_up_s = cut.side.window.left_out_s.get("warm-up", 0.0)
    if warm_up_s >= LARGEST_WARM_UP_SHARE * (seconds + warm_up_s) * 0.99 and warm_up_s > 0:
        yield warning(
            "warm-up-half",
            f"{label}: half of the recording is warm-up, so the rest may not be steady either.",
            "Record longer, or start recording when nodeos has been at the head for some minutes.",
        )
    if not cut.stages_known and cut.side.recording.nodeos:
        yield info(
            "stage-unknown",
            f"{label}: whether nodeos was live could not be told (no head block time was read), so all samples count.",
            "Let leapprof read nodeos's HTTP API (get_info), or choose the steady part with --window.",
        )


def gaps_in_window(cut: CutSide) -> Iterator[Finding]:
    """Yield a finding when the window holds gaps that matter."""
    inside = [g for g in cut.side.recording.gaps if _overlaps(g, cut)]
    seconds = sum(g.duration_s for g in inside)
    if inside:
        severe = seconds > GAP_SHARE * max(cut.span.duration_s, 1.0)
        found = warning(
            "gaps-in-window",
            f"{cut.side.label}: {len(inside)} gap(s), {format_duration(seconds)} together, lie in the window "
            f"({', '.join(sorted({g.reason for g in inside}))}); {_meanwhile(inside)}.",
            "Nothing to do if they are short; otherwise look at the connection, or use --spool.",
            evidence=(*evidence("count", gaps=len(inside)), *evidence("s", together=seconds)),
        )
        yield found if severe else replace(found, severity=Severity.INFO)


def _meanwhile(gaps: Sequence[Gap]) -> str:
    """Return what became of the figures in gaps."""
    if all(g.reason == REBOOTED for g in gaps):
        return "counters began anew, and nothing was seen"
    return "counters went on, levels and CPU were not seen"


def _overlaps(gap: Gap, cut: CutSide) -> bool:
    """Return whether a part of a gap lies in the window."""
    window = cut.side.window
    if window.start_wall_ns < window.end_wall_ns:
        return gap.start_wall_ns < window.end_wall_ns and gap.end_wall_ns > window.start_wall_ns
    return gap.start_ns < cut.span.end_s * NS_PER_S and gap.end_ns > cut.span.start_s * NS_PER_S


def _is_inside(event: Event, cut: CutSide) -> bool:
    """Return whether an event lies in the window: by wall clock, unless that was set back behind its start."""
    window = cut.side.window
    if window.start_wall_ns < window.end_wall_ns:
        return window.start_wall_ns < event.wall_ns <= window.end_wall_ns
    return cut.span.start_s < event.boottime_ns / NS_PER_S <= cut.span.end_s


def _events(cut: CutSide) -> Iterator[Finding]:
    """Yield a finding when something happened inside the window."""
    inside = [e for e in cut.side.recording.events if _is_inside(e, cut)]
    restarts = [e for e in inside if e.kind in RESTART_KINDS]
    if restarts:
        named = "; ".join(f"{e.kind} {e.subject}".strip() for e in restarts[:MOST_NAMED])
        yield warning(
            "restart-in-window",
            f"{cut.side.label}: {len(restarts)} start(s) or stop(s) inside the window: {named}.",
            "Their one-off writes are not part of the rate; leapprof wear adds them per restart.",
            evidence=evidence("count", starts_and_stops=len(restarts)),
        )
    kinds = {e.kind for e in inside}
    if "clock-step" in kinds:
        yield warning(
            "clock-step-in-window",
            f"{cut.side.label}: the wall clock was set inside the window.",
            "Samples are placed by a clock that never steps; head lag is wrong around it.",
        )
    if "cpu-count-changed" in kinds:
        yield warning(
            "cpu-count-changed-in-window",
            f"{cut.side.label}: the number of CPUs changed inside the window.",
            "Compare a part without it: --window.",
        )


def _kept(cut: CutSide) -> Iterator[Finding]:
    """Yield the findings of the recording itself, and that it was not measured."""
    recording = cut.side.recording
    yield from recording.findings
    if recording.reconstructed:
        yield warning(
            "reconstructed",
            f"{cut.side.label}: this recording was not measured. {recording.reconstructed.rstrip('.')}.",
            "Read its numbers as an illustration.",
        )
    if recording.denied:
        yield info(
            "readings-denied",
            f"{cut.side.label}: not permitted to read {', '.join(recording.denied[:MOST_NAMED])}.",
            "Record as nodeos's own user for these; everything else is complete.",
        )


def _missing(material: Material) -> Iterator[Finding]:
    """Yield the metrics that only one side holds."""
    for side, names in (
        ("before", [_named(m) for m in material.metrics if m.before is None]),
        ("after", [_named(m) for m in material.metrics if m.after is None]),
    ):
        if names:
            unique = list(dict.fromkeys(names))
            yield warning(
                "metric-missing",
                f"{len(unique)} metric(s) were not measured {side}: {', '.join(unique[:MOST_NAMED])}"
                f"{' …' if len(unique) > MOST_NAMED else ''}.",
                "Record both sides with the same permissions, and see that nodeos, its drives and its API are there.",
                evidence=evidence("count", metrics=len(unique)),
            )


def _named(metric: MetricComparison) -> str:
    """Return a metric's name, and of which device it is."""
    return f"{metric.name} of {metric.subject.device}" if metric.subject.device else metric.name


def _modes(material: Material) -> Iterator[Finding]:
    """Yield a finding when memory figures mean different things on both sides."""
    for pair in material.nodeos:
        if (
            pair.before
            and pair.after
            and {pair.before.map_mode, pair.after.map_mode} - {None, pair.before.map_mode}
        ):
            yield warning(
                "map-mode-differs",
                f"The map mode is {pair.before.map_mode or 'not known'} before and {pair.after.map_mode} after: RSS "
                "means page cache in one and nodeos's own memory in the other, so it is shown without a verdict.",
                "Compare nodeos.state_resident_bytes, host.mem_available_bytes and swap.",
                subject=pair.subject.nodeos,
            )


def _short_of_a_day(material: Material) -> Iterator[Finding]:
    """Yield a finding when a yearly figure stands on less than a day."""
    shortest = min(side.side.window.compared_s for side in material.sides)
    if shortest < DAY_S * 0.99 and material.wear:
        yield info(
            "less-than-a-day",
            f"Yearly writes stand on {format_duration(shortest)}: they hold if every hour looked like these.",
            "Record 24 hours for a daily mean, three whole days for its interval.",
            evidence=evidence("s", shorter_window=shortest),
        )


def _run_to_run(material: Material) -> Iterator[Finding]:
    """Yield a finding that one run per side does not show how runs differ."""
    counts = [sum(e.kind == "nodeos-restarted" for e in s.side.recording.events) for s in material.sides]
    if min(counts) < RESTARTS_FOR_VARIATION:
        yield info(
            "run-to-run-unknown",
            "Each side is one run of nodeos: the intervals hold for these two runs and leave out how runs differ.",
            "Restart and repeat in turns (before, after, before, after) if the difference is small.",
        )


def _drifting(material: Material) -> Iterator[Finding]:
    """Yield the headline metrics that still rise or fall by more than what matters, or that jumped."""
    for row, metric in zip(material.rows, material.metrics, strict=True):
        if not row.spec.headline or metric.threshold is None or metric.grade is Grade.TOO_SHORT:
            continue
        for cut, measured in zip(material.sides, (row.before, row.after), strict=True):
            if measured is None or measured.batches is None:
                continue
            found = drift(measured.batches)
            if found and (found[1].low > 0 or found[1].high < 0) and abs(found[0]) > metric.threshold:
                yield warning(
                    "still-drifting",
                    f"{cut.side.label}: {metric.name} moves by {format_value(found[0], metric.unit)} over the window.",
                    "Record longer, or later after the start.",
                    subject=metric.subject.device or metric.subject.nodeos,
                    evidence=evidence(metric.unit, movement=found[0]),
                )
            elif row.spec.name == "nodeos.cpu_cores":
                jump = change_point(measured.series, cut.span)
                if jump and jump.detected:
                    at_s = jump.at_s - cut.span.start_s
                    yield warning(
                        "jump-in-window",
                        f"{cut.side.label}: {metric.name} changes level {format_duration(at_s)} into the window.",
                        "See what happened then, and compare the parts apart with --window.",
                        subject=metric.subject.nodeos,
                        evidence=evidence("s", into_the_window=at_s),
                    )


def _resets(material: Material) -> Iterator[Finding]:
    """Yield a finding when a counter went down inside a window."""
    names = sorted(
        {
            f"{row.spec.name} of {row.subject.device or row.subject.nodeos or 'the host'}"
            for row in material.rows
            for side in (row.before, row.after)
            if side is not None and side.lower_bound
        }
    )
    if names:
        yield warning(
            "counter-reset",
            f"Counters started anew inside a window, so these are lower bounds: {', '.join(names[:MOST_NAMED])}.",
            "A reboot, a replugged drive or a restarted process; choose a part without it with --window.",
        )


def _preliminary(material: Material) -> Iterator[Finding]:
    """Yield a finding that names how long a full comparison would have to be."""
    needed = [m.needed_seconds for m in material.metrics if m.grade is Grade.PRELIMINARY and m.needed_seconds]
    if needed:
        usual_s = sorted(needed)[len(needed) // 2]
        yield info(
            "preliminary",
            f"{len(needed)} metric(s) are graded preliminary: their window is short for the memory of the metric, "
            "or the samples show a trend or few bursts.",
            f"Record {format_duration(usual_s)} a side for most of them.",
            evidence=(*evidence("count", metrics=len(needed)), *evidence("s", needed_for_most=usual_s)),
        )
