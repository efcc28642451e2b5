"""Keys of a configuration that would hold a password: none is ever taken from a file or command line."""

import re

_SECRET = re.compile(r"(^|_)(pass|password|passwd|passphrase|secret|token)$", re.IGNORECASE)
ADVICE = "leapprof takes no passwords; log in with a key held by ssh-agent (ssh-add) and remove this"


def is_secret_key(key: str) -> bool:
    """Say whether a key is named like one that holds a password (``ansible_ssh_pass``, ``password`` …)."""
    return _SECRET.search(key) is not None
