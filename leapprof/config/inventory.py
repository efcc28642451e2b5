"""Which hosts a command is about: names of an inventory, its groups, ssh aliases, ``user@host:port``.

An inventory is ``leapprof.toml`` (schema.py), or an Ansible inventory in INI or YAML form.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from leapprof.config.ansible import AnsibleInventory
from leapprof.config.schema import DefaultsSchema, HostSchema, InventorySchema
from leapprof.config.secrets import ADVICE, is_secret_key
from leapprof.config.selector import parse_selector
from leapprof.config.targets import parse_target
from leapprof.errors import ConfigError, quoted, unreadable
from leapprof.model.access import DeviceRating, HostConfig

__all__ = ["HostConfig", "Inventory", "read_inventory", "resolve_hosts"]

MAX_FILE_BYTES = 16 * 1024 * 1024
MAX_PROBLEMS_SHOWN = 3
_ALL = "all"


class Inventory(Protocol):
    """Names and the hosts that they mean."""

    def hosts_of(self, name: str) -> tuple[str, ...] | None:
        """Return the names of a group's hosts; None when there is no such group."""

    def find(self, name: str) -> HostConfig | None:
        """Return the host of that name; None when there is none."""


@dataclass(frozen=True, slots=True)
class _Ansible:
    inventory: AnsibleInventory

    def hosts_of(self, name: str) -> tuple[str, ...] | None:
        return self.inventory.hosts_of(name)

    def find(self, name: str) -> HostConfig | None:
        return self.inventory.host(name) if self.inventory.has_host(name) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Toml:
    path: str
    hosts: Mapping[str, HostConfig]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ansible: _Ansible | None = None

    def hosts_of(self, name: str) -> tuple[str, ...] | None:
        if name == _ALL and name not in self.groups:
            more = self.ansible.hosts_of(name) if self.ansible else None
            return tuple(dict.fromkeys((*self.hosts, *(more or ()))))
        if name in self.groups:
            return tuple(dict.fromkeys(self._walk(name, set())))
        return self.ansible.hosts_of(name) if self.ansible else None

    def _walk(self, name: str, seen: set[str]) -> Iterator[str]:
        seen.add(name)
        for member in self.groups[name]:
            if self.find(member) is not None:
                yield member
            elif member in self.groups:
                if member not in seen:
                    yield from self._walk(member, seen)
            else:
                raise ConfigError(
                    f"{quoted(member)} is neither a host nor a group of this file",
                    path=self.path,
                    key=f"groups.{name}.hosts",
                )

    def find(self, name: str) -> HostConfig | None:
        found = self.hosts.get(name)
        if found is None and self.ansible is not None:
            return self.ansible.find(name)
        return found


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        if len(data) > MAX_FILE_BYTES:
            raise ConfigError(f"is larger than {MAX_FILE_BYTES} bytes: no inventory", path=str(path))
        return data.decode("utf-8")
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise ConfigError("is not UTF-8 text", path=str(path)) from error


def read_inventory(path: Path) -> Inventory:
    """Read an inventory file: ``.toml`` is leapprof's own, ``.yml``, ``.yaml`` and ``.json`` Ansible's, else INI.

    Raises:
        ConfigError: it cannot be read; the message names file and key or line.
    """
    text = _read_text(path)
    if path.suffix == ".toml":
        return _read_toml(text, path)
    if path.suffix in (".yml", ".yaml", ".json"):
        from leapprof.config.ansible_yaml import parse_yaml

        return _Ansible(parse_yaml(text, str(path)))
    from leapprof.config.ansible_ini import parse_ini

    return _Ansible(parse_ini(text, str(path)))


