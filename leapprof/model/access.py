"""How a host is reached and what the operator says about it: what the inventory hands to the sources."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeosSelector:
    """How a nodeos process on a host is recognised.

    Attributes:
        id: its short name within recordings.
        kind: ``exe_name``, ``comm``, ``cmdline``, ``pid`` or ``unit``.
        value: what to look for.
    """

    id: str
    kind: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRating:
    """What the operator knows of a drive.

    Attributes:
        device: kernel name.
        drive: model as in the table of drive ratings; None when not said.
        rated_tbw: decimal TB; None when not said.
        dwpd: drive writes a day; None when not said.
    """

    device: str
    drive: str | None = None
    rated_tbw: float | None = None
    dwpd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostConfig:
    """One host as the operator named it, with everything needed to reach it.

    Attributes:
        name: as the operator called it; recordings and messages use it.
        address: host name, address or ssh alias that is handed to ssh; empty for ``local``.
        port, user: None: as ssh's own configuration says.
        transport: ``ssh`` (paramiko), ``openssh`` (the system's ssh), ``local`` or ``replay``.
        ssh_config: file to read instead of the user's and the system's ssh configuration (``ssh -F``).
        known_hosts: files to use instead of those that ssh's configuration names.
        identity_files: private keys to try before those that ssh's configuration names.
        options: further ssh options, ``name=value``, as after ``ssh -o``.
        replay: file of wire bytes when transport is ``replay``.
        nodeos: how to recognise nodeos processes; empty: by the executable's name.
        devices: what is known of its drives.
        commands: commands that the operator allows, by name, each an argv.
        region: free label for reports.
        jump: ProxyJump that replaces that of ssh's configuration; None: as configured.
    """

    name: str
    address: str
    port: int | None = None
    user: str | None = None
    transport: str = "ssh"
    ssh_config: str | None = None
    known_hosts: tuple[str, ...] = ()
    identity_files: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    replay: str | None = None
    nodeos: tuple[NodeosSelector, ...] = ()
    devices: tuple[DeviceRating, ...] = ()
    commands: dict[str, tuple[str, ...]] = field(default_factory=dict)
    region: str | None = None
    jump: str | None = None
