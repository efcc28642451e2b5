"""Numbers in a manifest of somebody else: zero, negative, as large as 64 bits hold; texts where facts are numbers."""

import json
import random
import shutil
from pathlib import Path

import pytest

from leapprof.model import Host
from tests.support.program import leapprof

SAMPLES = Path(__file__).parent.parent.parent / "samples" / "nodeos-v5"
INTEGERS = (0, -1, 1, 10**15, 2**63 - 1, -(2**63))
NUMBERS = (0.0, -1.0, 5e-324, 1e308, -1e308)
TEXTS = ("", "-1", "9" * 400, "²", "nan", "1e999")
CODES = (0, 2, 4, 5, 6, 10, 11, 12, 13)


def changed(document: object, rng: random.Random, share: float) -> object:
    """Return a JSON value with a share of its numbers, and of the texts of facts, replaced."""
    if isinstance(document, dict):
        return {key: changed(value, rng, share) for key, value in document.items()}
    if isinstance(document, list):
        return [changed(value, rng, share) for value in document]
    if isinstance(document, bool) or document is None or rng.random() > share:
        return document
    choices = {int: INTEGERS, float: NUMBERS, str: (document, *TEXTS)}
    return rng.choice(choices[type(document)])


@pytest.mark.parametrize("seed", range(6))
def test_no_number_of_a_manifest_ends_a_command(tmp_path: Path, seed: int) -> None:
    """Shown, forecast, exported and compared, or refused with a message."""
    rng = random.Random(seed)
    pair = []
    for name in ("mapped", "mapped_private"):
        shutil.copytree(SAMPLES / name, tmp_path / name)
        path = tmp_path / name / "recording.json"
        document = changed(json.loads(path.read_text()), rng, (0.02, 0.1, 0.5)[seed % 3])
        path.write_text(json.dumps({**document, "format": 1}))  # type: ignore[dict-item]
        pair.append(str(tmp_path / name))
    for words in (
        ("show", pair[0]),
        ("wear", pair[0]),
        ("export", pair[0], "--format", "openmetrics", "--out", str(tmp_path / "metrics")),
        ("compare", *pair, "--format", "json", "--out", str(tmp_path / "reports")),
    ):
        done = leapprof(*words)
        assert done.code in CODES, done


@pytest.mark.parametrize(
    ("text", "number"),
    [("4096", 4096), ("0", 0), *((text, None) for text in (*TEXTS, "1.5", " 1", "٣", "9" * 19))],
)
def test_a_fact_is_a_whole_number_or_none(text: str, number: int | None) -> None:
    """Digits of ASCII, as many as a counter has."""
    assert Host(name="h", boot_id="b", facts={"n": text}).number("n") == number
