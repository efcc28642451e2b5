"""/proc/pressure/{cpu,memory,io}: time lost to a lack of a resource (Documentation/accounting/psi.rst).

Since Linux 4.20, where built in and not switched off. The ``full`` line of cpu came with 5.13.
"""

from dataclasses import dataclass

from leapprof.errors import ParseError
from leapprof.probes.text import integer


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressure:
    """Stall time since boot, microseconds."""

    some_us_total: int | None = None
    full_us_total: int | None = None


def parse_pressure(text: str) -> Pressure:
    """Return the totals of a pressure file; the averages are left out.

    Raises:
        ParseError: a some or full line without an integer total.
    """
    found: dict[str, int | None] = {}
    for line in text.split("\n"):
        kind = line.partition(" ")[0]
        if kind in ("some", "full"):
            _, total, value = line.rpartition("total=")
            if not total:
                raise ParseError("pressure", "'total='", line=line)
            found[f"{kind}_us_total"] = integer(value.strip(), "pressure", line)
    return Pressure(**found)
