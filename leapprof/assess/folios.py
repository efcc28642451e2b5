"""Large folios below a `mapped` state: one dirty byte then writes back up to 2 MiB."""

from leapprof.assess.sides import CutSide
from leapprof.units import GIB

LARGE_FOLIOS_FROM = GIB // 8


def large_folio_bytes(side: CutSide) -> int | None:
    """Return the file pages that are mapped in 2 MiB pieces (FilePmdMapped of /proc/meminfo, proc(5)).

    Returns:
        None when no nodeos runs in `mapped`, when it was not read, or when it is small.
    """
    if not any(n.map_mode == "mapped" for n in side.side.recording.nodeos):
        return None
    table = side.tables.table("host", ("file_pmd_mapped_bytes",))
    column = table.integers.get("file_pmd_mapped_bytes") if table is not None else None
    if column is None or not column.present.any():
        return None
    largest = int(column.values[column.present].max())
    return largest if largest >= LARGE_FOLIOS_FROM else None
