"""benchmark-nodeos (eosnetworkfoundation, monitor_script.sh): its ``host*.txt`` and ``stats*.txt`` → readings.

Each line of a stats file is the *first* report of ``vmstat 1 1``: memory and the queues are those of the moment, but
swap, I/O, interrupts and CPU are averages since the host was booted (vmstat(8)). They are kept as text in the
manifest and never become rates: the uptime that would be needed to undo the average is not in the file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from leapprof.errors import ParseError
from leapprof.importers.blocks import Block, Imported, wall_ns_of
from leapprof.model import Event, Finding, Host, Nodeos, Severity
from leapprof.units import GIB, KIB, MIB, NS_PER_S, TB

PROBE = "benchmark-nodeos"
MAX_LINES = 2_000_000
_LINE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)\s+(?:([A-Za-z][\w-]*)\s+)?((?:\d+\s+){15,17}\d+)\s*")
_FACT = re.compile(r"([A-Z][A-Za-z0-9 ]{2,30}):\s*(.*)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([MGT])")
_FACTOR = {"M": MIB, "G": GIB, "T": TB}
_LEVELS = {"procs_running": 0, "procs_blocked": 1, "mem_free_bytes": 3, "buffers_bytes": 4, "cached_bytes": 5}
_SWAPPED = 2
_SINCE_BOOT = "si so bi bo in cs us sy id wa st"
_MODES = {"heap": "heap", "mapped-priv": "mapped_private", "mapped": "mapped"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    wall_ns: int
    stage: str | None
    fields: tuple[int, ...]


def parse_benchmark(name: str, stats: str, host: str) -> Imported:
    """Return the readings of one run.

    Args:
        name: of the host, as the operator calls it.
        stats: text of its stats file.
        host: text of its host file; empty when there is none.

    Raises:
        ParseError: the stats file holds no line of vmstat.
    """
    lines = _lines(stats)
    if len(lines) < 2:
        raise ParseError(PROBE, "lines of a time and the columns of vmstat", line=stats[:80])
    facts = _facts(host)
    wall_ns = np.array([line.wall_ns for line in lines], dtype=np.int64)
    columns = {
        column: np.array(
            [line.fields[at] * (1 if column.startswith("procs") else KIB) for line in lines], dtype=float
        )
        for column, at in _LEVELS.items()
    }
    swapped = np.array([line.fields[_SWAPPED] * KIB for line in lines], dtype=float)
    total = _size(facts.get("Total Swap", ""))
    if total is not None:
        columns["swap_total_bytes"] = np.full(wall_ns.size, float(max(total, swapped.max())))
        columns["swap_free_bytes"] = columns["swap_total_bytes"] - swapped
    title = stats.partition("\n")[0].removeprefix(">>").strip()
    return Imported(
        host=Host(name=name, boot_id="", facts=_host_facts(facts)),
        source=f"benchmark-nodeos, run {title or name}, {len(lines)} lines",
        interval_s=float(np.median(np.diff(wall_ns))) / NS_PER_S,
        blocks=(Block(table="host", texts={}, wall_ns=wall_ns, columns=columns),),
        nodeos=_nodeos(facts),
        findings=(_since_boot(), *(() if total is not None else (_no_swap_size(),))),
        events=_stage_events(lines),
        absent=("CPU, swap and disk rates: the file holds averages since boot only",),
        notes=_since_boot_notes(lines),
    )


def _lines(text: str) -> list[_Line]:
    found: list[_Line] = []
    for line in text.splitlines()[:MAX_LINES]:
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        try:
            moment = datetime.strptime(match[1], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
        except ValueError:
            continue
        wall_ns = wall_ns_of(moment)
        fields = tuple(int(word) for word in match[3].split() if len(word) <= 15)
        if wall_ns is not None and len(fields) >= 16 and (not found or wall_ns > found[-1].wall_ns):
            found.append(_Line(wall_ns=wall_ns, stage=match[2], fields=fields))
    return found


def _facts(text: str) -> dict[str, str]:
    return {m[1]: m[2].strip() for m in map(_FACT.match, text.splitlines()[:200]) if m and m[2].strip()}


def _host_facts(facts: Mapping[str, str]) -> dict[str, str]:
    known = {
        "kernel": facts.get("OS Info", ""),
        "cpu_model": facts.get("Processor Model", "").partition(":")[2].strip(),
        "cores": facts.get("Num Processor", ""),
    }
    return {name: value for name, value in known.items() if value}


def _nodeos(facts: Mapping[str, str]) -> tuple[Nodeos, ...]:
    version = facts.get("Nodeos Version")
    config = facts.get("Config File", "")
    mode = next((mode for prefix, mode in _MODES.items() if config.startswith(prefix)), None)
    if version is None and mode is None:
        return ()
    return (Nodeos(id="nodeos", pid=0, start_ticks=0, version=version, map_mode=mode),)


def _size(text: str) -> int | None:
    found = _SIZE.match(text)
    return round(float(found[1]) * _FACTOR[found[2]]) if found else None


def _stage_events(lines: list[_Line]) -> tuple[Event, ...]:
    events, last = [], None
    for line in lines:
        if line.stage and line.stage != last:
            events.append(
                Event(
                    boottime_ns=0,
                    wall_ns=line.wall_ns,
                    kind="nodeos-stage",
                    subject="nodeos",
                    detail=line.stage,
                )
            )
            last = line.stage
    return tuple(events)


def _since_boot_notes(lines: list[_Line]) -> dict[str, str]:
    def shown(line: _Line) -> str:
        return " ".join(str(field) for field in line.fields[6:17])

    return {
        "vmstat_since_boot_columns": _SINCE_BOOT,
        "vmstat_since_boot_first": shown(lines[0]),
        "vmstat_since_boot_last": shown(lines[-1]),
    }


def _since_boot() -> Finding:
    return Finding(
        code="averages-since-boot",
        severity=Severity.WARNING,
        message="The swap, I/O and CPU columns of benchmark-nodeos are averages since the host was booted: they are "
        "no rates of this run and are left out of every comparison.",
        hint="Compare memory and swap use only, or record the run with leapprof.",
    )


def _no_swap_size() -> Finding:
    return Finding(
        code="swap-size-unknown",
        severity=Severity.INFO,
        message="There is no host file with the size of swap: swap use is left out.",
        hint="Keep the host file of the run beside its stats file.",
    )
