"""`leapprof latency histogram`: options → queries → a recording."""

import shlex
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from leapprof.cli.values import parse_duration_s, parse_time_ns
from leapprof.errors import ConfigError, NotEnoughDataError
from leapprof.latency.findings import busy_finding
from leapprof.latency.histogram import (
    PROBE,
    READY,
    SATURATION,
    UNITS_NS,
    HistogramName,
    HistogramRequest,
    HistogramRun,
    read_histogram,
    saturation,
)
from leapprof.latency.served import ServedFacts, write_served
from leapprof.model import Finding, Severity
from leapprof.recorder.naming import check_phase, recording_directory
from leapprof.units import NS_PER_S

if TYPE_CHECKING:
    from leapprof.importers.prom_server import Server

LEAST_BLOCKS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramChoice:
    """What the probe ``histogram`` is told, as it was written."""

    out: Path
    phase: str
    region: str
    metric: str | None
    by: str
    ready: str | None
    selector: str
    start: str
    end: str
    block: str
    unit: str | None
    busy: tuple[str, ...]


def run_histogram(server: "Server", choice: HistogramChoice) -> Path:
    """Read histograms of a server into a recording and return its directory.

    Raises:
        ConfigError: an option has another form.
        NotEnoughDataError: the server has no such histogram in that time.
        SourceError: it cannot be asked.
    """
    check_phase(choice.phase)
    requests = _requests(choice, server.access.shown)
    runs, findings = _read(server, requests)
    findings += list(_saturation(server, requests[0], choice.busy))
    first = requests[0]
    directory = recording_directory(
        choice.out, choice.region, choice.phase or PROBE, first.start_s * NS_PER_S
    )
    write_served(
        ServedFacts(
            directory=directory,
            phase=choice.phase,
            region=choice.region,
            start_s=first.start_s,
            end_s=first.end_s,
            block_s=first.block_s,
            settings={
                "probe": PROBE,
                "target": first.target,
                "metric": ", ".join(r.mapping.metric for r in requests),
                "selector": choice.selector or "all",
                "unit": ", ".join(run.unit for run in runs),
                "block": f"{first.block_s} s",
            },
            notes={"latency_valid": _validity(findings), "latency_clock": _clock(server.offset_s)},
            command=shlex.join(["leapprof", *sys.argv[1:]]),
            offset_s=server.offset_s,
            wire_bytes=server.wire_bytes,
            taken_wall_ns=time.time_ns(),
        ),
        tuple(run.table for run in runs),
        tuple(findings),
    )
    return directory


def _validity(findings: list[Finding]) -> str:
    codes = {f.code for f in findings}
    if "latency-host-busy" in codes:
        return "no: above 80 % CPU"
    if "latency-saturation-unknown" in codes:
        return "not known: the server has no CPU of nodes, pods or a database"
    return "yes: nothing asked for was above 80 % CPU"


def _clock(offset_s: float | None) -> str:
    """Return whose clock it is, and by how much it differs from ours; a second is all that HTTP dates tell."""
    if offset_s is None:
        return "the server's wall clock"
    return f"the server's wall clock, {offset_s:+.0f} s from this machine's, to a second"


def _requests(choice: HistogramChoice, target: str) -> tuple[HistogramRequest, ...]:
    if (choice.metric is None) == (choice.ready is None):
        raise ConfigError("give --metric NAME or --ready temporal", key="--metric")
    if choice.ready is not None and choice.ready not in READY:
        raise ConfigError(f"{choice.ready!r} is none of {', '.join(READY)}", key="--ready")
    if choice.unit is not None and choice.unit not in UNITS_NS:
        raise ConfigError(f"{choice.unit!r} is none of {', '.join(UNITS_NS)}", key="--unit")
    block_s = max(round(parse_duration_s(choice.block, "--block")), 1)
    start_s = parse_time_ns(choice.start, "--start") // NS_PER_S
    blocks = (parse_time_ns(choice.end, "--end") // NS_PER_S - start_s) // block_s
    if blocks < LEAST_BLOCKS:
        raise ConfigError(f"is not {LEAST_BLOCKS} blocks after --start", key="--end")
    names = (
        READY[choice.ready] if choice.ready else (HistogramName(metric=choice.metric or "", label=choice.by),)
    )
    return tuple(
        HistogramRequest(
            mapping=name,
            selector=choice.selector,
            start_s=start_s,
            end_s=start_s + blocks * block_s,
            block_s=block_s,
            unit=choice.unit,
            target=target,
        )
        for name in names
    )


def _read(
    server: "Server", requests: tuple[HistogramRequest, ...]
) -> tuple[list[HistogramRun], list[Finding]]:
    """Return what the server has of the histograms; one of several may be missing."""
    runs: list[HistogramRun] = []
    findings: list[Finding] = []
    missing: NotEnoughDataError | None = None
    for request in requests:
        try:
            run = read_histogram(server, request, 1 + sum(r.table.rows for r in runs))
        except NotEnoughDataError as error:
            missing = error
            findings.append(
                Finding(
                    code="latency-histogram-missing",
                    severity=Severity.INFO,
                    message=f"{request.mapping.metric}: {error.have}.",
                    hint=f"Needed for it: {error.need}.",
                )
            )
            continue
        runs.append(run)
        findings += run.findings
    if missing is not None and not runs:
        raise missing
    return runs, findings


def _saturation(server: "Server", request: HistogramRequest, busy: tuple[str, ...]) -> Iterator[Finding]:
    """Yield what was above 80 % CPU; a ready query that the server has no data for says nothing."""
    ready = [query.format(window=f"{request.block_s}s") for query in SATURATION.values()]
    checked = 0
    for query in (*ready, *busy):
        for name, shares in saturation(server, query, request).items():
            checked += 1
            found = busy_finding(name, shares)
            if found is not None:
                yield found
    if not checked:
        yield Finding(
            code="latency-saturation-unknown",
            severity=Severity.INFO,
            message="Whether nodes, pods and database were below 80 % CPU is not known: no such metrics are there.",
            hint="Name a query whose values are busy shares from 0 to 1: --busy QUERY.",
        )
