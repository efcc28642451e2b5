"""The program itself: quick help, listed commands, exit codes."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_group

from leapprof.cli.main import COMMANDS, EXIT_CODES, GROUPS, MODULES

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "nodeos-v5" / "mapped"
PROGRAM = (sys.executable, "-c", "import sys; from leapprof.cli.main import main; main()")

HEAVY = ("numpy", "pandas", "scipy", "plotly", "paramiko", "pyarrow", "rich.markdown", "leapprof.model")


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run leapprof as a program."""
    return subprocess.run([*PROGRAM, *arguments], capture_output=True, text=True, timeout=60, check=False)


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


@pytest.mark.parametrize("words", [(), *((name,) for name in GROUPS)])
def test_the_list_fits_80_columns(words: tuple[str, ...]) -> None:
    """No line of the list of commands is cut."""
    assert "..." not in run(*words, "--help").stdout.split("Commands:")[1]


def test_the_help_ends_with_the_exit_codes() -> None:
    """The same that the README says."""
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    for code in (0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 130):
        assert re.search(rf"\b{code} \w", EXIT_CODES), code
        assert re.search(rf"\b{code} \w", readme.split("Exit codes: ")[1].split(" is kept")[0]), code
    assert "Exit codes" in run("--help").stdout


def _commands() -> list[tuple[str, ...]]:
    called = [(name,) for name in COMMANDS]
    for group in GROUPS:
        app = get_group(importlib.import_module(f"leapprof.cli.{MODULES.get(group, group)}").app)
        called += [(group, name) for name in app.commands]
    return called


@pytest.mark.parametrize("words", _commands(), ids=" ".join)
def test_every_command_shows_an_example_that_it_accepts(words: tuple[str, ...]) -> None:
    """The example names the command, and each of its options is one that the help lists."""
    shown = " ".join(run(*words, "--help").stdout.split())
    example = shown.split("Example: ")[1]
    assert example.startswith(f"leapprof {' '.join(words)} ")
    assert all(option in shown.split("Example: ")[0] for option in re.findall(r"--[a-z-]+", example))
    assert not re.search(r"--[a-z-]+ <[^|>]*>", shown), "an option without a word for its value"


def test_an_unknown_command_is_a_usage_error() -> None:
    """A wrong word ends with 2 and no traceback."""
    done = run("recrod")
    assert done.returncode == 2
    assert "recrod" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_version_is_printed() -> None:
    """`--version` names the program."""
    assert run("--version").stdout.startswith("leapprof ")


def test_a_recording_that_is_none_ends_with_2() -> None:
    """The message says what was looked for."""
    done = run("show", "/nonexistent/recording")
    assert done.returncode == 2
    assert "/nonexistent/recording" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("record", "local"),
        ("compare",),
        ("export", "/nonexistent"),
        ("import", "sysstat", "/nonexistent"),
        ("latency", "rtt", "127.0.0.1:1"),
        ("fleet", "--pairs", "/nonexistent"),
    ],
    ids=" ".join,
)
def test_results_that_cannot_be_written_are_refused_at_once(words: tuple[str, ...], tmp_path: Path) -> None:
    """Before anything is asked or measured: exit code 2, the directory, and what to do; nothing is left behind."""
    (tmp_path / "file").touch()
    done = run(*words, "--out", str(tmp_path / "file" / "below"))
    assert done.returncode == 2
    assert f"{tmp_path}/file/below: --out: cannot write there" in done.stderr
    assert "give a directory that you may write" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize(
    "words", [("show", str(SAMPLE)), ("show", str(SAMPLE), "--json"), ("record", "--help")]
)
def test_a_reader_that_leaves_changes_no_exit_code(words: tuple[str, ...]) -> None:
    """As `leapprof show … | head` does; nothing is said about it."""
    reads, writes = os.pipe()
    os.close(reads)
    done = subprocess.run([*PROGRAM, *words], stdout=writes, stderr=subprocess.PIPE, timeout=60, check=False)
    os.close(writes)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", [("show", str(SAMPLE)), ("--help",)])
def test_output_onto_a_full_disk_is_said_in_one_line(words: tuple[str, ...]) -> None:
    """`leapprof show … > file`: exit code 5, no traceback."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert done.returncode == 5
    assert done.stderr == b"leapprof: standard output: cannot be written: No space left on device\n"
