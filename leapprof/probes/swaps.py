"""/proc/swaps: swap areas (proc(5)). Blanks in a path are octal escapes, as in mountinfo."""

from leapprof.errors import ParseError
from leapprof.model import Swap
from leapprof.probes.mountinfo import unescaped
from leapprof.probes.text import MAX_INTEGER, MAX_NAME_CHARS, integer
from leapprof.units import KIB

_FIELDS = 5
_MAX_PATH_CHARS = 4096


def parse_swaps(text: str) -> tuple[Swap, ...]:
    """Return the swap areas; none is an empty tuple.

    Raises:
        ParseError: a line after the head without five fields.
    """
    found = []
    for line in text.split("\n")[1:]:
        words = line.split()
        if not words:
            continue
        if len(words) < _FIELDS:
            raise ParseError("swaps", "'path type size used priority'", line=line)
        size_kib = integer(words[2], "swaps", line)
        if size_kib is None or size_kib > MAX_INTEGER // KIB:
            raise ParseError("swaps", "a size in KiB", line=line)
        found.append(
            Swap(
                path=unescaped(words[0])[:_MAX_PATH_CHARS],
                kind=words[1][:MAX_NAME_CHARS],
                size_bytes=size_kib * KIB,
            )
        )
    return tuple(found)
