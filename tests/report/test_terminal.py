"""The summary for a terminal of 80 columns, and for narrower ones."""

import re

import pytest

from leapprof.report.terminal import WIDTH, summary_lines
from leapprof.report.view import report_view
from tests.support.comparisons import sample


@pytest.mark.parametrize("width", [40, 50, 60, 73, 74, WIDTH])
def test_no_line_is_wider_than_the_terminal(width):
    """Whatever hosts are called."""
    for made in (sample(), sample(nasty=True, reconstructed="drawn " * 40)):
        assert [line for line in summary_lines(report_view(made), width) if len(line) > width] == []


def numbers(lines):
    """Return every number of some lines with its unit, in order."""
    return re.findall(r"\d[\d,.]*(?: (?:%|[A-Za-z]+(?:/[a-z]+)?))?", " ".join(" ".join(lines).split()))


@pytest.mark.parametrize("width", [40, 50, 60])
def test_a_narrow_terminal_loses_no_number(width):
    """What stands in columns at 80 stands in a line of its own, with what it is."""
    wide, narrow = (summary_lines(report_view(sample()), columns) for columns in (WIDTH, width))
    assert [n.split()[0] for n in numbers(narrow)] == [n.split()[0] for n in numbers(wide)]
    said = " ".join(" ".join(narrow).split())
    assert "✓ device.write_bytes_per_s of loop0 (state) 4.09 MB/s before, 23.0 kB/s after: improved" in said


def test_a_number_is_not_parted_from_its_unit():
    """No line of a summary ends with a bare number that goes on in the next."""
    lines = summary_lines(report_view(sample()), 50)
    assert [line for line in lines if re.search(r"[ (−+]\d[\d.,]*$", line)] == []


def test_headline_and_verdicts_are_there():
    """The reader in a hurry sees what changed."""
    text = "\n".join(summary_lines(report_view(sample())))
    assert "- Writes to the state drive fell" in text
    assert "✓ device.write_bytes_per_s of loop0" in text
    assert "device.writes_per_s" not in text
    assert "129 TB/year before, 0.725 TB/year after; rated 600 TBW" in text


def test_reconstructed_and_findings_are_said():
    """With their hints."""
    text = "\n".join(summary_lines(report_view(sample(reconstructed="drawn"))))
    assert "RECONSTRUCTED." in text
    assert "→ give --restarts-per-year" in text


def test_summary_is_as_it_was(snapshot_file):
    """The golden summary."""
    snapshot_file("summary.txt", "\n".join(summary_lines(report_view(sample()))) + "\n")
