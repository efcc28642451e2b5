"""Starts and stops in a report: each run has its rows, what is not known is a dash, nothing of a host is markup."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from leapprof.assess.load import load
from leapprof.assess.starts import measure_starts
from leapprof.model.start import EndKind, StartCurve, StartKind, StartMeasure
from leapprof.report.html import render_html
from leapprof.report.json import render_json
from leapprof.report.markdown import render_markdown
from leapprof.report.public import publish
from leapprof.report.starts_view import starts_view
from leapprof.report.view import report_view
from tests.support.comparisons import SCRIPT, sample

STARTS = Path(__file__).parents[2] / "samples" / "nodeos-v5-starts"


def run(**changes: object) -> StartMeasure:
    """Return a run of which little is known."""
    known: dict = dict.fromkeys(StartMeasure.__dataclass_fields__)
    known |= {"label": "after", "nodeos": "eos", "pid": 7, "started_wall_ns": 1, "is_start_seen": True}
    return StartMeasure(**(known | {"kind": StartKind.UNKNOWN, "end": EndKind.UNKNOWN} | changes))


def curve(cores: tuple[float | None, ...]) -> StartCurve:
    """Return a curve of CPU alone."""
    none = (None,) * len(cores)
    return StartCurve(
        t_s=tuple(float(t) for t in range(len(cores))), cpu_cores=cores, read_bytes_per_s=none, rss_anon_bytes=none,
        rss_file_bytes=none, rss_shmem_bytes=none, swap_bytes=none,
    )  # fmt: skip


def test_no_run_is_no_panel() -> None:
    """A comparison without a measured run shows no heading for it."""
    assert starts_view(sample()) is None
    assert 'id="starts"' not in render_html(report_view(sample()), sample())


def test_what_is_not_known_is_a_dash() -> None:
    """Neither 0 nor an empty cell stands for a missing reading."""
    view = starts_view(replace(sample(), starts=(run(),)))
    assert view is not None
    assert [set(table.rows[0][3:]) for table in view.tables] == [{"kind not known", "–"}] * 2
    assert view.plot_rows == view.exits == ()


def test_a_hole_lifts_the_pen() -> None:
    """A missing value breaks the line, and the highest value touches the frame."""
    view = starts_view(replace(sample(), starts=(run(curve=curve((1.0, None, 0.5, 0.0))),)))
    assert view is not None
    (row,) = view.plot_rows
    assert row.plots[0].lines[0].d == "M4.0 6.0M145.3 42.0L216.0 78.0"


@pytest.fixture(scope="module")
def measured() -> tuple[StartMeasure, ...]:
    """The starts and stops of a real nodeos."""
    return (
        *measure_starts(load(STARTS / "mapped"), "before"),
        *measure_starts(load(STARTS / "mapped_private"), "after"),
    )


def test_starts_stand_side_by_side(measured) -> None:
    """Three starts were sampled from their first seconds; of five stops two ended before they were sampled once."""
    view = starts_view(replace(sample(), starts=measured))
    assert view is not None
    assert [row.title for row in view.plot_rows] == ["CPU", "resident memory", "reads"]
    assert {len(row.plots) for row in view.plot_rows} == {3}
    assert [len(plot.dots) for plot in view.exits] == [5, 3]


def test_page_and_json_hold_them(measured) -> None:
    """The panel is on the page; every number is in report.json."""
    made = replace(sample(), starts=measured)
    assert render_html(report_view(made), made).count('<svg class="small"') == 3 * 3 + 2
    rows = json.loads(render_json(made))["starts"]
    assert [row["kind"] for row in rows] == ["unknown", "clean", "unknown", "snapshot", "clean"]
    assert len(rows[3]["curve"]["t_s"]) == len(rows[3]["curve"]["cpu_cores"]) > 10


def test_the_post_holds_both_tables(measured) -> None:
    """Starts and stops of each run, as on the page."""
    post = render_markdown(report_view(replace(sample(), starts=measured)))
    assert "## Starts and stops" in post
    assert "| after | nodeos | mapped_private | snapshot (log) | 5.47 s | 917 MiB | 900 MiB |" in post
    assert "Starts and stops" not in render_markdown(report_view(sample()))


def test_names_of_a_host_are_no_markup() -> None:
    """A script in a name is text; a public report has another name."""
    made = replace(sample(nasty=True), starts=(run(nodeos=SCRIPT, label=SCRIPT, curve=curve((1.0, 2.0))),))
    assert SCRIPT not in render_html(report_view(made), made)
    assert starts_view(publish(made)) is not None
