r"""/proc/PID/mountinfo: what is mounted where (proc(5)).

Blanks, tabs, newlines and backslashes in names are octal escapes (``\040``). The fields before and after
the lone ``-`` are separated by single blanks; a source may be empty.
"""

import re

from leapprof.errors import ParseError
from leapprof.model import Mount
from leapprof.probes.text import MAX_NAME_CHARS

_ESCAPE = re.compile(r"\\([0-7]{3})", re.ASCII)
_MAJOR_MINOR = re.compile(r"[0-9]{1,7}:[0-9]{1,7}", re.ASCII)
_MIN_LEFT = 6
_MIN_RIGHT = 2
_MAX_PATH_CHARS = 4096


def unescaped(field: str) -> str:
    """Return a field without octal escapes."""
    return _ESCAPE.sub(lambda match: chr(int(match[1], 8)), field)


def parse_mountinfo(text: str) -> tuple[Mount, ...]:
    """Return the mounts in the order of the text: a later one hides an earlier one.

    Raises:
        ParseError: a line without the fields that every kernel writes.
    """
    return tuple(_mount(line) for line in text.split("\n") if line.strip())


def _mount(line: str) -> Mount:
    left_text, dash, right_text = line.partition(" - ")
    left, right = left_text.split(" "), right_text.split(" ")
    whole = dash and len(left) >= _MIN_LEFT and len(right) >= _MIN_RIGHT
    if not whole or not _MAJOR_MINOR.fullmatch(left[2]) or not left[4].startswith("/"):
        raise ParseError(
            "mountinfo", "'id parent major:minor root point options … - type source …'", line=line
        )
    return Mount(
        point=unescaped(left[4])[:_MAX_PATH_CHARS],
        major_minor=left[2],
        filesystem=right[0][:MAX_NAME_CHARS],
        source=unescaped(right[1])[:_MAX_PATH_CHARS],
        options=",".join(part for part in (left[5], *right[2:3]) if part),
    )
