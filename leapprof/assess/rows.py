"""The rows of a comparison before they are judged: every metric of every subject, measured on both sides."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from leapprof.analysis.hist import distributions
from leapprof.assess.both_sides import on_each
from leapprof.assess.latency import latency_sides
from leapprof.assess.measure import MeasuredSide, with_zero_interval
from leapprof.assess.metrics import METRICS, MetricSpec, SubjectKind
from leapprof.assess.side_rows import Asked, Measured, SideRow, Who, drawn, side_rows
from leapprof.assess.sides import CutSide
from leapprof.assess.subjects import DevicePair, NodeosPair, device_pairs, nodeos_pairs
from leapprof.model import Chart, Recording, Subject

RSS_REFUSED = (
    "the map mode differs: RSS in mapped is reclaimable page cache, in mapped_private, heap and locked it is "
    "memory of nodeos's own; compare nodeos.state_resident_bytes and host.mem_available_bytes"
)
DIRTIED_REFUSED = (
    "the map mode differs: /proc/PID/io charges pages of a shared mapping when they are dirtied and private "
    "ones never, so this is 0 in mapped_private by design; compare device.write_bytes_per_s"
)
_REFUSED_ACROSS_MODES = {
    "nodeos.rss_bytes": RSS_REFUSED,
    "nodeos.rss_anon_bytes": RSS_REFUSED,
    "nodeos.rss_file_bytes": RSS_REFUSED,
    "nodeos.rss_shmem_bytes": RSS_REFUSED,
    "nodeos.dirtied_bytes_per_s": DIRTIED_REFUSED,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Row:
    """One metric of one subject on both sides, not judged.

    Attributes:
        before, after: None where the recording does not hold it. Their series are empty once they are drawn,
            but for those of a load: a week's series of every metric would fill the memory.
        chart: thinned data of both series; None unless both sides have it.
        refused: why it may not be compared; None when it may.
        view_of: drives below a logical device.
        direct: that logical device carries the state more directly than any drive.
    """

    spec: MetricSpec
    subject: Subject
    before: MeasuredSide | None
    after: MeasuredSide | None
    chart: Chart | None = None
    refused: str | None = None
    view_of: tuple[str, ...] = ()
    direct: bool = False

    @property
    def is_headline(self) -> bool:
        """Return whether its p value is adjusted together with the others of the headline."""
        return self.spec.headline and (not self.view_of or self.direct) and self.refused is None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """Whose rows are compared on either side; None where it is not there."""

    subject: Subject
    before: Who | None
    after: Who | None
    nodeos: NodeosPair | None = None
    view_of: tuple[str, ...] = ()
    direct: bool = False


@dataclass(frozen=True, slots=True)
class ComparedTable:
    """A table, and whose rows of it are compared."""

    name: str
    kind: SubjectKind
    targets: tuple[_Target, ...]


def measure_rows(before: CutSide, after: CutSide) -> tuple[Row, ...]:
    """Return every metric that at least one side holds, in the order of the metric table."""
    tables = compared_tables(before.side.recording, after.side.recording)
    return rows_of(tables, (before, after), on_each(side_rows, (before, after), asked_of(tables)))


def compared_tables(before: Recording, after: Recording) -> tuple[ComparedTable, ...]:
    """Return whose rows of which tables are compared, as both manifests say."""
    nodeos, devices = nodeos_pairs(before, after), device_pairs(before, after)
    of_nodeos = tuple(_nodeos_target(pair) for pair in nodeos)
    of_both = tuple(_both_target(n, d) for n in nodeos for d in devices)
    return (
        ComparedTable("host", SubjectKind.HOST, (_host_target(),)),
        ComparedTable("nodeos", SubjectKind.NODEOS, of_nodeos),
        ComparedTable("nodeos_device", SubjectKind.NODEOS_DEVICE, of_both),
        ComparedTable("device", SubjectKind.DEVICE, tuple(_device_target(pair) for pair in devices)),
        ComparedTable("chain", SubjectKind.NODEOS, of_nodeos),
    )


def asked_of(tables: Sequence[ComparedTable]) -> tuple[tuple[Asked, ...], tuple[Asked, ...]]:
    """Return what is measured of these tables on either side."""
    return tuple(_asked(t, on_before=True) for t in tables), tuple(_asked(t, on_before=False) for t in tables)


def rows_of(
    tables: Sequence[ComparedTable],
    sides: tuple[CutSide, CutSide],
    measured: tuple[Sequence[Measured], Sequence[Measured]],
) -> tuple[Row, ...]:
    """Return the rows of what was measured on both sides, and of probes of delay."""
    rows = [
        *chain.from_iterable(_paired(*found) for found in zip(tables, *measured, strict=True)),
        *_delays(*sides),
    ]
    order = {spec.name: i for i, spec in enumerate(METRICS)}
    return tuple(sorted(rows, key=lambda row: order[row.spec.name]))


def _asked(table: ComparedTable, *, on_before: bool) -> Asked:
    """Return what is measured of a table on one side."""
    subjects = tuple(t.before if on_before else t.after for t in table.targets)
    return Asked(table=table.name, kind=table.kind, subjects=subjects)


def _paired(table: ComparedTable, before: Measured, after: Measured) -> Iterator[Row]:
    """Yield the rows of one table, one subject after the other."""
    specs = _asked(table, on_before=True).specs
    for target, firsts, seconds in zip(table.targets, before, after, strict=True):
        for spec, first, second in zip(specs, firsts, seconds, strict=True):
            if first is not None or second is not None:
                yield _row(spec, target, first, second)


def _row(spec: MetricSpec, target: _Target, first: SideRow | None, second: SideRow | None) -> Row:
    """Return one metric of one subject with its chart."""
    a, b = (side.measured if side else None for side in (first, second))
    return Row(
        spec=spec,
        subject=target.subject,
        before=with_zero_interval(a, b) if a else None,
        after=with_zero_interval(b, a) if b else None,
        chart=_chart_of(spec, target.subject, first, second),
        refused=_refused(spec, target.nodeos),
        view_of=target.view_of,
        direct=target.direct,
    )


def _delays(before: CutSide, after: CutSide) -> Iterator[Row]:
    """Yield the rows of probes of delay."""
    for found in latency_sides(before, after):
        first = drawn(found.spec, found.before, before) if found.before else None
        second = drawn(found.spec, found.after, after) if found.after else None
        yield replace(
            _row(found.spec, _Target(subject=found.subject, before=None, after=None), first, second),
            refused=found.refused,
        )


def _chart_of(
    spec: MetricSpec, subject: Subject, before: SideRow | None, after: SideRow | None
) -> Chart | None:
    """Return the thinned data of a row; None unless both sides have it."""
    if before is None or after is None:
        return None
    spread = distributions(before.held, after.held)
    return Chart(
        name=spec.name,
        unit=spec.unit,
        subject=subject,
        before_t_s=before.time_s,
        before_value=before.value,
        after_t_s=after.time_s,
        after_value=after.value,
        bin_edges=spread.edges,
        before_share=spread.before,
        after_share=spread.after,
    )


def _refused(spec: MetricSpec, pair: NodeosPair | None) -> str | None:
    """Return why a metric may not be compared across these two processes, or None."""
    if pair is None or pair.before is None or pair.after is None:
        return None
    modes = (pair.before.map_mode, pair.after.map_mode)
    if modes[0] == modes[1] or None in modes:
        return None
    return _REFUSED_ACROSS_MODES.get(spec.name)


def _host_target() -> _Target:
    return _Target(subject=Subject(), before=Who(), after=Who())


def _nodeos_target(pair: NodeosPair) -> _Target:
    before, after = (
        Who(where={"nodeos": one.id}, nodeos=one) if one else None for one in (pair.before, pair.after)
    )
    return _Target(subject=pair.subject, before=before, after=after, nodeos=pair)


def _device_target(pair: DevicePair) -> _Target:
    before, after = (Who(where={"device": one.name}) if one else None for one in (pair.before, pair.after))
    return _Target(subject=pair.subject, before=before, after=after, view_of=pair.view_of, direct=pair.direct)


def _both_target(nodeos: NodeosPair, device: DevicePair) -> _Target:
    mine, its = _nodeos_target(nodeos), _device_target(device)
    return _Target(
        subject=Subject(nodeos=mine.subject.nodeos, device=its.subject.device, role=its.subject.role),
        before=_both(mine.before, its.before),
        after=_both(mine.after, its.after),
        nodeos=nodeos,
        view_of=its.view_of,
    )


def _both(nodeos: Who | None, device: Who | None) -> Who | None:
    if nodeos is None or device is None:
        return None
    where: Mapping[str, str] = {**(nodeos.where or {}), **(device.where or {})}
    return Who(where=where, nodeos=nodeos.nodeos)
