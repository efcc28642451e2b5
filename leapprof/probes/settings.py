"""Small files of settings: os-release, kernel configuration, and files that offer a choice; the size of a page.

os-release(5); /boot/config-<release>; Documentation/admin-guide/mm/transhuge.rst (``always [madvise] never``).
"""

import re

from leapprof.units import KIB

_MAX_VALUE_CHARS = 256
_CHOSEN = re.compile(r"\[([a-z0-9+_-]{1,64})\]", re.ASCII)
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]{0,127})=(.*)", re.ASCII)
_PAGE_SIZE = re.compile(r"^KernelPageSize: *([0-9]{1,7}) kB$", re.ASCII | re.MULTILINE)


def parse_choice(text: str) -> str | None:
    """Return the word in brackets; None without one."""
    match = _CHOSEN.search(text)
    return match[1] if match else None


def parse_assignments(text: str) -> dict[str, str]:
    """Return ``NAME=value`` lines without quotes; comments and other lines are skipped."""
    found = {}
    for line in text.split("\n"):
        match = _ASSIGNMENT.fullmatch(line.strip())
        if match:
            found[match[1]] = match[2].strip().strip("\"'")[:_MAX_VALUE_CHARS]
    return found


def parse_line(text: str, max_chars: int = _MAX_VALUE_CHARS) -> str | None:
    """Return the first line, printable and bounded; None when there is nothing on it."""
    line = text.strip("\0 \t\r\n").split("\n", 1)[0].strip()[:max_chars]
    return "".join(c if c.isprintable() else "?" for c in line) or None


def parse_page_size(text: str) -> int | None:
    """Return the bytes of a page from the agent's own /proc/self/smaps (proc(5)): 65536 on some arm64 kernels.

    Its first mapping is the program's file, which lies on pages of the usual size.
    """
    match = _PAGE_SIZE.search(text)
    return int(match[1]) * KIB if match else None
