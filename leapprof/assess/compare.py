"""Two recordings, or one cut at a change, become a Comparison."""

from itertools import chain

from leapprof.analysis.batch import Span
from leapprof.analysis.windows import change_point
from leapprof.assess import texts
from leapprof.assess.both_sides import both_measured
from leapprof.assess.compute import nodeos_cpu
from leapprof.assess.confounders import beside, confounders
from leapprof.assess.cut import Change, find_change
from leapprof.assess.defaults import default_changes
from leapprof.assess.eras import eras
from leapprof.assess.facts import change_text, config_changes, fact_differences
from leapprof.assess.first_start import first_starts, starts_of
from leapprof.assess.headroom import headroom
from leapprof.assess.judging import judged
from leapprof.assess.limits import limits
from leapprof.assess.material import CompareOptions, Material
from leapprof.assess.own_voice import voice_findings
from leapprof.assess.per_unit import per_unit_figures
from leapprof.assess.rows import Row, asked_of, compared_tables, rows_of
from leapprof.assess.samples import RecordingTables, read_samples
from leapprof.assess.sides import CutSide
from leapprof.assess.subjects import device_pairs, nodeos_pairs
from leapprof.assess.wear import wear_comparisons
from leapprof.errors import ConfigError, NotEnoughDataError
from leapprof.model import Comparison, Evidence, Finding, Recording, Severity
from leapprof.units import NS_PER_S, format_duration

_SEVERITY_ORDER = (Severity.ERROR, Severity.WARNING, Severity.INFO)


def compare(
    before: RecordingTables, after: RecordingTables, options: CompareOptions | None = None
) -> Comparison:
    """Return the comparison of two recordings.

    Args:
        before: recording of the phase before the change.
        after: recording of the phase after it.
        options: what the operator asked for.

    Raises:
        ConfigError: two different hosts, or recordings that overlap in time, unless options.across.
        NotEnoughDataError: a recording is empty, or nothing is on both sides.
    """
    options = options or CompareOptions()
    if not options.across:
        _check(before.manifest, after.manifest)
    return _compared((before, after), (None, None), options)


def compare_cut(
    recording: RecordingTables, change_wall_ns: int | None, options: CompareOptions | None = None
) -> Comparison:
    """Return the comparison of one recording's parts before and after a change.

    Args:
        recording: one that goes on over the change.
        change_wall_ns: when the change was made, host's wall clock; None: where a restart, or a change of
            version, mode or config, was seen.
        options: what the operator asked for.

    Raises:
        ConfigError: no change was seen, or the moment is outside the recording.
        NotEnoughDataError: the recording is empty.
    """
    options = options or CompareOptions()
    change = find_change(recording, change_wall_ns)
    to_s = options.window.to_s if options.window else None
    until_ns = None if to_s is None else change.wall_ns + round(to_s * NS_PER_S)
    spans = (change.span_before, change.span_after)
    return _compared(eras(recording, change.wall_ns, until_ns), spans, options, change)


def _compared(
    recordings: tuple[RecordingTables, RecordingTables],
    within: tuple[Span | None, Span | None],
    options: CompareOptions,
    change: Change | None = None,
) -> Comparison:
    """Return the comparison of two recordings, or of parts of them."""
    tables = compared_tables(*(recording.manifest for recording in recordings))
    with both_measured(recordings, within, options.window, asked_of(tables)) as found:
        rows = rows_of(tables, found.sides, found.measured)
        return _told(_gathered(rows, found.sides, options, change), change)


def _told(material: Material, change: Change | None) -> Comparison:
    """Return what is said of everything measured."""
    before, after = material.sides
    starts = starts_of(material)
    also_changed = beside(material.facts, material.changes, material.defaults)
    change_point_said, change_evidence = _change_point(before, change) if change else (None, ())
    return Comparison(
        title=texts.title(material),
        before=before.side,
        after=after.side,
        metrics=material.metrics,
        wear=material.wear,
        facts=material.facts,
        config_changes=material.changes,
        default_changes=material.defaults,
        findings=_sorted(
            chain(
                confounders(material),
                limits(material),
                first_starts(material, starts),
                voice_findings(material),
            )
        ),
        charts=tuple(row.chart for row in material.rows if row.chart is not None),
        headline=texts.headline(material.metrics, material.wear, (before.side, after.side), also_changed),
        repeat=texts.repeat(material),
        not_measured=texts.NOT_MEASURED,
        method={**texts.method(material), "change": change_text(material.nodeos, material.changes)},
        change_point=change_point_said,
        change_evidence=change_evidence,
        per_unit=per_unit_figures(material.rows, before, after),
        headroom=headroom(material.rows, material.options.target_percent),
        starts=starts,
    )


