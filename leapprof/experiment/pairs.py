"""Which recordings are compared with which. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leapprof.config.playbook_schema import HostEntry, Playbook
from leapprof.config.playbook_types import Role
from leapprof.experiment.steps import safe_name, situations_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two recordings of one host.

    Attributes:
        name: of its folder.
        before, after: recordings; in a crossover the situation b of a host may come first.
        periods: of both, from 0.
        is_control: the host was left alone.
    """

    host: str
    name: str
    before: str
    after: str
    periods: tuple[int, int]
    is_control: bool


def pairs_of(playbook: Playbook, recordings: Sequence[Mapping[str, str]]) -> tuple[Pair, ...]:
    """Return the pairs of all hosts.

    Args:
        playbook: of the run.
        recordings: host → recording, one mapping a period.
    """
    return tuple(pair for entry in playbook.hosts for pair in _of_host(playbook, entry, recordings))


def _of_host(playbook: Playbook, entry: HostEntry, recordings: Sequence[Mapping[str, str]]) -> list[Pair]:
    situations = situations_of(playbook, entry)
    found = []
    for first in range(0, len(situations) - 1, 2):
        swapped = situations[first] == "b"
        periods = (first + 1, first) if swapped else (first, first + 1)
        if all(entry.host in recordings[period] for period in periods):
            number = f"-{first // 2 + 1}" if len(situations) > 2 else ""
            found.append(
                Pair(
                    host=entry.host,
                    name=f"{safe_name(entry.host)}{number}",
                    before=recordings[periods[0]][entry.host],
                    after=recordings[periods[1]][entry.host],
                    periods=periods,
                    is_control=entry.role is Role.CONTROL,
                )
            )
    return found
