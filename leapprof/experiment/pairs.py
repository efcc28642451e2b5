"""Which recordings are compared with which. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leapprof.config.playbook_schema import HostEntry, Playbook
from leapprof.config.playbook_types import Role
from leapprof.experiment.steps import periods_of, safe_name, situations_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two recordings of one host, or of one probe of delay.

    Attributes:
        host: its name, or that of the probe.
        name: of its folder.
        before, after: recordings; in a crossover the situation b of a host may come first.
        periods: of both, from 0.
        is_control: the host was left alone.
        probe: which; None: a host.
    """

    host: str
    name: str
    before: str
    after: str
    periods: tuple[int, int]
    is_control: bool
    probe: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """What is recorded in every period: a host, or a probe."""

    name: str
    situations: tuple[str, ...]
    is_control: bool = False
    probe: str | None = None


def pairs_of(playbook: Playbook, recordings: Sequence[Mapping[str, str]]) -> tuple[Pair, ...]:
    """Return the pairs of all hosts, then those of all probes.

    Args:
        playbook: of the run.
        recordings: host or probe → recording, one mapping a period.
    """
    hosts = [_host(playbook, entry) for entry in playbook.hosts]
    probes = [
        _Subject(name=probe.label, situations=periods_of(playbook), probe=probe.latency)
        for probe in playbook.probes
    ]
    return tuple(pair for subject in (*hosts, *probes) for pair in _of(subject, recordings))


def _host(playbook: Playbook, entry: HostEntry) -> _Subject:
    is_control = entry.role is Role.CONTROL
    return _Subject(name=entry.host, situations=situations_of(playbook, entry), is_control=is_control)


def _of(subject: _Subject, recordings: Sequence[Mapping[str, str]]) -> list[Pair]:
    situations = subject.situations
    found = []
    for first in range(0, len(situations) - 1, 2):
        swapped = situations[first] == "b"
        periods = (first + 1, first) if swapped else (first, first + 1)
        if all(subject.name in recordings[period] for period in periods):
            number = f"-{first // 2 + 1}" if len(situations) > 2 else ""
            found.append(
                Pair(
                    host=subject.name,
                    name=f"{safe_name(subject.name)}{number}",
                    before=recordings[periods[0]][subject.name],
                    after=recordings[periods[1]][subject.name],
                    periods=periods,
                    is_control=subject.is_control,
                    probe=subject.probe,
                )
            )
    return found
