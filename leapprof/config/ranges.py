"""Host patterns with ranges, as Ansible inventories write them: ``web[01:03].example``, ``db-[a:f]``.

Ansible documentation, "How to build your inventory", section "Adding ranges of hosts".
"""

import re
from collections.abc import Iterator

from leapprof.errors import ConfigError, quoted

MAX_HOSTS = 10_000
_RANGE = re.compile(r"\[(?:(\d{1,9}):(\d{1,9})|([A-Za-z]):([A-Za-z]))(?::(\d{1,9}))?\]")


def _values(match: re.Match[str], path: str) -> list[str]:
    first, last, letter_first, letter_last, step_text = match.groups()
    step = int(step_text or 1)
    if step == 0:
        raise ConfigError(f"{quoted(match.group())} has a step of 0", path=path)
    if letter_first:
        return [chr(code) for code in range(ord(letter_first), ord(letter_last) + 1, step)]
    numbers = range(int(first), int(last) + 1, step)
    if len(numbers) > MAX_HOSTS:
        raise ConfigError(f"{quoted(match.group())} is more than {MAX_HOSTS} hosts", path=path)
    width = len(first) if first.startswith("0") else 0
    return [str(number).zfill(width) for number in numbers]


def _expand(pattern: str, path: str) -> Iterator[str]:
    match = _RANGE.search(pattern)
    if match is None:
        yield pattern
        return
    for value in _values(match, path):
        for rest in _expand(pattern[match.end() :], path):
            yield pattern[: match.start()] + value + rest


def expand_ranges(pattern: str, path: str) -> tuple[str, ...]:
    """Return the host names that a pattern stands for.

    Args:
        pattern: with any number of ranges.
        path: file and line, for messages.

    Raises:
        ConfigError: a range is empty or stands for more than 10,000 hosts.
    """
    names: list[str] = []
    for name in _expand(pattern, path):
        names.append(name)
        if len(names) > MAX_HOSTS:
            raise ConfigError(f"{quoted(pattern)} is more than {MAX_HOSTS} hosts", path=path)
    if not names:
        raise ConfigError(f"{quoted(pattern)} stands for no host: its range runs backwards", path=path)
    return tuple(names)
