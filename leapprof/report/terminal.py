"""ReportView → a short summary in plain text, for a terminal of 80 columns."""

import textwrap

from leapprof.report.view import ReportView
from leapprof.report.view_metrics import MetricRow

WIDTH = 80
_LABEL_CHARS = 32
_VALUE_CHARS = 13


def _wrapped(text: str, first: str, rest: str) -> list[str]:
    lines = textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
    return [line.replace("\u00a0", " ") for line in lines] or [first.rstrip()]


def _cut(text: str, chars: int) -> str:
    return text if len(text) <= chars else text[: chars - 1] + "…"


def _row(row: MetricRow) -> list[str]:
    label = _cut(f"{row.label}, {row.subject}", _LABEL_CHARS)
    before, after = (v.value.replace("\u00a0", " ") for v in (row.before, row.after))
    line = (
        f"{row.sign} {label:<{_LABEL_CHARS}} {before:>{_VALUE_CHARS}} {after:>{_VALUE_CHARS}}  {row.verdict}"
    )
    lines = [line]
    if row.verdict == "inconclusive":
        needed = f" Needed on each side: {row.needed}." if row.needed else ""
        lines += _wrapped(f"{row.reason.rstrip('.')}.{needed}", "    ", "    ")
    return lines


def summary_lines(view: ReportView) -> tuple[str, ...]:
    """Return the summary of a report: headline, verdicts, wear, findings; each line at most 80 columns."""
    lines = _wrapped(view.title, "", "  ")
    for sentence in view.banner:
        lines += _wrapped(f"RECONSTRUCTED. {sentence}", "", "  ")
    lines.append("")
    for sentence in view.headline:
        lines += _wrapped(sentence, "- ", "  ")
    lines += ["", f"  {'':<{_LABEL_CHARS}} {'before':>{_VALUE_CHARS}} {'after':>{_VALUE_CHARS}}"]
    for group in view.groups:
        for row in group.rows:
            lines += _row(row)
    if view.wear:
        lines.append("")
    for wear in view.wear:
        text = f"{wear.device}: {wear.before.value} before, {wear.after.value} after"
        lines += _wrapped(text if wear.rating == "–" else f"{text}; rated {wear.rating}", "", "  ")
    for finding in view.findings:
        lines += ["", *_wrapped(f"{finding.severity}: {finding.message}", "", "  ")]
        lines += _wrapped(f"→ {finding.hint}", "  ", "    ")
    return tuple(lines)
