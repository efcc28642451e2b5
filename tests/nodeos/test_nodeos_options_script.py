"""The maintainer's script that makes an option table."""

import importlib.util
import json
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parent / "data"
LOADER = SourceFileLoader("nodeos_options", str(ROOT / "scripts" / "nodeos-options"))


@pytest.fixture(scope="module")
def script():
    """Return the script as a module."""
    spec = importlib.util.spec_from_loader("nodeos_options", LOADER)
    module = importlib.util.module_from_spec(spec)
    LOADER.exec_module(module)
    return module


def arguments(version, *more):
    """Return the arguments for what a version printed."""
    files = [
        "--help-text",
        str(DATA / f"help-{version}.txt"),
        "--config",
        str(DATA / f"default-{version}.ini"),
    ]
    return ["--version", f"leap-{version}", *files, *more]


@pytest.mark.parametrize("version", ["4.0.6", "5.0.3"])
def test_the_tables_agree_with_what_the_programs_print(script, capsys, version):
    """Names, defaults, plugins and places of every option are those of a real nodeos."""
    assert script.main(arguments(version, "--check")) == 0, capsys.readouterr().out


@pytest.mark.parametrize("version", ["4.0.6", "5.0.3"])
def test_the_script_makes_the_file_that_is_in_the_package(script, capsys, version):
    """Running it again gives the same bytes."""
    assert script.main(arguments(version)) == 0
    table = ROOT / "leapprof" / "nodeos" / "options" / f"leap-{version}.json"
    assert capsys.readouterr().out == table.read_text(encoding="utf-8")


def test_new_options_are_listed_to_be_looked_up(script, capsys):
    """Made from the table before, 5.0.3 has three options whose type is not known."""
    assert script.main(arguments("5.0.3", "--like", "leap-4.0.6")) == 0
    printed = capsys.readouterr()
    listed = {line.split(":")[0] for line in printed.err.splitlines() if not line.startswith("eos-vm-oc")}
    assert listed == {"http-category-address", "produce-block-offset-ms", "sync-peer-limit"}
    assert json.loads(printed.out)["options"]["sync-peer-limit"]["default"] == "3"


def test_a_wrong_table_is_found_out(script, capsys):
    """4.0.6's output does not pass for 5.0.3."""
    wrong = arguments("4.0.6", "--check")
    wrong[1] = "leap-5.0.3"
    assert script.main(wrong) == 1
    assert "sync-fetch-span: default is '1000' in the table, '100' printed" in capsys.readouterr().out


def test_no_prose_and_no_key_goes_into_a_table(script, capsys):
    """The description of options and the default key stay out."""
    script.main(arguments("5.0.3"))
    printed = capsys.readouterr().out
    assert "5KQwrPbwd" not in printed
    assert "(may specify multiple times)" not in printed
