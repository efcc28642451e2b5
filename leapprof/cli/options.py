"""Options that several commands share. Light: `leapprof --help` imports every command."""

import contextlib
import errno
from pathlib import Path
from typing import Annotated

import typer

from leapprof.errors import ConfigError

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)  # said by who writes, with what was kept


def check_writable(directory: Path | None) -> Path | None:
    """Return a directory for results after a file was made, and removed, there or in the nearest one above it.

    Raises:
        ConfigError: it cannot be written, which is known before anything is measured or computed.
    """
    if directory is None:
        return None
    probe = Path(f".leapprof-{id(directory)}")
    try:
        nearest = next(path for path in (directory, *directory.absolute().parents) if path.exists())
        (nearest / probe).touch(mode=0o600)
    except OSError as error:
        if error.errno in _DISK_FULL:
            return directory
        problem = f"cannot write there ({error.strerror}); give a directory that you may write"
        raise ConfigError(problem, path=str(directory), key="--out") from error
    with contextlib.suppress(OSError):
        (nearest / probe).unlink()
    return directory


RecordingsOption = Annotated[
    Path, typer.Option("--out", help="Directory for recordings.", callback=check_writable, metavar="DIR")
]
HostsArgument = Annotated[
    list[str],
    typer.Argument(help="Inventory names, groups, ssh aliases, user@host:port, or local.", metavar="HOST"),
]
InventoryOption = Annotated[
    Path | None, typer.Option("--inventory", help="TOML file of hosts.", metavar="FILE")
]
TransportOption = Annotated[
    str | None,
    typer.Option(
        "--transport", help="ssh, openssh or local, instead of what the inventory says.", metavar="NAME"
    ),
]
NodeosOption = Annotated[
    list[str] | None,
    typer.Option(
        "--nodeos",
        help="Which nodeos: exe:NAME, unit:NAME, pid:NUMBER, pid-file:PATH, data-dir:PATH, port:NUMBER, name:NAME "
        "(as doctor prints it), comm:NAME or cmdline:TEXT; ID= in front names it. Again for another one.",
        metavar="SELECTOR",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Results as JSON on stdout.")]
