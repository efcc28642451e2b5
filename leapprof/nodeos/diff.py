"""What differs between two configurations, grouped by what it can move."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from leapprof.nodeos.explain import GROUPS, group_of
from leapprof.nodeos.grammar import Config
from leapprof.nodeos.privacy import HIDDEN, shown_name, shown_value

Options = Mapping[str, Sequence[str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An option whose values differ.

    Attributes:
        option: its name.
        group: what it can move: cpu, memory, disk_writes, network or none.
        before, after: its values, joined with commas, as they may be shown; None when it is not there.
    """

    option: str
    group: str
    before: str | None
    after: str | None


def options_of(config: Config) -> dict[str, tuple[str | None, ...]]:
    """Return name → values in order, as a recording keeps them."""
    found: dict[str, tuple[str | None, ...]] = {}
    for entry in config.entries:
        found[entry.name] = (*found.get(entry.name, ()), entry.value)
    return found


def diff_options(before: Options, after: Options) -> tuple[Change, ...]:
    """Return the options whose values differ: by group (cpu first), then by name.

    Args:
        before: name → values in order; a value that was not allowed to leave its host is None.
        after: the same of the other configuration.
    """
    changes = [
        Change(
            option=shown_name(name),
            group=group_of(name),
            before=_shown(name, before),
            after=_shown(name, after),
        )
        for name in sorted({*before, *after})
        if tuple(before.get(name, ())) != tuple(after.get(name, ()))
    ]
    return tuple(sorted(changes, key=lambda change: (GROUPS.index(change.group), change.option)))


def _shown(name: str, options: Options) -> str | None:
    if name not in options:
        return None
    return ", ".join(HIDDEN if value is None else shown_value(name, value) for value in options[name])
