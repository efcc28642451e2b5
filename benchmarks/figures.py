"""Figures, and the page that they make: docs/cost.md. A section that is not measured anew stays as it was."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "cost.md"
HEAD = """# What it costs, and how far it goes

Written by `make bench` (about 12 minutes; `make bench ARGS="--only storage"` measures one section anew, `--long` takes
ten minutes for the agent, as the targets say). CPU is the kernel's own account: a cgroup a program, children and sshd's
share included. **Bold** figures miss their target; the note says why.

"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One measured number.

    Attributes:
        what: it is of.
        value: in unit.
        unit: e.g. ``ms a sample``.
        target: in words; empty where there is none.
        met: whether the target is; None without one.
        note: how it was measured, or why it misses.
    """

    what: str
    value: float
    unit: str
    target: str = ""
    met: bool | None = None
    note: str = ""

    def row(self) -> str:
        """Return its line of the table."""
        shown = f"{number(self.value)} {self.unit}".strip()
        shown = f"**{shown}**" if self.met is False else shown
        return f"| {self.what} | {shown} | {self.target} | {self.note} |"


def at_most(what: str, value: float, unit: str, limit: float, note: str = "") -> Figure:
    """Return a figure whose target is an upper limit."""
    return Figure(
        what=what,
        value=value,
        unit=unit,
        target=f"≤ {number(limit)} {unit}".strip(),
        met=value <= limit,
        note=note,
    )


def number(value: float) -> str:
    """Return three digits that count, thousands apart."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One part of the page."""

    title: str
    text: str
    figures: tuple[Figure, ...]
    where: str
    tail: str = ""

    def render(self) -> str:
        """Return its Markdown."""
        rows = "\n".join(figure.row() for figure in self.figures)
        table = f"| what | measured | target | note |\n|---|---|---|---|\n{rows}\n"
        tail = f"\n{self.tail}\n" if self.tail else ""
        return f"## {self.title}\n\n{self.text}\n\nMeasured {self.where}.\n\n{table}{tail}\n"


def write_page(sections: Sequence[str], titles: Sequence[str], path: Path = PAGE) -> None:
    """Write the page: new sections replace those of the same title, in the order of the titles.

    Args:
        sections: rendered, new.
        titles: of all sections.
        path: of the page.
    """
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    known = {title_of(part): part for part in re.split(r"(?m)^(?=## )", text)[1:]}
    known |= {title_of(part): part for part in sections}
    kept = [known[title].rstrip() + "\n" for title in titles if title in known]
    path.write_text(HEAD + "\n".join(kept), encoding="utf-8")


def title_of(section: str) -> str:
    """Return the title of a rendered section."""
    return section.split("\n", 1)[0].removeprefix("## ")
