"""ssh's configuration as paramiko reads it, for machines without an ``ssh`` program."""

import dataclasses
import getpass
from pathlib import Path

import paramiko  # noqa: TID253 (imported lazily by sources/ssh_config.py)

from leapprof.errors import ConfigError
from leapprof.model.access import HostConfig
from leapprof.model.finding import Finding, Severity
from leapprof.sources.ssh_settings import SshSettings, by_hand, settings_from

_SYSTEM = "/etc/ssh/ssh_config"
_IDENTITIES = ("~/.ssh/id_rsa", "~/.ssh/id_ecdsa", "~/.ssh/id_ed25519")
_KNOWN_HOSTS = "~/.ssh/known_hosts ~/.ssh/known_hosts2"

INCLUDE_FINDING = Finding(
    code="ssh-include-not-followed",
    severity=Severity.WARNING,
    message="No ssh program is installed here, so Include and Match exec of ssh's configuration were not followed.",
    hint="Install OpenSSH's client, or name address, port, user and key in leapprof.toml.",
)


def _read(config: paramiko.SSHConfig, path: Path, host: str) -> None:
    try:
        with path.expanduser().open() as file:
            config.parse(file)
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError, paramiko.SSHException) as error:
        raise ConfigError(f"cannot be read: {error}", path=str(path), key=host) from error


def resolve_without_ssh(host: HostConfig) -> SshSettings:
    """Return how paramiko understands ssh's configuration; carries a finding that Include is not followed.

    Raises:
        ConfigError: a file cannot be read.
    """
    config = paramiko.SSHConfig()
    paths = (host.ssh_config,) if host.ssh_config else ("~/.ssh/config", _SYSTEM)
    for path in paths:
        _read(config, Path(path), host.name)
    options: dict[str, list[str]] = {}
    try:
        looked_up = config.lookup(host.address)
    except paramiko.SSHException as error:
        raise ConfigError(f"ssh's configuration cannot be read: {error}", path=host.name) from error
    for name, value in looked_up.items():
        options[name.lower()] = list(value) if isinstance(value, list) else [str(value)]
    for option in host.options:
        name, _, value = option.replace("=", " ", 1).strip().partition(" ")
        options[name.lower()] = [value.strip()]
    options.setdefault("user", [getpass.getuser()])
    options.setdefault("identityfile", list(_IDENTITIES))
    options.setdefault("userknownhostsfile", [_KNOWN_HOSTS])
    options.setdefault("globalknownhostsfile", ["/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"])
    _override(options, host)
    settings = settings_from(host.address, options, by_hand=by_hand(host))
    return dataclasses.replace(settings, findings=(INCLUDE_FINDING,))


def _override(options: dict[str, list[str]], host: HostConfig) -> None:
    """Put the operator's own choices over those of the files."""
    given = {"port": host.port, "user": host.user, "proxyjump": host.jump}
    options.update({name: [str(value)] for name, value in given.items() if value})
    if host.identity_files:
        options["identityfile"] = list(host.identity_files)
    if host.known_hosts:
        options["userknownhostsfile"] = [" ".join(host.known_hosts)]
        options["globalknownhostsfile"] = ["none"]
