"""reports/ is what samples/ give today: made again, nothing differs."""

import json
from pathlib import Path
from typing import Any

import pytest

from leapprof.report import Format, write
from samples.make_reports import CASES, REPORTS, ReportCase

LAST_DIGITS = 1e-9  # sums of floats may be added in another order on another CPU


def same(found: Any, kept: Any) -> bool:
    """Return whether two JSON values agree but for the last digits of floats."""
    if isinstance(kept, dict):
        return (
            isinstance(found, dict)
            and found.keys() == kept.keys()
            and all(same(found[k], kept[k]) for k in kept)
        )
    if isinstance(kept, list):
        return len(found) == len(kept) and all(same(a, b) for a, b in zip(found, kept, strict=True))
    if isinstance(kept, float):
        return found == pytest.approx(kept, rel=LAST_DIGITS, abs=LAST_DIGITS)
    return bool(found == kept)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.folder)
def test_a_report_is_current(case: ReportCase, tmp_path: Path) -> None:
    """`make reports` would change neither what it says nor the figures behind it."""
    write(case.make(), tmp_path, frozenset({Format.MD, Format.JSON}), public=False)
    kept = REPORTS / case.folder
    assert (tmp_path / "report.md").read_text("utf-8") == (kept / "report.md").read_text("utf-8")
    assert same(
        json.loads((tmp_path / "report.json").read_text()), json.loads((kept / "report.json").read_text())
    )


def test_every_report_is_made_from_samples() -> None:
    """No folder of reports/ is left over or missing, and each has its page."""
    assert {path.name for path in REPORTS.iterdir() if path.is_dir()} == {case.folder for case in CASES}
    assert all((REPORTS / case.folder / "report.html").is_file() for case in CASES)
