"""Reports of a comparison: HTML, Markdown, JSON, CSV and PNG. Renders what assess computed, and adds nothing."""

from collections.abc import Callable
from dataclasses import replace
from enum import StrEnum
from pathlib import Path

from leapprof.model import Comparison, Finding, Severity
from leapprof.report.files import ReportFiles

__all__ = ["Format", "write"]

_KIB = 1024
_MAX_IMAGES_IN_POST = 8

Renderer = Callable[[], bytes]


class Format(StrEnum):
    """A form in which a report is written."""

    HTML = "html"
    MD = "md"
    JSON = "json"
    CSV = "csv"
    PNG = "png"


def _with_finding_if_no_images(comparison: Comparison, formats: frozenset[Format]) -> Comparison:
    from leapprof.report.images import is_available

    if Format.PNG not in formats or is_available():
        return comparison
    finding = Finding(
        code="charts-not-written-as-png",
        severity=Severity.INFO,
        message="the charts were not written as PNG: matplotlib is not installed",
        hint="install it with: pip install 'leapprof[images]'",
    )
    return replace(comparison, findings=(*comparison.findings, finding))


def _image_renderers(comparison: Comparison, formats: frozenset[Format]) -> dict[str, tuple[str, Renderer]]:
    """Return path → title and renderer of each PNG; empty when none are asked for or possible."""
    from leapprof.report import images

    if Format.PNG not in formats or not images.is_available():
        return {}
    from leapprof.report.charts import drawn_charts

    made: dict[str, tuple[str, Renderer]] = {}
    for number, drawn in enumerate(drawn_charts(comparison), start=1):
        name = f"charts/{images.image_name(number, drawn.metric, drawn.subject)}"
        made[name] = (f"{drawn.title}, {drawn.subject}", lambda d=drawn: images.render_png(d))  # type: ignore[misc]
    return made


def _html(comparison: Comparison) -> bytes:
    from leapprof.report.html import render_html
    from leapprof.report.view import report_view

    return render_html(report_view(comparison), comparison).encode("utf-8", "backslashreplace")


def _markdown(comparison: Comparison, images: dict[str, tuple[str, Renderer]]) -> bytes:
    from leapprof.report.markdown import render_markdown
    from leapprof.report.view import report_view

    shown = [(title, path) for path, (title, _) in images.items()][:_MAX_IMAGES_IN_POST]
    return render_markdown(report_view(comparison), shown).encode("utf-8", "backslashreplace")


def _json(comparison: Comparison) -> bytes:
    from leapprof.report.json import render_json

    return render_json(comparison)


def _csv_renderers(comparison: Comparison) -> dict[str, Renderer]:
    from leapprof.report import csv

    writers = {
        "metrics.csv": csv.metrics_csv,
        "wear.csv": csv.wear_csv,
        "series.csv": csv.series_csv,
        "distributions.csv": csv.distributions_csv,
    }
    return {
        name: (lambda w=writer: w(comparison).encode("utf-8", "backslashreplace"))  # type: ignore[misc]
        for name, writer in writers.items()
    }


def _renderers(comparison: Comparison, formats: frozenset[Format]) -> dict[str, Renderer]:
    """Return relative path → what makes its bytes, in the order in which they are written."""
    images = _image_renderers(comparison, formats)
    made: dict[str, Renderer] = {}
    if Format.HTML in formats:
        made["report.html"] = lambda: _html(comparison)
    if Format.MD in formats:
        made["report.md"] = lambda: _markdown(comparison, images)
    if Format.JSON in formats:
        made["report.json"] = lambda: _json(comparison)
    if Format.CSV in formats:
        made |= _csv_renderers(comparison)
    return made | {name: renderer for name, (_, renderer) in images.items()}


def _reserved_bytes(name: str) -> int:
    return 2500 * _KIB if name.endswith(".html") else 64 * _KIB


def write(
    comparison: Comparison, directory: Path, formats: frozenset[Format], *, public: bool
) -> tuple[Path, ...]:
    """Write a report and return the paths of its files.

    Args:
        comparison: what is reported.
        directory: made when it is not there; a file of the report in it is never overwritten.
        formats: what is written: report.html, report.md, report.json, the four .csv files, charts/*.png.
        public: replace hosts, addresses, peers, producers, serials and the like by aliases.

    Raises:
        StoreError: the directory cannot be written or the disk is full (known before anything is
            rendered), or a file of the report is there already.
    """
    if public:
        from leapprof.report.public import publish

        comparison = publish(comparison)
    shown = _with_finding_if_no_images(comparison, formats)
    renderers = _renderers(shown, formats)
    with ReportFiles(directory, {name: _reserved_bytes(name) for name in renderers}) as files:
        for name, render in renderers.items():
            files.write(name, render())
        return files.commit()
