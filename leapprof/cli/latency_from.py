"""`leapprof latency rtt --from HOST`: connections made on other hosts, one recording each."""

import shlex
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from leapprof.agent.plan import encode_plan
from leapprof.cli.latency_run import Common, RttChoice, check_family
from leapprof.config.inventory import resolve_hosts
from leapprof.errors import ConfigError, LeapprofError, ParseError, SourceError, SourceTimeoutError, printable
from leapprof.latency.endpoint import parse_host_port
from leapprof.latency.findings import busy_finding, run_findings
from leapprof.latency.machine import busy_shares
from leapprof.latency.recording import RunFacts, manifest_of
from leapprof.latency.remote import PROBE, RemotePlan, RemoteRun
from leapprof.model import Host, HostConfig
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.link import AgentLink, choose_agent
from leapprof.recorder.naming import check_phase, recording_directory
from leapprof.sources import Source, open_source
from leapprof.store import RecordingWriter
from leapprof.units import significant

_FAMILIES = {"4": 4, "6": 6, "both": 0}
_MOST_AT_ONCE = 16


def run_from(common: Common, choice: RttChoice, hosts: Sequence[str], inventory: Path | None) -> None:
    """Let each host connect to the endpoint, all at once, and write a recording each.

    Raises:
        ConfigError: an option has another form.
        SourceError: a host failed; the recordings of the others are there.
    """
    from leapprof.cli.latency_table import print_table

    check_phase(common.phase)
    check_family(choice.family)
    if len(choice.endpoints) != 1 or choice.tls or choice.duration is not None:
        raise ConfigError("takes one HOST:PORT, and neither --tls nor --duration", key="--from")
    plan = RemotePlan(
        endpoint=parse_host_port(choice.endpoints[0]),
        family=_FAMILIES[choice.family],
        count=choice.count,
        rate_per_s=choice.rate_per_s,
        timeout_s=common.timeout_s,
    )
    configs = resolve_hosts(list(hosts), inventory)
    with ThreadPoolExecutor(max_workers=_MOST_AT_ONCE) as pool:
        results = list(pool.map(lambda host: _one(host, plan, common), configs))
    paths = tuple(r for r in results if isinstance(r, Path))
    failed = [r for r in results if isinstance(r, LeapprofError)]
    if paths:
        print_table(paths, as_json=common.as_json)
        if not common.as_json:
            sys.stdout.write("".join(f"{path}\n" for path in paths))
    for error in failed[:-1]:
        sys.stderr.write(f"leapprof: {printable(str(error))}\n")
    if failed:
        raise failed[-1]


def _one(host: HostConfig, plan: RemotePlan, common: Common) -> Path | SourceError:
    """Return the recording of one host, or why there is none: one host's failure is not another's."""
    try:
        with open_source(host) as source:
            found = run_remote(source, plan)
    except SourceError as error:
        return error
    return _written(host, plan, common, found)


def run_remote(source: Source, plan: RemotePlan) -> RemoteRun:
    """Let the agent of a host make its connections.

    Raises:
        SourceError: it cannot be reached, has no Python 3, does not end in time, or none of its connections was made.
    """
    clock, found = SystemClock(), RemoteRun()
    kind = choose_agent(source)
    if kind != "python":
        raise SourceError(
            source.name, "it has no python3 (3.6 or newer), and the shell agent makes no connections"
        )
    with AgentLink.open(source, kind, clock) as link:
        link.send(encode_plan(plan.agent_plan))
        end_s = clock.monotonic_s() + plan.longest_s
        goes_on = True
        try:
            while goes_on:
                if clock.monotonic_s() > end_s:
                    raise SourceTimeoutError(source.name, "end of the connections", plan.longest_s)
                for frame in link.poll(1.0):
                    goes_on = found.add(frame) and goes_on
            for frame in link.end():  # the CPUs once more
                found.add(frame)
        except ParseError as error:
            raise SourceError(source.name, str(error)) from error
    found.check(source.name, plan.endpoint)
    return found


def _written(host: HostConfig, plan: RemotePlan, common: Common, found: RemoteRun) -> Path:
    latency, blocks = found.blocks(plan.endpoint, common.block_s)
    table = found.host_table()
    started, ended = found.samples[0][0], found.samples[-1][0]
    facts = RunFacts(
        directory=recording_directory(common.out, host.name, common.phase or PROBE, started.wall_ns),
        phase=common.phase,
        region=host.region or host.name,
        block_s=common.block_s,
        settings={
            "probe": PROBE,
            "target": plan.endpoint.authority,
            "rate": f"{significant(plan.rate_per_s)} connections/s",
            "timeout": f"{significant(plan.timeout_s)} s",
        },
        command=shlex.join(["leapprof", *sys.argv[1:]]),
    )
    busy = busy_finding(host.name, busy_shares(table, common.block_s))
    manifest = replace(
        manifest_of(facts, Host(name=host.name, boot_id=""), started.wall_ns),
        ended_wall_ns=ended.wall_ns,
        findings=(*run_findings(blocks.whole), *((busy,) if busy else ())),
        notes={
            "latency_clock": "one clock of the host itself: no clock offset enters",
            "latency_valid": "no: it was above 80 % CPU" if busy else "yes: it was not above 80 % CPU",
        },
    )
    with RecordingWriter.create(facts.directory, manifest) as writer:
        writer.seal({"latency": latency, "host": table})
    return facts.directory
