"""The options of every version: one data file a version, read from the package (or from another directory).

A file holds what nodeos of that version accepts: ``{"version", "plugins", "options": {name: {"type",
"default", "multi", "composing", "plugin", "scope", "unit"?, "values"?}}}``. ``default`` is as nodeos prints
it, null when there is none. ``scope`` is ``file`` or ``command_line``. Types are uint16 … int64, double,
bool, switch, flag (present or not, whatever its value), enum, string, path. Made from the sources of
EOSIO 2.0 to Spring 2.0-dev by scripts/nodeos-options; adding a version is adding a file.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable

from leapprof.nodeos.versions import Version, nearest, parse_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option of one version.

    Attributes:
        name, type, unit, default, plugin: see the module.
        multi: it may be repeated in the file.
        composing: values of the file and of the command line add up (otherwise the command line wins).
        in_file: it may stand in config.ini; else it is for the command line only.
        values: of an enum, else empty.
    """

    name: str
    type: str
    unit: str | None
    default: str | None
    multi: bool
    composing: bool
    plugin: str
    in_file: bool
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionTable:
    """All options and plugins of one version."""

    version: Version
    options: dict[str, Option]
    plugins: frozenset[str]

    @property
    def release(self) -> str:
        """Return family, major and minor number: ``leap-5.0``."""
        return f"{self.version.family}-{'.'.join(str(n) for n in self.version.numbers[:2])}"


def load_tables(directory: Traversable | None = None) -> tuple[OptionTable, ...]:
    """Return the tables of all versions, oldest first.

    Args:
        directory: where the files are, instead of the package's own.

    Raises:
        ValueError: a file does not have the form described above.
    """
    return _own_tables() if directory is None else _read_tables(directory)


def table_for(version: Version, tables: Sequence[OptionTable]) -> OptionTable:
    """Return the table that fits a version: same family, major and minor number, nearest patch.

    Raises:
        ValueError: there is none.
    """
    found = nearest(version, tuple(table.version for table in tables))
    if found is None:
        names = ", ".join(table.release for table in tables)
        raise ValueError(f"no option table for {version.name}; there are {names}")
    return next(table for table in tables if table.version == found)


@cache
def _own_tables() -> tuple[OptionTable, ...]:
    return _read_tables(resources.files(__package__))


def _read_tables(directory: Traversable) -> tuple[OptionTable, ...]:
    files = [entry for entry in directory.iterdir() if entry.name.endswith(".json")]
    tables = [_table(entry.name, entry.read_text(encoding="utf-8")) for entry in files]
    return tuple(sorted(tables, key=lambda table: table.version.order))


def _table(file_name: str, text: str) -> OptionTable:
    try:
        document = json.loads(text)
        options = {name: _option(name, row) for name, row in document["options"].items()}
        return OptionTable(
            version=parse_version(document["version"]),
            options=options,
            plugins=frozenset(document["plugins"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{file_name}: not an option table: {error}") from error


def _option(name: str, row: dict[str, object]) -> Option:
    default, unit, values = row["default"], row.get("unit"), row.get("values", [])
    if not isinstance(values, list) or row["scope"] not in ("file", "command_line"):
        raise TypeError(f"{name}: values or scope")
    return Option(
        name=name,
        type=str(row["type"]),
        unit=None if unit is None else str(unit),
        default=None if default is None else str(default),
        multi=row["multi"] is True,
        composing=row["composing"] is True,
        plugin=str(row["plugin"]),
        in_file=row["scope"] == "file",
        values=tuple(str(value) for value in values),
    )
