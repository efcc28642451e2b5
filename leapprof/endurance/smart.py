"""SMART documents: `smartctl --json` and `nvme smart-log -o json` → what a drive says of its own wear.

Sources: NVMe base specification, SMART / Health Information (log 02h): data units are thousands of 512-byte units,
rounded up, whatever the LBA format, and 0 means not reported; percentage used is the maker's estimate, may pass
100, saturates at 255, and 100 is the end of the rating, not a failure. smartctl writes integers beyond 2^53 once
more as text with the suffix ``_s``. Device Statistics entries without ``flags.valid`` hold no value.
"""

import json
from dataclasses import dataclass
from typing import Any

from leapprof.endurance import ata
from leapprof.errors import ParseError
from leapprof.units import NVME_DATA_UNIT_BYTES, SECTOR_BYTES

MAX_DOCUMENT_BYTES = 4 * 2**20
DEVSTAT_GENERAL_PAGE, DEVSTAT_SECTORS_WRITTEN = 1, 24
DEVSTAT_SSD_PAGE, DEVSTAT_PERCENT_USED = 7, 8
SCSI_GIGABYTE = 10**9
INTEL_NVME_UNIT_BYTES = 32 * 2**20
ENDURANCE_GROUP_UNIT_BYTES = 10**9
ZERO_CELSIUS_KELVIN = 273
CRITICAL_BITS = (
    "spare below its threshold",
    "temperature out of range",
    "reliability degraded",
    "read-only",
    "volatile memory backup failed",
    "persistent memory region read-only",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SmartReading:
    """What a drive says of itself at one moment; None is "does not say".

    Attributes:
        model, serial, firmware, capacity_bytes: who it is.
        protocol: NVMe, ATA or SCSI.
        host_written_bytes: what the host wrote over the drive's life.
        host_written_source: which meter that is (``data units``, ``device statistics``, attribute name …).
        host_written_resolution_bytes: its smallest step.
        nand_written_bytes: what the flash wrote; waf: write amplification where the drive gives both.
        undeclared_raw: raw value of a host-write counter whose unit is not known (see calibrated_unit_bytes).
        percent_used: of the rated life, 0 to 255; above 100 the rating is used up.
        spare_percent, spare_threshold_percent, power_on_hours, media_errors, temperature_celsius.
        critical: what the drive's critical warning says, in words.
        device: kernel name of what was asked, as smartctl says (``sda``, ``nvme0``).
    """

    model: str | None = None
    serial: str | None = None
    firmware: str | None = None
    protocol: str | None = None
    capacity_bytes: int | None = None
    host_written_bytes: int | None = None
    host_written_source: str | None = None
    host_written_resolution_bytes: int | None = None
    nand_written_bytes: int | None = None
    waf: float | None = None
    undeclared_raw: int | None = None
    percent_used: int | None = None
    spare_percent: int | None = None
    spare_threshold_percent: int | None = None
    power_on_hours: int | None = None
    media_errors: int | None = None
    temperature_celsius: int | None = None
    critical: tuple[str, ...] = ()
    device: str | None = None


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _integer(document: dict[str, Any], *names: str) -> int | None:
    """Return the first of the named entries that is a whole number; its exact ``_s`` form first."""
    for name in names:
        for value in (document.get(name + "_s"), document.get(name)):
            if isinstance(value, bool):
                continue
            if isinstance(value, int):
                return value if value >= 0 else None
            if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 39:
                return int(value)
    return None


def _text(document: dict[str, Any], *names: str) -> str | None:
    for name in names:
        value = document.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()[:200]
    return None


def _identity(document: dict[str, Any]) -> dict[str, Any]:
    protocol = _text(_dict(document.get("device")), "protocol")
    capacity = _integer(_dict(document.get("user_capacity")), "bytes")
    return {
        "model": _text(document, "model_name", "scsi_model_name", "ModelNumber"),
        "serial": _text(document, "serial_number", "SerialNumber"),
        "firmware": _text(document, "firmware_version", "FirmwareVersion"),
        "protocol": protocol,
        "capacity_bytes": capacity or _integer(document, "nvme_total_capacity", "PhysicalSize"),
        "power_on_hours": _integer(_dict(document.get("power_on_time")), "hours"),
        "temperature_celsius": _integer(_dict(document.get("temperature")), "current"),
        "device": (_text(_dict(document.get("device")), "name") or "").rpartition("/")[2] or None,
    }


def _celsius(document: dict[str, Any]) -> int | None:
    """Return the temperature of an nvme-cli document, which says kelvin."""
    kelvin = _integer(document, "temperature")
    return kelvin - ZERO_CELSIUS_KELVIN if kelvin is not None and kelvin >= ZERO_CELSIUS_KELVIN else None


def _warning_bits(log: dict[str, Any]) -> int | None:
    """Return the critical warning: a number, or in newer nvme-cli an object with its ``value``."""
    said = log.get("critical_warning")
    return _integer(said, "value") if isinstance(said, dict) else _integer(log, "critical_warning")


def _critical(bits: int | None) -> tuple[str, ...]:
    return tuple(text for bit, text in enumerate(CRITICAL_BITS) if bits and bits >> bit & 1)


def _nvme(log: dict[str, Any], identity: dict[str, Any]) -> SmartReading:
    units = _integer(log, "data_units_written")
    temperature = identity["temperature_celsius"]
    return SmartReading(
        **{
            **identity,
            "protocol": "NVMe",
            "power_on_hours": _integer(log, "power_on_hours"),
            "temperature_celsius": temperature,
        },
        host_written_bytes=units * NVME_DATA_UNIT_BYTES if units else None,
        host_written_source="NVMe data units" if units else None,
        host_written_resolution_bytes=NVME_DATA_UNIT_BYTES if units else None,
        percent_used=_integer(log, "percentage_used", "percent_used"),
        spare_percent=_integer(log, "available_spare", "avail_spare"),
        spare_threshold_percent=_integer(log, "available_spare_threshold", "spare_thresh"),
        media_errors=_integer(log, "media_errors"),
        critical=_critical(_warning_bits(log)),
    )


def _nand_log(document: dict[str, Any], identity: dict[str, Any]) -> SmartReading | None:
    """Return what the flash of an NVMe drive wrote; None when the document is none of these logs.

    OCP's log C0h counts bytes in 128 bits (Datacenter NVMe SSD Specification, SMART-1), the endurance group log
    thousands of millions of bytes, Intel's log CAh units of 32 MiB.
    """
    for name in ("Physical media units written", "physical_media_units_written"):
        low_high = _dict(document.get(name))
        low, high = _integer(low_high, "lo"), _integer(low_high, "hi")
        if low is not None and high is not None:
            return SmartReading(**{**identity, "protocol": "NVMe"}, nand_written_bytes=(high << 64) + low)
    nand = _integer(_dict(_dict(document.get("Device stats")).get("nand_bytes_written")), "raw")
    if nand is not None:
        written = nand * INTEL_NVME_UNIT_BYTES
        return SmartReading(**{**identity, "protocol": "NVMe"}, nand_written_bytes=written)
    nand, host = _integer(document, "media_units_written"), _integer(document, "data_units_written")
    if nand:
        return SmartReading(
            **{**identity, "protocol": "NVMe"},
            host_written_bytes=host * ENDURANCE_GROUP_UNIT_BYTES if host else None,
            host_written_source="endurance group log" if host else None,
            host_written_resolution_bytes=ENDURANCE_GROUP_UNIT_BYTES if host else None,
            nand_written_bytes=nand * ENDURANCE_GROUP_UNIT_BYTES,
            waf=nand / host if host else None,
            percent_used=_integer(document, "percentage_used", "percent_used"),
        )
    return None


def _device_statistic(document: dict[str, Any], page: int, offset: int) -> int | None:
    for found in _list(_dict(document.get("ata_device_statistics")).get("pages")):
        if _dict(found).get("number") != page:
            continue
        for entry in _list(_dict(found).get("table")):
            row = _dict(entry)
            if row.get("offset") == offset and _dict(row.get("flags")).get("valid"):
                return _integer(row, "value")
    return None


def _attributes(document: dict[str, Any]) -> tuple[ata.Attribute, ...]:
    rows = []
    for entry in _list(_dict(document.get("ata_smart_attributes")).get("table")):
        row = _dict(entry)
        number, name = _integer(row, "id"), _text(row, "name")
        value, raw = _integer(row, "value"), _integer(_dict(row.get("raw")), "value")
        if number is not None and name and value is not None and raw is not None:
            rows.append(ata.Attribute(id=number, name=name, value=value, raw=raw))
    return tuple(rows)


def _ata_host(
    document: dict[str, Any], attributes: tuple[ata.Attribute, ...], *, in_database: bool
) -> tuple[int | None, str | None, int | None]:
    """Return host bytes, their meter and its step: Device Statistics first, then an attribute by its name."""
    sectors = _device_statistic(document, DEVSTAT_GENERAL_PAGE, DEVSTAT_SECTORS_WRITTEN)
    if sectors is not None:
        step = _integer(document, "logical_block_size") or SECTOR_BYTES
        return sectors * step, "device statistics", step
    written = ata.written_bytes(attributes, "host", in_database=in_database)
    for attribute in attributes:
        unit = ata.write_units().get(attribute.name)
        if written is not None and unit and unit.unit_bytes and attribute.raw * unit.unit_bytes == written:
            return written, attribute.name, unit.unit_bytes
    return None, None, None


def _ata(document: dict[str, Any], identity: dict[str, Any]) -> SmartReading:
    attributes = _attributes(document)
    in_database = document.get("in_smartctl_database") is True
    written, meter, step = _ata_host(document, attributes, in_database=in_database)
    nand = ata.written_bytes(attributes, "nand", in_database=in_database)
    undeclared = next((a.raw for a in attributes if a.name == ata.UNDECLARED), None)
    used = _device_statistic(document, DEVSTAT_SSD_PAGE, DEVSTAT_PERCENT_USED)
    waf = ata.program_page_waf(attributes)
    if waf is None and written and nand:
        waf = nand / written
    return SmartReading(
        **{**identity, "protocol": "ATA"},
        host_written_bytes=written,
        host_written_source=meter,
        host_written_resolution_bytes=step,
        nand_written_bytes=nand,
        waf=waf,
        undeclared_raw=undeclared if written is None else None,
        percent_used=used if used is not None else ata.percent_used(attributes) if in_database else None,
    )


def _scsi(document: dict[str, Any], identity: dict[str, Any]) -> SmartReading:
    log = _dict(_dict(document.get("scsi_error_counter_log")).get("write"))
    gigabytes = log.get("gigabytes_processed")
    try:
        written = round(float(str(gigabytes)) * SCSI_GIGABYTE) if gigabytes is not None else None
    except (ValueError, OverflowError):
        written = None
    return SmartReading(
        **{**identity, "protocol": "SCSI"},
        host_written_bytes=written,
        host_written_source="SCSI write error counter log" if written is not None else None,
        host_written_resolution_bytes=10**6 if written is not None else None,
        percent_used=_integer(document, "scsi_percentage_used_endurance_indicator"),
    )


def parse_smart(text: str) -> SmartReading:
    """Return what a SMART document says.

    Args:
        text: output of ``smartctl --json -x`` or ``nvme smart-log -o json``; or of the logs that hold what the
            flash wrote: ``nvme ocp smart-add-log``, ``nvme intel smart-log-add``, ``nvme endurance-log``.

    Raises:
        ParseError: no JSON object, too large, or none of the known forms.
    """
    if len(text) > MAX_DOCUMENT_BYTES:
        raise ParseError("smart", f"at most {MAX_DOCUMENT_BYTES} bytes of JSON", line=f"{len(text)} bytes")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParseError("smart", "a JSON document of smartctl or nvme", line=text[:80]) from error
    if not isinstance(document, dict):
        raise ParseError("smart", "a JSON object", line=text[:80])
    reading = _reading(document, _identity(document))
    if reading is None:
        raise ParseError("smart", "an NVMe, ATA or SCSI health log", line=text[:80])
    return reading


def _reading(document: dict[str, Any], identity: dict[str, Any]) -> SmartReading | None:
    """Return what the document says, by which logs it holds; None when it holds none."""
    log = _dict(document.get("nvme_smart_health_information_log"))
    if log:
        return _nvme(log, identity)
    nand = _nand_log(document, identity)
    if nand is not None:
        return nand
    if "data_units_written" in document:
        return _nvme(document, identity | {"temperature_celsius": _celsius(document)})
    if "ata_smart_attributes" in document or "ata_device_statistics" in document:
        return _ata(document, identity)
    if "scsi_error_counter_log" in document or "scsi_percentage_used_endurance_indicator" in document:
        return _scsi(document, identity)
    return None
