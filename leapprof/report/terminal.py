"""ReportView → a short summary in plain text, for a terminal of 80 columns."""

import textwrap
from collections.abc import Iterable

from leapprof.report.view import FindingView, ReportView
from leapprof.report.view_metrics import MetricRow

WIDTH = 80
_HOST = "host"
_LABEL_CHARS = 32
_VALUE_CHARS = 13


def wrapped(text: str, first: str, rest: str) -> list[str]:
    """Return a sentence as lines of the terminal's width; the first and the others begin with these."""
    lines = textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [line.replace("\u00a0", " ") for line in lines] or [first.rstrip()]


def _row(row: MetricRow) -> list[str]:
    """Return a metric: its full name and subject, then both means and the verdict."""
    before, after = (v.value.replace("\u00a0", " ") for v in (row.before, row.after))
    name = f"{row.name} of {row.subject}" if row.subject != _HOST else row.name
    lines = wrapped(name, f"{row.sign} ", "    ")
    figures = f"{before:>{_VALUE_CHARS}} {after:>{_VALUE_CHARS}}  {row.verdict}"
    if len(lines[-1]) <= _LABEL_CHARS:
        lines[-1] = f"{lines[-1]:<{_LABEL_CHARS}} {figures}"
    else:
        lines.append(f"{'':<{_LABEL_CHARS}} {figures}")
    if row.verdict == "inconclusive" and row.needed:
        lines += wrapped(f"needed on each side: {row.needed}", "    ", "    ")
    return lines


def _warnings(view: ReportView) -> list[str]:
    """Return the findings that limit what may be concluded; the others are in the report."""
    lines = []
    for finding in (f for f in view.findings if f.severity != "info"):
        lines += ["", *finding_lines(finding)]
    return lines


def finding_lines(finding: FindingView) -> list[str]:
    """Return a finding: how severe, what it is about, what is so, what to do."""
    about = f" ({finding.about})" if finding.about else ""
    lines = wrapped(f"{finding.severity} {finding.code}{about}: {finding.message}", "", "  ")
    return [*lines, *wrapped(f"→ {finding.hint}", "  ", "    ")]


def _headline_metrics(view: ReportView) -> list[str]:
    lines = ["", f"  {'':<{_LABEL_CHARS}} {'before':>{_VALUE_CHARS}} {'after':>{_VALUE_CHARS}}"]
    for row in (row for group in view.groups for row in group.rows if row.headline):
        lines += _row(row)
    return lines


def _wear(view: ReportView) -> list[str]:
    lines = [""] if view.wear else []
    for wear in view.wear:
        text = f"{wear.device}: {wear.before.value} before, {wear.after.value} after"
        lines += wrapped(text if wear.rating == "–" else f"{text}; rated {wear.rating}", "", "  ")
    return lines


def _checks(view: ReportView) -> list[str]:
    """Return control, change point, headroom and the like."""
    lines = [""] if view.checks else []
    for what, said in view.checks:
        lines += wrapped(f"{what}: {said}", "", "  ")
    return lines


def opening_lines(title: str, banner: Iterable[str], headline: Iterable[str]) -> list[str]:
    """Return how every summary begins: its title, what was not measured, its sentences."""
    lines = wrapped(title, "", "  ")
    for sentence in banner:
        lines += wrapped(f"RECONSTRUCTED. {sentence}", "", "  ")
    lines.append("")
    for sentence in headline:
        lines += wrapped(sentence, "- ", "  ")
    return lines


def summary_lines(view: ReportView) -> tuple[str, ...]:
    """Return the summary of a report: headline, its metrics, wear, warnings; each line at most 80 columns."""
    lines = opening_lines(view.title, view.banner, view.headline)
    return (*lines, *_headline_metrics(view), *_wear(view), *_checks(view), *_warnings(view))
