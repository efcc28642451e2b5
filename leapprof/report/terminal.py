"""ReportView → a short summary in plain text, for a terminal of at most 80 columns."""

import textwrap
from collections.abc import Iterable

from leapprof.report.text import unbroken
from leapprof.report.view import FindingView, ReportView
from leapprof.report.view_metrics import MetricRow

WIDTH = 80
_HOST = "host"
_LABEL_CHARS = 32
_VALUE_CHARS = 13
_LONGEST_VERDICT = len("  inconclusive")
_TABLE_CHARS = _LABEL_CHARS + 2 * (1 + _VALUE_CHARS) + _LONGEST_VERDICT
"""Narrower terminals get each metric's figures as a line below its name."""


def wrapped(text: str, first: str, rest: str, width: int = WIDTH) -> list[str]:
    """Return a sentence as lines of the terminal's width; the first and the others begin with these."""
    lines = textwrap.wrap(
        unbroken(text), width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False
    )
    return [line.replace("\u00a0", " ") for line in lines] or [first.rstrip()]


def _row(row: MetricRow, width: int) -> list[str]:
    """Return a metric: its full name and subject, then both means and the verdict."""
    name = f"{row.name} of {row.subject}" if row.subject != _HOST else row.name
    lines = wrapped(name, f"{row.sign} ", "    ", width)
    if width < _TABLE_CHARS:
        text = f"{row.before.value} before, {row.after.value} after: {row.verdict}"
        lines += wrapped(text, "    ", "    ", width)
    else:
        lines = _beside(lines, row)
    if row.verdict == "inconclusive" and row.needed:
        lines += wrapped(f"needed on each side: {row.needed}", "    ", "    ", width)
    return lines


def _beside(lines: list[str], row: MetricRow) -> list[str]:
    """Return the lines of a name with the figures in columns behind it."""
    before, after = (v.value.replace("\u00a0", " ") for v in (row.before, row.after))
    figures = f"{before:>{_VALUE_CHARS}} {after:>{_VALUE_CHARS}}  {row.verdict}"
    if len(lines[-1]) > _LABEL_CHARS:
        return [*lines, f"{'':<{_LABEL_CHARS}} {figures}"]
    return [*lines[:-1], f"{lines[-1]:<{_LABEL_CHARS}} {figures}"]


def _warnings(view: ReportView, width: int) -> list[str]:
    """Return the findings that limit what may be concluded; the others are in the report."""
    lines = []
    for finding in (f for f in view.findings if f.severity != "info"):
        lines += ["", *finding_lines(finding, width)]
    return lines


def finding_lines(finding: FindingView, width: int = WIDTH) -> list[str]:
    """Return a finding: how severe, what it is about, what is so, what to do."""
    about = f" ({finding.about})" if finding.about else ""
    lines = wrapped(f"{finding.severity} {finding.code}{about}: {finding.message}", "", "  ", width)
    return [*lines, *wrapped(f"→ {finding.hint}", "  ", "    ", width)]


def _headline_metrics(view: ReportView, width: int) -> list[str]:
    lines = [""]
    if width >= _TABLE_CHARS:
        lines.append(f"  {'':<{_LABEL_CHARS}} {'before':>{_VALUE_CHARS}} {'after':>{_VALUE_CHARS}}")
    for row in (row for group in view.groups for row in group.rows if row.headline):
        lines += _row(row, width)
    return lines


def _wear(view: ReportView, width: int) -> list[str]:
    lines = [""] if view.wear else []
    for wear in view.wear:
        text = f"{wear.device}: {wear.before.value} before, {wear.after.value} after"
        lines += wrapped(text if wear.rating == "–" else f"{text}; rated {wear.rating}", "", "  ", width)
    return lines


def _checks(view: ReportView, width: int) -> list[str]:
    """Return control, change point, headroom and the like."""
    lines = [""] if view.checks else []
    for what, said in view.checks:
        lines += wrapped(f"{what}: {said}", "", "  ", width)
    return lines


def opening_lines(
    title: str, banner: Iterable[str], headline: Iterable[str], width: int = WIDTH
) -> list[str]:
    """Return how every summary begins: its title, what was not measured, its sentences."""
    lines = wrapped(title, "", "  ", width)
    for sentence in banner:
        lines += wrapped(f"RECONSTRUCTED. {sentence}", "", "  ", width)
    lines.append("")
    for sentence in headline:
        lines += wrapped(sentence, "- ", "  ", width)
    return lines


def summary_lines(view: ReportView, width: int = WIDTH) -> tuple[str, ...]:
    """Return the summary of a report: headline, its metrics, wear, warnings; no line is wider than the terminal."""
    lines = opening_lines(view.title, view.banner, view.headline, width)
    for part in (_headline_metrics, _wear, _checks, _warnings):
        lines += part(view, width)
    return tuple(lines)
