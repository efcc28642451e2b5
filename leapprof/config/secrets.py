"""Secrets: no password from a configuration or command line, whatever its key; a token from a file of its own."""

import re
from pathlib import Path

from leapprof.errors import ConfigError, unreadable

_SECRET = re.compile(r"(^|_)(pass|password|passwd|passphrase|secret|token)$", re.IGNORECASE)
MAX_SECRET_CHARS = 16_384
ADVICE = "leapprof takes no passwords; log in with a key held by ssh-agent (ssh-add) and remove this"


def is_secret_key(key: str) -> bool:
    """Say whether a key is named like one that holds a password (``ansible_ssh_pass``, ``password`` …)."""
    return _SECRET.search(key) is not None


def read_secret(path: Path) -> str:
    """Return the one line of a file that holds a token.

    Raises:
        ConfigError: it cannot be read, or holds something else.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_SECRET_CHARS + 1).strip()
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8 text", path=str(path)) from error
    if not text or len(text) > MAX_SECRET_CHARS or not text.isprintable():
        raise ConfigError("holds no single line of text", path=str(path))
    return text
