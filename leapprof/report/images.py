"""Charts → PNG files, for posts (matplotlib, extra ``images``; same data and colours as the page).

matplotlib's Agg renderer needs no display; the file's metadata name no program and no date, so that the
same input gives the same bytes.
"""

import importlib.util
import io
import re
from typing import Any

from leapprof.report.charts import DrawnChart

_COLOURS = {"before": "#0072b2", "after": "#c65500"}
_STYLES = {"before": "-", "after": ":"}
_SIZE_INCHES = (9.0, 2.9)
_DPI = 130
_MAX_NAME_CHARS = 60
_STYLE: dict[Any, Any] = {
    "font.family": "DejaVu Sans", "font.size": 8.5, "axes.spines.top": False, "axes.spines.right": False,
    "axes.edgecolor": "#5a646f", "axes.labelcolor": "#5a646f", "xtick.color": "#5a646f", "ytick.color": "#5a646f",
    "axes.grid": True, "grid.color": "#e8ebee", "axes.axisbelow": True, "path.simplify": True,
    "figure.facecolor": "#ffffff", "text.parse_math": False,
}  # fmt: skip


def is_available() -> bool:
    """Whether matplotlib is installed."""
    return importlib.util.find_spec("matplotlib") is not None


def image_name(number: int, metric: str, subject: str) -> str:
    """Return a file name that any system takes: ``03-device-write-bytes-per-s-loop0-state.png``."""
    words = re.sub(r"[^a-z0-9]+", "-", f"{metric} {subject}".lower()).strip("-")
    return f"{number:02d}-{words[:_MAX_NAME_CHARS].strip('-')}.png"


def render_png(drawn: DrawnChart) -> bytes:
    """Return the chart as a PNG: series around the change, distributions beside it."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        figure = Figure(figsize=_SIZE_INCHES, dpi=_DPI, layout="constrained")
        FigureCanvasAgg(figure)
        series, shares = figure.subplots(1, 2, sharey=True, width_ratios=(4, 1))
        sides = (
            ("before", drawn.before_time, drawn.before_value, drawn.before_percent),
            ("after", drawn.after_time, drawn.after_value, drawn.after_percent),
        )
        for name, time, value, percent in sides:
            series.plot(time, value, color=_COLOURS[name], linewidth=0.9)
            steps = {"orientation": "horizontal", "color": _COLOURS[name]}
            shares.stairs(percent, drawn.edges, fill=True, alpha=0.13, linewidth=0, **steps)
            shares.stairs(percent, drawn.edges, linestyle=_STYLES[name], linewidth=1.3, **steps)
        series.axvline(0, color="#5a646f", linewidth=0.8)
        above = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}
        series.annotate("before ◂", (0, 1), (-4, 3), ha="right", color=_COLOURS["before"], **above)
        series.annotate("▸ after", (0, 1), (4, 3), ha="left", color=_COLOURS["after"], **above)
        series.set_title(
            f"{drawn.title}, {drawn.subject}", loc="left", fontsize=9.5, fontweight="bold", pad=8
        )
        series.set_xlabel(f"{drawn.time_unit} from the change")
        series.set_ylabel(drawn.scale.unit or "count")
        series.set_ylim(bottom=0)
        series.margins(x=0.01)
        shares.set_xlabel("% of time")
        shares.set_xlim(left=0)
        out = io.BytesIO()
        figure.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()
