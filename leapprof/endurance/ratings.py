"""Rated endurance of drives, matched by model string and capacity; each row of the table names its source.

DWPD = TBW / (capacity in TB × 365 × years of warranty), capacity decimal.
"""

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

from leapprof.errors import ParseError
from leapprof.units import TB

_COLUMNS = (
    "vendor,product,model_regex,capacity_gb_decimal,rated_tbw_decimal_TB,dwpd,warranty_years,grade,source"
)
CAPACITY_TOLERANCE = 0.07
"""960, 1000 and 1024 GB are sold as one size; 480 and 512 are too. Neighbouring sizes differ by far more."""
DAYS_PER_YEAR = 365
MAX_MODEL_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """One row of the table of drives.

    Attributes:
        vendor, product: as the maker calls it.
        model_regex: of the model string that the drive reports.
        capacity_bytes: decimal capacity of this row.
        rated_tbw: decimal TB.
        dwpd, warranty_years: None where the source does not give them.
        grade: A: the maker's own sheet is cited; B: secondary source, or TBW by formula from DWPD; user: yours.
        source: where the figure comes from.
    """

    vendor: str
    product: str
    model_regex: str
    capacity_bytes: int
    rated_tbw: float
    dwpd: float | None
    warranty_years: float | None
    grade: str
    source: str


def tbw_from_dwpd(dwpd: float, capacity_bytes: float, warranty_years: float = 5.0) -> float:
    """Return the decimal TB that this many drive writes a day come to over the warranty."""
    return dwpd * capacity_bytes / TB * DAYS_PER_YEAR * warranty_years


def _number(text: str) -> float | None:
    return float(text) if text.strip() else None


def _rating(row: dict[str, str], line_no: int, grade: str | None, name: str) -> Rating:
    try:
        re.compile(row["model_regex"])
        return Rating(
            vendor=row["vendor"],
            product=row["product"],
            model_regex=row["model_regex"],
            capacity_bytes=round(float(row["capacity_gb_decimal"]) * 10**9),
            rated_tbw=float(row["rated_tbw_decimal_TB"]),
            dwpd=_number(row.get("dwpd") or ""),
            warranty_years=_number(row.get("warranty_years") or ""),
            grade=grade or row["grade"],
            source=row.get("source") or "",
        )
    except (KeyError, TypeError, ValueError, OverflowError, re.error) as error:
        raise ParseError(
            name,
            _COLUMNS,
            line=str(error),
            line_no=line_no,
        ) from error


def parse_ratings(text: str, *, grade: str | None = None, name: str = "drives.csv") -> tuple[Rating, ...]:
    """Return the rows of a table of drives.

    Args:
        text: CSV with the columns of leapprof's own table.
        grade: overrides the grade of every row (``user`` for an operator's file).
        name: of the file, for messages.

    Raises:
        ParseError: a column is missing, a number is none, or a pattern is none.
    """
    try:
        table = csv.DictReader(io.StringIO(text), strict=True)
        rows, columns = list(table), table.fieldnames or ()
    except csv.Error as error:
        raise ParseError(name, "comma-separated values", line=str(error)) from error
    if "model_regex" not in columns:
        raise ParseError(name, _COLUMNS, line=",".join(columns), line_no=1)
    return tuple(_rating(row, number, grade, name) for number, row in enumerate(rows, 2))


@cache
def known_ratings() -> tuple[Rating, ...]:
    """Return leapprof's own table."""
    data = resources.files("leapprof.endurance").joinpath("data", "drives.csv")
    return parse_ratings(data.read_text(encoding="utf-8"))


def matching(model: str, ratings: Iterable[Rating]) -> list[Rating]:
    """Return the rows whose pattern a model string fits, whatever their capacity."""
    name = " ".join(model[:MAX_MODEL_CHARS].split())
    return [r for r in ratings if re.search(r.model_regex, name, re.IGNORECASE)]


def find_rating(
    model: str | None, capacity_bytes: int | None, ratings: Iterable[Rating] | None = None
) -> Rating | None:
    """Return the rating of a drive; None when the model is not in the table or its capacity does not fit.

    A vendor's name alone never matches: within one vendor ratings differ by a factor of fifty.

    Args:
        model: model string as sysfs or SMART gives it.
        capacity_bytes: of the drive; without it only an unambiguous model matches.
        ratings: rows to search, the first that fits wins; leapprof's own table by default.
    """
    if not model:
        return None
    fitting = matching(model, ratings or known_ratings())
    if capacity_bytes is None:
        return fitting[0] if len({r.rated_tbw for r in fitting}) == 1 else None
    near = [
        r for r in fitting if abs(r.capacity_bytes - capacity_bytes) <= CAPACITY_TOLERANCE * r.capacity_bytes
    ]
    best = min(near, key=lambda r: abs(r.capacity_bytes - capacity_bytes), default=None)
    tied = [r for r in near if best and r.capacity_bytes == best.capacity_bytes]
    return best if len({r.rated_tbw for r in tied}) == 1 else None
