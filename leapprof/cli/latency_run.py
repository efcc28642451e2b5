"""Runs the probes of `leapprof latency`: options → plan → run → what is printed."""

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from socket import AF_INET, AF_INET6

import numpy as np

from leapprof.assess.load import load
from leapprof.assess.probe_runs import standings_of
from leapprof.cli.signals import terminated_like_interrupted
from leapprof.cli.values import parse_duration_s
from leapprof.errors import ConfigError, InterruptedRunError, StoreError, printable, unreadable
from leapprof.latency import request as request_probe
from leapprof.latency import rtt as rtt_probe
from leapprof.latency.blocks import QUANTILES, Block, Subject, failures_text
from leapprof.latency.endpoint import parse_host_port, parse_url
from leapprof.latency.findings import busy_finding, run_findings
from leapprof.latency.machine import Moment, busy_shares
from leapprof.latency.open_loop import Pace
from leapprof.latency.recording import RunFacts, RunWriter, recorded, start_in
from leapprof.model import Finding
from leapprof.recorder.naming import check_phase, recording_directory
from leapprof.units import NS_PER_S, significant

_FAMILIES = {"4": (AF_INET,), "6": (AF_INET6,), "both": (AF_INET, AF_INET6)}
_NO_LIMIT = 10**9
ONE_CLOCK = "one clock (CLOCK_MONOTONIC of the probing machine): no clock offset enters"
START_IN_S = 0.2
"""Between opening the recording and the first attempt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What every probe is told, as it was written."""

    out: Path
    phase: str
    region: str
    block: str
    timeout: str
    host_recordings: tuple[Path, ...]
    as_json: bool

    @property
    def block_s(self) -> float:
        """Return the length of a block."""
        return parse_duration_s(self.block, "--block")

    @property
    def timeout_s(self) -> float:
        """Return the time-out."""
        return parse_duration_s(self.timeout, "--timeout")


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestChoice:
    """What the probe ``request`` is told."""

    url: str
    operations: tuple[str, ...]
    body: Path | None
    rate_per_s: float
    duration: str
    warm_up: str
    most: int
    connections: int


