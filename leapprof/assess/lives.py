"""Years of a drive's rating at a yearly rate, how many such hosts fit it, what a year costs."""

from dataclasses import dataclass

from leapprof.endurance.lifetime import COMMON_RATINGS_TBW, YearlyWrites, lifetime, nodes_per_drive
from leapprof.model.wear import DeviceForecast, RatedYears
from leapprof.units import TB

DEFAULT_WARRANTY_YEARS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Drive:
    """What is known of a drive's endurance.

    Attributes:
        rated_tbw: decimal TB; None: common ratings are shown.
        warranty_years: of the rating; None: five.
        written_bytes: by the host so far; None counts from new.
        percent_used: the drive's own estimate.
        price: in any currency.
    """

    rated_tbw: float | None = None
    warranty_years: float | None = None
    written_bytes: float | None = None
    percent_used: int | None = None
    price: float | None = None


def drive_of(device: DeviceForecast) -> Drive:
    """Return what a forecast knows of its drive's endurance."""
    return Drive(
        rated_tbw=device.rating,
        warranty_years=device.warranty_years,
        written_bytes=device.written_tb * TB if device.written_tb is not None else None,
        percent_used=device.percent_used,
        price=device.price,
    )


def drive_lives(yearly: YearlyWrites, drive: Drive) -> tuple[RatedYears, ...]:
    """Return the years of a drive's rating, or of each common rating where it is not known."""
    ratings = (drive.rated_tbw,) if drive.rated_tbw else COMMON_RATINGS_TBW
    warranty = drive.warranty_years or DEFAULT_WARRANTY_YEARS
    found = []
    for rated in ratings:
        life = lifetime(rated, yearly, written_bytes=drive.written_bytes, percent_used=drive.percent_used)
        found.append(
            RatedYears(
                rated_tbw=rated,
                years=life.years,
                low=life.ci95_low,
                high=life.ci95_high,
                nodes=nodes_per_drive(rated, warranty, yearly.total),
                price_per_year=drive.price * yearly.total / rated if drive.price is not None else None,
            )
        )
    return tuple(found)