def _gathered(
    rows: tuple[Row, ...], sides: tuple[CutSide, CutSide], options: CompareOptions, change: Change | None
) -> Material:
    """Return everything measured."""
    before, after = sides
    recordings = before.side.recording, after.side.recording
    nodeos, devices = nodeos_pairs(*recordings), device_pairs(*recordings)
    if not any(row.before and row.after for row in rows):
        raise NotEnoughDataError(
            "comparison", "no metric that both recordings hold", "the same readings on both sides"
        )
    return Material(
        before=before,
        after=after,
        options=options,
        nodeos=nodeos,
        devices=devices,
        rows=rows,
        metrics=judged(rows, before, after),
        wear=wear_comparisons(rows, devices, options.rated_tbw),
        facts=fact_differences(before, after, nodeos, devices),
        changes=config_changes(nodeos),
        defaults=default_changes(nodeos),
        change_wall_ns=change.wall_ns if change else None,
    )


def _check(before: Recording, after: Recording) -> None:
    """Refuse two hosts, and two recordings of the same time.

    Raises:
        ConfigError: see above.
    """
    first, second = before.host, after.host
    known = first.machine_id and second.machine_id
    if (first.machine_id != second.machine_id) if known else (first.name != second.name):
        raise ConfigError(
            f"before is of host {first.name} and after of {second.name}; use --across if two hosts are meant"
        )
    if before.ended_wall_ns is None or after.started_wall_ns is None or before.started_wall_ns is None:
        return
    overlap_s = (before.ended_wall_ns - after.started_wall_ns) / NS_PER_S
    if overlap_s > 0 and (after.ended_wall_ns or after.started_wall_ns) > before.started_wall_ns:
        raise ConfigError(
            f"the recordings overlap by {format_duration(overlap_s)}, so the change lies in neither; "
            "use --across if they are two nodes at the same time, or check their order"
        )
    if overlap_s > 0:
        raise ConfigError(
            "the recording given as BEFORE was made after the other one: swap them, or use --across"
        )


def _sorted(findings: "chain[Finding]") -> tuple[Finding, ...]:
    """Return findings once each, errors first."""
    unique = list(dict.fromkeys(findings))
    return tuple(sorted(unique, key=lambda f: _SEVERITY_ORDER.index(f.severity)))


def _change_point(before: CutSide, change: Change) -> tuple[dict[str, str], tuple[Evidence, ...]]:
    """Return whether CPU itself shows a change, and whether at the stated moment; then the numbers of it."""
    tables = before.tables
    for nodeos in tables.manifest.nodeos:
        samples = read_samples(
            tables, "nodeos", ("utime_ticks_total", "stime_ticks_total"), {"nodeos": nodeos.id}
        )
        measured = nodeos_cpu(samples) if samples is not None else None
        if measured is None:
            continue
        whole = Span(start_s=before.span.start_s, end_s=change.span_after.end_s)
        found = change_point(measured.series, whole)
        if found is None:
            continue
        off_s = found.at_s - change.at_s
        if not found.detected:
            verdict = "nodeos.cpu_cores does not change level in this recording"
        elif found.agrees_with(change.at_s):
            verdict = "consistent: nodeos.cpu_cores changes level at the stated time"
        else:
            side = "after" if off_s > 0 else "before"
            verdict = f"another event: nodeos.cpu_cores changes level {format_duration(abs(off_s))} {side} it"
        said = {
            "stated": change.text,
            "statistic": f"{found.statistic:.2f} (1 % point 1.628)",
            "verdict": verdict,
        }
        return said, (
            Evidence(name="statistic", value=found.statistic, unit="count"),
            Evidence(name="after_the_stated_time", value=off_s, unit="s"),
        )
    return {"stated": change.text}, ()
