"""A host as written on the command line: ``local``, ``alias``, ``user@host:port``, ``[::1]:2222``."""

import re

from leapprof.errors import ConfigError, quoted
from leapprof.model.access import HostConfig

MAX_PORT = 65535
# What may stand in a user, host or alias: no leading dash (ssh would read an option), no white space, no
# shell characters. A % is a zone of an IPv6 address, which stands in brackets.
_NAME = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.\-]*\Z")
_USER = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.@+\\\-]*\Z")
_IPV6 = re.compile(r"[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(%[A-Za-z0-9_.\-]+)?\Z")


def _port(text: str, target: str) -> int:
    if text.isascii() and text.isdigit() and 0 < int(text[:6]) <= MAX_PORT:
        return int(text[:6])
    raise ConfigError(f"{quoted(text)} is not a port (1 to {MAX_PORT})", path=quoted(target))


def _split_port(rest: str, target: str) -> tuple[str, int | None]:
    """Return host and port of what stands after the user."""
    if rest.startswith("["):
        inside, bracket, tail = rest[1:].partition("]")
        if not bracket or (tail and not tail.startswith(":")) or not _IPV6.match(inside):
            raise ConfigError("expected [IPv6 address] or [IPv6 address]:port", path=quoted(target))
        return inside, _port(tail[1:], target) if tail else None
    if rest.count(":") > 1:
        raise ConfigError("an IPv6 address is written in brackets: [2001:db8::1]:22", path=quoted(target))
    host, colon, port = rest.partition(":")
    if not _NAME.match(host):
        raise ConfigError("expected an inventory name, an ssh alias or user@host:port", path=quoted(target))
    return host, _port(port, target) if colon else None


def parse_target(target: str) -> HostConfig:
    """Return the host that a word of the command line means when no inventory knows it.

    Raises:
        ConfigError: it has none of the known forms.
    """
    if target == "local":
        return HostConfig(name="local", address="", transport="local")
    user, at, rest = target.rpartition("@")
    if at and not _USER.match(user):
        raise ConfigError("expected user@host:port", path=quoted(target))
    host, port = _split_port(rest, target)
    return HostConfig(name=target, address=host, port=port, user=user if at else None)
