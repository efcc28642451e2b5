"""Golden files of reports: ``LEAPPROF_UPDATE_GOLDEN=1 pytest tests/report`` writes them anew."""

import os
import re
from pathlib import Path

import pytest

from leapprof import __version__

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def snapshot_file():
    """Compare a text with its golden file, whatever the version of leapprof."""

    def check(name, text):
        shown = re.sub(re.escape(__version__), "VERSION", text)
        path = GOLDEN / name
        if os.environ.get("LEAPPROF_UPDATE_GOLDEN"):
            path.parent.mkdir(exist_ok=True)
            path.write_text(shown, encoding="utf-8")
        assert shown == path.read_text(encoding="utf-8")

    return check
