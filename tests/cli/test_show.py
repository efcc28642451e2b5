"""What `leapprof show` prints of stages, starts, stops and the API, at any width."""

import io
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from leapprof.assess.load import load
from leapprof.assess.own_voice import OwnVoice, own_voices
from leapprof.assess.starts import measure_starts
from leapprof.assess.summary import summarize
from leapprof.cli.show_lines import counted, stage_lines, stage_seconds, start_lines, voice_lines
from leapprof.cli.show_summary import narrow_summary
from leapprof.cli.show_view import render

SAMPLES = Path(__file__).parents[2] / "samples"
STARTS = SAMPLES / "nodeos-v5-starts"


@pytest.fixture(scope="module")
def private():
    """Three runs of a real nodeos in mapped_private."""
    return load(STARTS / "mapped_private")


def test_starts_and_stops_are_two_lines_a_run(private) -> None:
    """Kind with its source, seconds, memory, bytes."""
    lines = list(start_lines(measure_starts(private)))
    assert len(lines) == 6
    assert "snapshot start (log), 5.47 s, peak RSS 917 MiB, anonymous 900 MiB, 688 MB read" in lines[2]
    assert lines[3] == "  clean stop after 1 min 16 s, 16.2 s, peak RSS 5.02 GiB, 2.15 GB dirtied"


def test_stages_come_with_their_sources(private) -> None:
    """Longest first."""
    (line,) = stage_lines(private)
    assert line.startswith("nodeos: live 1 min 43 s (API), writing-state 1 min 6 s (log)")
    assert stage_seconds(private)["nodeos"]["loading-snapshot"] == 5.0


@given(
    st.lists(
        st.tuples(st.sampled_from(("live", "syncing", None)), st.sampled_from(("API", "log"))), min_size=1
    )
)
def test_stretches_are_counted_as_rows_are(rows: list[tuple[str | None, str]]) -> None:
    """However often a stage and what says so change, in the order in which they came first."""
    stages, sources = (np.array(column, dtype=object) for column in zip(*rows, strict=True))
    assert list(counted(stages, sources).items()) == list(Counter(rows).items())


@pytest.mark.parametrize("width", [60, 80, 100, 129, 200])
def test_no_number_is_cut_at_any_width(private, width: int) -> None:
    """A narrow terminal loses the curve, never a figure."""
    out = io.StringIO()
    render(
        private, summarize(private), Console(file=out, width=width, force_terminal=True, color_system=None)
    )
    text = out.getvalue()
    summary = text[text.index("Summary") :]
    assert "host.swap_out_bytes_per_s" in summary
    assert "…" not in summary


@pytest.mark.parametrize("width", [40, 50, 60, 80, 100])
def test_numbers_of_a_narrow_summary_stand_apart_and_fit(private, width: int) -> None:
    """Small shares of a core are the widest; four numbers have room beside the name, below it, or two a line."""
    rows = [replace(row, mean=0.0123, p50=0.0111, p95=0.0234, maximum=0.00967) for row in summarize(private)]
    lines = list(narrow_summary(rows, width))
    assert max(len(line) for line in lines) <= width
    at = next(n for n, line in enumerate(lines) if "nodeos.cpu_cores" in line)
    shown = [word for line in lines[at : at + 3] for word in line.split()]
    heads = ["mean", "p50", "p95", "max"]
    assert [word for word in shown if word.startswith("0.0")][:4] == ["0.0123", "0.0111", "0.0234", "0.00967"]
    assert (lines[0].split() if width >= 60 else [w for w in shown if w in heads])[-4:] == heads


def test_a_narrow_summary_names_every_subject_once(private) -> None:
    """Metrics of two drives that alternate in the table stand together."""
    lines = list(narrow_summary(summarize(private), 60))
    subjects = [line for line in lines[1:] if not line.startswith(" ")]
    assert sorted(subjects) == sorted(set(subjects))
    assert {"host", "nodeos", "vda"} <= set(subjects)


def test_the_curve_keeps_its_peak(private) -> None:
    """What is squeezed keeps the highest value of each stretch."""
    rows = summarize(private)
    lines = {line.split()[0]: line for line in narrow_summary(rows, 100) if line.startswith(" ")}
    assert "█" in lines["host.cpu_percent"]
    assert max(len(line) for line in lines.values()) <= 100


def test_how_the_api_answered() -> None:
    """Busy answers, silence and the share of the main thread."""
    voice = OwnVoice(
        nodeos="eos", asked=100, answered=90, busy=6, other={"404": 1}, silent=3, failed_questions=12, mean_s=0.002,
        longest_s=0.5, main_thread_share=0.0002,
    )  # fmt: skip
    (line,) = voice_lines((voice,))
    for part in (
        "90 answers",
        "6 times busy (503)",
        "1 times HTTP 404",
        "3 times no answer",
        "0.020 % of its main",
    ):
        assert part in line


def test_a_node_that_was_not_asked_has_no_voice() -> None:
    """Recordings without API say nothing of it."""
    assert own_voices(load(STARTS.parent / "nodeos-v4" / "heap")) == ()


def test_a_probe_of_delay_says_what_was_asked_and_no_cost_of_an_agent() -> None:
    """Two operations of one probe are told apart, at any width; an agent that was not there cost nothing."""
    tables = load(SAMPLES / "latency" / "stream" / "before")
    rows = summarize(tables)
    for width in (80, 200):
        out = io.StringIO()
        render(tables, rows, Console(file=out, width=width, force_terminal=True, color_system=None))
        assert "behind the fastest 127.0.0.1:" in out.getvalue()
        assert "since its stamp 127.0.0.1:" in out.getvalue()
        assert "Cost of the sampling" not in out.getvalue()
        assert ". (latency-host-busy)" not in out.getvalue()
