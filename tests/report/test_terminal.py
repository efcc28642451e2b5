"""The summary for a terminal of 80 columns."""

from leapprof.report.terminal import WIDTH, summary_lines
from leapprof.report.view import report_view
from tests.support.comparisons import sample


def test_no_line_is_wider_than_the_terminal():
    """Whatever hosts are called."""
    for made in (sample(), sample(nasty=True, reconstructed="drawn " * 40)):
        assert [line for line in summary_lines(report_view(made)) if len(line) > WIDTH] == []


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
