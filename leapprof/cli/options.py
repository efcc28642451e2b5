"""Options that several commands share. Light: `leapprof --help` imports every command."""

from pathlib import Path
from typing import Annotated

import typer

HostsArgument = Annotated[
    list[str],
    typer.Argument(help="Inventory names, groups, ssh aliases, user@host:port, or local.", metavar="HOST…"),
]
InventoryOption = Annotated[Path | None, typer.Option("--inventory", help="TOML file of hosts.")]
TransportOption = Annotated[
    str | None, typer.Option("--transport", help="ssh, openssh or local, instead of what the inventory says.")
]
NodeosOption = Annotated[
    list[str] | None,
    typer.Option(
        "--nodeos",
        help="Which nodeos: exe:NAME, unit:NAME, pid:NUMBER, pid-file:PATH, data-dir:PATH, port:NUMBER, name:NAME "
        "(as doctor prints it), comm:NAME or cmdline:TEXT; ID= in front names it. Again for another one.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Results as JSON on stdout.")]
