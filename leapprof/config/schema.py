"""What may stand in ``leapprof.toml``: pydantic checks it strictly, then frozen dataclasses take over.

Example::

    [defaults]
    user = "ops"

    [hosts.eos-1]
    address = "10.0.0.11"
    nodeos = ["eos=unit:nodeos-eos.service"]
    commands.smart = ["sudo", "-n", "smartctl", "--json=c", "-a", "/dev/nvme0"]
    devices.nvme0n1 = { rated_tbw = 600 }

    [groups.eos]
    hosts = ["eos-1"]
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from leapprof.config.commands import ALLOWED, is_allowed

Text = Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00-\x1f\x7f]*$")]
Address = Annotated[
    str, StringConstraints(min_length=1, max_length=255, pattern=r"^[^-\s\x00-\x1f][^\s\x00-\x1f]*$")
]
Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.\-]*$", max_length=100)]


def _reading(argv: list[str]) -> list[str]:
    if not is_allowed(argv):
        raise ValueError(f"not a command that only reads; known are {', '.join(ALLOWED)} (docs/security.md)")
    return argv


Argv = Annotated[list[Text], AfterValidator(_reading)]


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class DeviceSchema(_Strict):
    """[hosts.NAME.devices.DEVICE]."""

    drive: Text | None = None
    rated_tbw: Annotated[float, Field(gt=0, lt=1e9, allow_inf_nan=False)] | None = None
    dwpd: Annotated[float, Field(gt=0, lt=1e6, allow_inf_nan=False)] | None = None


class DefaultsSchema(_Strict):
    """[defaults]: for every host of the file that does not say otherwise."""

    user: Text | None = None
    port: Annotated[int, Field(ge=1, le=65535)] | None = None
    transport: Literal["ssh", "openssh", "local", "replay"] | None = None
    ssh_config: Text | None = None
    known_hosts: list[Text] | None = None
    identity_files: list[Text] | None = None
    options: list[Text] | None = None
    jump: Text | None = None
    nodeos: list[Text] | None = None
    commands: dict[Name, Argv] | None = None
    region: Text | None = None


class HostSchema(DefaultsSchema):
    """[hosts.NAME]."""

    address: Address | None = None
    replay: Text | None = None
    devices: dict[Name, DeviceSchema] = Field(default_factory=dict)


class GroupSchema(_Strict):
    """[groups.NAME]: hosts and other groups."""

    hosts: list[Name]


class InventorySchema(_Strict):
    """The whole file."""

    defaults: DefaultsSchema = Field(default_factory=DefaultsSchema)
    hosts: dict[Name, HostSchema] = Field(default_factory=dict)
    groups: dict[Name, GroupSchema] = Field(default_factory=dict)
    ansible: Text | None = None
