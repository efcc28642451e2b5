"""What a transaction and a block cost: writes and CPU divided by the chain's work, as ratios of sums."""

from collections.abc import Iterator, Sequence

from leapprof.analysis.compare import ratio_of
from leapprof.analysis.load import per_unit as divided
from leapprof.assess.measure import batches_within
from leapprof.assess.rows import Row
from leapprof.assess.sides import CutSide
from leapprof.model import Effect, Interval, PerUnit

WORK = (("chain.transactions_per_s", "transaction"), ("chain.blocks_per_s", "block"))
DIVIDED = {"device.write_bytes_per_s": "bytes", "nodeos.cpu_cores": "cpu_seconds"}


def per_unit_figures(rows: Sequence[Row], before: CutSide, after: CutSide) -> tuple[PerUnit, ...]:
    """Return what each headline flow costs a transaction and a block, where both sides have both."""
    return tuple(_figures(rows, (before, after)))


def _figures(rows: Sequence[Row], sides: tuple[CutSide, CutSide]) -> Iterator[PerUnit]:
    """Yield the figures of one kind of work after the other."""
    for work_name, per in WORK:
        work = [r for r in rows if r.spec.name == work_name and r.before and r.after]
        for row in rows if len(work) == 1 else ():
            if row.spec.name in DIVIDED and row.is_headline and _is_its_work(row, work[0]):
                found = _figure(row, work[0], per, sides)
                if found is not None:
                    yield found


def _is_its_work(row: Row, work: Row) -> bool:
    """Return whether the work is that of this nodeos, or what lies below it: of drives the state's alone."""
    if row.subject.device is not None:
        return "state" in (row.subject.role or "").split(", ")
    return row.subject.nodeos == work.subject.nodeos


def _figure(row: Row, work: Row, per: str, sides: tuple[CutSide, CutSide]) -> PerUnit | None:
    """Return one figure; None unless both sides have at least ten batches of both."""
    found = []
    for mine, its, side in ((row.before, work.before, sides[0]), (row.after, work.after, sides[1])):
        amount = mine.batches if mine else None
        done = batches_within(its.series, side) if its else None
        one = divided(amount, done) if amount is not None and done is not None else None
        if mine is None or one is None:
            return None
        found.append(_allowing(*one, mine.estimate.widening))
    return PerUnit(
        name=row.spec.name,
        subject=row.subject,
        unit=DIVIDED[row.spec.name],
        per=per,
        before=found[0],
        after=found[1],
        ratio=ratio_of(found[0], found[1]),
    )


def _allowing(value: float, interval: Interval, by: float) -> Effect:
    """Return a ratio whose interval allows for a short window as that of its numerator does, on the log scale."""
    wide = Interval(low=value * (interval.low / value) ** by, high=value * (interval.high / value) ** by)
    return Effect(value=value, ci95=wide)
