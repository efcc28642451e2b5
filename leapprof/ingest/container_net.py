"""Where a nodeos in a container with a network of its own is asked: at the container's address, as its host reaches it.

``/proc/<pid>/net/fib_trie`` lists the addresses of the process's network (net/ipv4/fib_trie.c): a line ``|-- ADDRESS``
followed by one with ``host LOCAL``.
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from leapprof.agent.plan import Read
from leapprof.model import Nodeos

DEFAULT_PORT = "8888"
_ADDRESS = re.compile(r"\s*\|-- (\d{1,3}(?:\.\d{1,3}){3})\Z", re.ASCII)
_MAX_LINES = 5000


def questions_of(nodeos: Nodeos) -> tuple[Read, ...]:
    """Return what to read of a nodeos's network; nothing outside of containers."""
    return (Read(path=_path(nodeos), every_ticks=0),) if nodeos.container else ()


def local_addresses(text: str) -> tuple[str, ...]:
    """Return the addresses of a network beside the loopback's, in the order of the text."""
    found: dict[str, None] = {}
    address = None
    for line in text.split("\n")[:_MAX_LINES]:
        match = _ADDRESS.match(line)
        if match:
            address = match[1]
        elif address and "host LOCAL" in line and not address.startswith("127."):
            found[address] = None
    return tuple(found)


def with_container_address(nodeos: Nodeos, before: Nodeos | None, texts: Mapping[str, str]) -> Nodeos:
    """Return a nodeos that is asked where it answers.

    Args:
        nodeos: as the answers describe it.
        before: as it was asked; None at the first question.
        texts: of the answers.
    """
    if nodeos.container is None:
        return nodeos
    if nodeos.version is not None:
        answered_at = before.http_address if before is not None else None
        return replace(nodeos, http_address=answered_at or nodeos.http_address)
    port = (nodeos.http_address or "").rpartition(":")[2] or DEFAULT_PORT
    address = next(iter(local_addresses(texts.get(_path(nodeos), ""))), None)
    return replace(nodeos, http_address=f"{address}:{port}") if address else nodeos


def _path(nodeos: Nodeos) -> str:
    return f"/proc/{nodeos.pid}/net/fib_trie"
