"""A wear forecast as lines for a terminal of 80 columns; nothing is computed here."""

import textwrap
from collections.abc import Iterator

from leapprof.model.wear import WearForecast
from leapprof.report.wear_tables import SmallTable
from leapprof.report.wear_view import DriveView, wear_view

WIDTH = 80
LABEL = 18


def wear_lines(forecast: WearForecast) -> tuple[str, ...]:
    """Return the forecast as lines of text, none longer than 80 columns unless one word is."""
    view = wear_view(forecast)
    lines = [*_wrapped(view.title)]
    if view.reconstructed:
        lines += _wrapped(f"RECONSTRUCTED, not measured: {view.reconstructed}")
    lines.append("")
    for sentence in view.headline:
        lines += _wrapped(sentence)
    for drive in view.drives:
        lines += ["", *_drive(drive)]
    for table in view.tables:
        lines += ["", *_table(table, 0)]
    for severity, _, message, hint in view.findings:
        lines += ["", *_wrapped(f"{severity}: {message}"), *_wrapped(f"→ {hint}", "  ", "    ")]
    return (*lines, "", *_wrapped(view.footer))


def _wrapped(text: str, first: str = "", later: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=first,
        subsequent_indent=first if later is None else later,
        break_long_words=False,
        break_on_hyphens=False,
    ) or [first.rstrip()]


def _drive(drive: DriveView) -> Iterator[str]:
    yield from _wrapped(drive.title)
    for label, text in drive.facts:
        yield from _wrapped(text, f"  {label:<{LABEL - 2}} ", " " * (LABEL + 1))
    for table in drive.tables:
        yield from _table(table, 2)
    for note in drive.notes:
        yield from _wrapped(note, f"  {'note':<{LABEL - 2}} ", " " * (LABEL + 1))


def _table(table: SmallTable, indent: int) -> Iterator[str]:
    """Yield a caption and aligned columns; the last column wraps below itself."""
    yield from _wrapped(f"{table.caption}:", " " * indent)
    rows = (table.head, *table.rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.head))]
    pad = " " * (indent + 2)
    for row in rows:
        *cells, last = (
            cell.rjust(width) if i in table.numbers else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        start = pad + "  ".join(cells) + ("  " if cells else "")
        if len(table.head) - 1 in table.numbers:
            yield (start + last).rstrip()
        else:
            yield from _wrapped(last.strip(), start, " " * len(start))
