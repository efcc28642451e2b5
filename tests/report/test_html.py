"""The page: one file, escaped, small, the same every time."""

import base64
import hashlib
import re
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from importlib.resources import files

from plotly.offline import get_plotlyjs_version

from leapprof.report.html import render_html, script_json
from leapprof.report.view import report_view
from tests.support.comparisons import SCRIPT, large, sample

MAX_BYTES = 2_500_000


def page_of(comparison):
    """The page of a comparison."""
    return render_html(report_view(comparison), comparison)


@cache
def nasty_page():
    """The page of hosts with nasty names, made once."""
    return page_of(sample(nasty=True))


@cache
def plain_page():
    """The page of the measured pair, made once."""
    return page_of(sample())


class Elements(HTMLParser):
    """Counts elements and keeps the addresses that they would load."""

    def __init__(self):
        super().__init__()
        self.tags, self.loads, self.scripts = [], [], []

    def handle_starttag(self, tag, attrs):
        """Note the element."""
        self.tags.append(tag)
        self.loads += [value for name, value in attrs if name in ("src", "href", "action", "data")]

    def handle_data(self, data):
        """Note the text of scripts."""
        if self.tags and self.tags[-1] == "script":
            self.scripts.append(data)


def elements_of(page):
    """The parsed page."""
    parser = Elements()
    parser.feed(page)
    return parser


def test_same_input_gives_the_same_bytes():
    """Twice, from two comparisons that are equal."""
    assert nasty_page() == page_of(sample(nasty=True))


def test_script_of_a_host_stays_text():
    """The page has its three script elements, whatever hosts are called."""
    page = nasty_page()
    assert SCRIPT not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert elements_of(page).tags.count("script") == 3


def test_nothing_is_loaded_from_anywhere():
    """Links lead within the page; the policy allows nothing else."""
    page = nasty_page()
    assert all(address.startswith("#") for address in elements_of(page).loads)
    assert "default-src 'none'" in page.replace("&#39;", "'")


def test_policy_names_both_scripts_by_their_digest():
    """Only these two run."""
    page = plain_page()
    digests = set(re.findall(r"sha256-([A-Za-z0-9+/=]+)", page.replace("&#43;", "+")[:2000]))
    bodies = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert digests == {base64.b64encode(hashlib.sha256(b.encode()).digest()).decode() for b in bodies}
    assert len(digests) == 2


def test_sixty_charts_of_a_week_stay_small():
    """At most 2.5 MB with 60 charts of 1,200 points on each side."""
    assert len(page_of(large()).encode()) <= MAX_BYTES


def test_a_page_without_charts_has_no_script():
    """Then nothing has to run."""
    page = page_of(replace(sample(), charts=()))
    assert elements_of(page).tags.count("script") == 1
    assert len(page) < 100_000


def test_reconstructed_is_announced_before_the_title():
    """The banner opens the page."""
    page = page_of(sample(reconstructed="drawn"))
    assert 0 < page.index("RECONSTRUCTED") < page.index("<h1>")
    assert "RECONSTRUCTED" not in plain_page()


def test_bundle_is_the_version_that_plotly_writes_for():
    """A newer plotly needs a newer bundle."""
    assert f"v{get_plotlyjs_version()}" in plain_page()


def test_bundle_is_as_it_was_published():
    """The digest of plotly-basic.min.js in plotly.js-basic-dist-min 4.1.1."""
    bundle = (files("leapprof.report") / "assets" / "plotly-basic.min.js").read_bytes()
    assert (
        hashlib.sha256(bundle).hexdigest()
        == "99784e3abfb07b142a15e521a439e6d9addceadb3f79553fd24c72774f0649ba"
    )


def test_licence_of_the_bundle_is_in_the_page():
    """MIT asks for it in every copy."""
    assert "The above copyright notice and this permission notice shall be included" in plain_page()


def test_sections_come_in_their_order():
    """Result first, how to repeat it last."""
    ids = re.findall(r'<(?:section|header) id="(\w+)"', page_of(sample(reconstructed="drawn")))
    assert ids == [
        "result", "metrics", "wear", "checks", "published", "charts", "findings", "facts", "timeline", "cost", "limits",
        "method", "repeat",
    ]  # fmt: skip


def test_json_within_a_script_cannot_end_it():
    """No tag can be written with it."""
    assert script_json({"a": "</script><!--&"}) == '{"a":"\\u003c/script\\u003e\\u003c!--\\u0026"}'
