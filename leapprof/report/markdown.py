"""ReportView → Markdown that can be pasted into a post (CommonMark with GitHub's tables).

Whatever came from a host is escaped: it cannot open a tag, a link, an image, a table cell or a code span,
and a web address stays text.
"""

import re
from collections.abc import Iterable, Sequence

from leapprof import __version__
from leapprof.report.labels import VERDICT_SIGNS
from leapprof.report.quantile_rows import QUANTILE_HEADS
from leapprof.report.starts_view import StartsView
from leapprof.report.view import FindingView, ReportView, Row, SideView
from leapprof.report.view_metrics import Figure, MetricRow, WearRow

_BRACKETS = (
    "Means, in brackets the 95 % interval; p is adjusted for the number of metrics, in brackets as it was."
)

_ESCAPED = re.compile(r"([\\`*\[\]#|~$]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9]))")
_SIGNS = {verdict.value: sign for verdict, sign in VERDICT_SIGNS.items()}
_OPENS_LIST = re.compile(r"^(\d+)([.)])(?=\s)|^([-+=])(?=\s)")


def escaped(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    one_line = " ".join(text.split())
    marked = _ESCAPED.sub(r"\\\1", one_line)
    marked = _OPENS_LIST.sub(lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", marked)
    marked = marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return marked.replace("://", "&#58;//")


def code_block(lines: Iterable[str]) -> list[str]:
    """Return a fenced block whose fence is longer than any run of backticks in it."""
    kept = [" ".join(line.split()) for line in lines]
    longest = max((len(run) for line in kept for run in re.findall(r"`+", line)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}sh", *kept, fence]


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()) -> list[str]:
    """Return a table of cells that are escaped already; `right` names the columns of numbers."""
    rule = ["---:" if i in right else "---" for i in range(len(heads))]
    return ["| " + " | ".join(cells) + " |" for cells in (heads, rule, *rows)]


def figure_cell(figure: Figure) -> str:
    """Return a number, its interval in brackets."""
    return escaped(figure.value) + (f" ({escaped(figure.interval)})" if figure.interval else "")


def _metric(row: MetricRow) -> tuple[str, ...]:
    difference = figure_cell(row.difference)
    if row.adjusted is not None:
        difference += f"; {escaped(row.adjusted_for)} {figure_cell(row.adjusted)}"
    needed = f" Needed on each side: {escaped(row.needed)}." if row.needed else ""
    return (
        f"{escaped(row.label)} (`{row.name.replace('`', '')}`), {escaped(row.subject)}".replace("|", "\\|"),
        figure_cell(row.before),
        figure_cell(row.after),
        difference,
        figure_cell(row.ratio),
        escaped(row.p_adjusted if row.p_adjusted == row.p else f"{row.p_adjusted} (p {row.p})"),
        f"{row.sign} **{row.verdict}**, {row.grade}: {escaped(row.reason).rstrip('.')}.{needed}",
    )


def _wear(row: WearRow) -> tuple[str, ...]:
    about = f"{row.device} ({row.about})" if row.about else row.device
    return (
        escaped(about),
        f"{figure_cell(row.before)}, {escaped(row.before_rate)}",
        f"{figure_cell(row.after)}, {escaped(row.after_rate)}",
        escaped(row.rating),
        escaped(row.years_before),
        escaped(row.years_after),
        escaped(row.note),
    )


def _plain(heads: Sequence[str], rows: Iterable[Row]) -> list[str]:
    return table(heads, [[escaped(cell) for cell in row.cells] for row in rows])


def _side(side: SideView) -> str:
    label = f"{escaped(side.label)}; " if side.label else ""
    return (
        f"- **{side.name}**: {label}host {escaped(side.host)}; {escaped(side.nodeos)}; "
        f"compared {side.length}, {side.window}; left out: {escaped(side.left_out)}"
    )


def section(title: str, lines: Sequence[str]) -> list[str]:
    """Return a section; nothing when it has no lines."""
    return ["", f"## {title}", "", *lines] if lines else []


def _top(view: ReportView) -> list[str]:
    lines = [f"# {escaped(view.title)}", ""]
    for sentence in view.banner:
        lines += [f"> **RECONSTRUCTED.** {escaped(sentence)}", ""]
    lines += [f"- {escaped(sentence)}" for sentence in view.headline]
    return [*lines, "", _side(view.before), _side(view.after)]


def _results(view: ReportView, images: Sequence[tuple[str, str]]) -> list[str]:
    tally = ", ".join(f"{_SIGNS[verdict]} {count} {verdict}" for verdict, count in view.tally)
    metrics = table(
        ("metric", "before", "after", "difference", "ratio", "p, adjusted", "verdict"),
        [_metric(row) for group in view.groups for row in group.rows],
        right=(1, 2, 3, 4, 5),
    )
    wear = table(
        ("drive", "before", "after", "rating", "lifetime before", "lifetime after", "note"),
        [_wear(row) for row in view.wear],
        right=(1, 2, 3, 4, 5),
    )
    return [
        *section(
            "Metrics",
            [
                f"{tally}. {_BRACKETS}",
                "",
                *metrics,
            ],
        ),
        *(section("Quantiles", _plain(QUANTILE_HEADS, view.quantiles)) if view.quantiles else []),
        *(section("Drive wear", wear) if view.wear else []),
        *section("Costs, headroom, control", [f"- {escaped(k)}: {escaped(v)}" for k, v in view.checks]),
        *(
            section(
                "Published figures beside ours",
                _plain(("what", "published", "ours", "why they differ"), view.published),
            )
            if view.published
            else []
        ),
        *(section("Starts and stops", _starts(view.starts)) if view.starts else []),
        *section("Charts", [f"![{escaped(title)}]({path})" for title, path in images]),
    ]


def _starts(starts: StartsView) -> list[str]:
    lines: list[str] = []
    for found in starts.tables:
        lines += [*table(found.heads, [[escaped(cell) for cell in row] for row in found.rows]), ""]
    return lines[:-1]


def _facts(view: ReportView) -> list[str]:
    config = _plain(("nodeos", "option", "before", "after"), view.config_changes)
    defaults = _plain(("nodeos", "option", "before", "after"), view.default_changes)
    facts = _plain(("about", "fact", "before", "after"), view.facts_changed)
    same = _plain(("about", "fact", "before", "after"), view.facts_same)
    timeline = _plain(("side", "when", "what", "about", "detail"), view.timeline)
    left_out = ["", view.timeline_left_out] if view.timeline_left_out else []
    return [
        *(section("Config options that differ", config) if view.config_changes else []),
        *(section("Defaults that differ", defaults) if view.default_changes else []),
        *(section("Facts that differ", facts) if view.facts_changed else []),
        *(section("Other facts", same) if view.facts_same else []),
        *(section("Gaps and events", [*timeline, *left_out]) if view.timeline else []),
    ]


def _end(view: ReportView) -> list[str]:
    pairs = zip(view.before.cost, view.after.cost, strict=True)
    cost = table(
        ("", "before", "after"), [(name, escaped(b), escaped(a)) for (name, b), (_, a) in pairs], right=(1, 2)
    )
    missing = [
        f"- {side.name}, {what}: {escaped(', '.join(readings)) or 'none'}"
        for side in (view.before, view.after)
        for what, readings in (("not permitted", side.denied), ("not there", side.absent))
    ]
    return [
        *section("Cost of sampling", [*cost, "", *missing]),
        *section("What is not measured", [f"- {escaped(sentence)}" for sentence in view.not_measured]),
        *section("Method", [f"- {escaped(name)}: {escaped(value)}" for name, value in view.method]),
        *section("How to repeat it", code_block(view.repeat) if view.repeat else []),
        "",
        f"Made by leapprof {__version__}.",
    ]


def finding_line(finding: FindingView) -> str:
    """Return a finding: how severe, what it is about, what is so, what to do."""
    about = f" ({escaped(finding.about)})" if finding.about else ""
    return (
        f"- **{finding.severity}**{about}: {escaped(finding.message)} → {escaped(finding.hint)} "
        f"(`{finding.code.replace('`', '')}`)"
    )


def render_markdown(view: ReportView, images: Sequence[tuple[str, str]] = ()) -> str:
    """Return the post.

    Args:
        view: the report.
        images: title and relative path of charts that lie beside the post.
    """
    lines = [
        *_top(view),
        *_results(view, images),
        *section("Findings", [finding_line(finding) for finding in view.findings]),
        *_facts(view),
        *_end(view),
    ]
    return "\n".join(lines) + "\n"
