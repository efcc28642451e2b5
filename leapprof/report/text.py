"""How values are written for a person: signs, intervals, ratios, p values, moments, text from hosts.

Everything that came from a host passes `clean` before a renderer sees it: control characters and the
direction marks of Unicode (UAX #9), which can make a line read as something that it is not, are
written as escapes, and length is bounded. Escaping for HTML or Markdown is the renderer's.
"""

import math
import re
from datetime import UTC, datetime

from leapprof import units
from leapprof.model import Interval

ABSENT = "–"
NOT_PERMITTED = "not permitted"
MAX_TEXT_CHARS = 600
_SMALLEST_P = 0.001
_PERCENT_UP_TO = 10.0
_LARGEST_RATIO = 1_000_000
_MINUS = "−"
_UNBREAKABLE = "\u00a0"
_NUMBER_AND_UNIT = re.compile(r"(?<![\w.])(\d[\d.,]*) (?=[%\w])")


def clean(text: str, max_chars: int = MAX_TEXT_CHARS) -> str:
    """Return text as one bounded line of printable characters; others are written as escapes."""
    shown = " ".join(text[: max_chars * 4].split())
    if len(shown) > max_chars:
        shown = shown[: max_chars - 1] + "…"
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in shown)


def unbroken(text: str) -> str:
    """Return text whose numbers keep the word behind them, their unit, in the same line."""
    return _NUMBER_AND_UNIT.sub(rf"\1{_UNBREAKABLE}", text)


def clean_or_absent(text: str | None) -> str:
    """Return the cleaned text, or a dash for None."""
    return ABSENT if text is None else clean(text)


def is_number(value: float | None) -> bool:
    """Whether value is there and finite: the only numbers that are printed."""
    return value is not None and math.isfinite(value)


def value_text(value: float | None, unit: str) -> str:
    """Return a value in its unit, ``4.09 MB/s``; a dash when it is absent or not finite."""
    if value is None or not math.isfinite(value):
        return ABSENT
    try:
        shown = units.format_value(value, unit)
    except KeyError:
        shown = f"{units.significant(value)} {clean(unit, 20)}"
    return shown.replace("-", _MINUS).replace(" ", _UNBREAKABLE)


def yearly_text(tb_per_year: float, ci95: Interval | None) -> str:
    """Return a yearly amount, ``129 TB/year``; where nothing was written, what may be: ``at most 0.168 TB/year``."""
    if not math.isfinite(tb_per_year):
        return ABSENT
    return units.format_tb_per_year(tb_per_year, ci95.high if ci95 else None).replace(" ", _UNBREAKABLE)


def signed_text(value: float | None, unit: str) -> str:
    """Return a difference with its sign: ``+1.2 MB/s``, ``−4.07 MB/s``; of percentages in points."""
    shown = value_text(value, unit)
    if unit == "percent" and shown.endswith("%"):
        shown = shown.removesuffix("%") + "points"
    if not any(digit in shown for digit in "123456789"):
        return shown.removeprefix(_MINUS)
    return "+" + shown if value is not None and value > 0 else shown


def _joined(low: str, high: str) -> str:
    low_number, _, low_unit = low.rpartition(_UNBREAKABLE)
    high_unit = high.rpartition(_UNBREAKABLE)[2]
    if low_number and low_unit == high_unit:
        low = low_number
    return f"{low} to {high}"


def interval_text(interval: Interval | None, unit: str) -> str:
    """Return ``4.05 to 4.14 MB/s``; empty without an interval."""
    if interval is None or not (is_number(interval.low) and is_number(interval.high)):
        return ""
    return _joined(value_text(interval.low, unit), value_text(interval.high, unit))


def bracketed(shown: str) -> str:
    """Return what follows a number in brackets; nothing of nothing."""
    return f" ({shown})" if shown else ""


def signed_interval_text(interval: Interval | None, unit: str) -> str:
    """Return the interval of a difference, both ends with their signs; empty without an interval."""
    if interval is None or not (is_number(interval.low) and is_number(interval.high)):
        return ""
    return _joined(signed_text(interval.low, unit), signed_text(interval.high, unit))


def _ratio_number(value: float) -> str:
    """Return a ratio's digits; beyond a million either way only that, for nobody reads more of them."""
    if value > _LARGEST_RATIO:
        return f">{_UNBREAKABLE}{_LARGEST_RATIO:,}"
    if 0 < value < 1 / _LARGEST_RATIO:
        return f"<{_UNBREAKABLE}{1 / _LARGEST_RATIO:.6f}"
    return units.significant(value).replace("-", _MINUS)


def ratio_text(value: float | None) -> str:
    """Return a ratio with three significant digits: ``×0.00562``."""
    return f"×{_ratio_number(value)}" if value is not None and math.isfinite(value) else ABSENT


def ratio_interval_text(interval: Interval | None) -> str:
    """Return the interval of a ratio; empty without one."""
    if interval is None or not (is_number(interval.low) and is_number(interval.high)):
        return ""
    return f"{_ratio_number(interval.low)} to {_ratio_number(interval.high)}"


def percent_change_text(ratio: float | None) -> str:
    """Return what a ratio is as a change: ``−99.4 %``, from tenfold on ``×12.3``; empty without one."""
    if ratio is None or not math.isfinite(ratio):
        return ""
    if ratio >= _PERCENT_UP_TO:
        return ratio_text(ratio)
    change = (ratio - 1) * 100
    if round(change, 1) == 0:
        return f"0.0{_UNBREAKABLE}%"
    return f"{change:+,.1f}{_UNBREAKABLE}%".replace("-", _MINUS)


def p_text(value: float | None) -> str:
    """Return a p value: ``< 0.001``, ``0.043``; a dash when there is none."""
    if value is None or not math.isfinite(value):
        return ABSENT
    return f"<{_UNBREAKABLE}{_SMALLEST_P}" if value < _SMALLEST_P else f"{value:.3f}"


def moment_text(wall_ns: int | None) -> str:
    """Return a moment of a host's wall clock in UTC: ``2026-03-01 12:00:05 UTC``."""
    if wall_ns is None:
        return ABSENT
    try:
        moment = datetime.fromtimestamp(wall_ns // units.NS_PER_S, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return ABSENT
    return moment.strftime("%Y-%m-%d %H:%M:%S UTC")


def span_text(start_wall_ns: int | None, end_wall_ns: int | None) -> str:
    """Return a span of time; its date once when it starts and ends on the same day."""
    start, end = moment_text(start_wall_ns), moment_text(end_wall_ns)
    date, _, _ = start.partition(" ")
    same_day = ABSENT not in (start, end) and end.startswith(date)
    return (
        f"{start.removesuffix(' UTC')} – {end.removeprefix(date).strip()}" if same_day else f"{start} – {end}"
    )


def duration_text(seconds: float | None) -> str:
    """Return seconds as an operator says them; a dash when absent."""
    if seconds is None or not math.isfinite(seconds):
        return ABSENT
    return units.format_duration(seconds).replace(" ", _UNBREAKABLE)
