"""Units: the constants of our field, and how a value is printed.

Inside leapprof there are only base units (bytes, seconds, counts, cores). TB and TBW are decimal as
drive makers rate them (JEDEC JESD218), a year is 365 days, memory is printed in binary GiB, rates in
decimal kB/s and MB/s. A diskstats sector is 512 bytes whatever the drive's block size
(Linux Documentation/admin-guide/iostats.rst), an NVMe data unit 512,000 bytes (NVMe base
specification, SMART / Health log page).
"""

import math
from collections.abc import Callable

SECTOR_BYTES = 512
NVME_DATA_UNIT_BYTES = 512_000
KIB = 2**10
MIB = 2**20
GIB = 2**30
TB = 10**12
DAY_S = 86_400
YEAR_S = 365 * DAY_S
NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000
TICKS_PER_S = 100
"""USER_HZ of proc(5): the same on every architecture that runs nodeos."""

_DECIMAL = ((10**15, "PB"), (10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))
_BINARY = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))
_NOTHING_BELOW = 1e-9
"""Below a billionth of any base unit a number is rounding error, not an observation."""

_LEAST_BYTES = 0.5
"""Below half a byte a size is rounding error of a mean."""

_TIMES = ((0.9995, 1.0, "s"), (1e-4, 1e3, "ms"), (_NOTHING_BELOW, 1e6, "µs"))
"""Seconds from which a unit of time is taken; what would read 1,000 ms is a second."""


def significant(value: float, digits: int = 3) -> str:
    """Return value with that many significant digits, without exponent and with thousands separators."""
    if not math.isfinite(value):
        return str(value)
    if abs(value) < _NOTHING_BELOW:
        return "0"
    rounded = float(f"{value:.{digits}g}")  # 99.95 becomes 100 before its digits are counted
    size = abs(rounded) if math.isfinite(rounded) else abs(value)
    decimals = max(0, digits - 1 - math.floor(math.log10(size)))
    return f"{value:,.{decimals}f}"


def _scaled(value: float, scale: tuple[tuple[int, str], ...], base: str) -> str:
    for factor, name in scale:
        if abs(value) >= factor * 0.9995:
            return f"{significant(value / factor)} {name}"
    return f"{significant(value)} {base}"


def format_bytes(value_bytes: float) -> str:
    """Return decimal bytes, as drives are rated: ``3.05 TB``."""
    return _scaled(value_bytes, _DECIMAL, "B")


def format_memory(value_bytes: float) -> str:
    """Return binary bytes, as memory is counted: ``31.2 GiB``."""
    return _scaled(value_bytes if abs(value_bytes) >= _LEAST_BYTES else 0.0, _BINARY, "B")


def format_bytes_per_s(value: float) -> str:
    """Return a decimal rate: ``4.09 MB/s``."""
    return format_bytes(value) + "/s"


def format_tb_per_year(tb_per_year: float, most: float | None = None) -> str:
    """Return a yearly amount, always in TB: ``0.378 TB/year``.

    Args:
        tb_per_year: the mean.
        most: upper limit of its interval; it is what can be said where nothing was seen: ``at most 0.168 TB/year``.
    """
    if most is not None and abs(tb_per_year) < _NOTHING_BELOW <= most < math.inf:
        return f"at most {format_tb_per_year(most)}"
    return f"{significant(tb_per_year)} TB/year"


def tb_per_year(bytes_per_s: float) -> float:
    """Return the decimal terabytes that this rate writes in 365 days."""
    return bytes_per_s * YEAR_S / TB


def format_duration(seconds: float) -> str:
    """Return seconds as an operator says them: ``28 min 30 s``, ``2 d 4 h``."""
    whole = round(abs(seconds))
    sign = "-" if seconds < 0 and whole else ""
    days, hours, minutes, secs = whole // DAY_S, whole // 3600 % 24, whole // 60 % 60, whole % 60
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (secs, "s")]
    first = next((i for i, (n, _) in enumerate(parts) if n), 3)
    kept = [f"{n} {name}" for n, name in parts[first : first + 2] if n]
    return sign + (" ".join(kept) or "0 s")


def _plain(unit: str) -> Callable[[float], str]:
    return lambda value: f"{significant(value)} {unit}".rstrip()


def _format_seconds(value: float) -> str:
    """Return seconds; below one in thousandths, or millionths: ``1.25 s``, ``376 ms``, ``28.5 µs``."""
    for least, factor, name in _TIMES:
        if abs(value) >= least:
            return f"{significant(value * factor)} {name}"
    return f"{significant(value)} s"


_FORMATS: dict[str, Callable[[float], str]] = {
    "bytes": format_memory,
    "moved_bytes": format_bytes,
    "bytes_per_s": format_bytes_per_s,
    "tb_per_year": format_tb_per_year,
    "percent": _plain("%"),
    "s": _format_seconds,
    "cores": _plain("cores"),
    "per_s": _plain("/s"),
    "count": _plain(""),
    "years": _plain("years"),
}


def format_value(value: float | None, unit: str) -> str:
    """Return value in its unit for a person to read; an absent one is a dash.

    Args:
        value: in base units.
        unit: a key of the metric table: bytes (memory), moved_bytes (written or sent, decimal), bytes_per_s,
            percent, s, cores, per_s, count, tb_per_year, years.
    """
    if value is None:
        return "–"
    return _FORMATS[unit](value)
