"""Metrics that cannot move: where neither side has swap, nothing can be swapped. They are shown, and are no question.

Absent, not permitted and zero are told apart: it takes a SwapTotal of /proc/meminfo that was read as 0 on both sides.
Swap that is there and unused stays a question: it may be used after the change.
"""

from collections.abc import Sequence

from leapprof.assess.rows import Row
from leapprof.assess.sides import CutSide
from leapprof.model import Verdict

NO_SWAP = "neither side has swap"
_OF_SWAP = frozenset(
    {
        "host.swap_used_bytes",
        "host.swap_out_bytes_per_s",
        "host.swap_in_bytes_per_s",
        "nodeos.swap_bytes",
    }
)
_TOTAL = "swap_total_bytes"


def immovable(rows: Sequence[Row], before: CutSide, after: CutSide) -> list[str | None]:
    """Return for each row why it cannot move; None where it can, or where that is not known."""
    stayed = [row.spec.name in _OF_SWAP and _stayed_at_zero(row) for row in rows]
    if not any(stayed) or not (_has_no_swap(before) and _has_no_swap(after)):
        return [None] * len(rows)
    return [NO_SWAP if zero else None for zero in stayed]


def reason_of(why: str, verdict: Verdict, reason: str) -> str:
    """Return why a metric that cannot move has its verdict: no length of recording makes another of unchanged."""
    return f"{why}, so it cannot move" if verdict is Verdict.UNCHANGED else f"{why}: {reason}"


def _stayed_at_zero(row: Row) -> bool:
    """Return whether both sides were 0 throughout: in a container the host's swap may be used without being shown."""
    return all(side is not None and side.estimate.mean == 0 for side in (row.before, row.after))


def _has_no_swap(side: CutSide) -> bool:
    """Return whether the host said so: when it was surveyed, else (imported recordings) in every sample."""
    surveyed = side.side.recording.host.facts.get(_TOTAL)
    if surveyed is not None:
        return surveyed == "0"
    column = side.tables.table("host", (_TOTAL,)).integers.get(_TOTAL)
    return column is not None and bool(column.present.any()) and not column.values[column.present].any()
