"""Several hosts before and after one change: a comparison of each, and what they say together.

A host that cannot be compared becomes a finding; the others go on. With a control of the same name each host is
judged beyond its own; other controls are taken off what the hosts say together.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from leapprof.assess.compare import compare
from leapprof.assess.control import with_control
from leapprof.assess.fleet import MOST_NAMED, Fleet, fleet
from leapprof.assess.fleet_hosts import of_comparison
from leapprof.assess.fleet_texts import headline, method, title
from leapprof.assess.host_pairs import HostPair, Paired
from leapprof.assess.load import load
from leapprof.assess.material import CompareOptions, warning
from leapprof.errors import LeapprofError, NotEnoughDataError
from leapprof.model import Comparison, Finding, Severity, evidence

OptionsOf = Callable[[HostPair], CompareOptions]
SEVERITIES = (Severity.ERROR, Severity.WARNING, Severity.INFO)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostComparison:
    """The comparison of one host."""

    host: str
    comparison: Comparison


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedFinding:
    """A finding of the hosts' own comparisons, and on which hosts it was made."""

    code: str
    severity: Severity
    hosts: tuple[str, ...]
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HostsComparison:
    """Everything that a report of several hosts says.

    Attributes:
        hosts: those that were changed, by name.
        controls: those that were not.
        findings: who is not in it and why, who stands out.
        shared: findings of the hosts' own comparisons.
        headline: the sentences that a reader in a hurry needs.
    """

    title: str
    fleet: Fleet
    hosts: tuple[HostComparison, ...]
    controls: tuple[HostComparison, ...]
    findings: tuple[Finding, ...]
    shared: tuple[SharedFinding, ...]
    headline: tuple[str, ...]
    method: dict[str, str]
    repeat: tuple[str, ...]


def compare_hosts(
    changed: Paired, controls: Paired | None, options_of: OptionsOf, repeat: Sequence[str] = ()
) -> HostsComparison:
    """Return the comparison of several hosts.

    Args:
        changed: recordings of the hosts that were changed.
        controls: of hosts, or nodes, that were not; None without.
        options_of: what the operator asked for, of each pair.
        repeat: commands that repeat this comparison.

    Raises:
        NotEnoughDataError: not one host can be compared.
    """
    findings = [*changed.findings, *(controls.findings if controls else ())]
    hosts = tuple(_compared(changed.pairs, options_of, findings))
    others = tuple(_compared(controls.pairs, options_of, findings)) if controls else ()
    if not hosts:
        said = " ".join(f.message for f in findings) or "no host on both sides"
        raise NotEnoughDataError("several hosts", said, "one host that can be compared")
    own = {one.host: one for one in others}
    has_own = bool(own) and all(one.host in own for one in hosts)
    if has_own:
        hosts = tuple(_beyond(one, own[one.host]) for one in hosts)
    whole = _whole(hosts, () if has_own else others)
    if len(others) == 1 and not has_own:
        hosts = tuple(_beyond(one, others[0]) for one in hosts)
    findings += [*whole.findings, *_not_summarised(hosts, whole), *unlike_changes(hosts)]
    comparisons = [one.comparison for one in hosts]
    return HostsComparison(
        title=title(comparisons),
        fleet=whole,
        hosts=hosts,
        controls=others,
        findings=tuple(sorted(findings, key=lambda f: SEVERITIES.index(f.severity))),
        shared=_shared(hosts),
        headline=headline(whole),
        method=method(len(comparisons)),
        repeat=tuple(dict.fromkeys((*(c for one in comparisons for c in one.repeat), *repeat))),
    )


def without_reports(whole: Fleet, change: str, findings: Sequence[Finding], repeat: str) -> HostsComparison:
    """Return a fleet whose hosts have no reports of their own: a server told their batch means alone.

    Args:
        whole: the fleet.
        change: what was changed or when, in words.
        findings: all that are to be said.
        repeat: command that repeats it.
    """
    count = len(whole.changed)
    return HostsComparison(
        title=f"{count} host{'s' if count != 1 else ''}: {change}",
        fleet=whole,
        hosts=(),
        controls=(),
        findings=tuple(sorted(findings, key=lambda f: SEVERITIES.index(f.severity))),
        shared=(),
        headline=headline(whole),
        method=method(count),
        repeat=(repeat,),
    )


def _beyond(changed: HostComparison, control: HostComparison) -> HostComparison:
    return replace(changed, comparison=with_control(changed.comparison, control.comparison))


def _compared(
    pairs: Sequence[HostPair], options_of: OptionsOf, findings: list[Finding]
) -> Iterator[HostComparison]:
    """Yield the comparisons of those hosts that can be compared; the others become findings."""
    for pair in pairs:
        try:
            comparison = compare(load(pair.before), load(pair.after), options_of(pair))
        except LeapprofError as error:
            findings.append(
                warning(
                    "host-not-compared",
                    f"{pair.host} is not compared: {error}.",
                    "Compare its two recordings alone to see more, or record it again.",
                    subject=pair.host,
                )
            )
            continue
        yield HostComparison(host=pair.host, comparison=comparison)


def _whole(hosts: Sequence[HostComparison], controls: Sequence[HostComparison]) -> Fleet:
    changed = [d for h in hosts for d in of_comparison(h.host, h.comparison, is_control=False)]
    return fleet(
        [*changed, *(d for c in controls for d in of_comparison(c.host, c.comparison, is_control=True))]
    )


def _not_summarised(hosts: Sequence[HostComparison], whole: Fleet) -> list[Finding]:
    """Return the hosts of which nothing is in the summary: too short for an interval."""
    left = [h.host for h in hosts if h.host not in whole.changed]
    if not left:
        return []
    return [
        warning(
            "host-too-short",
            f"Too short for intervals, so in no summary: {', '.join(left)}.",
            "Record an hour or more on both sides; their own means are in their reports.",
        )
    ]


def unlike_changes(hosts: Sequence[HostComparison]) -> list[Finding]:
    """Return a finding when the hosts were not changed alike: their mean is then of different things."""
    changes: dict[str, list[str]] = defaultdict(list)
    for one in hosts:
        changes[one.comparison.method.get("change", "")].append(one.host)
    if len(changes) == 1:
        return []
    said = "; ".join(f"{change} ({', '.join(names[:MOST_NAMED])})" for change, names in changes.items())
    return [
        warning(
            "changes-differ",
            f"The hosts were changed in {len(changes)} ways: {said}.",
            "Compare hosts together that had the same change, or read each host's own report.",
            evidence=evidence("count", ways=len(changes)),
        )
    ]


def _shared(hosts: Sequence[HostComparison]) -> tuple[SharedFinding, ...]:
    """Return the hosts' own findings, each kind once with the hosts that it was made on."""
    found: dict[tuple[Severity, str], list[tuple[str, Finding]]] = defaultdict(list)
    for host in hosts:
        for finding in host.comparison.findings:
            found[finding.severity, finding.code].append((host.host, finding))
    shared = [
        SharedFinding(
            code=code,
            severity=severity,
            hosts=tuple(dict.fromkeys(host for host, _ in made)),
            message=made[0][1].message,
            hint=made[0][1].hint,
        )
        for (severity, code), made in found.items()
    ]
    return tuple(sorted(shared, key=lambda one: SEVERITIES.index(one.severity)))
