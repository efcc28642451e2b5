"""The program itself: quick help, listed commands, exit codes."""

import subprocess
import sys

import pytest

from leapprof.cli.main import COMMANDS, GROUPS

HEAVY = ("numpy", "pandas", "scipy", "plotly", "paramiko", "pyarrow", "rich.markdown", "leapprof.model")


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run leapprof as a program."""
    program = "import sys; from leapprof.cli.main import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=60, check=False
    )


def test_help_lists_every_command_and_imports_nothing_heavy() -> None:
    """Who asks for help does not wait for libraries."""
    program = (
        "import sys\nfrom leapprof.cli.main import main\nsys.argv = ['leapprof', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print('loaded:', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert "loaded: []" in done.stdout
    assert all(name in done.stdout for name in (*COMMANDS, *GROUPS))


def test_the_list_fits_80_columns() -> None:
    """No line of the list is cut."""
    assert "..." not in run("--help").stdout.split("Commands:")[1]


@pytest.mark.parametrize("name", [*COMMANDS, *GROUPS])
def test_every_command_has_help(name: str) -> None:
    """`leapprof COMMAND --help` explains the command."""
    done = run(name, "--help")
    assert done.returncode == 0
    assert "Usage: " in done.stdout


def test_an_unknown_command_is_a_usage_error() -> None:
    """A wrong word ends with 2 and no traceback."""
    done = run("recrod")
    assert done.returncode == 2
    assert "recrod" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_printed() -> None:
    """`--version` names the program."""
    assert run("--version").stdout.startswith("leapprof ")


def test_a_recording_that_is_none_ends_with_5() -> None:
    """The message says what was looked for."""
    done = run("show", "/nonexistent/recording")
    assert done.returncode == 5
    assert "/nonexistent/recording" in done.stderr
    assert "Traceback" not in done.stderr
