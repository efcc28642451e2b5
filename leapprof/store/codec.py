"""Our frozen dataclasses to JSON values and back, by their type hints.

Covers what model/ uses: str, int, float, bool, None, StrEnum, dataclasses, ``tuple[X, ...]``,
``dict[str, X]`` and unions with None. Nothing is evaluated, a wrong type is an error that says where, an
unknown key is ignored (a newer leapprof may add fields without raising the format), a missing key takes
the field's default.
"""

import dataclasses
import math
import types
from collections.abc import Callable
from enum import StrEnum
from functools import cache
from typing import TypeAlias, TypeVar, Union, get_args, get_origin, get_type_hints

_MAX_INT = 2**63 - 1

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"
T = TypeVar("T")


class CodecError(ValueError):
    """A JSON value does not fit the type that it is to become."""


def encode(value: object) -> Json:
    """Return the JSON value of a value made of dataclasses, tuples, dicts, enums and plain values."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: encode(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, tuple):
        return [encode(item) for item in value]
    if isinstance(value, dict):
        return {str(key): encode(item) for key, item in sorted(value.items())}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise CodecError(f"no JSON form for {type(value).__name__}")


def decode(kind: type[T], value: Json, where: str = "") -> T:
    """Return the value of a type that a JSON value describes.

    Args:
        kind: a type as described above.
        value: as json.loads gives it.
        where: path of keys to the value, for messages.

    Raises:
        CodecError: the value does not fit; the message says where.
    """
    return _decode(kind, value, where)  # type: ignore[return-value]  # by construction of _decode


def _decode(kind: object, value: Json, where: str) -> object:
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _decode_dataclass(kind, value, where)
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return _decode_enum(kind, value, where)
    origin = get_origin(kind)
    if origin is not None:
        return _GENERIC[origin](kind, value, where)
    return _decode_plain(kind, value, where)


@cache
def _hints(kind: type) -> dict[str, object]:
    return dict(get_type_hints(kind))


def _decode_dataclass(kind: type, value: Json, where: str) -> object:
    if not isinstance(value, dict):
        raise _misfit(where, kind.__name__, value)
    hints = _hints(kind)
    parts: dict[str, object] = {}
    for field in dataclasses.fields(kind):
        at = f"{where}.{field.name}" if where else field.name
        if field.name in value:
            parts[field.name] = _decode(hints[field.name], value[field.name], at)
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise CodecError(f"{at}: is missing")
    made: object = kind(**parts)
    return made


def _decode_enum(kind: type[StrEnum], value: Json, where: str) -> StrEnum:
    try:
        return kind(str(value))
    except ValueError as error:
        raise _misfit(where, " or ".join(kind), value) from error


def _decode_plain(kind: object, value: Json, where: str) -> object:
    if not _is_bounded(value):
        raise _misfit(where, "a number of 64 bits", value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    expected = type(None) if kind is None else kind
    if isinstance(expected, type) and type(value) is expected:
        return value
    raise _misfit(where, getattr(expected, "__name__", str(expected)), value)


def _is_bounded(value: Json) -> bool:
    """Return whether a value, if it is a number, can be reckoned with; JSON has no limit, and Python adds NaN."""
    if isinstance(value, float):
        return math.isfinite(value)
    return not isinstance(value, int) or -_MAX_INT - 1 <= value <= _MAX_INT


def _decode_tuple(kind: object, value: Json, where: str) -> object:
    if not isinstance(value, list):
        raise _misfit(where, "a list", value)
    item = get_args(kind)[0]
    return tuple(_decode(item, part, f"{where}[{index}]") for index, part in enumerate(value))


def _decode_dict(kind: object, value: Json, where: str) -> object:
    if not isinstance(value, dict):
        raise _misfit(where, "an object", value)
    item = get_args(kind)[1]
    return {key: _decode(item, part, f"{where}.{key}") for key, part in value.items()}


def _decode_union(kind: object, value: Json, where: str) -> object:
    choices = get_args(kind)
    if value is None and type(None) in choices:
        return None
    problem: CodecError | None = None
    for choice in choices:
        try:
            return _decode(choice, value, where)
        except CodecError as error:
            problem = problem or error
    raise problem or _misfit(where, str(kind), value)


_GENERIC: dict[object, Callable[[object, Json, str], object]] = {
    tuple: _decode_tuple,
    dict: _decode_dict,
    Union: _decode_union,
    types.UnionType: _decode_union,
}


def _misfit(where: str, expected: str, value: Json) -> CodecError:
    return CodecError(f"{where or 'the document'}: expected {expected}, found {str(value)[:60]!r}")
