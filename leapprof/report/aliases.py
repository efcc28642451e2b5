"""Aliases: what names a machine, a person or a peer, found and given another name.

A secret is found by the field that holds it (`add_host`, `add_value`) or by its form (`add_patterns`):
addresses, keys, UUIDs, paths below home directories, names with a port. The same secret has the same
alias everywhere; aliases are numbered in the order in which secrets are found.
"""

import ipaddress
import re
from collections.abc import Callable

# Words of ours, and of every installation: never an alias, or reports could not be read.
_NO_SECRETS = frozenset(
    [
        *[
            "local",
            "localhost",
            "host",
            "nodeos",
            "eosio",
            "before",
            "after",
            "state",
            "blocks",
            "os",
            "swap",
            "disk",
            "none",
            "true",
            "false",
        ],
        *[
            "unknown",
            "all",
            "mapped",
            "mapped_private",
            "heap",
            "locked",
            "root",
            "user",
            "admin",
            "ubuntu",
            "debian",
            "python",
            "sh",
        ],
        "(not shown)",
        "",
    ]
)
_LOOPBACK = frozenset({"0.0.0.0", "::1", "::", "localhost"})  # noqa: S104 - names them, binds nothing
_WHOLE_KINDS = frozenset({"agent-name", "serial"})
_WORD_CHARS = 6  # a shorter secret is replaced as a word only
_SHORTEST = 3
_LABEL_CHARS = 4

_IPV4 = re.compile(r"(?<![\d.])(?:\d{1,3}\.){3}\d{1,3}(?![\d.]*\d)")
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f:]*:[0-9A-Fa-f:]*:[0-9A-Fa-f:.]*(?![\w:])")
_MAC = re.compile(r"(?<![0-9A-Fa-f:])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![0-9A-Fa-f:])")
_UUID = re.compile(r"(?<![0-9A-Fa-f])[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}(?![0-9A-Fa-f])")
_KEY = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:EOS|(?:PUB|PVT|SIG)_(?:K1|R1|WA|BLS)_)[\w-]{40,}|5[HJK][1-9A-HJ-NP-Za-km-z]{48,50})"
)
_HOME = re.compile(r"(?:/(?:export/|var/)?home/|/Users/)[^\s:,;'\"<>|)]+|/root/[^\s:,;'\"<>|)]+")
_WITH_PORT = re.compile(
    r"(?<![\w.@/-])(?:[\w-]+\.)+(?!(?:ini|log|cpp|hpp|py|json|conf|txt|bin):)[A-Za-z]{2,}(?=:\d{2,5}\b)"
)
_IN_URL = re.compile(r"(?<=://)[^\s/:'\"<>]+")
_AFTER_AT = re.compile(r"(?<![\w.-])[\w.-]+@[\w.-]+\w")
_UNIT_ENDINGS = (".service", ".scope", ".slice")  # of systemd: nodeos@eos.service is no account
_BY_FORM = (("key", _KEY), ("uuid", _UUID), ("mac", _MAC), ("path", _HOME))


class Aliases:
    """Gives each secret its alias; the same one every time."""

    def __init__(self) -> None:
        """Start without any."""
        self.alias_of: dict[str, str] = {}
        self._count: dict[str, int] = {}

    def add(self, secret: str, kind: str) -> str:
        """Return the alias of a secret, a new one when it has none."""
        if secret in self.alias_of or secret.lower() in _NO_SECRETS:
            return self.alias_of.get(secret, secret)
        self._count[kind] = self._count.get(kind, 0) + 1
        self.alias_of[secret] = f"{kind}-{self._count[kind]}"
        return self.alias_of[secret]

    def same(self, secret: str, alias: str) -> None:
        """Let another writing of a secret have the alias that it has already."""
        if secret and secret.lower() not in _NO_SECRETS:
            self.alias_of.setdefault(secret, alias)


def _is_loopback(address: str) -> bool:
    return address.startswith("127.") or address in _LOOPBACK


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.IPv6Address(text)
    except ValueError:
        return False
    return True


def bare_address(text: str) -> str:
    """Return an address without scheme, brackets and port: ``[2001:db8::1]:9876`` → ``2001:db8::1``."""
    rest = re.sub(r"^\w+://", "", text).rstrip("/")
    if rest.startswith("["):
        return rest[1:].partition("]")[0]
    return rest if _is_ipv6(rest) else rest.partition(":")[0]


def _add_names(aliases: Aliases, address: str, alias: str) -> None:
    """Collect the first label of a domain name with the alias of the whole, and the domain with one of its own."""
    label, dot, domain = address.partition(".")
    if not dot or _IPV4.fullmatch(address) or ":" in address:
        return
    if len(label) >= _LABEL_CHARS and not label.isdigit():
        aliases.same(label, alias)
    if "." in domain:
        aliases.add(domain, "domain")


def add_host(aliases: Aliases, name: str) -> None:
    """Collect a host as the operator called it: ``user@name:port``, the name, its first label, its domain."""
    user, at, rest = name.rpartition("@")
    bare = bare_address(rest)
    if at:
        aliases.add(user, "user")
    if bare.lower() in _NO_SECRETS or _is_loopback(bare):
        return
    alias = aliases.add(bare, "host")
    aliases.same(name, alias)
    aliases.same(rest, alias)
    _add_names(aliases, bare, alias)


def add_value(aliases: Aliases, value: str, kind: str) -> None:
    """Collect a value that names somebody: as a host, as a whole, or each of its parts without port."""
    if kind == "host":
        add_host(aliases, value.strip())
        return
    if kind in _WHOLE_KINDS:
        aliases.add(value.strip(), kind)
        return
    for part in re.split(r"[,\s]+", value.strip()):
        address = bare_address(part)
        if len(address) >= _SHORTEST and not address.isdigit() and not _is_loopback(address):
            _add_names(aliases, address, aliases.add(address, kind))


def _ipv6_in(text: str) -> str | None:
    """Return the IPv6 address that a run of hexadecimal digits and colons holds, with or without a port."""
    candidate = text.rstrip(".")
    choices = (candidate, candidate.rstrip(":"), re.sub(r":\d{1,5}$", "", candidate))
    return next((choice for choice in choices if _is_ipv6(choice)), None)


def add_patterns(aliases: Aliases, text: str) -> None:
    """Collect whatever is a secret by its form."""
    for kind, pattern in _BY_FORM:
        for match in pattern.findall(text):
            aliases.add(match.rstrip("/."), kind)
    addresses = [*_IPV4.findall(text), *filter(None, map(_ipv6_in, _IPV6.findall(text)))]
    for address in addresses:
        if not _is_loopback(address):
            aliases.add(address, "address")
    for match in _AFTER_AT.findall(text):
        if not match.endswith(_UNIT_ENDINGS):
            add_host(aliases, match)
    for match in (*_WITH_PORT.findall(text), *_IN_URL.findall(text)):
        add_value(aliases, match, "address")


def rewriter(aliases: Aliases) -> Callable[[str], str]:
    """Return the function that replaces all secrets of a text, the longest first."""
    secrets = sorted(aliases.alias_of, key=lambda secret: (-len(secret), secret))
    if not secrets:
        return lambda text: text
    choices = [
        re.escape(s) if len(s) >= _WORD_CHARS else rf"(?<![A-Za-z0-9]){re.escape(s)}(?![A-Za-z0-9])"
        for s in secrets
    ]
    pattern = re.compile("|".join(choices), re.IGNORECASE)
    by_lower = {secret.lower(): alias for secret, alias in sorted(aliases.alias_of.items())}
    return lambda text: pattern.sub(lambda match: by_lower[match[0].lower()], text)
