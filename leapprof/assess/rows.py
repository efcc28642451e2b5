"""The rows of a comparison before they are judged: every metric of every subject, measured on both sides."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from leapprof.analysis.hist import distributions
from leapprof.analysis.thin import thin
from leapprof.assess.cached import CachedTables
from leapprof.assess.latency import latency_sides
from leapprof.assess.measure import MeasuredSide, Reading, measure, reading_of, with_zero_interval
from leapprof.assess.metrics import METRICS, MetricSpec, SubjectKind, columns_of
from leapprof.assess.samples import read_samples
from leapprof.assess.sides import CutSide
from leapprof.assess.subjects import DevicePair, NodeosPair, device_pairs, nodeos_pairs
from leapprof.model import Chart, Nodeos, Series, Subject

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
_JUMPS = "nodeos.cpu_cores"
"""Its series are asked for again: findings name where its level jumps."""
_LOAD_TABLE = "chain"
"""Its series are asked for again: they are the load that other metrics are held against."""
_NONE = np.empty(0)
_NO_SERIES = Series(time_s=_NONE, value=_NONE, weight_s=_NONE)
_WORKERS = 2
"""Metrics measured at once: numpy works without the interpreter's lock, and each takes the memory of its series."""


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
    """Whose rows are read: what selects them on each side (None: not there)."""

    subject: Subject
    where_before: Mapping[str, str] | None
    where_after: Mapping[str, str] | None
    nodeos: NodeosPair | None = None
    on_before: bool = True
    on_after: bool = True
    view_of: tuple[str, ...] = ()
    direct: bool = False


def measure_rows(before: CutSide, after: CutSide) -> tuple[Row, ...]:
    """Return every metric that at least one side holds, in the order of the metric table."""
    nodeos, devices = nodeos_pairs(before, after), device_pairs(before, after)
    rows = [
        *_rows_of("host", SubjectKind.HOST, [_host_target()], before, after),
        *_rows_of("nodeos", SubjectKind.NODEOS, [_nodeos_target(p) for p in nodeos], before, after),
        *_rows_of(
            "nodeos_device",
            SubjectKind.NODEOS_DEVICE,
            [_both_target(n, d) for n in nodeos for d in devices],
            before,
            after,
        ),
        *_rows_of("device", SubjectKind.DEVICE, [_device_target(p) for p in devices], before, after),
        *_rows_of("chain", SubjectKind.NODEOS, [_nodeos_target(p) for p in nodeos], before, after),
        *_delays(before, after),
    ]
    order = {spec.name: i for i, spec in enumerate(METRICS)}
    return tuple(sorted(rows, key=lambda row: order[row.spec.name]))


def _delays(before: CutSide, after: CutSide) -> Iterator[Row]:
    """Yield the rows of probes of delay."""
    for found in latency_sides(before, after):
        row = Row(
            spec=found.spec,
            subject=found.subject,
            before=found.before,
            after=found.after,
            refused=found.refused,
        )
        yield _drawn(row, before, after)


def _drawn(row: Row, before: CutSide, after: CutSide) -> Row:
    """Return the row with its chart, and without the series that are not asked for again."""
    drawn = replace(row, chart=_chart_of(row, before, after))
    if row.spec.table == _LOAD_TABLE or row.spec.name == _JUMPS:
        return drawn
    return replace(
        drawn,
        before=replace(row.before, series=_NO_SERIES) if row.before else None,
        after=replace(row.after, series=_NO_SERIES) if row.after else None,
    )


def _chart_of(row: Row, before: CutSide, after: CutSide) -> Chart | None:
    """Return the thinned data of a row; None unless both sides have it."""
    if row.before is None or row.after is None:
        return None
    t0, v0 = thin(row.before.series)
    t1, v1 = thin(row.after.series)
    spread = distributions(row.before.series, row.after.series)
    return Chart(
        name=row.spec.name,
        unit=row.spec.unit,
        subject=row.subject,
        before_t_s=t0 - before.span.start_s,
        before_value=v0,
        after_t_s=t1 - after.span.start_s,
        after_value=v1,
        bin_edges=spread.edges,
        before_share=spread.before,
        after_share=spread.after,
    )


