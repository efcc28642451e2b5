"""The texts and numbers that a playbook is made of: bounded, without control characters, in base units."""

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, WithJsonSchema

from leapprof.config.playbook_units import parse_duration_s, parse_size_bytes

STRICT = ConfigDict(strict=True, extra="forbid")

Text = Annotated[
    str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00-\x09\x0b-\x1f\x7f]*$")
]
Line = Annotated[str, StringConstraints(min_length=1, max_length=1024, pattern=r"^[^\x00-\x1f\x7f]*$")]
Name = Annotated[str, StringConstraints(max_length=100, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\-]*$")]
AbsolutePath = Annotated[str, StringConstraints(max_length=1024, pattern=r"^/[^\x00-\x1f\x7f]*$")]
OptionName = Annotated[str, StringConstraints(max_length=100, pattern=r"^[a-z0-9][a-z0-9\-]*$")]
Duration = Annotated[
    float,
    BeforeValidator(parse_duration_s),
    Field(ge=0, le=365 * 86_400),
    WithJsonSchema({"type": "string", "pattern": r"^(\d+(\.\d+)?(ms|s|min|m|h|d|w))+$", "examples": ["6h"]}),
]
Size = Annotated[
    int,
    BeforeValidator(parse_size_bytes),
    Field(ge=0),
    WithJsonSchema({"type": "string", "pattern": r"^\d+(\.\d+)? ?([kMGT]i?)?B$", "examples": ["8 GiB"]}),
]


def _as_text(value: object) -> object:
    """Return a config.ini value as the text that nodeos reads: numbers and switches need no quotes in YAML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


OptionValue = Annotated[
    str,
    BeforeValidator(_as_text),
    StringConstraints(max_length=1024, pattern=r"^[^\x00-\x1f\x7f#]*$"),
    WithJsonSchema({"type": ["string", "integer", "number", "boolean"]}),
]


class Where(StrEnum):
    """Where a command runs."""

    HOST = "host"
    COLLECTOR = "collector"


class Role(StrEnum):
    """What happens to a host: it is changed, or it is left alone for comparison."""

    CHANGED = "changed"
    CONTROL = "control"


class Action(StrEnum):
    """What a breached guard does."""

    PAUSE = "pause"
    STOP = "stop"
    ROLL_BACK = "roll_back"
