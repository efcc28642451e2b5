"""The documentation says what the code does: generated pages are current, commands exist, links lead somewhere."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from leapprof.config.inventory import resolve_hosts
from leapprof.config.schema import HostSchema

ROOT = Path(__file__).parent.parent.parent
PAGES = runpy.run_path(str(ROOT / "scripts" / "make_docs.py"))["PAGES"]
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "samples" / "README.md",
    *(ROOT / "docs").glob("*.md"),
]
PROGRAM = "import sys; from leapprof.cli.main import main; main()"


def run(command: str) -> "subprocess.CompletedProcess[str]":
    """Run a leapprof command line of the documentation."""
    words = command.split()[1:]
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=ROOT,
    )


@pytest.mark.parametrize("name", PAGES)
def test_generated_pages_are_current(name: str) -> None:
    """`python scripts/make_docs.py` would change nothing."""
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == PAGES[name]()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    """Every relative link names a file that is there."""
    text = document.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!http)([^)#]+)", text)
    missing = [link for link in links if not (document.parent / link).exists()]
    assert missing == []


def _anchors(document: Path) -> set[str]:
    """Return what the headings of a page are called in links, as GitHub makes it of them."""
    heads = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_into_pages_lead_to_a_heading(document: Path) -> None:
    """Also those into the page itself."""
    links = re.findall(r"\]\((?!http)([^)#]*)#([^)]+)\)", document.read_text(encoding="utf-8"))
    missing = [
        (name, at) for name, at in links if at not in _anchors(document.parent / name if name else document)
    ]
    assert missing == []


@pytest.mark.parametrize("name", ["README.md", "ARCHITECTURE.md", "samples/README.md"])
def test_files_that_are_named_are_there(name: str) -> None:
    """Whoever adds a version or a command finds the place."""
    named = re.findall(r"`([\w.-]+/[\w./-]*)`", (ROOT / name).read_text(encoding="utf-8"))
    assert [
        p
        for p in named
        if not any((base / p).exists() for base in (ROOT, ROOT / "leapprof", (ROOT / name).parent))
    ] == []


def test_the_inventory_page_names_every_key_and_its_example_is_accepted(tmp_path: Path) -> None:
    """What the schema takes is on the page, and what is to be copied works."""
    text = (ROOT / "docs" / "inventory.md").read_text(encoding="utf-8")
    assert [key for key in HostSchema.model_fields if f"`{key}" not in text] == []
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "hosts.toml"
    file.write_text(example, encoding="utf-8")
    assert [host.name for host in resolve_hosts(["all"], file)] == ["eos-1", "wax-1"]
    assert resolve_hosts(["eos"], file)[0].user == "leapprof"


def _commands() -> list[str]:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    lines = [
        line.removeprefix("$ ").split(" #")[0].strip() for block in blocks for line in block.splitlines()
    ]
    return [line for line in lines if line.startswith("leapprof ")]


def test_the_readme_shows_commands() -> None:
    """There is something to check."""
    assert len(_commands()) >= 5


@pytest.mark.parametrize("command", _commands())
def test_options_of_the_readme_exist(command: str) -> None:
    """Every option that the README uses is one of its command's."""
    words = command.split()
    options = {word.split("=")[0] for word in words if word.startswith("--")}
    names = words[1:3] if words[1] == "config" else words[1:2]
    shown = run(" ".join(["leapprof", *names, "--help"]))
    assert shown.returncode == 0
    assert {option for option in options if option not in shown.stdout} == set()


@pytest.mark.parametrize("command", [c for c in _commands() if "samples/" in c])
def test_commands_on_samples_run(command: str) -> None:
    """What the README shows on samples works as it stands there."""
    done = run(command)
    assert done.returncode == 0, done.stderr
    assert done.stdout
