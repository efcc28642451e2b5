"""ATA attributes: which of them count host writes, which flash writes, which wear, and in what unit.

Source: names and units of smartmontools' drivedb.h 7.5 (the name that smartctl prints decides, never the number
alone: 241 is host writes in 25 families, GiB in 18, NAND in two); Device Statistics of ACS-3 (log 04h page 1
offset 018h "Logical Sectors Written", page 7 offset 008h "Percentage Used Endurance Indicator").
"""

import csv
import io
from dataclasses import dataclass
from functools import cache
from importlib import resources

SNAP_UNITS_BYTES = (512, 4096, 512_000, 2**20, 16 * 2**20, 32 * 2**20, 10**9, 2**30)
SNAP_TOLERANCE = 0.15
MIN_TICKS = 10
UNDECLARED = "Total_LBAs_Written"
"""smartctl's name for attribute 241 of drives that it does not know: its unit is then unknown too."""

REMAINING_NAMES = frozenset(
    {
        "Media_Wearout_Indicator",
        "SSD_Life_Left",
        "SSD_Life_Left_Perc",
        "Wear_Leveling_Count",
        "Perc_Rated_Life_Remain",
        "Percent_Lifetime_Remain",
        "Remaining_Lifetime_Perc",
    }
)
"""Attributes whose normalised VALUE is the percentage that remains; all others make no claim."""
RAW_PERCENT_USED_ID = 230
"""WD's and SanDisk's Media_Wearout_Indicator: its raw value is the percentage used."""
MAX_PERCENT = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteUnit:
    """What one attribute name counts: ``host`` or ``nand`` writes, and bytes a unit (None: not known)."""

    kind: str
    ids: frozenset[int]
    unit_bytes: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attribute:
    """One row of the attribute table: number, smartctl's name, normalised and raw value."""

    id: int
    name: str
    value: int
    raw: int


@cache
def write_units() -> dict[str, WriteUnit]:
    """Return attribute name → what it counts."""
    data = resources.files("leapprof.endurance").joinpath("data", "ata-write-units.csv")
    rows = csv.DictReader(io.StringIO(data.read_text(encoding="utf-8")))
    return {
        row["attribute_name"]: WriteUnit(
            kind=row["kind"],
            ids=frozenset(int(number) for number in row["attribute_ids"].split()),
            unit_bytes=int(row["bytes_per_unit"]) if row["bytes_per_unit"] else None,
        )
        for row in rows
    }


def written_bytes(attributes: tuple[Attribute, ...], kind: str, *, in_database: bool) -> int | None:
    """Return the bytes that an attribute counts, ``host`` or ``nand``; None when none can be trusted.

    Args:
        attributes: the table as smartctl prints it.
        kind: ``host`` or ``nand``.
        in_database: smartctl knows the drive; else the default name's unit is a guess and not used.
    """
    for attribute in attributes:
        unit = write_units().get(attribute.name)
        if unit is None or unit.kind != kind or unit.unit_bytes is None or attribute.id not in unit.ids:
            continue
        if attribute.name == UNDECLARED and not in_database:
            continue
        if "Reads" in attribute.name or "Read_" in attribute.name:
            continue
        return attribute.raw * unit.unit_bytes
    return None


def program_page_waf(attributes: tuple[Attribute, ...]) -> float | None:
    """Return write amplification from Micron's and Crucial's page counts: (247 + 248) / 247."""
    raws = {a.name: a.raw for a in attributes if a.id in (247, 248)}
    host = raws.get("Host_Program_Page_Count")
    ftl = raws.get("FTL_Program_Page_Count", raws.get("Bckgnd_Program_Page_Cnt"))
    return (host + ftl) / host if host and ftl is not None else None


def percent_used(attributes: tuple[Attribute, ...]) -> int | None:
    """Return the drive's own wear in percent of its rated life; None when no attribute makes that claim."""
    for attribute in attributes:
        if attribute.name not in REMAINING_NAMES:
            continue
        if attribute.id == RAW_PERCENT_USED_ID:
            return attribute.raw if attribute.raw <= MAX_PERCENT else None
        if 0 <= attribute.value <= 100:
            return 100 - attribute.value
    return None


def calibrated_unit_bytes(raw_before: int, raw_after: int, device_bytes: float) -> int | None:
    """Return the unit of an undeclared counter, from what the kernel counted in the same time.

    Args:
        raw_before: the attribute's raw value at the start.
        raw_after: the same at the end.
        device_bytes: bytes that /proc/diskstats counted in between.

    Returns:
        One of SNAP_UNITS_BYTES; None when the counter moved less than ten ticks, or fits none of them.
    """
    ticks = raw_after - raw_before
    if ticks < MIN_TICKS or device_bytes <= 0:
        return None
    unit = device_bytes / ticks
    nearest = min(SNAP_UNITS_BYTES, key=lambda known: abs(known - unit) / known)
    return nearest if abs(nearest - unit) <= SNAP_TOLERANCE * nearest else None
