"""A recording as text for a person."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.markup import escape

from leapprof.assess.own_voice import own_voices
from leapprof.assess.samples import RecordingTables
from leapprof.assess.starts import measure_starts
from leapprof.assess.summary import SummaryRow
from leapprof.cli.folding import folded, harmless
from leapprof.cli.show_lines import moment, stage_lines, start_lines, voice_lines
from leapprof.cli.show_summary import WIDE_COLUMNS, narrow_summary, wide_summary
from leapprof.errors import printable
from leapprof.ingest.log_events import LOG_EVENT
from leapprof.model import Host, Nodeos, Recording
from leapprof.units import NS_PER_S, format_bytes, format_duration, format_memory, significant

MAX_LISTED = 12


def render(tables: RecordingTables, rows: Sequence[SummaryRow], console: Console) -> None:
    """Print a recording."""
    manifest = tables.manifest
    _facts(manifest, console)
    for nodeos in manifest.nodeos:
        _nodeos(nodeos, console)
    _lines("Stages (and what says so)", stage_lines(tables), console)
    _lines("Starts and stops", start_lines(measure_starts(tables)), console)
    _lines("API of nodeos", voice_lines(own_voices(tables)), console)
    _lines("Gaps", _gap_lines(manifest), console)
    _lines("Events", _event_lines(manifest), console)
    _lines("Cost of the sampling", _cost_lines(manifest), console)
    _lines("Refused to this user", manifest.denied, console)
    _lines("Findings", _finding_lines(manifest), console)
    _summary(rows, console)


def _print(console: Console, text: str) -> None:
    console.print(escape(printable(text)), highlight=False, soft_wrap=True)


def _lines(title: str, lines: Iterable[str], console: Console) -> None:
    listed = list(lines)
    if not listed:
        return
    _print(console, f"\n{title}")
    for line in listed[:MAX_LISTED]:
        _print(console, _folded(line, console))
    if len(listed) > MAX_LISTED:
        _print(console, f"  … and {len(listed) - MAX_LISTED} more (--json lists all)")


def _folded(text: str, console: Console) -> str:
    """Return a line below a heading, folded at a terminal's width; unfolded where lines go to a program."""
    if not console.is_terminal:
        return f"  {harmless(text)}"
    indent = " " * (2 + len(text) - len(text.lstrip()))
    return folded(indent, text.strip(), console.width, indent=indent + "    ")


def _facts(manifest: Recording, console: Console) -> None:
    phase = f", phase {manifest.phase}" if manifest.phase else ""
    _print(
        console,
        f"{manifest.host.name}{phase}, sampled every {manifest.interval_s:g} s over {manifest.transport}",
    )
    if manifest.reconstructed is not None:
        _print(console, f"Reconstructed, not measured: {harmless(manifest.reconstructed)}")
    length = _length_s(manifest)
    lasted = "" if length is None else f" ({format_duration(length)})"
    _print(console, f"{moment(manifest.started_wall_ns)} to {moment(manifest.ended_wall_ns)}{lasted}")
    _lines("Host", (f"{name}: {value}" for name, value in _chosen_facts(manifest)), console)


_SHOWN_FACTS = (
    "cpu_model", "cores", "mem_total_bytes", "swap_total_bytes", "kernel", "distribution", "virtualization",
    "overcommit_memory", "thp_enabled", "swappiness",
)  # fmt: skip


def _chosen_facts(manifest: Recording) -> list[tuple[str, str]]:
    return [(name, _fact(manifest.host, name)) for name in _SHOWN_FACTS if name in manifest.host.facts]


def _fact(host: Host, name: str) -> str:
    size_bytes = host.number(name) if name.endswith("_bytes") else None
    return host.facts[name] if size_bytes is None else format_memory(size_bytes)


def _length_s(manifest: Recording) -> float | None:
    if manifest.started_wall_ns is None or manifest.ended_wall_ns is None:
        return None
    return (manifest.ended_wall_ns - manifest.started_wall_ns) / NS_PER_S


def _nodeos(nodeos: Nodeos, console: Console) -> None:
    what = "stand-in (no nodeos)" if nodeos.stand_in else "nodeos"
    parts = (
        ("version", nodeos.version),
        ("map mode", nodeos.map_mode),
        ("pid", str(nodeos.pid)),
        ("unit", nodeos.unit),
        ("state", nodeos.state_dir),
        ("API", nodeos.http_address),
        ("options", str(len(nodeos.options)) if nodeos.options else None),
        *((f"{role} on", ", ".join(drives)) for role, drives in sorted(nodeos.roles.items()) if drives),
    )
    _lines(f"{what} {nodeos.id}", (f"{name}: {value}" for name, value in parts if value), console)


def _gap_lines(manifest: Recording) -> list[str]:
    return [
        f"{moment(gap.start_wall_ns)}: {gap.reason}, {significant(gap.duration_s)} s" for gap in manifest.gaps
    ]


def _event_lines(manifest: Recording) -> list[str]:
    own = [event for event in manifest.events if not event.kind.startswith(LOG_EVENT)]
    lines = [
        f"{moment(event.wall_ns)}: {event.kind} {event.subject} {event.detail}".replace("  ", " ")
        for event in own
    ]
    kept = len(manifest.events) - len(own)
    return [*lines, *([f"{kept} lines of nodeos's log were kept (--json lists them)"] if kept else [])]


def _cost_lines(manifest: Recording) -> list[str]:
    cost, length = manifest.cost, _length_s(manifest)
    if not cost.wire_bytes:
        return []  # imported, or of a probe of delay: no agent took part
    share = (
        ""
        if not length or cost.cpu_s is None
        else f" ({significant(100 * cost.cpu_s / length, 2)} % of one core)"
    )
    lines = [f"{cost.agent} agent, {cost.samples:,} samples, {format_bytes(cost.wire_bytes)} over the wire"]
    if cost.cpu_s is not None:
        lines.append(f"CPU {significant(cost.cpu_s)} s{share}")
    if cost.rss_bytes is not None:
        lines.append(f"memory {format_memory(cost.rss_bytes)}")
    if cost.rejected_frames or cost.dropped_frames:
        lines.append(f"{cost.rejected_frames} frames rejected, {cost.dropped_frames} dropped by the agent")
    if cost.http_requests:
        lines.append(
            f"{cost.http_requests:,} questions to nodeos, {significant(cost.http_s)} s of answers in all"
        )
    for offset in manifest.clock_offsets:
        shown = f"{offset.offset_s:+.4f} s, give or take {offset.round_trip_s / 2:.4f} s"
        lines.append(f"host's clock against the collector's at {moment(offset.taken_wall_ns)}: {shown}")
    return lines


def _finding_lines(manifest: Recording) -> list[str]:
    return [f"{f.severity}: {f.message.rstrip('.')} ({f.code}). {f.hint}" for f in manifest.findings]


def _summary(rows: Sequence[SummaryRow], console: Console) -> None:
    if not rows:
        _print(console, "\nNo samples yet.")
        return
    if console.is_terminal and console.width < WIDE_COLUMNS:
        _print(console, "\nSummary")
        for line in narrow_summary(rows, console.width):
            _print(console, line)
        return
    if not console.is_terminal:
        console.width = 200  # a pipe has no width: never cut a number
    console.print()
    console.print(wide_summary(rows))
