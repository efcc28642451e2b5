"""Values as nodeos reads them: text and type in, a value or the reason why nodeos refuses it out.

Source: boost program_options ``validate`` and ``lexical_cast``, tried with a program built on them:
integers are decimal with an optional sign, a negative number for an unsigned option is accepted and wraps,
booleans know eight words in any case and an empty value is true, paths are read with ``std::quoted``, and
quotes stay part of every other text.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from leapprof.nodeos.options import Option

TRUE_WORDS = frozenset({"", "on", "yes", "1", "true"})
FALSE_WORDS = frozenset({"off", "no", "0", "false"})

# eos-vm-oc-enable also takes these words (libraries/chain/wasm_interface, Leap 5.0.3), in any case.
OC_WORDS = {
    "true": "all",
    "on": "all",
    "yes": "all",
    "1": "all",
    "false": "none",
    "off": "none",
    "no": "none",
    "0": "none",
}
_ANY_CASE_ENUMS = frozenset({"eos-vm-oc-enable"})

_INTEGER = re.compile(r"([+-]?)(\d{1,40})\Z", re.ASCII)
_DOUBLE = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\Z", re.ASCII)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"\Z', re.DOTALL)

Parsed = int | float | bool | str


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """What nodeos makes of a value.

    Attributes:
        value: None when it refuses it.
        code: of the finding, empty when there is nothing to say.
        problem: what is so, as the end of a sentence about the value.
        refused: nodeos does not start.
    """

    value: Parsed | None = None
    code: str = ""
    problem: str = ""
    refused: bool = False


def read_value(option: Option, text: str) -> Read:
    """Return what nodeos makes of a text for an option of one version."""
    return _READERS[option.type](option, text)


def _refused(code: str, problem: str) -> Read:
    return Read(code=code, problem=problem, refused=True)


def _read_integer(option: Option, text: str) -> Read:
    found = _INTEGER.match(text)
    if not text:
        return _refused("value-empty", "is empty, and nodeos wants a number")
    if found is None:
        return _refused("value-not-a-number", "is not a decimal whole number")
    negative, magnitude = found[1] == "-", int(found[2])
    bits = int(option.type.lstrip("uint"))
    if option.type.startswith("u"):
        return _read_unsigned(bits, magnitude, is_negative=negative)
    value = -magnitude if negative else magnitude
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        limits = f"({-(2 ** (bits - 1))} to {2 ** (bits - 1) - 1})"
        return _refused("value-out-of-range", f"does not fit into {bits} bits {limits}")
    return Read(value=value)


def _read_unsigned(bits: int, magnitude: int, *, is_negative: bool) -> Read:
    if magnitude >= 2**bits:
        return _refused("value-out-of-range", f"does not fit into {bits} bits (0 to {2**bits - 1})")
    if is_negative and magnitude:
        wrapped = 2**bits - magnitude
        return Read(
            value=wrapped, code="value-wraps", problem=f"is negative, and nodeos takes it as {wrapped}"
        )
    return Read(value=magnitude)


def _read_double(option: Option, text: str) -> Read:
    del option
    if not _DOUBLE.match(text) or not math.isfinite(float(text)):
        return _refused("value-not-a-number", "is not a number")
    return Read(value=float(text))


def _read_bool(option: Option, text: str) -> Read:
    del option
    word = text.lower()
    if word in TRUE_WORDS:
        return Read(value=True)
    if word in FALSE_WORDS:
        return Read(value=False)
    return _refused(
        "value-not-a-boolean", "is none of true, false, yes, no, on, off, 1 and 0 (without quotes)"
    )


def _read_flag(option: Option, text: str) -> Read:
    del option
    if text.lower() in FALSE_WORDS:
        problem = "has no effect: nodeos takes the option as on whenever its line is there"
        return Read(value=True, code="flag-always-on", problem=problem)
    return Read(value=True)


def _read_enum(option: Option, text: str) -> Read:
    word = text
    if option.name in _ANY_CASE_ENUMS:
        word = OC_WORDS.get(text.lower(), text.lower())
    if word in option.values:
        return Read(value=word)
    return _refused("value-not-one-of", f"is none of {', '.join(option.values)}")


def _read_path(option: Option, text: str) -> Read:
    del option
    if not text:
        return _refused("value-empty", "is empty, and nodeos wants a path")
    quoted = _QUOTED.match(text)
    if quoted:
        return Read(value=re.sub(r"\\(.)", r"\1", quoted[1], flags=re.DOTALL))
    if text.startswith('"'):
        return _refused("value-not-a-path", "has a quote that does not end at the end of the line")
    if any(c.isspace() for c in text):
        return _refused("value-not-a-path", "holds a space outside of quotes")
    return Read(value=text)


def _read_string(option: Option, text: str) -> Read:
    if len(text) > 1 and text[0] == text[-1] == '"' and option.name not in _OFTEN_QUOTED:
        return Read(
            value=text, code="value-quoted", problem="keeps its quotes: nodeos takes them as part of it"
        )
    return Read(value=text)


# A format with quotes inside, and JSON arrays: quotes at both ends are meant there.
_OFTEN_QUOTED = frozenset({"peer-log-format", "checkpoint"})

_READERS: dict[str, Callable[[Option, str], Read]] = {
    "uint16": _read_integer,
    "uint32": _read_integer,
    "uint64": _read_integer,
    "int32": _read_integer,
    "int64": _read_integer,
    "double": _read_double,
    "bool": _read_bool,
    "switch": _read_bool,
    "flag": _read_flag,
    "enum": _read_enum,
    "path": _read_path,
    "string": _read_string,
}
