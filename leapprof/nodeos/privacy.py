"""Which values of a config.ini may leave a host, and which are never printed.

Sources: nodeos's own masking of ``Non-default options`` (programs/nodeos/main.cpp, Leap 5.0: signature
providers, private keys of peers, automatic producer peers); the key formats of libfc (WIF, ``PVT_…``).
"""

import re
from functools import cache

from leapprof.nodeos.options import load_tables

SECRET_OPTIONS = frozenset(
    {
        "signature-provider",
        "peer-private-key",
        "private-key",
        "https-private-key-file",
        "p2p-auto-bp-peer",
    }
)
"""Options whose values never leave a host: keys, where keys lie, and a producer's private peers."""

IDENTIFYING_OPTIONS = frozenset(
    {
        "access-control-allow-origin",
        "agent-name",
        "http-alias",
        "http-category-address",
        "http-server-address",
        "https-certificate-chain-file",
        "https-server-address",
        "p2p-bp-gossip-endpoint",
        "p2p-listen-endpoint",
        "p2p-peer-address",
        "p2p-server-address",
        "peer-key",
        "peer-log-format",
        "producer-name",
        "prometheus-exporter-address",
        "state-history-endpoint",
        "state-history-unix-socket-path",
        "telemetry-service-name",
        "telemetry-url",
        "unix-socket-path",
    }
)
"""Options whose values are not secret but tell whose node it is and where; a public report leaves them out."""

HIDDEN = "***"
MAX_SHOWN_CHARS = 120
MAX_NAME_CHARS = 64

_KEY_SHAPED = re.compile(
    r"PVT_|KEY:|KEOSD:|SE:|PRIVATE KEY"  # text forms of private keys and of their providers
    r"|[5KL][1-9A-HJ-NP-Za-km-z]{50}"  # WIF, also inside a longer word; an EOS… public key has none in it
    r"|(?<![0-9A-Fa-f])[0-9A-Fa-f]{64}(?![0-9A-Fa-f])"  # 32 bytes in hex
)


@cache
def allowed_option_names() -> frozenset[str]:
    """Return the options whose values may leave a host: known to some version, and not secret."""
    known = {name for table in load_tables() for name in table.options}
    return frozenset(known - SECRET_OPTIONS)


def is_key_shaped(value: str) -> bool:
    """Return whether a value looks like a private key, whatever its option."""
    return _KEY_SHAPED.search(value) is not None


def shown_value(option: str, value: str) -> str:
    """Return a value as it may be printed: hidden when secret, unknown or key-shaped, cut when long."""
    if option not in allowed_option_names() or is_key_shaped(value):
        return HIDDEN
    printable = "".join(c if c.isprintable() else "?" for c in value)
    return printable if len(printable) <= MAX_SHOWN_CHARS else printable[: MAX_SHOWN_CHARS - 1] + "…"


def shown_name(name: str) -> str:
    """Return an option's name fit for print: a stray line of a config can be anything, even a key."""
    if is_key_shaped(name):
        return HIDDEN
    kept = "".join(c if c.isascii() and c.isprintable() else "?" for c in name)
    return kept if len(kept) <= MAX_NAME_CHARS else kept[: MAX_NAME_CHARS - 1] + "…"
