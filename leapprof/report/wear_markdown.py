"""A wear forecast as Markdown, to be pasted; nothing is computed here."""

from collections.abc import Iterator

from leapprof.model.wear import WearForecast
from leapprof.report.markdown import escaped
from leapprof.report.markdown import table as markdown_table
from leapprof.report.wear_tables import SmallTable
from leapprof.report.wear_view import wear_view


def wear_markdown(forecast: WearForecast) -> str:
    """Return the forecast as a Markdown document."""
    view = wear_view(forecast)
    lines = [f"## {escaped(view.title)}", ""]
    if view.reconstructed:
        lines += [f"**RECONSTRUCTED, not measured:** {escaped(view.reconstructed)}", ""]
    for sentence in view.headline:
        lines += [f"**{escaped(sentence)}**", ""]
    for drive in view.drives:
        lines += [f"### {escaped(drive.title)}", "", "| | |", "|---|---|"]
        lines += [f"| {escaped(label)} | {escaped(text)} |" for label, text in drive.facts]
        lines += [f"| note | {escaped(note)} |" for note in drive.notes]
        for table in drive.tables:
            lines += ["", *_table(table)]
        lines.append("")
    for table in view.tables:
        lines += [*_table(table), ""]
    for severity, code, message, hint in view.findings:
        lines.append(f"- **{severity}** `{code}`: {escaped(message)} → {escaped(hint)}")
    return "\n".join([*lines, "", escaped(view.footer), ""])


def _table(table: SmallTable) -> Iterator[str]:
    yield f"{escaped(table.caption)}:"
    yield ""
    rows = [tuple(escaped(cell) for cell in row) for row in table.rows]
    yield from markdown_table(table.head, rows, right=sorted(table.numbers))
