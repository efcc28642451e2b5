"""A wear forecast as lines for a terminal of at most 80 columns; nothing is computed here."""

import textwrap
from collections.abc import Iterator

from leapprof.model.wear import WearForecast
from leapprof.report.text import unbroken
from leapprof.report.wear_tables import SmallTable
from leapprof.report.wear_view import DriveView, wear_view

WIDTH = 80
LABEL = 18
LEAST_TEXT = 16


def wear_lines(forecast: WearForecast, width: int = WIDTH) -> tuple[str, ...]:
    """Return the forecast as lines of text, none wider than the terminal unless one word is."""
    view = wear_view(forecast)
    lines = _wrapped(view.title, width)
    if view.reconstructed:
        lines += _wrapped(f"RECONSTRUCTED, not measured: {view.reconstructed}", width)
    lines.append("")
    for sentence in view.headline:
        lines += _wrapped(sentence, width)
    for drive in view.drives:
        lines += ["", *_drive(drive, width)]
    for table in view.tables:
        lines += ["", *_table(table, 0, width)]
    for severity, _, message, hint in view.findings:
        lines += ["", *_wrapped(f"{severity}: {message}", width), *_wrapped(f"→ {hint}", width, "  ", "    ")]
    return (*lines, "", *_wrapped(view.footer, width))


def _wrapped(text: str, width: int, first: str = "", later: str | None = None) -> list[str]:
    lines = textwrap.wrap(
        unbroken(text),
        width,
        initial_indent=first,
        subsequent_indent=first if later is None else later,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0", " ") for line in lines] or [first.rstrip()]


def _drive(drive: DriveView, width: int) -> Iterator[str]:
    yield from _wrapped(drive.title, width)
    for label, text in drive.facts:
        yield from _wrapped(text, width, f"  {label:<{LABEL - 2}} ", " " * (LABEL + 1))
    for table in drive.tables:
        yield from _table(table, 2, width)
    for note in drive.notes:
        yield from _wrapped(note, width, f"  {'note':<{LABEL - 2}} ", " " * (LABEL + 1))


def _table(table: SmallTable, indent: int, width: int) -> Iterator[str]:
    """Yield a caption and aligned columns, the last of which wraps below itself; where they do not fit, sentences."""
    yield from _wrapped(f"{table.caption}:", width, " " * indent)
    pad = " " * (indent + 2)
    columns = [max(len(row[i]) for row in (table.head, *table.rows)) for i in range(len(table.head))]
    is_text = len(table.head) - 1 not in table.numbers
    last = min(columns[-1], LEAST_TEXT) if is_text else columns[-1]
    if len(pad) + sum(column + 2 for column in columns[:-1]) + last > width:
        for row in table.rows:
            yield from _wrapped(_sentence(table.head, row), width, pad, pad + "  ")
        return
    for row in (table.head, *table.rows):
        *cells, end = (
            cell.rjust(column) if i in table.numbers else cell.ljust(column)
            for i, (cell, column) in enumerate(zip(row, columns, strict=True))
        )
        start = pad + "  ".join(cells) + ("  " if cells else "")
        yield from (
            _wrapped(end.strip(), width, start, " " * len(start)) if is_text else [(start + end).rstrip()]
        )


def _sentence(head: tuple[str, ...], row: tuple[str, ...]) -> str:
    """Return a row of a table with what each cell is."""
    first, *others = (f"{name} {cell}" for name, cell in zip(head, row, strict=True))
    return f"{first}: {'; '.join(others)}"
