"""Lines for a terminal: text of a host made harmless and bounded, folded at the terminal's width."""

import shutil
import sys
import textwrap

MAX_LINE_CHARS = 2000  # the longest message of ours, which says how to accept a changed host key, has 700
MOST_COLUMNS = 80
_LEAST_WIDTH = 40


def harmless(text: str) -> str:
    """Return text without control characters; what is cut off ends in an ellipsis."""
    shown = text if len(text) <= MAX_LINE_CHARS else text[: MAX_LINE_CHARS - 1] + "…"
    return "".join(c if c.isprintable() else "?" for c in shown)


def terminal_width() -> int | None:
    """Return the columns of standard output; None where it is no terminal and lines stay whole."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def summary_width() -> int:
    """Return the columns of a summary: those of the terminal or of COLUMNS, but 40 at least, and 80 at most."""
    return min(max(shutil.get_terminal_size().columns, _LEAST_WIDTH), MOST_COLUMNS)


def folded(head: str, text: str, width: int | None, *, indent: str | None = None) -> str:
    """Return text behind a head, folded at a width.

    Args:
        head: of the first line.
        text: is made harmless.
        width: columns; None: do not fold.
        indent: of the lines that follow; None: as wide as the head.
    """
    if width is None:
        return head + harmless(text)
    return textwrap.fill(
        harmless(text),
        width=max(width, _LEAST_WIDTH),
        initial_indent=head,
        subsequent_indent=" " * len(head) if indent is None else indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
