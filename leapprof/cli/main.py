"""The `leapprof` program: lists the commands and turns our errors into exit codes."""

import importlib
import importlib.util
import sys
from typing import Annotated, Any

import typer

from leapprof import __version__
from leapprof.errors import LeapprofError

COMMANDS = ("demo", "doctor", "record", "agents", "show", "compare", "wear", "export")
GROUPS = ("config",)

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    help="Before-and-after profiling of hosts that run Antelope nodes: CPU, memory, swap, drive wear.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"leapprof {__version__}\n")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


def _module(name: str) -> Any:  # noqa: ANN401 - modules of commands
    return importlib.import_module(f"leapprof.cli.{name}")


for _name in COMMANDS:
    if importlib.util.find_spec(f"leapprof.cli.{_name}"):
        app.command(_name)(_module(_name).command)
for _name in GROUPS:
    if importlib.util.find_spec(f"leapprof.cli.{_name}"):
        app.add_typer(_module(_name).app, name=_name)


def main() -> None:
    """Run the program; what we know of ends with its exit code and one message, never a traceback."""
    try:
        app()
    except LeapprofError as error:
        sys.stderr.write(f"leapprof: {error}\n")
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        sys.stderr.write("leapprof: interrupted\n")
        raise SystemExit(130) from None
    except BrokenPipeError:
        raise SystemExit(0) from None