def _rows_of(
    table: str, kind: SubjectKind, targets: list[_Target], before: CutSide, after: CutSide
) -> Iterator[Row]:
    """Yield the rows of one table, one subject after the other."""
    specs = [s for s in METRICS if s.table == table and s.subject is kind]
    wheres = (
        [t.where_before for t in targets if t.on_before and t.where_before],
        [t.where_after for t in targets if t.on_after and t.where_after],
    )
    with ThreadPoolExecutor(_WORKERS) as pool:
        list(pool.map(CachedTables.prepare, (before.tables, after.tables), (table, table), wheres))
    for target in targets:
        mine, its = (target.nodeos.before, target.nodeos.after) if target.nodeos else (None, None)
        first = _read(table, before, target.where_before, mine) if target.on_before else None
        second = _read(table, after, target.where_after, its) if target.on_after else None
        with ThreadPoolExecutor(_WORKERS) as pool:
            found = pool.map(partial(_measured, target, first, second, before, after), specs)
            yield from (row for row in found if row is not None)


def _read(
    table: str, side: CutSide, where: Mapping[str, str] | None, nodeos: Nodeos | None
) -> Reading | None:
    """Return one subject's columns, which are not asked for again."""
    samples = read_samples(side.tables, table, columns_of(table), where)
    side.tables.release(table, where)
    return None if samples is None else reading_of(side, samples, nodeos)


def _measured(
    target: _Target,
    first: Reading | None,
    second: Reading | None,
    before: CutSide,
    after: CutSide,
    spec: MetricSpec,
) -> Row | None:
    """Return one metric of one subject; None when neither side holds it."""
    a, b = (measure(spec, read) if read else None for read in (first, second))
    if a is None and b is None:
        return None
    row = Row(
        spec=spec,
        subject=target.subject,
        before=with_zero_interval(a, b) if a else None,
        after=with_zero_interval(b, a) if b else None,
        refused=_refused(spec, target.nodeos),
        view_of=target.view_of,
        direct=target.direct,
    )
    return _drawn(row, before, after)


def _refused(spec: MetricSpec, pair: NodeosPair | None) -> str | None:
    """Return why a metric may not be compared across these two processes, or None."""
    if pair is None or pair.before is None or pair.after is None:
        return None
    modes = (pair.before.map_mode, pair.after.map_mode)
    if modes[0] == modes[1] or None in modes:
        return None
    return _REFUSED_ACROSS_MODES.get(spec.name)


def _host_target() -> _Target:
    return _Target(subject=Subject(), where_before=None, where_after=None)


def _nodeos_target(pair: NodeosPair) -> _Target:
    return _Target(
        subject=pair.subject,
        where_before={"nodeos": pair.before.id} if pair.before else None,
        where_after={"nodeos": pair.after.id} if pair.after else None,
        nodeos=pair,
        on_before=pair.before is not None,
        on_after=pair.after is not None,
    )


def _device_target(pair: DevicePair) -> _Target:
    return _Target(
        subject=pair.subject,
        where_before={"device": pair.before.name} if pair.before else None,
        where_after={"device": pair.after.name} if pair.after else None,
        on_before=pair.before is not None,
        on_after=pair.after is not None,
        view_of=pair.view_of,
        direct=pair.direct,
    )


def _both_target(nodeos: NodeosPair, device: DevicePair) -> _Target:
    mine, its = _nodeos_target(nodeos), _device_target(device)
    return _Target(
        subject=Subject(nodeos=mine.subject.nodeos, device=its.subject.device, role=its.subject.role),
        where_before={**(mine.where_before or {}), **(its.where_before or {})},
        where_after={**(mine.where_after or {}), **(its.where_after or {})},
        nodeos=nodeos,
        on_before=mine.on_before and its.on_before,
        on_after=mine.on_after and its.on_after,
        view_of=its.view_of,
    )
