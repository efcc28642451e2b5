"""Units: conversions and how values are printed."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.units import (
    GIB,
    MIB,
    TB,
    format_bytes,
    format_bytes_per_s,
    format_duration,
    format_memory,
    format_tb_per_year,
    format_value,
    significant,
    tb_per_year,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (8.88e-16, "0"), (0.0302, "0.0302"), (1.0, "1.00"), (99.95, "100"), (1234.5, "1,234"),
        (-4.25, "-4.25"), (126.144, "126"), (math.inf, "inf"),
    ],
)  # fmt: skip
def test_three_significant_digits(value: float, text: str) -> None:
    """Three digits that mean something, no exponent."""
    assert significant(value) == text


def test_the_year_has_365_days_and_tb_are_decimal() -> None:
    """12 kB/s is 0.378 TB a year, 4 MB/s is 126 TB, 4 MiB/s is 132 TB."""
    assert format_tb_per_year(tb_per_year(12e3)) == "0.378 TB/year"
    assert format_tb_per_year(tb_per_year(4e6)) == "126 TB/year"
    assert format_tb_per_year(tb_per_year(4 * MIB)) == "132 TB/year"


def test_a_year_of_nothing_seen_is_at_most_its_upper_limit() -> None:
    """Nothing is not known to be nothing, unless its limit is nothing too."""
    assert format_tb_per_year(0.0, 0.168) == "at most 0.168 TB/year"
    assert format_tb_per_year(0.378, 0.5) == "0.378 TB/year"
    assert format_tb_per_year(0.0, 0.0) == format_tb_per_year(0.0, math.inf) == "0 TB/year"


def test_drives_are_decimal_and_memory_is_binary() -> None:
    """The same bytes read differently on a drive and in memory, and say so."""
    assert format_bytes(4.09e6) == "4.09 MB"
    assert format_bytes_per_s(12_000) == "12.0 kB/s"
    assert format_memory(32 * GIB) == "32.0 GiB"
    assert format_bytes(3.05 * TB) == "3.05 TB"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59.6, "1 min"), (1710, "28 min 30 s"), (187_200, "2 d 4 h"), (-90, "-1 min 30 s")],
)
def test_durations(seconds: float, text: str) -> None:
    """Two units at most."""
    assert format_duration(seconds) == text


def test_an_absent_value_is_a_dash() -> None:
    """Missing is never printed as 0."""
    assert format_value(None, "bytes") == "–"


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["bytes", "bytes_per_s", "percent", "s"]),
)
def test_any_number_prints(value: float, unit: str) -> None:
    """Every finite value has a text that ends in its unit."""
    assert format_value(value, unit)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3.2, "3.20 s"), (0.9996, "1.00 s"), (0.999, "999 ms"), (0.376, "376 ms"), (0.01, "10.0 ms"),
        (0.00424, "4.24 ms"), (-0.0028, "-2.80 ms"),
        (2.85e-5, "28.5 µs"), (0.0, "0 s"), (1e-12, "0 s"), (1234.0, "1,234 s"),
    ],
)  # fmt: skip
def test_short_times_are_printed_in_a_unit_that_fits(value, shown):
    """Delays of packets are microseconds, those of requests milliseconds; what is long is seconds."""
    assert format_value(value, "s") == shown
