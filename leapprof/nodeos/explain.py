"""What an option does, which resource it can move, and how it changed over the versions.

The effects are in our own words (effects.json, for the options that matter to what leapprof measures);
types, defaults and versions come from the option tables.
"""

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources

from leapprof.nodeos.options import Option, OptionTable, load_tables
from leapprof.nodeos.privacy import SECRET_OPTIONS

GROUPS = ("cpu", "memory", "disk_writes", "network", "none")
MOVES_NOTHING = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Consecutive releases in which an option was the same."""

    first: str
    last: str
    type: str
    default: str | None
    multi: bool
    in_file: bool
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """What is known of an option.

    Attributes:
        name, unit: of the option; unit None when it has none.
        plugin: that it belongs to.
        group: what it can move: one of GROUPS.
        effect: what it does, in one or two sentences; None where we have not written it down.
        stretches: oldest first; a release in no stretch does not have the option.
        added_in, removed_in: first release with it, first release without it again; None when it was there
            from the first known release on, or is still there.
    """

    name: str
    unit: str | None
    plugin: str
    group: str
    effect: str | None
    stretches: tuple[Stretch, ...]
    added_in: str | None
    removed_in: str | None


def explain(name: str, tables: tuple[OptionTable, ...] | None = None) -> Explanation | None:
    """Return what is known of an option, or None when no known version has it."""
    tables = load_tables() if tables is None else tables
    having = [index for index, table in enumerate(tables) if name in table.options]
    if not having:
        return None
    newest = tables[having[-1]].options[name]
    effect = _effects().get(name)
    return Explanation(
        name=name,
        unit=newest.unit,
        plugin=newest.plugin,
        group=group_of(name),
        effect=effect["effect"] if effect else None,
        stretches=_stretches(name, tables),
        added_in=tables[having[0]].release if having[0] > 0 else None,
        removed_in=tables[having[-1] + 1].release if having[-1] + 1 < len(tables) else None,
    )


def group_of(name: str) -> str:
    """Return which resource an option can move: cpu, memory, disk_writes, network or none."""
    effect = _effects().get(name)
    return effect["group"] if effect else MOVES_NOTHING


@cache
def _effects() -> dict[str, dict[str, str]]:
    text = resources.files(__package__).joinpath("effects.json").read_text(encoding="utf-8")
    effects: dict[str, dict[str, str]] = json.loads(text)
    return effects


def _stretches(name: str, tables: tuple[OptionTable, ...]) -> tuple[Stretch, ...]:
    found: list[Stretch] = []
    previous: Option | None = None
    for table in tables:
        option = table.options.get(name)
        if option is not None:
            first = found.pop().first if option == previous and found else table.release
            found.append(_stretch(option, first, table.release))
        previous = option
    return tuple(found)


def _stretch(option: Option, first: str, last: str) -> Stretch:
    return Stretch(
        first=first,
        last=last,
        type=option.type,
        default=None if option.name in SECRET_OPTIONS else option.default,
        multi=option.multi,
        in_file=option.in_file,
        values=option.values,
    )
