"""CSV files: numbers stay numbers, formulas stay text."""

import csv
import io

import pytest

from leapprof.report.csv import distributions_csv, guarded, metrics_csv, series_csv, wear_csv
from tests.support.comparisons import sample


def rows_of(text):
    """The rows of a CSV text as dictionaries."""
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\n=1"])
def test_text_that_a_spreadsheet_would_run_gets_an_apostrophe(text):
    """The cell opens with an apostrophe."""
    assert guarded(text) == "'" + text


@pytest.mark.parametrize(
    ("cell", "text"), [(-1.5, "-1.5"), (3, "3"), (None, ""), (float("nan"), ""), ("a=b", "a=b")]
)
def test_numbers_are_not_guarded_and_missing_is_empty(cell, text):
    """A negative number stays one; NaN is empty."""
    assert guarded(cell) == text


def test_metrics_hold_every_metric_with_its_figures():
    """One line a metric; an absent side is empty, not 0."""
    rows = {row["name"]: row for row in rows_of(metrics_csv(sample()))}
    assert len(rows) == len(sample().metrics)
    assert float(rows["device.write_bytes_per_s"]["before_mean"]) == 4.095e6
    assert rows["nodeos.dirtied_bytes_per_s"]["before_mean"] == ""
    assert rows["nodeos.major_faults_per_s"]["difference_ci95_low"] == ""


def test_wear_holds_every_device():
    """The rating and both lifetimes stand; what is not known is empty."""
    state, vda = rows_of(wear_csv(sample()))
    assert float(state["rated_tbw"]) == 600.0
    assert vda["after_bytes_per_s"] == ""


def test_series_keep_gaps_as_empty_values():
    """A NaN of the chart is an empty cell."""
    rows = rows_of(series_csv(sample(points=100)))
    assert any(row["value"] == "" for row in rows)
    assert {row["side"] for row in rows} == {"before", "after"}


def test_distributions_of_a_chart_add_up_to_one():
    """The shares of each side sum to 1."""
    rows = [r for r in rows_of(distributions_csv(sample())) if r["name"] == "host.cpu_percent"]
    assert sum(float(row["before_share"]) for row in rows) == pytest.approx(1.0)


def test_reconstructed_sides_are_marked_in_every_line():
    """A measured comparison leaves the column empty."""
    made = sample(points=10, reconstructed="drawn")
    for write in (metrics_csv, wear_csv, series_csv, distributions_csv):
        assert {row["reconstructed"] for row in rows_of(write(made))} == {"before"}
        assert {row["reconstructed"] for row in rows_of(write(sample(points=10)))} == {""}
