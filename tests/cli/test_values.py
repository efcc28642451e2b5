"""Tests of values of the command line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leapprof.cli.values import parse_duration_s, parse_time_ns
from leapprof.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("6h", 21_600), ("1h30m", 5400), ("7d", 604_800), ("100ms", 0.1), ("1.5h", 5400)],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    """Durations are written as operators write them."""
    assert parse_duration_s(text, "duration") == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "0", "0s", "-1s", "6", "6 h", "h", "1x", "1e3s", "∞", "6h?", "522w"])
def test_other_durations_say_what_is_accepted(text: str) -> None:
    """A number without unit, nothing, zero, a negative one and more than ten years are refused."""
    with pytest.raises(ConfigError, match="duration: "):
        parse_duration_s(text, "duration")


@given(st.text())
def test_any_text_is_a_value_or_a_config_error(text: str) -> None:
    """No other exception comes out."""
    for parse in (
        lambda: parse_duration_s(text, "x"),
        lambda: parse_time_ns(text, "x"),
    ):
        try:
            parse()
        except ConfigError:
            continue


def test_a_time_needs_its_zone() -> None:
    """A time without zone is refused; with one it is an instant."""
    assert parse_time_ns("1970-01-01T01:00:01+01:00", "at") == 1_000_000_000
    with pytest.raises(ConfigError, match="has no time zone: add Z"):
        parse_time_ns("2026-03-01T14:05:00", "at")
