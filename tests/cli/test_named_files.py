"""One mistake, one exit code: what was named and is not there is 2 in every command; what stands in it is 4 or 5."""

from pathlib import Path

import pytest

from leapprof.cli.main import EXIT_CODES
from tests.support.program import leapprof

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "samples" / "nodeos-v5-long" / "mapped"
NAMING = (
    "show FILE",
    "wear FILE",
    "wear SAMPLE --smart vda=FILE",
    "wear SAMPLE --ratings FILE",
    "wear SAMPLE --inventory FILE",
    "wear SAMPLE --hypervisor FILE",
    "wear SAMPLE --what-if FILE FILE",
    "compare FILE SAMPLE --out OUT",
    "compare FILE --out OUT",
    "compare SAMPLE SAMPLE SAMPLE FILE --out OUT",
    "compare SAMPLE FILE --inventory FILE --out OUT",
    "export FILE --out OUT",
    "fleet --pairs FILE --out OUT",
    "config check FILE --target leap-5.0",
    "config check /dev/null --target leap-5.0 --recording FILE",
    "config diff FILE /dev/null",
    "import sysstat FILE --out OUT",
    "import csv FILE --mapping FILE --out OUT",
    "import benchmark-nodeos FILE --out OUT",
    "import smart FILE --host eos-1 --out OUT",
    "import prometheus http://127.0.0.1:9 --start 2024-01-15T00:00:00Z --end 2024-01-16T00:00:00Z --out OUT "
    "--token-file FILE",
    "run FILE",
    "run FILE --status",
    "record eos-1 --inventory FILE --out OUT",
    "doctor eos-1 --inventory FILE",
    "agents eos-1 --inventory FILE",
    "latency table FILE",
    "latency request http://127.0.0.1:9 --body FILE --out OUT",
    "latency stream --log FILE --out OUT",
    "latency forward --captures FILE FILE --out OUT",
)
"""Every way to name a file or a recording, but those that need a server to be asked first."""


def words(text: str, file: Path, tmp_path: Path) -> list[str]:
    """Return the words of a command line of NAMING."""
    places = {"FILE": str(file), "SAMPLE": str(SAMPLE), "OUT": str(tmp_path / "out")}
    return [places.get(word, word.replace("=FILE", f"={file}")) for word in text.split()]


@pytest.mark.parametrize("text", NAMING)
def test_what_was_named_and_is_not_there_is_2(tmp_path: Path, text: str) -> None:
    """The message names it, and nothing is made."""
    missing = tmp_path / "missing"
    done = leapprof(*words(text, missing, tmp_path))
    assert (done.code, str(missing) in done.err, done.out) == (2, True, ""), done
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["show", "wear", "export --out OUT", "latency table"])
def test_a_directory_of_recordings_names_them_and_the_command(tmp_path: Path, command: str) -> None:
    """Who names the directory above sees what lies in it, and a command line that works."""
    name, *rest = command.split(" --")
    line = f"{name} FILE" + (f" --{rest[0]}" if rest else "")
    done = leapprof(*words(line, SAMPLE.parent, tmp_path))
    assert done.code == 2
    assert f"holds 2: {SAMPLE}, {SAMPLE}_private; name one of them" in done.err
    example = done.err.split("for example: leapprof ")[1].split()
    assert example == words(line, SAMPLE, tmp_path)


def test_compare_of_a_directory_of_directories_names_recordings() -> None:
    """The first three of many, and how many more there are; one level below or two."""
    for directory, more in (("nodeos-v5", "and 1 more"), (".", "more; name one of them")):
        done = leapprof("compare", str(ROOT / "samples" / directory))
        assert done.code == 2
        assert done.err.count(f"{ROOT / 'samples'}/") >= 3
        assert more in done.err


def test_the_help_says_what_2_is() -> None:
    """The list of exit codes names files and directories."""
    assert "2 usage, or a file or directory that was named;" in EXIT_CODES
