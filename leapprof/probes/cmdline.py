"""/proc/PID/cmdline: the words of a command line, and the options among them (proc(5)).

Words are ended by NUL. The agent replaces values that may not leave the host by ``***``. Options follow
boost program_options as nodeos uses it: ``--name value``, ``--name=value``, ``-d value``, ``-dvalue``.
"""

_MAX_WORDS = 1024
_MAX_WORD_CHARS = 4096
_SHORT = {"d": "data-dir", "c": "config", "e": "enable-stale-production"}
HIDDEN = "***"


def parse_cmdline(text: str) -> tuple[str, ...]:
    """Return the words; any text is a command line, a kernel thread's has none."""
    words = text.split("\0")
    if words and not words[-1]:
        words.pop()
    return tuple(word[:_MAX_WORD_CHARS] for word in words[:_MAX_WORDS])


def command_options(words: tuple[str, ...]) -> dict[str, tuple[str | None, ...]]:
    """Return the options by long name, each with its values in order; None for one that was hidden.

    An option without a value has no values: a switch is an empty tuple.
    """
    found: dict[str, tuple[str | None, ...]] = {}
    name = ""
    for word in words[1:]:
        if word.startswith("-") and len(word) > 1:
            name, value = _option(word)
            found.setdefault(name, ())
            if value is not None:
                found[name] = (*found[name], _shown(value))
                name = ""
        elif name:
            found[name] = (*found[name], _shown(word))
            name = ""
    return found


def _option(word: str) -> tuple[str, str | None]:
    """Return long name and attached value of an option word."""
    if word.startswith("--"):
        name, equals, value = word[2:].partition("=")
        return name, value if equals else None
    letter, value = word[1], word[2:]
    return _SHORT.get(letter, letter), value or None


def _shown(value: str) -> str | None:
    return None if value == HIDDEN else value
