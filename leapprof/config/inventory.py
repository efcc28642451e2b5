"""Which hosts a command is about: names of an inventory, its groups, ssh aliases, ``user@host:port``."""

from collections.abc import Sequence
from pathlib import Path

from leapprof.config.targets import parse_target
from leapprof.model.access import HostConfig

__all__ = ["HostConfig", "resolve_hosts"]


def resolve_hosts(names: Sequence[str], inventory: Path | None) -> tuple[HostConfig, ...]:
    """Return the hosts of these names, in their order, each once.

    Args:
        names: inventory names, groups, ssh aliases, ``user@host:port``, ``local``.
        inventory: the file to look names up in; None: no inventory.

    Raises:
        ConfigError: the inventory or a name is wrong.
    """
    return tuple({name: parse_target(name) for name in names}.values())
