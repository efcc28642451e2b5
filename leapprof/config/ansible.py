"""Hosts of an Ansible inventory file: the part of it that says how a machine is reached.

Read are ``ansible_host``, ``ansible_port``, ``ansible_user``, ``ansible_ssh_private_key_file``,
``ansible_connection``, the ssh arguments that name a jump host, groups, children and their variables
(also under their older names ``ansible_ssh_host`` …). Nothing is evaluated: a template or vaulted value
where one of these is needed is an error that names the line. ``group_vars/`` and ``host_vars/`` are not read.
"""

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from leapprof.config.secrets import ADVICE, is_secret_key
from leapprof.config.targets import MAX_PORT
from leapprof.errors import ConfigError, quoted
from leapprof.model.access import HostConfig

MAX_DEPTH = 32
_SSH_CONNECTIONS = frozenset({"ssh", "smart", "paramiko", "paramiko_ssh", "ansible.builtin.ssh"})
_ARGUMENT_KEYS = ("ansible_ssh_common_args", "ansible_ssh_extra_args", "ansible_ssh_args")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """A value as written, with the line it stands in; ``vaulted`` when it is encrypted."""

    value: str
    line_no: int
    vaulted: bool = False


Variables = dict[str, Variable]


@dataclass(slots=True, kw_only=True)
class Group:
    """One group while the inventory is read: hosts with their own variables, children, variables."""

    hosts: dict[str, Variables] = field(default_factory=dict)
    children: list[str] = field(default_factory=list)
    variables: Variables = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsibleInventory:
    """An inventory as read: its groups by name, with ``all`` among them."""

    path: str
    groups: Mapping[str, Group]

    def has_host(self, name: str) -> bool:
        """Say whether a host of that name is in any group."""
        return any(name in group.hosts for group in self.groups.values())

    def hosts_of(self, name: str) -> tuple[str, ...] | None:
        """Return the names of a group's hosts, children's included; None when there is no such group."""
        if name == "all":
            return tuple(dict.fromkeys(host for group in self.groups.values() for host in group.hosts))
        if name not in self.groups:
            return None
        found: dict[str, None] = {}
        seen: set[str] = set()
        todo = [name]
        while todo:
            current = todo.pop()
            if current not in seen and current in self.groups:
                seen.add(current)
                found |= dict.fromkeys(self.groups[current].hosts)
                todo += reversed(self.groups[current].children)
        return tuple(found)

    def variables_of(self, host: str) -> Variables:
        """Return a host's variables: its own over those of child groups over parents' over ``all``'s."""
        depths = self._depths()
        mine = [name for name in self.groups if name != "all" and host in (self.hosts_of(name) or ())]
        merged: Variables = {}
        for name in ["all", *sorted(mine, key=lambda name: (depths.get(name, 0), name))]:
            merged |= self.groups[name].variables if name in self.groups else {}
        for group in self.groups.values():
            merged |= group.hosts.get(host, {})
        return merged

    def _depths(self) -> dict[str, int]:
        depths = dict.fromkeys(self.groups, 0)
        for _ in range(MAX_DEPTH):
            before = dict(depths)
            for name, group in self.groups.items():
                for child in group.children:
                    depths[child] = max(depths.get(child, 0), min(MAX_DEPTH, depths[name] + 1))
            if depths == before:
                break
        return depths

    def host(self, name: str) -> HostConfig:
        """Return how a host of the inventory is reached.

        Raises:
            ConfigError: a value is vaulted, a template, a password or not usable.
        """
        return _Reader(path=self.path, name=name, variables=self.variables_of(name)).host()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    path: str
    name: str
    variables: Variables

    def _error(self, key: str, problem: str) -> ConfigError:
        return ConfigError(problem, path=f"{self.path}, line {self.variables[key].line_no}", key=key)

    def _text(self, *keys: str) -> str | None:
        for key in keys:
            found = self.variables.get(key)
            if found is None:
                continue
            if found.vaulted or found.value.startswith("$ANSIBLE_VAULT"):
                raise self._error(
                    key, "is encrypted by ansible-vault, which leapprof does not open; write it plainly"
                )
            if "{{" in found.value or "{%" in found.value:
                raise self._error(key, "is a template, which leapprof does not evaluate; write the value")
            return found.value
        return None

    def _port(self) -> int | None:
        text = self._text("ansible_port", "ansible_ssh_port")
        if text is None:
            return None
        if text.isascii() and text.isdigit() and 0 < int(text[:6]) <= MAX_PORT:
            return int(text[:6])
        key = "ansible_port" if "ansible_port" in self.variables else "ansible_ssh_port"
        raise self._error(key, f"{quoted(text)} is not a port")

    def _arguments(self) -> tuple[str | None, str | None, tuple[str, ...]]:
        """Return ProxyJump, ssh_config and options that the ssh arguments name."""
        jump, ssh_config, options = None, None, []
        for key in _ARGUMENT_KEYS:
            try:
                words = shlex.split(self._text(key) or "")
            except ValueError as error:
                raise self._error(key, f"has unbalanced quotes: {error}") from error
            while words:
                word = words.pop(0)
                value = word[2:] or (words.pop(0) if words else "")
                if word[:2] == "-J" and value:
                    jump = value
                elif word[:2] == "-F" and value:
                    ssh_config = value
                elif word[:2] == "-o" and value:
                    options.append(value)
                else:
                    raise self._error(
                        key, f"{quoted(word)} is not read here; put it into ssh's configuration"
                    )
        return jump, ssh_config, tuple(options)

    def host(self) -> HostConfig:
        """Return the host."""
        for key in self.variables:
            if key.startswith("ansible_") and is_secret_key(key):
                raise self._error(key, ADVICE)
        connection = self._text("ansible_connection") or "ssh"
        if connection == "local":
            return HostConfig(name=self.name, address="", transport="local")
        if connection not in _SSH_CONNECTIONS:
            raise self._error("ansible_connection", f"{quoted(connection)} is not ssh or local")
        jump, ssh_config, options = self._arguments()
        key_file = self._text("ansible_ssh_private_key_file", "ansible_private_key_file")
        address = self._text("ansible_host", "ansible_ssh_host") or self.name
        if address.startswith("-") or not address.isprintable() or " " in address:
            raise ConfigError(f"{quoted(address)} is not an address", path=self.path, key=self.name)
        return HostConfig(
            name=self.name,
            address=address,
            port=self._port(),
            user=self._text("ansible_user", "ansible_ssh_user"),
            identity_files=(str(Path(key_file).expanduser()),) if key_file else (),
            jump=jump,
            ssh_config=ssh_config,
            options=options,
        )
