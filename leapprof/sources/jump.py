"""The chain of hops to a host: ProxyJump, resolved by ``ssh -G`` hop by hop.

paramiko (5.1) parses ProxyJump and never acts on it. As in OpenSSH each hop is looked up in ssh's
configuration by itself; all but the last hop of a list are the jumps of the last one (ssh.c, main).
"""

import dataclasses

from leapprof.errors import ConfigError, ConnectError, quoted
from leapprof.model.access import HostConfig
from leapprof.sources.ssh_config import resolve
from leapprof.sources.ssh_settings import SshSettings

MAX_HOPS = 8
_MAX_PORT_DIGITS = 5


def parse_jump(text: str, host: HostConfig) -> HostConfig:
    """Return the hop that one element of ProxyJump names: ``[user@]host[:port]`` or ``ssh://…``.

    Raises:
        ConfigError: it has none of these forms.
    """
    rest = text.strip().removeprefix("ssh://").rstrip("/")
    user, _, place = rest.rpartition("@")
    if place.startswith("["):
        address, _, tail = place[1:].partition("]")
        port_text = tail.removeprefix(":")
    else:
        address, _, port_text = place.partition(":")
    if not address or address.startswith("-") or (port_text and not port_text.isascii()):
        raise ConfigError(f"{quoted(text)} is not a jump host", path=host.name, key="ProxyJump")
    if port_text and not (port_text.isdigit() and len(port_text) <= _MAX_PORT_DIGITS):
        raise ConfigError(f"{quoted(text)} has no valid port", path=host.name, key="ProxyJump")
    return HostConfig(
        name=host.name,
        address=address,
        port=int(port_text) if port_text else None,
        user=user or None,
        ssh_config=host.ssh_config,
        known_hosts=host.known_hosts,
    )


def resolve_chain(host: HostConfig) -> tuple[SshSettings, ...]:
    """Return the settings of every hop, the nearest first and the host itself last.

    Raises:
        ConfigError: ssh's configuration is wrong.
        ConnectError: jump hosts name each other in a circle.
    """
    chain: list[SshSettings] = []
    current: HostConfig | None = host
    while current is not None:
        if len(chain) > MAX_HOPS:
            names = " ← ".join(settings.alias for settings in chain[:4])
            raise ConnectError(host.name, f"more than {MAX_HOPS} jump hosts, a circle? {names} …")
        settings = resolve(current)
        chain.append(settings)
        current = None
        if settings.proxy_jump is not None:
            *before, last = settings.proxy_jump.split(",")
            hop = parse_jump(last, host)
            current = dataclasses.replace(hop, jump=",".join(before) or None)
    return tuple(reversed(chain))
