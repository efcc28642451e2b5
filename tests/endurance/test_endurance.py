"""Ratings, lifetimes and the safety of the SMART parser."""

import contextlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.endurance.lifetime import lifetime, nodes_per_drive, yearly_writes
from leapprof.endurance.ratings import find_rating, known_ratings, parse_ratings, tbw_from_dwpd
from leapprof.endurance.smart import parse_smart
from leapprof.errors import ParseError
from leapprof.model import Interval
from leapprof.units import MIB, TB, format_tb_per_year, tb_per_year


def test_the_published_rates_come_out_exactly() -> None:
    """12 kB/s is 0.378 TB a year; 4 MB/s is 126.1 TB; 4 MiB/s is 120.3 TiB."""
    assert format_tb_per_year(tb_per_year(12e3)) == "0.378 TB/year"
    assert tb_per_year(4e6) == pytest.approx(126.144)
    assert tb_per_year(4 * MIB) * TB / 2**40 == pytest.approx(120.3, abs=0.01)


def test_every_rating_agrees_with_its_dwpd() -> None:
    """TBW, DWPD, capacity and warranty of a row fit each other within the makers' rounding."""
    for rating in known_ratings():
        if rating.dwpd and rating.warranty_years:
            tbw = tbw_from_dwpd(rating.dwpd, rating.capacity_bytes, rating.warranty_years)
            assert tbw == pytest.approx(rating.rated_tbw, rel=0.05), rating


def test_every_rating_names_its_source_and_grade() -> None:
    """No row is from memory."""
    ratings = known_ratings()
    assert len(ratings) >= 136
    assert all(r.source and r.grade in {"A", "B"} for r in ratings)


def test_model_and_capacity_find_the_rating() -> None:
    """The same model string has another rating at another capacity."""
    small = find_rating("SAMSUNG MZQL2960HCJR-00A07", 960_197_124_096)
    large = find_rating("SAMSUNG MZQL27T6HBLA-00A07", 7_681_501_126_656)
    assert small is not None
    assert large is not None
    assert (small.rated_tbw, large.rated_tbw) == (1752, 14016)


@pytest.mark.parametrize("model", [None, "", "INTEL", "Kingston", "QEMU HARDDISK", "(", "\\"])
def test_a_vendor_alone_matches_nothing(model: str | None) -> None:
    """An unknown drive has no rating."""
    assert find_rating(model, 10**12) is None


def test_a_capacity_that_does_not_fit_matches_nothing() -> None:
    """A known model at an unknown size has no rating."""
    assert find_rating("CT500MX500SSD1", 10**12) is None


def test_a_users_table_is_read_and_its_errors_name_the_line() -> None:
    """A number that is none is refused with its line."""
    header = "vendor,product,model_regex,capacity_gb_decimal,rated_tbw_decimal_TB,dwpd,warranty_years,grade,source\n"
    (row,) = parse_ratings(header + "Me,Mine,^MINE$,1000,700,,,,label", grade="user")
    assert (row.rated_tbw, row.grade, row.dwpd) == (700, "user", None)
    with pytest.raises(ParseError, match="line 2"):
        parse_ratings(header + "Me,Mine,^MINE$,1000,many,,,,label")


@given(st.text(max_size=400))
def test_any_table_gives_rows_or_a_parse_error(text: str) -> None:
    """No text makes the table's parser fail otherwise."""
    with contextlib.suppress(ParseError):
        parse_ratings(text)


def test_lifetime_is_an_interval_the_other_way_round() -> None:
    """A higher rate is a shorter life; restarts shift both ends."""
    writes = yearly_writes(4e6, Interval(low=3e6, high=5e6), bytes_per_restart=2e9, restarts_per_year=12)
    life = lifetime(600, writes)
    assert writes.total == pytest.approx(126.144 + 0.024)
    assert life.ci95_low is not None
    assert life.ci95_high is not None
    assert life.ci95_low < life.years < life.ci95_high
    assert life.years == pytest.approx(600 / 126.168)


def test_nothing_written_never_ends_and_has_no_upper_end() -> None:
    """A rate that may be 0 has no upper limit of years."""
    life = lifetime(600, yearly_writes(0.0, Interval(low=0.0, high=1.0)))
    assert math.isinf(life.years)
    assert life.ci95_high is None


def test_nodes_that_fit_one_drive() -> None:
    """Ten nodes of 12 TB a year use up 600 TBW within five years."""
    assert nodes_per_drive(600, 5, 12.0) == 10
    assert nodes_per_drive(600, 5, 0) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(
            ["nvme_smart_health_information_log", "ata_smart_attributes", "table", "pages", "id", "name", "raw",
             "value", "data_units_written", "percentage_used", "critical_warning", "ata_device_statistics", "flags"]
        ),
        inner,
        max_size=4,
    ),
    max_leaves=20,
)  # fmt: skip


@given(JSON.map(json.dumps) | st.text(max_size=200))
def test_any_document_gives_a_reading_or_a_parse_error(text: str) -> None:
    """No document makes the SMART parser fail otherwise."""
    with contextlib.suppress(ParseError):
        parse_smart(text)


@pytest.mark.parametrize(
    ("model", "capacity_tb", "tbw"),
    [
        ("Samsung SSD 990 PRO 2TB", 2.0, 1200),
        ("Samsung SSD 990 PRO with Heatsink 4TB", 4.0, 2400),
        ("Samsung SSD 970 EVO Plus 500GB", 0.5, 300),
        ("Samsung SSD 970 EVO 1TB", 1.0, 600),
    ],
)
def test_drives_whose_source_was_found_later(model: str, capacity_tb: float, tbw: float) -> None:
    """Each by its own name: 970 EVO Plus is not taken for 970 EVO."""
    rating = find_rating(model, round(capacity_tb * 1e12))
    assert rating is not None
    assert rating.rated_tbw == tbw
    assert ("Plus" in model) == ("Plus" in rating.product)
