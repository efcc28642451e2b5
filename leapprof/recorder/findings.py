"""What the operator should know of a survey: nothing found, refused or left out. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from leapprof.ingest.smart import is_smart
from leapprof.model import Finding, Frame, Nodeos, Severity
from leapprof.units import format_duration

MAX_NAMED = 8
_READINGS_LEFT_OUT = {
    "http": "nodeos's HTTP API",
    "config": "config.ini",
    "log": "its log",
    "threads": "CPU by thread",
    "commands": "allowed commands such as smartctl",
    "exe_match": "recognising it by its executable",
    "compression": None,
    "queue": None,
    "spool": "--spool",
    "stretch": None,
}
"""What the sh agent says it leaves out (agent.sh) in words; None: a matter of the agent, no reading is missing."""


def survey_findings(
    host: str, nodeos: Sequence[Nodeos], denied: Sequence[str], frame: Frame, agent: str
) -> tuple[Finding, ...]:
    """Return findings about what a host lets us see.

    Args:
        host: its name.
        nodeos: those that were found.
        denied: readings that were refused.
        frame: answer to the survey.
        agent: ``python`` or ``sh``.
    """
    found: list[Finding] = []
    if not nodeos:
        found.append(_no_nodeos(host))
    if denied:
        found.append(_denied(host, denied))
    left_out = _left_out(frame)
    if agent == "sh" or left_out:
        found.append(_limited(host, left_out))
    return tuple(found)


def nodeos_findings(nodeos: Sequence[Nodeos]) -> tuple[Finding, ...]:
    """Return what the operator should know of each nodeos that was found."""
    return tuple(
        Finding(
            code="nodeos-binary-replaced",
            severity=Severity.WARNING,
            message=(
                f"its program file {one.executable or ''} was replaced or removed since it started: what runs is not "
                "what lies there, and its version is taken from its API alone"
            ),
            hint="restart nodeos before you compare versions",
            subject=one.id,
        )
        for one in nodeos
        if one.executable_deleted
    )


def _no_nodeos(host: str) -> Finding:
    return Finding(
        code="no-nodeos-found",
        severity=Severity.WARNING,
        message="no nodeos process was found; the host alone is recorded until one starts",
        hint="start nodeos, or say how to recognise it with --nodeos exe:NAME, unit:NAME, data-dir:PATH or pid:NUMBER",
        subject=host,
    )


def _denied(host: str, denied: Sequence[str]) -> Finding:
    return Finding(
        code="reading-denied",
        severity=Severity.INFO,
        message=f"{len(denied)} readings are refused to this user: {_named(denied)}",
        hint="nothing essential is lost; record as the user of nodeos, or as root, to have them too",
        subject=host,
    )


def _limited(host: str, left_out: Sequence[str]) -> Finding:
    named = (_READINGS_LEFT_OUT.get(name, name) for name in left_out)
    missing = ", ".join(name for name in named if name is not None)
    what = f": {missing}" if missing else ""
    return Finding(
        code="agent-limited",
        severity=Severity.WARNING,
        message=f"the agent of this host leaves out some readings{what}",
        hint="install python3 (3.6 or newer) on the host to have everything",
        subject=host,
    )


def _named(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - MAX_NAMED} more" if len(listed) > MAX_NAMED else ""
    return ", ".join(listed[:MAX_NAMED]) + more


def _left_out(frame: Frame) -> tuple[str, ...]:
    """Return what the agent says that it cannot do (line ``left_out a,b`` of section ``agent``)."""
    for section in frame.sections:
        if section.name == "agent":
            for line in section.text.decode("utf-8", "replace").splitlines():
                word, _, rest = line.partition(" ")
                if word == "left_out":
                    return tuple(part.strip()[:80] for part in rest.split(",") if part.strip())
    return ()


def disk_full_finding(host: str, path: str) -> Finding:
    """Return the finding of a recording that ended because its disk was full."""
    return Finding(
        code="recording-disk-full",
        severity=Severity.ERROR,
        message=f"the disk of {path} was full; the recording ends there",
        hint="free space or record elsewhere; what was recorded is kept",
        subject=host,
    )


def smart_findings(unreadable: Mapping[str, str]) -> tuple[Finding, ...]:
    """Return a finding for each command about a drive that printed no health log.

    Args:
        unreadable: section → why it could not be read.
    """
    return tuple(
        Finding(
            code="smart-not-read",
            severity=Severity.WARNING,
            message=f"{section} printed no health log: {reason}",
            hint="try it on the host by hand as the same user: smartctl and nvme need root, or a rule of sudo without "
            "password; both have to print JSON",
            subject=section.rpartition("_")[2],
        )
        for section, reason in sorted(unreadable.items())
        if is_smart(section)
    )


NEVER_CAME_BACK = "the connection was lost and did not come back"


def never_came_back(host: str, missing_s: float) -> Finding:
    """Return that a recording ended without its host."""
    return Finding(
        code="host-never-came-back",
        severity=Severity.WARNING,
        message=f"The connection was lost and did not come back: the last {format_duration(missing_s)} are missing.",
        hint="See why with `leapprof doctor`, then record again; record --spool goes on sampling without a connection.",
        subject=host,
    )
