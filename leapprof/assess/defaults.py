"""Options whose default another nodeos version changed, where config.ini sets them on neither side."""

from dataclasses import replace

from leapprof.assess.subjects import NodeosPair
from leapprof.model import ConfigChange, Nodeos
from leapprof.nodeos.options import OptionTable, load_tables, table_for
from leapprof.nodeos.versions import parse_version


def default_changes(nodeos: tuple[NodeosPair, ...]) -> tuple[ConfigChange, ...]:
    """Return the defaults that changed silently, of processes whose versions are known and differ."""
    tables = load_tables()
    return tuple(
        ConfigChange(nodeos=pair.before.id, option=name, before=old, after=new)
        for pair in nodeos
        if pair.before and pair.after and pair.before.version != pair.after.version
        for name, old, new in _moved(pair.before, pair.after, tables)
    )


def with_defaults(change: ConfigChange, pair: NodeosPair) -> ConfigChange:
    """Return a change with what nodeos takes on the side that does not set the option."""
    tables = load_tables()
    before = _default(change.option, pair.before, tables) if change.before is None else None
    after = _default(change.option, pair.after, tables) if change.after is None else None
    return replace(change, before_default=before, after_default=after)


def _default(option: str, nodeos: Nodeos | None, tables: tuple[OptionTable, ...]) -> str | None:
    table = _table(nodeos, tables) if nodeos is not None else None
    known = table.options.get(option) if table is not None else None
    return known.default if known is not None else None


def _moved(
    before: Nodeos, after: Nodeos, tables: tuple[OptionTable, ...]
) -> list[tuple[str, str | None, str | None]]:
    first, second = _table(before, tables), _table(after, tables)
    if first is None or second is None:
        return []
    set_names = {*before.options, *after.options}
    return [
        (name, old.default, second.options[name].default)
        for name, old in sorted(first.options.items())
        if name not in set_names and name in second.options and old.default != second.options[name].default
    ]


def _table(nodeos: Nodeos, tables: tuple[OptionTable, ...]) -> OptionTable | None:
    """Return the options of a process's version; None for one that is not known."""
    if nodeos.version is None:
        return None
    try:
        return table_for(parse_version(nodeos.version), tables)
    except ValueError:
        return None
