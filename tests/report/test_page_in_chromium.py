"""The page in a real browser: no error, nothing blocked, all charts drawn, no sideways scrolling."""

import base64
import hashlib
import html
import json
import re
import shutil
import subprocess
from dataclasses import replace

import pytest

from leapprof.report.html import render_html
from leapprof.report.view import report_view
from tests.support.comparisons import large, sample

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--window-size=2400,16000", "--virtual-time-budget=8000",
]  # fmt: skip

WATCH = """
const seen = [];
addEventListener("error", (e) => seen.push("error: " + e.message));
document.addEventListener("securitypolicyviolation", (e) => seen.push("blocked: " + e.violatedDirective));
console.error = (...parts) => seen.push("console: " + parts.join(" "));
addEventListener("load", () => setTimeout(() => {
  const wide = Array.from(document.querySelectorAll("main, main *"))
    .filter((e) => !e.closest(".scroll, .plot") && e.getBoundingClientRect().right > innerWidth + 1)
    .map((e) => e.tagName + "." + e.getAttribute("class"));
  const plots = document.querySelectorAll(".plot");
  const drawn = () => document.querySelectorAll(".plot .main-svg .scatterlayer .trace").length;
  const first = plots[0];
  const buttons = Array.from(first.querySelectorAll(".modebar-btn")).map((b) => b.dataset.title);
  const range = () => first._fullLayout.xaxis.range.slice();
  const whole = range();
  const zoom = Array.from(first.querySelectorAll(".modebar-btn")).find((b) => b.dataset.title === "Zoom in");
  zoom.click();
  Plotly.Fx.hover(first, [{ curveNumber: 0, pointNumber: 3 }]);
  const found = {
    width: innerWidth, scroll: document.documentElement.scrollWidth, wide, plots: plots.length, traces: drawn(),
    buttons, whole, zoomed: range(), hover: first.querySelectorAll(".hoverlayer .hovertext").length,
    planted: document.body.dataset.planted || null,
    cards: Array.from(document.querySelectorAll(".card .big")).map((b) => [b.scrollWidth, b.clientWidth, b.innerText]),
    overlaps: Array.from(plots).filter((p) => p.querySelector(".main-svg").getBoundingClientRect().width
      > p.getBoundingClientRect().width + 1).length,
  };
  dispatchEvent(new Event("beforeprint"));
  found.open = document.querySelectorAll("details:not([open])").length;
  found.printed = drawn();
  dispatchEvent(new Event("afterprint"));
  found.folded = document.querySelectorAll("details:not([open])").length;
  found.seen = seen;
  parent.postMessage(JSON.stringify(found), "*");
}, 3000));
"""
OUTER = """<!DOCTYPE html><body style="margin:0">
{frames}
<script>
const found = {{}};
addEventListener("message", (e) => {{
  const one = JSON.parse(e.data); found[one.width] = one;
  document.body.dataset.found = JSON.stringify(found);
}});
</script>"""


def watched(page, planted=""):
    """The page with a script of the test, allowed by its digest; a planted one is not allowed."""
    digest = base64.b64encode(hashlib.sha256(WATCH.encode()).digest()).decode()
    page = page.replace("script-src ", f"script-src 'sha256-{digest}' ", 1)
    return page.replace("<body>", f"<body><script>{WATCH}</script>{planted}", 1)


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What the browser saw at both widths; the wide page holds a planted script."""
    folder = tmp_path_factory.mktemp("page")
    nasty, many = sample(nasty=True), large(count=4)
    nasty = replace(nasty, metrics=tuple(replace(metric, ratio=None) for metric in nasty.metrics))
    narrow = watched(render_html(report_view(nasty), nasty))
    wide = watched(
        render_html(report_view(many), many), "<script>document.body.dataset.planted = 'ran'</script>"
    )
    (folder / "390.html").write_text(narrow)
    (folder / "1440.html").write_text(wide)
    frames = "".join(
        f'<iframe src="{width}.html" style="border:0;width:{width}px;height:15000px"></iframe>'
        for width in (390, 1440)
    )
    (folder / "outer.html").write_text(OUTER.format(frames=frames))
    done = subprocess.run(
        [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", (folder / "outer.html").as_uri()],
        capture_output=True, text=True, timeout=240, check=True,
    )  # fmt: skip
    match = re.search(r'data-found="([^"]*)"', done.stdout)
    assert match, done.stderr[-2000:]
    return json.loads(html.unescape(match[1]))


@pytest.mark.parametrize(("width", "charts"), [("390", 10), ("1440", 4)])
def test_every_chart_is_drawn(found, width, charts):
    """Two series and two distributions in each."""
    assert found[width]["plots"] == charts
    assert found[width]["traces"] == charts * 4


@pytest.mark.parametrize("width", ["390", "1440"])
def test_nothing_runs_out_of_the_page_sideways(found, width):
    """On a phone and on a desk."""
    assert found[width]["wide"] == []
    assert found[width]["overlaps"] == 0
    assert found[width]["scroll"] <= int(width)


def test_no_error_and_nothing_blocked(found):
    """The policy is no hindrance to the page itself."""
    assert found["390"]["seen"] == []


def test_a_planted_script_does_not_run(found):
    """Even one that is not escaped: the policy stops it, and nothing else is stopped."""
    assert found["1440"]["planted"] is None
    assert len(found["1440"]["seen"]) == 1
    assert found["1440"]["seen"][0].startswith("blocked: script-src")


def test_charts_can_be_zoomed_and_hovered(found):
    """The button narrows the axis; a point has its label."""
    before, after = found["1440"]["whole"], found["1440"]["zoomed"]
    assert after[1] - after[0] < before[1] - before[0]
    assert found["1440"]["hover"] == 1


def test_no_button_sends_the_data_away(found):
    """plotly.js 4 would offer to share the chart in its makers' cloud."""
    assert not any(re.search(r"share|cloud|edit", title, re.I) for title in found["1440"]["buttons"])
    assert "Zoom in" in found["1440"]["buttons"]


def test_printing_draws_all_and_opens_what_is_folded(found):
    """And folds it again."""
    assert found["390"]["printed"] == 40
    assert found["390"]["open"] == 0
    assert found["390"]["folded"] == 2


def test_the_large_numbers_stay_within_their_cards(found):
    """Also on a phone, and without a ratio, when they are differences with their unit."""
    cards = found["390"]["cards"]
    assert len(cards) == 4
    assert any(len(text) > 8 for _, _, text in cards)
    assert [text for wants, has, text in cards if wants > has + 1] == []
