"""Integers and keyed lines of kernel texts.

Text comes from hosts and is not trusted: only plain ASCII decimals are numbers, and a number that no
signed 64-bit counter can hold (a wrapped negative, e.g. steal of a broken hypervisor) is missing.
"""

from collections.abc import Mapping

from leapprof.errors import ParseError
from leapprof.units import KIB

MAX_INTEGER = 2**63 - 1
MAX_DIGITS = 19
MAX_NAME_CHARS = 64


def integer(token: str, probe: str, line: str) -> int | None:
    """Return the integer of a token; None when it is negative or too large for a counter.

    Args:
        token: decimal digits, possibly with a minus sign.
        probe: name for the message.
        line: the line that the token is from, for the message.

    Raises:
        ParseError: the token is no integer.
    """
    digits = token.removeprefix("-")
    if not (digits.isdigit() and digits.isascii()):
        raise ParseError(probe, "an integer", line=line)
    if len(digits) > MAX_DIGITS:  # int() refuses thousands of digits
        digits = digits.lstrip("0") or "0"
        if len(digits) > MAX_DIGITS:
            return None
    value = int(digits)
    is_negative = value > 0 and token.startswith("-")
    return None if is_negative or value > MAX_INTEGER else value


def keyed_integers(text: str, names: Mapping[str, str], probe: str) -> dict[str, int | None]:
    """Return the integers of ``key value`` lines, under our names; other lines are skipped.

    Raises:
        ParseError: a wanted key without an integer.
    """
    found: dict[str, int | None] = {}
    for line in text.split("\n"):
        key, _, rest = line.partition(" ")
        name = names.get(key)
        if name is not None:
            found[name] = integer(rest.strip(), probe, line)
    return found


def keyed_kilobytes(text: str, names: Mapping[str, str], probe: str) -> dict[str, int | None]:
    """Return the bytes of ``Key:  value kB`` lines, under our names; other lines are skipped.

    The kernel's kB is 1024 bytes (proc(5)). A missing blank after the colon is tolerated (psutil met such kernels).

    Raises:
        ParseError: a wanted key without an integer in kB.
    """
    found: dict[str, int | None] = {}
    for line in text.split("\n"):
        key, colon, rest = line.partition(":")
        name = names.get(key)
        if name is not None and colon:
            words = rest.split()
            if len(words) != 2 or words[1] != "kB":
                raise ParseError(probe, f"'{key}: <integer> kB'", line=line)
            value = integer(words[0], probe, line)
            found[name] = None if value is None or value > MAX_INTEGER // KIB else value * KIB
    return found


def single_integer(text: str, probe: str) -> int | None:
    """Return the only integer of a text; None for the word ``max`` (no limit).

    Raises:
        ParseError: anything else.
    """
    word = text.strip()
    return None if word == "max" else integer(word, probe, text)


def bounded_name(token: str, probe: str) -> str:
    """Return a name of a device, thread or command if it is not empty and not overlong.

    Raises:
        ParseError: it is.
    """
    if not token or len(token) > MAX_NAME_CHARS:
        raise ParseError(probe, f"a name of 1 to {MAX_NAME_CHARS} characters", line=token)
    return token
