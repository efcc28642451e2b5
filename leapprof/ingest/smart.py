"""What drives say of themselves: the output of the commands ``smart_DEVICE`` that the operator allowed → rows.

A command's text begins with ``exit N`` (leapprof.agent.agent). smartctl's exit status is a set of bits that is not 0
for many a drive in use (smartctl(8)): the document decides, not the status.
"""

from dataclasses import dataclass

from leapprof.endurance.smart import SmartReading, parse_smart
from leapprof.errors import ParseError

SECTION = "command/smart"
MAX_INTEGER = 2**63 - 1
MILLI = 1000
_MAX_DEVICE_CHARS = 64
_MAX_WAF = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartRow:
    """One row of the table ``smart``: texts and integers."""

    texts: dict[str, str | None]
    integers: dict[str, int | None]


def is_smart(section: str) -> bool:
    """Return whether a section is the output of a command about a drive: ``smart``, ``smart_sda``, …."""
    return section == SECTION or section.startswith(SECTION + "_")


def smart_row(section: str, text: str) -> SmartRow:
    """Return the row of a command's output.

    Args:
        section: ``command/smart_DEVICE``, ``command/smart_DEVICE_ANYTHING``, or ``command/smart``: the document
            then has to say which device it is about.
        text: ``exit N`` and what the command printed.

    Raises:
        ParseError: the output is no health log, or says of no device.
    """
    status, _, body = text.partition("\n")
    if not body.strip():
        raise ParseError("smart", "a JSON document; the command printed nothing", line=status[:80])
    reading = parse_smart(body)
    named = section[len(SECTION) + 1 :].partition("_")[0]
    device = named or reading.device
    if not device or len(device) > _MAX_DEVICE_CHARS:
        raise ParseError("smart", "the name of the device: call the command smart_DEVICE", line=section)
    return SmartRow(
        texts={
            "device": device,
            "model": reading.model,
            "serial": reading.serial,
            "meter": reading.host_written_source,
            "warning": ", ".join(reading.critical) or None,
        },
        integers={name: value if _fits(value) else None for name, value in _numbers(reading).items()},
    )


def _fits(value: int | None) -> bool:
    return value is not None and 0 <= value <= MAX_INTEGER


def _numbers(reading: SmartReading) -> dict[str, int | None]:
    waf = round(reading.waf * MILLI) if reading.waf is not None and reading.waf < _MAX_WAF else None
    return {
        "host_written_bytes_total": reading.host_written_bytes,
        "host_written_step_bytes": reading.host_written_resolution_bytes,
        "nand_written_bytes_total": reading.nand_written_bytes,
        "undeclared_writes_total": reading.undeclared_raw,
        "waf_milli": waf,
        "percent_used": reading.percent_used,
        "spare_percent": reading.spare_percent,
        "spare_threshold_percent": reading.spare_threshold_percent,
        "power_on_hours": reading.power_on_hours,
        "media_errors_total": reading.media_errors,
        "temperature_celsius": reading.temperature_celsius,
        "capacity_bytes": reading.capacity_bytes,
    }


def merged(first: SmartRow | None, second: SmartRow) -> SmartRow:
    """Return two documents about one drive at one moment as one row: the first one's values win."""
    if first is None:
        return second
    return SmartRow(
        texts=second.texts | {k: v for k, v in first.texts.items() if v is not None},
        integers=second.integers | {k: v for k, v in first.integers.items() if v is not None},
    )
