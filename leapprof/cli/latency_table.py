"""`leapprof latency table`: runs of probes side by side, each with region, dates, window, settings and sample size."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from leapprof.assess.latency import delay_subjects, histogram_of
from leapprof.assess.load import LoadedRecording, load
from leapprof.assess.probe_runs import clock_and_validity, region_of, settings_text, standings_of
from leapprof.errors import NotEnoughDataError, printable
from leapprof.latency.blocks import QUANTILES
from leapprof.model import Table
from leapprof.units import NS_PER_S, format_duration, significant


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One operation of one run; delays in nanoseconds."""

    recording: str
    region: str
    probe: str
    operation: str
    target: str
    start: str
    window_s: float
    count: int
    errors: int
    delays_ns: dict[str, float | None]
    configuration: str
    clock: str
    valid: str
    standings: tuple[str, ...]


def print_table(recordings: tuple[Path, ...], *, as_json: bool) -> None:
    """Print one line an operation and recording.

    Raises:
        NotEnoughDataError: a recording holds no delays.
    """
    lines = [line for path in recordings for line in _lines(load(path))]
    sys.stdout.write(_json(lines) if as_json else printable("\n".join(_text(lines))) + "\n")


def print_made(directory: Path, *, as_json: bool) -> None:
    """Print the table of a recording that was just made, what limits it, and where it is."""
    print_table((directory,), as_json=as_json)
    if not as_json:
        findings = load(directory).manifest.findings
        lines = [f"{f.severity} {f.code}: {f.message} {f.hint}" for f in findings]
        sys.stdout.write(printable("\n".join([*lines, str(directory)])) + "\n")


def _lines(recording: LoadedRecording) -> Iterator[Line]:
    subjects = tuple(delay_subjects(recording))
    if not subjects:
        raise NotEnoughDataError(recording.path.name, "no delays", "a recording of `leapprof latency`")
    manifest = recording.manifest
    clock, valid = clock_and_validity(manifest)
    for subject, probe, where in subjects:
        rows = recording.table("latency", None, where)
        yield Line(
            recording=recording.path.name,
            region=region_of(manifest),
            probe=probe,
            operation=subject.operation or "",
            target=subject.target or "",
            start=_moment(int(rows.integers["wall_ns"].values[0] - rows.integers["block_ns"].values[0])),
            window_s=float(rows.integers["block_ns"].values.sum() / NS_PER_S),
            count=int(rows.integers["count"].values.sum()),
            errors=int(rows.integers["errors"].values.sum()),
            delays_ns=_delays_ns(rows),
            configuration=settings_text(manifest),
            clock=clock,
            valid=valid,
            standings=standings_of(manifest.notes),
        )


def _delays_ns(rows: Table) -> dict[str, float | None]:
    whole, buckets = histogram_of(rows)
    longest = rows.integers["max_ns"]
    found: dict[str, float | None] = {name: buckets.quantile(whole, q) for name, q in QUANTILES.items()}
    found["max"] = float(np.max(longest.values[longest.present])) if longest.present.any() else None
    return found


def _moment(wall_ns: int) -> str:
    return datetime.fromtimestamp(wall_ns // NS_PER_S, tz=UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _json(lines: list[Line]) -> str:
    rows = [
        {
            "recording": line.recording,
            "region": line.region,
            "probe": line.probe,
            "operation": line.operation,
            "target": line.target,
            "start": line.start,
            "window_s": line.window_s,
            "count": line.count,
            "errors": line.errors,
            **{f"{n}_s": None if v is None else v / NS_PER_S for n, v in line.delays_ns.items()},
            "configuration": line.configuration,
            "clock": line.clock,
            "valid": line.valid,
            "standings": line.standings,
        }
        for line in lines
    ]
    return json.dumps(rows, indent=1) + "\n"


def _text(lines: list[Line]) -> Iterator[str]:
    heads = ("region", "probe", "operation", "target", "start", "window", "values", "errors")
    delays = tuple(f"{name} ms" for name in (*QUANTILES, "max"))
    cells = [
        (
            line.region, line.probe, line.operation, line.target, line.start, format_duration(line.window_s),
            str(line.count), str(line.errors),
            *("–" if v is None else significant(v / 1e6) for v in line.delays_ns.values()),
        )
        for line in lines
    ]  # fmt: skip
    table = [(*heads, *delays), *cells]
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    for row in table:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for line in lines:
        yield f"{line.region} {line.operation}: {line.configuration}; {line.clock}; valid {line.valid}"
    yield from dict.fromkeys(f"{line.region} {text}" for line in lines for text in line.standings)