def run_request(common: Common, choice: RequestChoice) -> None:
    """Run the probe ``request``.

    Raises:
        ConfigError: an option has another form.
        SourceError: the endpoint does not answer as it should.
        InterruptedRunError: the operator ended it.
    """
    check_phase(common.phase)
    endpoint = parse_url(choice.url, ("http", "https"))
    body = None if choice.body is None else _read(choice.body)
    requests = tuple(request_probe.request_of(name, body) for name in choice.operations)
    pace = Pace(
        rate_per_s=choice.rate_per_s,
        duration_s=parse_duration_s(choice.duration, "--duration"),
        warm_up_s=_duration_or_none_s(choice.warm_up, "--warm-up"),
        most=choice.most,
        timeout_s=common.timeout_s,
    )
    address, answer = request_probe.check(endpoint, requests, common.timeout_s)
    plan = request_probe.RequestPlan(
        endpoint=endpoint, address=address, requests=requests, pace=pace, connections=choice.connections
    )
    settings = {
        "probe": request_probe.PROBE,
        "target": f"{'https' if endpoint.tls else 'http'}://{endpoint.authority}{endpoint.prefix}",
        "operations": ", ".join(choice.operations),
        "rate": f"{significant(choice.rate_per_s)} requests/s, open loop",
        "connections": str(choice.connections),
        "body": "ready" if choice.body is None else choice.body.name,
        "timeout": f"{significant(common.timeout_s)} s",
        "server": answer.server,
    }
    run_probe(
        common,
        settings,
        pace.warm_up_s,
        lambda writer, first: request_probe.run(plan, writer, first.monotonic_ns),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RttChoice:
    """What the probe ``rtt`` is told."""

    endpoints: tuple[str, ...]
    count: int
    duration: str | None
    rate_per_s: float
    family: str
    tls: bool


def run_rtt(common: Common, choice: RttChoice) -> None:
    """Run the probe ``rtt``.

    Raises:
        ConfigError: an option has another form.
        SourceError: no endpoint can be reached.
        InterruptedRunError: the operator ended it.
    """
    check_phase(common.phase)
    check_family(choice.family)
    endpoints = tuple(replace(parse_host_port(text), tls=choice.tls) for text in choice.endpoints)
    ways, left_out = rtt_probe.ways(endpoints, _FAMILIES[choice.family], common.timeout_s)
    attempts = choice.count * len(ways)
    duration_s = attempts / choice.rate_per_s
    if choice.duration is not None:
        duration_s, attempts = parse_duration_s(choice.duration, "--duration"), _NO_LIMIT
    pace = Pace(
        rate_per_s=choice.rate_per_s,
        duration_s=duration_s,
        warm_up_s=0.0,
        most=attempts,
        timeout_s=common.timeout_s,
    )
    plan = rtt_probe.RttPlan(ways=ways, pace=pace)
    settings = {
        "probe": rtt_probe.PROBE,
        "target": ", ".join(e.authority for e in endpoints),
        "rate": f"{significant(choice.rate_per_s)} connections/s",
        "family": choice.family,
        "tls": "yes" if choice.tls else "no",
        "timeout": f"{significant(common.timeout_s)} s",
    }
    run_probe(
        common, settings, 0.0, lambda writer, first: rtt_probe.run(plan, writer, first.monotonic_ns), left_out
    )


def check_family(text: str) -> None:
    """Refuse what is no family of addresses.

    Raises:
        ConfigError: see above.
    """
    if text not in _FAMILIES:
        raise ConfigError(f"{text!r} is none of {', '.join(_FAMILIES)}", key="--family")


def _duration_or_none_s(text: str, key: str) -> float:
    return 0.0 if text.strip() in {"0", "0s"} else parse_duration_s(text, key)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(request_probe.MAX_REQUEST_BYTES + 1)
    except OSError as error:
        raise unreadable(path, error) from error


def run_probe(
    common: Common,
    settings: dict[str, str],
    warm_up_s: float,
    probe: Callable[[RunWriter, Moment], None],
    findings: Sequence[Finding] = (),
) -> None:
    """Make the recording, run the probe into it, print what came out."""
    first = start_in(START_IN_S)
    counted = first.at(first.monotonic_ns + round(warm_up_s * NS_PER_S))
    directory = recording_directory(
        common.out, common.region, common.phase or settings["probe"], first.wall_ns
    )
    facts = RunFacts(
        directory=directory,
        phase=common.phase,
        region=common.region,
        block_s=common.block_s,
        settings=settings,
        command=shlex.join(["leapprof", *sys.argv[1:]]),
    )
    interrupted = False
    with terminated_like_interrupted(), recorded(facts, counted) as writer:
        try:
            probe(writer, first)
        except KeyboardInterrupt:
            interrupted = True
        writer.close_blocks()
        writer.findings += [*findings, *_findings(common, writer)]
        writer.notes = _notes(writer) | writer.notes
    _print(common, directory, writer)
    if interrupted:
        raise InterruptedRunError(str(directory))


def _findings(common: Common, writer: RunWriter) -> list[Finding]:
    wall_ns = writer.host_table().integers["wall_ns"].values
    busy = [busy_finding(common.region, writer.busy_shares())]
    return [
        *run_findings(writer.blocks.whole),
        *(f for f in busy if f is not None),
        *busy_hosts(common, int(wall_ns[0]), int(wall_ns[-1])),
    ]


def busy_hosts(common: Common, from_wall_ns: int, to_wall_ns: int) -> list[Finding]:
    """Return the findings of hosts that were recorded meanwhile; their wall clocks are taken to be right to the second.

    Raises:
        StoreError: a recording is of another time.
    """
    found = (_busy_host(path, common.block_s, from_wall_ns, to_wall_ns) for path in common.host_recordings)
    return [finding for finding in found if finding is not None]


def _busy_host(path: Path, block_s: float, from_wall_ns: int, to_wall_ns: int) -> Finding | None:
    recording = load(path)
    host = recording.table("host")
    wall_ns = host.integers["wall_ns"].values
    inside = (wall_ns >= from_wall_ns) & (wall_ns <= to_wall_ns)
    if not np.any(inside):
        raise StoreError(str(path), "holds no samples of the time of this run")
    part = replace(
        host,
        rows=int(inside.sum()),
        integers={
            n: replace(c, values=c.values[inside], present=c.present[inside])
            for n, c in host.integers.items()
        },
    )
    return busy_finding(recording.manifest.host.name, busy_shares(part, block_s))


def _notes(writer: RunWriter) -> dict[str, str]:
    is_busy = any(f.code == "latency-host-busy" for f in writer.findings)
    return {"latency_valid": validity_text(is_busy=is_busy), "latency_clock": ONE_CLOCK}


def validity_text(*, is_busy: bool) -> str:
    """Return whether a run can be believed, when it is known how busy its machines were."""
    return "no: a host was above 80 % CPU" if is_busy else "yes: no host above 80 % CPU"


def _print(common: Common, directory: Path, writer: RunWriter) -> None:
    whole = writer.blocks.whole
    if common.as_json:
        document = {
            "recording": str(directory),
            "subjects": [_json_row(s, b) for s, b in whole.items()],
            "standings": standings_of(writer.notes),
            "findings": [
                {"code": f.code, "severity": f.severity.value, "message": f.message, "hint": f.hint}
                for f in writer.findings
            ],
        }
        sys.stdout.write(json.dumps(document, indent=1) + "\n")
        return
    lines = [line for subject, block in whole.items() for line in _text_rows(subject, block)]
    lines += standings_of(writer.notes)
    lines += [f"{f.severity} {f.code}: {f.message} {f.hint}" for f in writer.findings]
    sys.stdout.write(printable("\n".join([*lines, str(directory)])) + "\n")


def _json_row(subject: Subject, block: Block) -> dict[str, object]:
    return {
        "probe": subject.probe,
        "operation": subject.operation,
        "target": subject.target,
        "count": block.delays_ns.total,
        "errors": sum(block.failures.values()),
        **{f"{name}_s": _seconds(block.delays_ns.quantile(q)) for name, q in QUANTILES.items()},
        "max_s": _seconds(block.longest_ns),
    }


def _seconds(value_ns: float | None) -> float | None:
    return None if value_ns is None else value_ns / NS_PER_S


def _text_rows(subject: Subject, block: Block) -> Sequence[str]:
    quantiles = [f"{name} {_ms(block.delays_ns.quantile(q))}" for name, q in QUANTILES.items()]
    failed = failures_text(block.failures)
    return [
        f"{subject.probe} {subject.operation} {subject.target}: {block.delays_ns.total} values, "
        f"{', '.join(quantiles)}, max {_ms(block.longest_ns)}, errors {failed or 'none'}"
    ]


def _ms(value_ns: float | None) -> str:
    return "–" if value_ns is None else f"{significant(value_ns / 1e6)} ms"
