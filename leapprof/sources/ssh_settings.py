"""How one host is reached: the settings that ssh's options come to.

``ssh -G`` expands neither ``~`` nor most ``%`` tokens: ssh_config(5), section TOKENS, is followed here.
"""

import os
import re
import shlex
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from leapprof.errors import ConfigError, quoted
from leapprof.model.access import HostConfig
from leapprof.model.finding import Finding

DEFAULT_PORT = 22
_TOKEN = re.compile(r"%(.?)|\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SshSettings:
    """How to reach one host, one hop of a chain.

    Attributes:
        alias: what was asked for; hostname is what it resolves to.
        identity_files: in the order to try; some may not exist.
        identity_agent: socket of the agent; None: there is none.
        proxy_jump: comma-joined hops; None: none.
        proxy_command: with its tokens expanded; None: none.
        host_key_algorithms: as configured, OpenSSH's names.
        known_hosts_files: user's and global ones.
        revoked_host_keys: file of revoked keys; None: none.
        compression: as configured; worth it for the shell agent, which packs nothing itself.
        by_hand: the command with which the operator connects to it by hand.
        wants: what is configured that only OpenSSH itself can do (GSSAPI, PKCS#11 …).
        findings: what the operator should know of how this was resolved.
    """

    alias: str
    hostname: str
    port: int
    user: str
    identity_files: tuple[str, ...] = ()
    identities_only: bool = False
    identity_agent: str | None = None
    proxy_jump: str | None = None
    proxy_command: str | None = None
    host_key_alias: str | None = None
    host_key_algorithms: tuple[str, ...] = ()
    known_hosts_files: tuple[str, ...] = ()
    revoked_host_keys: str | None = None
    compression: bool = False
    by_hand: str = ""
    wants: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def ssh_arguments(host: HostConfig) -> list[str]:
    """Return the arguments after ``ssh`` that carry the operator's own choices, without the address."""
    arguments = ["-F", str(Path(host.ssh_config).expanduser())] if host.ssh_config else []
    arguments += ["-p", str(host.port)] if host.port else []
    arguments += ["-l", host.user] if host.user else []
    arguments += ["-J", host.jump] if host.jump else []
    for path in host.identity_files:
        arguments += ["-i", path]
    if host.known_hosts:
        files = " ".join(f'"{path}"' for path in host.known_hosts)
        arguments += ["-o", f"UserKnownHostsFile={files}", "-o", "GlobalKnownHostsFile=/dev/null"]
    for option in host.options:
        arguments += ["-o", option]
    return arguments


def by_hand(host: HostConfig) -> str:
    """Return the command with which the operator connects to the host by hand."""
    return shlex.join(["ssh", *ssh_arguments(host), host.address])


def split_paths(value: str) -> tuple[str, ...]:
    """Return the file names of a list that ``ssh -G`` prints without quotes.

    A name with blanks is recognised by being there: of the words that follow, as many as name an
    existing file together are taken as one.
    """
    words = value.split()
    paths: list[str] = []
    while words:
        count = next(
            (n for n in range(len(words), 1, -1) if Path(" ".join(words[:n])).expanduser().exists()), 1
        )
        paths.append(" ".join(words[:count]))
        del words[:count]
    return tuple(path for path in paths if path.lower() != "none")


def expand(value: str, tokens: Mapping[str, str], host: str) -> str:
    """Return value with its ``%`` tokens and ``${VARIABLES}`` replaced.

    Raises:
        ConfigError: a token or variable is not known.
    """

    def replace(match: re.Match[str]) -> str:
        token, variable = match.group(1), match.group(2)
        known = os.environ.get(variable) if variable else tokens.get(token or "")
        if known is None:
            raise ConfigError(
                f"{quoted(match.group(0))} in {quoted(value)} is not known to leapprof; "
                "use --transport openssh",
                path=host,
            )
        return known

    return _TOKEN.sub(replace, value)


def _tokens(alias: str, hostname: str, port: int, user: str, key_alias: str | None) -> dict[str, str]:
    here = socket.gethostname()
    local_user = os.environ.get("USER") or os.environ.get("LOGNAME") or str(os.getuid())
    return {
        "%": "%",
        "d": str(Path("~").expanduser()),
        "h": hostname,
        "i": str(os.getuid()),
        "k": key_alias or hostname,
        "L": here.split(".")[0],
        "l": here,
        "n": alias,
        "p": str(port),
        "r": user,
        "u": local_user,
    }


def _path(value: str, tokens: Mapping[str, str], alias: str) -> str:
    return str(Path(expand(value, tokens, alias)).expanduser())


def _agent(value: str | None) -> str | None:
    """Return the agent's socket that IdentityAgent names; SSH_AUTH_SOCK when it does not."""
    if value is None or value == "SSH_AUTH_SOCK":
        return os.environ.get("SSH_AUTH_SOCK") or None
    if value.lower() == "none":
        return None
    return os.environ.get(value[1:]) if value.startswith("$") and "{" not in value else value


def _wants(first: Mapping[str, str]) -> tuple[str, ...]:
    checks = (
        ("gssapiauthentication", "GSSAPI"),
        ("certificatefile", "certificates"),
        ("pkcs11provider", "PKCS#11"),
        ("knownhostscommand", "KnownHostsCommand"),
    )
    off = {"no", "none", "false", ""}
    return tuple(name for key, name in checks if first.get(key, "no").lower() not in off)


def settings_from(alias: str, options: Mapping[str, Sequence[str]], *, by_hand: str = "") -> SshSettings:
    """Return the settings of a host from the options that ``ssh -G`` printed.

    Raises:
        ConfigError: a value cannot be used.
    """
    first = {name: values[0] for name, values in options.items() if values}
    hostname, user = first.get("hostname", alias), first.get("user", "")
    port_text = first.get("port", str(DEFAULT_PORT))
    if not (port_text.isascii() and port_text.isdigit()):
        raise ConfigError(f"{quoted(port_text)} is not a port", path=alias, key="Port")
    tokens = _tokens(alias, hostname, int(port_text), user, first.get("hostkeyalias"))
    agent = _agent(first.get("identityagent"))
    command = first.get("proxycommand", "none")
    jump = first.get("proxyjump", "none")
    revoked = first.get("revokedhostkeys", "none")
    known = split_paths(first.get("userknownhostsfile", "")) + split_paths(
        first.get("globalknownhostsfile", "")
    )
    identities = [value for value in options.get("identityfile", ()) if value.lower() != "none"]
    return SshSettings(
        alias=alias,
        hostname=hostname,
        port=int(port_text),
        user=user,
        identity_files=tuple(_path(value, tokens, alias) for value in identities),
        identities_only=first.get("identitiesonly", "no") in ("yes", "true"),
        identity_agent=_path(agent, tokens, alias) if agent else None,
        proxy_jump=None if jump.lower() == "none" else jump,
        proxy_command=None if command.lower() == "none" else expand(command, tokens, alias),
        host_key_alias=first.get("hostkeyalias"),
        host_key_algorithms=tuple(filter(None, first.get("hostkeyalgorithms", "").split(","))),
        known_hosts_files=tuple(_path(value, tokens, alias) for value in known),
        revoked_host_keys=None if revoked.lower() == "none" else _path(revoked, tokens, alias),
        compression=first.get("compression", "no") in ("yes", "true"),
        by_hand=by_hand,
        wants=_wants(first),
    )
