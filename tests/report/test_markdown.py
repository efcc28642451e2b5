"""Markdown: what comes from a host is text, and tables keep their shape."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.model import ConfigChange
from leapprof.report.markdown import code_block, escaped, render_markdown
from leapprof.report.view import report_view
from tests.support.comparisons import sample


def test_script_of_a_host_stays_text():
    """No tag is opened anywhere."""
    text = render_markdown(report_view(sample(nasty=True)))
    assert "<" not in text
    assert "&lt;script&gt;" in text


def test_every_table_keeps_its_columns():
    """Pipes of hosts do not make cells."""
    lines = render_markdown(report_view(sample(nasty=True))).splitlines()
    widths, tables = None, 0
    for line in lines:
        if not line.startswith("|"):
            widths = None
            continue
        cells = len(re.findall(r"(?<!\\)\|", line))
        tables += widths is None
        widths = widths or cells
        assert cells == widths, line
    assert tables >= 5


@given(st.text())
def test_escaped_text_is_one_line_without_tags_or_bare_pipes(text):
    """For any text."""
    shown = escaped(text)
    assert len(shown.splitlines()) <= 1
    assert not re.search(r"[<>]", shown)
    assert not re.search(r"(?<!\\)(?:\\\\)*[|`\[]", re.sub(r"\\[|`\[\]#~$*_+=\-.)]", "", shown))


@pytest.mark.parametrize("text", ["- a", "1. a", "# a", "> a", "+ a"])
def test_no_list_heading_or_quote_is_opened(text):
    """The first character is escaped."""
    assert escaped(text)[0] in "\\&" or escaped(text)[1] == "\\"


def test_a_fence_is_longer_than_the_backticks_within():
    """A command cannot end its block."""
    assert code_block(["echo ````"])[0] == "`````sh"


def test_reconstructed_says_so_at_the_top():
    """Within the first lines of the post."""
    head = render_markdown(report_view(sample(reconstructed="drawn"))).splitlines()[:4]
    assert any("RECONSTRUCTED" in line for line in head)


def test_images_beside_the_post_are_shown():
    """With their titles."""
    text = render_markdown(report_view(sample()), [("CPU, host", "charts/01.png")])
    assert "![CPU, host](charts/01.png)" in text


def test_a_default_that_is_not_written_down_stands_beside_the_dash():
    """Whether a line that appeared changed anything is seen in its row."""
    change = ConfigChange(nodeos="eos", option="net-threads", before=None, after="4", before_default="4")
    text = render_markdown(report_view(replace(sample(), config_changes=(change,))))
    assert "| eos | net-threads | – (default 4) | 4 |" in text
    assert not change.takes_effect


def test_post_is_as_it_was(snapshot_file):
    """The golden post."""
    snapshot_file(
        "report.md", render_markdown(report_view(sample(reconstructed="drawn from published figures")))
    )
