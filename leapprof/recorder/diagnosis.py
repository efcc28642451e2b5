"""Can a host be sampled, and what would be seen: what `leapprof doctor` asks."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from leapprof.errors import ConnectError, HostKeyError, LeapprofError, SourceTimeoutError
from leapprof.model import ClockOffset, Device, DeviceKind, Finding, Nodeos, Severity
from leapprof.model.access import HostConfig, NodeosSelector
from leapprof.recorder.clock import Clock
from leapprof.recorder.link import AgentLink, choose_agent
from leapprof.recorder.session import HostSurvey, survey_host
from leapprof.sources import Source, open_source

MAX_HOSTS_AT_ONCE = 16
MAX_OFFSET_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What was seen of one host.

    Attributes:
        surveyed: None when the host did not answer.
        error: why not.
    """

    host: str
    transport: str
    surveyed: HostSurvey | None
    findings: tuple[Finding, ...]
    error: LeapprofError | None = None


def diagnose_hosts(
    hosts: Sequence[HostConfig], selectors: tuple[NodeosSelector, ...], clock: Clock
) -> tuple[Diagnosis, ...]:
    """Return what is seen of each host, in their order; one that fails hides nobody else."""
    with ThreadPoolExecutor(max_workers=MAX_HOSTS_AT_ONCE) as pool:
        return tuple(pool.map(lambda host: diagnose(host, selectors, clock), hosts))


def diagnose(host: HostConfig, selectors: tuple[NodeosSelector, ...], clock: Clock) -> Diagnosis:
    """Return what is seen of one host; its failure is part of the answer."""
    try:
        with open_source(host) as source:
            surveyed = _survey(source, host, selectors, clock)
    except LeapprofError as error:
        failure = _failure(error, host.name)
        return Diagnosis(
            host=host.name, transport=host.transport, surveyed=None, findings=(failure,), error=error
        )
    findings = (*surveyed.findings, *survey_advice(host.name, surveyed))
    return Diagnosis(host=host.name, transport=host.transport, surveyed=surveyed, findings=findings)


def _failure(error: LeapprofError, host: str) -> Finding:
    """Return why a host cannot be sampled, and what to do."""
    problem = str(error).removeprefix(f"{host}: ")
    match error:
        case HostKeyError():
            return Finding(
                code="host-key",
                severity=Severity.ERROR,
                message=problem,
                hint="nothing was sent to it: check the key with the host's owner, then accept it as the message says",
                subject=host,
            )
        case ConnectError():
            return Finding(
                code="connect-failed",
                severity=Severity.ERROR,
                message=problem,
                hint="try `ssh` to the same name; the inventory may need its user, key or address",
                subject=host,
            )
        case SourceTimeoutError():
            return Finding(
                code="host-silent",
                severity=Severity.ERROR,
                message=problem,
                hint="try `ssh` to the same name: the host may be down or overloaded, or a firewall swallows packets",
                subject=host,
            )
        case _:
            return Finding(
                code="survey-failed",
                severity=Severity.ERROR,
                message=problem,
                hint="run it again with --transport openssh; look at the host's load and login shell",
                subject=host,
            )


def _survey(
    source: Source, host: HostConfig, selectors: tuple[NodeosSelector, ...], clock: Clock
) -> HostSurvey:
    with AgentLink.open(source, choose_agent(source), clock) as link:
        surveyed = survey_host(link, host, selectors or host.nodeos)
        link.end()
        return surveyed


def survey_advice(host: str, surveyed: HostSurvey) -> tuple[Finding, ...]:
    """Return what would make a recording of this host better. Pure."""
    advice = [_clock_advice(host, surveyed.offset)] if abs(surveyed.offset.offset_s) > MAX_OFFSET_S else []
    for nodeos in surveyed.survey.nodeos:
        advice += _nodeos_advice(nodeos)
    advice += [
        _virtual_advice(d) for d in surveyed.survey.topology.physical() if d.kind is DeviceKind.VIRTUAL
    ]
    return tuple(advice)


def _clock_advice(host: str, offset: ClockOffset) -> Finding:
    return Finding(
        code="clock-offset",
        severity=Severity.WARNING,
        message=f"the host's clock is {offset.offset_s:+.3f} s off ours (give or take {offset.round_trip_s / 2:.3f} s)",
        hint="run chrony or systemd-timesyncd on both machines; head lag and delays are measured against clocks",
        subject=host,
    )


def _nodeos_advice(nodeos: Nodeos) -> list[Finding]:
    advice = []
    if nodeos.version is None:
        advice.append(
            Finding(
                code="nodeos-api-silent",
                severity=Severity.WARNING,
                message="its version is not known: the HTTP API did not answer",
                hint="enable chain_api_plugin on a local address; without it stages, head lag and load are unknown",
                subject=nodeos.id,
            )
        )
    if not nodeos.options:
        advice.append(
            Finding(
                code="nodeos-config-unseen",
                severity=Severity.WARNING,
                message="its config.ini was not read",
                hint="let this user read the config directory, or say --config-dir on nodeos's command line",
                subject=nodeos.id,
            )
        )
    if nodeos.log is not None and nodeos.log != "read":
        advice.append(
            Finding(
                code="nodeos-log-unread",
                severity=Severity.INFO,
                message=f"its log is not read ({nodeos.log}): stages come from its API and the counters alone",
                hint="allow a command `nodeos-log` in the inventory that prints it (journalctl -u UNIT -o cat -n 2000)"
                ", or record as its user",
                subject=nodeos.id,
            )
        )
    if not nodeos.cgroup_is_own:
        advice.append(
            Finding(
                code="nodeos-shares-cgroup",
                severity=Severity.INFO,
                message="its cgroup holds other processes too, so writes per device cannot be charged to it alone",
                hint="run nodeos as a systemd service or container of its own",
                subject=nodeos.id,
            )
        )
    return advice


def _virtual_advice(device: Device) -> Finding:
    return Finding(
        code="virtual-disk",
        severity=Severity.INFO,
        message="is a virtual disk: which drive wears, and how much, only its hypervisor knows",
        hint="give the real drive with `leapprof wear --drive` or --rated-tbw to project its life",
        subject=device.name,
    )
