"""The page of faults is that of the tests."""

import ast
import re
from pathlib import Path

from tests.faults.table import FAULTS, PAGE, page

HERE = Path(__file__).parent
FIGURE = re.compile(r"\|[^|\n]*\|(?= \[)")
OUTCOME = re.compile(r" \*\*\((left out here|failed|did not run)\)\*\*")


def test_the_page_of_faults_is_current() -> None:
    """docs/faults.md is what `python -m tests.faults.table` writes, but for figures and tests that were left out."""
    written = PAGE.read_text(encoding="utf-8")
    assert FIGURE.sub("|  |", OUTCOME.sub("", written)) == page()
    assert "failed" not in OUTCOME.findall(written)


def test_every_test_of_this_folder_is_in_the_page() -> None:
    """A fault that is planted is told."""
    named = {test for fault in FAULTS for test in fault.tests}
    for path in HERE.glob("test_*.py"):
        if path == Path(__file__):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                assert f"faults/{path.name}::{node.name}" in named
