"""ReportView → one self-contained HTML page that works offline.

The page's Content-Security-Policy lets only our two scripts run, named by their SHA-256, and lets
nothing load from anywhere: a script that somebody planted in a host's name could do nothing even if it
were not escaped, and it is (jinja2 autoescape; ``<`` is never written within the figures' JSON).

``assets/plotly-basic.min.js`` is the file of that name of the npm package plotly.js-basic-dist-min 4.1.1,
unchanged: the version that plotly 7.1 writes for, with the trace types that we draw and no more.
"""

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from leapprof import __version__
from leapprof.model import Comparison
from leapprof.report.charts import drawn_charts, figure, shared_layout, undrawn_charts
from leapprof.report.quantile_rows import QUANTILE_HEADS
from leapprof.report.view import ReportView

if TYPE_CHECKING:
    from leapprof.report.fleet_view import HostsView

_SCRIPTS = ("plotly-basic.min.js", "report.js")


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("leapprof.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _asset(name: str) -> str:
    return (files("leapprof.report") / "assets" / name).read_text(encoding="utf-8").strip()


def _policy(scripts: tuple[str, ...]) -> str:
    digests = [base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts]
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def script_json(value: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    """Return JSON that can stand within a script element: no ``<``, ``>`` or ``&``, no NaN."""
    text = json.dumps(value, allow_nan=False, sort_keys=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def render_html(view: ReportView, comparison: Comparison) -> str:
    """Return the page.

    Args:
        view: of the same comparison.
        comparison: whose charts are drawn.
    """
    charts = drawn_charts(comparison)
    figures = {"layout": shared_layout(), "figures": {chart.key: figure(chart) for chart in charts}}
    scripts = tuple(_asset(name) for name in _SCRIPTS) if charts else ()
    costs = [
        (name, before, after)
        for (name, before), (_, after) in zip(view.before.cost, view.after.cost, strict=True)
    ]
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            view=view,
            quantile_heads=QUANTILE_HEADS,
            charts=charts,
            undrawn=undrawn_charts(comparison),
            costs=costs,
            figures=Markup(script_json(figures)),  # noqa: S704 - holds no character that HTML knows
            scripts=tuple(Markup(script) for script in scripts),  # noqa: S704 - our own files
            css=Markup(_asset("report.css") + "\n" + _asset("starts.css")),  # noqa: S704 - our own files
            starts=view.starts,
            licence=Markup(_asset("plotly-basic.LICENSE.txt")),  # noqa: S704 - a licence text, no markup
            policy=_policy(scripts),
            version=__version__,
        )
        + "\n"
    )


def render_hosts_html(view: "HostsView") -> str:
    """Return the page of several hosts: no scripts, its figures are drawn in it."""
    return (
        _environment()
        .get_template("hosts.html.j2")
        .render(
            view=view,
            css=Markup(_asset("report.css") + "\n" + _asset("hosts.css")),  # noqa: S704 - our own files
            policy=_policy(()),
            version=__version__,
        )
        + "\n"
    )
