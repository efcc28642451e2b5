"""The summary of `leapprof show`: every metric with four numbers and its curve, at any width."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rich.markup import escape
from rich.table import Table as RichTable

from leapprof.assess.summary import SummaryRow
from leapprof.cli.folding import harmless
from leapprof.model import Subject
from leapprof.units import format_value

BARS = "▁▂▃▄▅▆▇█"
HEADS = ("mean", "p50", "p95", "max")
MAX_CELL_CHARS = 100
WIDE_COLUMNS = 130
NAME_CHARS = 31
LEAST_CURVE = 8


def sparkline(shape: Sequence[float | None]) -> str:
    """Return one character a value: a bar between the lowest and the highest, a blank for none."""
    known = [value for value in shape if value is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    return "".join(
        " " if value is None else BARS[0 if span <= 0 else round((value - low) / span * (len(BARS) - 1))]
        for value in shape
    )


def wide_summary(rows: Sequence[SummaryRow]) -> RichTable:
    """Return the summary as one table with a line a metric."""
    table = RichTable(title="Summary", title_justify="left", box=None, pad_edge=False)
    for head in ("metric", "of"):
        table.add_column(head, no_wrap=True)
    for head in HEADS:
        table.add_column(head, justify="right", no_wrap=True)
    table.add_column("over time", no_wrap=True)
    for row in rows:
        subject = escape(harmless(_about(row.subject))[:MAX_CELL_CHARS])
        table.add_row(row.name, subject, *_numbers(row), sparkline(row.shape))
    return table


def narrow_summary(rows: Sequence[SummaryRow], width: int) -> Iterator[str]:
    """Yield the summary for a narrow terminal, below each subject its metrics: no number is cut or left out.

    Four numbers that have no room behind the name stand below it, and where a line has no room for four, each with
    what it is. The curve takes what room is left behind the name.
    """
    cells = [HEADS, *(_numbers(row) for row in rows)]
    longest = max(len(text) for row in cells for text in row)
    column = longest + (2 if len(HEADS) * (longest + 2) < width else 1)
    heads = _in_columns(HEADS, column)
    if NAME_CHARS + len(heads) <= width:
        yield f"{'metric':<{NAME_CHARS}}{heads}"
        lines = _beside
    elif len(heads) < width:
        yield f" {heads}"
        lines = _below
    else:
        lines = _labelled
    for about, members in _by_subject(rows):
        yield harmless(about)[:width]
        for row in members:
            yield from lines(row, column, width)


def _numbers(row: SummaryRow) -> tuple[str, ...]:
    return tuple(format_value(value, row.unit) for value in (row.mean, row.p50, row.p95, row.maximum))


def _in_columns(texts: Sequence[str], column: int) -> str:
    return "".join(f"{text:>{column}}" for text in texts)


def _beside(row: SummaryRow, column: int, width: int) -> Iterator[str]:
    yield _with_curve(f" {row.name:<{NAME_CHARS - 1}}{_in_columns(_numbers(row), column)}", row, width)


def _below(row: SummaryRow, column: int, width: int) -> Iterator[str]:
    yield _with_curve(f" {row.name:<{NAME_CHARS - 1}}", row, width)
    yield f" {_in_columns(_numbers(row), column)}"


def _labelled(row: SummaryRow, column: int, width: int) -> Iterator[str]:
    yield _with_curve(f" {row.name:<{NAME_CHARS - 1}}", row, width)
    cells = [f"  {head:<4}{text:>{column}}" for head, text in zip(HEADS, _numbers(row), strict=True)]
    a_line = max(width // len(cells[0]), 1)
    yield from ("".join(cells[first : first + a_line]) for first in range(0, len(cells), a_line))


def _with_curve(text: str, row: SummaryRow, width: int) -> str:
    """Return a line with the curve in what is left of it; a few bars tell nothing."""
    room = width - len(text) - 2
    return text.rstrip() if room < LEAST_CURVE else f"{text}  {sparkline(_shorter(row.shape, room))}".rstrip()


def _by_subject(rows: Sequence[SummaryRow]) -> Iterator[tuple[str, list[SummaryRow]]]:
    """Yield every subject once, in order of its first metric."""
    found: dict[str, list[SummaryRow]] = {}
    for row in rows:
        found.setdefault(_about(row.subject), []).append(row)
    yield from found.items()


def _about(subject: Subject) -> str:
    parts = (subject.nodeos, subject.device, subject.operation, subject.target)
    return " ".join(part for part in parts if part) or "host"


def _shorter(shape: Sequence[float | None], count: int) -> list[float | None]:
    """Return at most so many values: the highest of each stretch, none where nothing is known."""
    if len(shape) <= count:
        return list(shape)
    borders = [round(index * len(shape) / count) for index in range(count + 1)]
    parts = (shape[first:last] for first, last in pairwise(borders))
    return [max((v for v in part if v is not None), default=None) for part in parts]
