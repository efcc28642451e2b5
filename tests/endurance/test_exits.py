"""How exit bytes grow with uptime."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.endurance.exits import fit_exits

HOUR = 3600.0


def test_growth_until_all_pages_are_dirty():
    """100 MB an hour up to 1 GB."""
    stops = [(h * HOUR, min(h * 1e8, 1e9)) for h in (1, 3, 6, 20, 50)]
    fit = fit_exits(stops)
    assert fit.bytes_per_s * HOUR == pytest.approx(1e8)
    assert fit.most_bytes == pytest.approx(1e9)
    assert fit.at(2 * HOUR) == pytest.approx(2e8)
    assert fit.at(1000 * HOUR) == pytest.approx(1e9)


def test_growth_without_an_end_has_none():
    """All stops lie on one line through the origin."""
    fit = fit_exits([(h * HOUR, h * 1e8) for h in (1, 2, 5)])
    assert math.isinf(fit.most_bytes)
    assert fit.at(10 * HOUR) == pytest.approx(1e9)


def test_exits_that_do_not_depend_on_uptime_have_a_mean():
    """Without soft-dirty support every exit writes every chunk."""
    fit = fit_exits([(HOUR, 2.10e9), (10 * HOUR, 2.15e9), (100 * HOUR, 2.12e9)])
    assert math.isinf(fit.bytes_per_s)
    assert fit.at(7 * HOUR) == pytest.approx(2.123e9, rel=0.01)


@pytest.mark.parametrize(
    "stops",
    [[], [(HOUR, 1e9)], [(HOUR, 1e9), (9 * HOUR, 2e9)], [(HOUR, 1e9), (1.1 * HOUR, 2e9), (1.2 * HOUR, 3e9)]],
)
def test_too_few_or_too_alike_stops_make_no_fit(stops):
    """Two stops, or three after like uptimes, show no growth."""
    assert fit_exits(stops) is None


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e13)), max_size=12))
def test_any_stops_make_a_finite_forecast_or_none(stops):
    """Never a number below 0."""
    fit = fit_exits(stops)
    if fit is not None:
        assert 0 <= fit.at(86_400.0) < math.inf
