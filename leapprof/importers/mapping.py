"""MAP.toml: which columns of a table in text become which columns of a recording.

::

    host = "eos-1"
    [time]
    column = "Time"
    form = "iso"                 # iso, unix, unix_ms, or a form of strptime: "%Y-%m-%d %H:%M:%S"
    zone = "UTC"                 # for times without one: UTC, +01:00 or Europe/Berlin

    [[sections]]                 # a CSV file has one; atop's parseable output has one a label
    delimiter = ","
    decimal = "."
    starts_with = ""             # only lines that begin so
    header = []                  # names of the fields where no line of the file holds them
    device_column = ""           # the field that names the device (likewise nodeos_column)
    interval_column = ""         # seconds that a line covers; none: since the line before

    [[sections.columns]]
    column = "wkB/s"
    table = "device"
    to = "write_sectors_total"
    kind = "rate"                # counter, rate (a second), amount (an interval), level
    scale = 2.0                  # to the unit of the column: 1 kB is 2 sectors
    device = "sda"               # where no field names it (likewise nodeos)
"""

import tomllib
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from leapprof.errors import ConfigError
from leapprof.ingest.columns import TABLES

Kind = Literal["counter", "rate", "amount", "level"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TimeMap(_Strict):
    """Where the time stands and how it is written."""

    column: str
    form: str = "iso"
    zone: str | None = None


class ColumnMap(_Strict):
    """One column."""

    column: str
    table: Literal["host", "device", "nodeos", "nodeos_device", "chain"] = "host"
    to: str
    kind: Kind
    scale: float = 1.0
    device: str | None = None
    nodeos: str | None = None

    @model_validator(mode="after")
    def _known(self) -> "ColumnMap":
        if self.to not in TABLES[self.table].integers:
            near = ", ".join(sorted(TABLES[self.table].integers)[:8])
            raise ValueError(
                f"table {self.table} has no column {self.to!r} (it has {near}, …: docs/tables.md)"
            )
        counts = self.to.endswith("_total")
        if counts == (self.kind == "level"):
            raise ValueError(
                f"{self.to} {'counts up: kind is counter, rate or amount' if counts else 'is a level'}"
            )
        return self


class SectionMap(_Strict):
    """Lines of one form."""

    delimiter: str = Field(default=",", min_length=1, max_length=1)
    decimal: Literal[".", ","] = "."
    starts_with: str = ""
    header: tuple[str, ...] = ()
    device_column: str | None = None
    nodeos_column: str | None = None
    interval_column: str | None = None
    columns: tuple[ColumnMap, ...] = Field(min_length=1)


class Mapping(_Strict):
    """The whole file."""

    host: str
    time: TimeMap
    sections: tuple[SectionMap, ...] = Field(min_length=1)


def parse_mapping(text: str, path: str) -> Mapping:
    """Return a mapping.

    Raises:
        ConfigError: it is no TOML, or says something that leapprof does not know.
    """
    try:
        return Mapping.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"is no TOML: {error}", path=path) from error
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(str(first["msg"]).removeprefix("Value error, "), path=path, key=key) from error