def _secret_keys(value: object, key: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            here = f"{key}.{name}" if key else name
            if is_secret_key(name):
                yield here
            yield from _secret_keys(inner, here)


def _explain(error: ValidationError, path: Path) -> ConfigError:
    """Return the error that names file and key of what is wrong; the values are not shown."""
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    keys = [".".join(str(part) for part in problem["loc"]) for problem in problems]
    texts = [problem["msg"] for problem in problems]
    more = [f"{key}: {text}" for key, text in zip(keys[1:], texts[1:], strict=True)][: MAX_PROBLEMS_SHOWN - 1]
    return ConfigError("; ".join([texts[0], *more]), path=str(path), key=keys[0])


def _read_toml(text: str, path: Path) -> _Toml:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigError(f"is not TOML: {error}", path=str(path)) from error
    for key in _secret_keys(document):
        raise ConfigError(ADVICE, path=str(path), key=key)
    try:
        schema = InventorySchema.model_validate(document)
    except ValidationError as error:
        raise _explain(error, path) from error
    ansible = None
    if schema.ansible is not None:
        other = read_inventory(Path(_relative(schema.ansible, path)))
        if not isinstance(other, _Ansible):
            raise ConfigError("names another leapprof.toml", path=str(path), key="ansible")
        ansible = other
    for name in schema.groups:
        if name in schema.hosts:
            raise ConfigError("is a host and a group", path=str(path), key=name)
    return _Toml(
        path=str(path),
        hosts={name: _host(name, host, schema.defaults, path) for name, host in schema.hosts.items()},
        groups={name: tuple(group.hosts) for name, group in schema.groups.items()},
        ansible=ansible,
    )


def _relative(name: str, path: Path) -> str:
    """Return a file that an inventory names, seen from the inventory's directory."""
    return str(path.parent / Path(name).expanduser())


def _host(name: str, host: HostSchema, defaults: DefaultsSchema, path: Path) -> HostConfig:
    """Return a host with the defaults where it says nothing itself."""
    own = {key: value for key, value in host.model_dump().items() if value is not None}
    said = {key: value for key, value in defaults.model_dump().items() if value is not None} | own
    transport = said.get("transport", "replay" if host.replay else "ssh")
    try:
        nodeos = tuple(parse_selector(text) for text in said.get("nodeos", ()))
    except ConfigError as error:
        raise ConfigError(error.problem, path=str(path), key=f"hosts.{name}.nodeos") from error
    if transport == "replay" and not host.replay:
        raise ConfigError(
            "transport replay needs a file to replay", path=str(path), key=f"hosts.{name}.replay"
        )
    return HostConfig(
        name=name,
        address="" if transport == "local" else said.get("address", name),
        port=said.get("port"),
        user=said.get("user"),
        transport=transport,
        ssh_config=_relative(said["ssh_config"], path) if "ssh_config" in said else None,
        known_hosts=tuple(_relative(file, path) for file in said.get("known_hosts", ())),
        identity_files=tuple(_relative(file, path) for file in said.get("identity_files", ())),
        options=tuple(said.get("options", ())),
        replay=_relative(host.replay, path) if host.replay else None,
        nodeos=nodeos,
        devices=tuple(
            DeviceRating(device=device, drive=rating.drive, rated_tbw=rating.rated_tbw, dwpd=rating.dwpd)
            for device, rating in host.devices.items()
        ),
        commands={key: tuple(argv) for key, argv in said.get("commands", {}).items()},
        region=said.get("region"),
        jump=said.get("jump"),
    )


def _of_name(name: str, inventory: Inventory | None) -> tuple[HostConfig, ...]:
    if inventory is None:
        return (parse_target(name),)
    found = inventory.find(name)
    if found is not None:
        return (found,)
    members = inventory.hosts_of(name)
    if members is None:
        return (parse_target(name),)
    return tuple(host for member in members if (host := inventory.find(member)) is not None)


def resolve_hosts(names: Sequence[str], inventory: Path | None) -> tuple[HostConfig, ...]:
    """Return the hosts of these names, in their order, each once.

    A name that the inventory does not have is taken as ssh alias or host name.

    Args:
        names: inventory names, groups (``all``: every host of the inventory), ssh aliases,
            ``user@host:port``, ``local``.
        inventory: the file to look names up in; None: no inventory.

    Raises:
        ConfigError: the inventory or a name is wrong, or a group is empty.
    """
    known = read_inventory(inventory) if inventory is not None else None
    hosts: dict[str, HostConfig] = {}
    for name in names:
        found = _of_name(name, known)
        if not found:
            raise ConfigError("the group has no hosts", path=str(inventory), key=name)
        for host in found:
            hosts.setdefault(host.name, host)
    return tuple(hosts.values())
