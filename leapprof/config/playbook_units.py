"""Durations and sizes as a playbook writes them. Pure."""

import re

from leapprof.units import GIB, KIB, MIB

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_DURATION_PART = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|min|m|h|d|w)", re.ASCII)
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?([kMGT]i?)?B\Z", re.ASCII)
_SCALES = {
    None: 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
    "ki": KIB, "Mi": MIB, "Gi": GIB, "Ti": 2**40,
}  # fmt: skip


def parse_duration_s(value: object) -> float:
    """Return the seconds that ``90s``, ``1h30m`` or ``0s`` say.

    Raises:
        ValueError: it has another form; a bare number has no unit, ``20:00`` is none.
    """
    text = value.strip() if isinstance(value, str) else ""
    parts = _DURATION_PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError("a duration has a unit: 90s, 15m, 6h, 1h30m")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def parse_size_bytes(value: object) -> int:
    """Return the bytes that ``8 GiB`` (binary) or ``500 MB`` (decimal) say.

    Raises:
        ValueError: it has another form.
    """
    found = _SIZE.match(value.strip().replace("KiB", "kiB")) if isinstance(value, str) else None
    if found is None:
        raise ValueError("a size has a unit: 8 GiB, 500 MB")
    return round(float(found[1]) * _SCALES[found[2]])
