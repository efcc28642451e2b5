"""One recording in numbers: each metric's mean, quantiles and shape over its whole length. For `leapprof show`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.analysis.quantiles import quantiles
from leapprof.assess.beside import apart_if_worth_it
from leapprof.assess.cached import CachedTables
from leapprof.assess.compute import Context
from leapprof.assess.latency import delay_subjects
from leapprof.assess.metrics import METRICS, MetricSpec, SubjectKind, columns_of
from leapprof.assess.samples import RecordingTables, Samples, read_samples
from leapprof.assess.subjects import roles_of, shown_devices
from leapprof.model import Nodeos, Recording, Series, Subject

SHAPE_BINS = 40
DEFAULT_PAGE_BYTES = 4096
_OF_NODEOS = (SubjectKind.NODEOS,)  # its tables are asked for again, for stages and starts
_BESIDE = tuple(kind for kind in SubjectKind if kind not in _OF_NODEOS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRow:
    """One metric of one subject over a whole recording.

    Attributes:
        name, unit: of the metric table.
        mean, p50, p95, maximum: of the samples, base unit; the mean is weighted by what each sample covers.
        samples: finite ones.
        shape: means of up to SHAPE_BINS equal stretches of time; None where there is no sample.
    """

    name: str
    unit: str
    subject: Subject
    mean: float
    p50: float
    p95: float
    maximum: float
    samples: int
    shape: tuple[float | None, ...]


def summarize(recording: RecordingTables) -> tuple[SummaryRow, ...]:
    """Return a row for each metric that the recording holds, in the order of the metric table.

    Host and devices are read by a process of their own where that is worth it.
    """
    apart = apart_if_worth_it(recording, lambda: recording)
    if apart is None:
        rows = [*_rows_of(recording, _OF_NODEOS), *_rows_of(recording, _BESIDE)]
    else:
        with apart:
            apart.ask(_rows_of, _BESIDE)
            rows = [*_rows_of(recording, _OF_NODEOS), *apart.answer()]
    order = {spec.name: index for index, spec in enumerate(METRICS)}
    return tuple(sorted(rows, key=lambda row: order[row.name]))


def _rows_of(recording: RecordingTables, kinds: Sequence[SubjectKind]) -> list[SummaryRow]:
    return [row for kind in kinds for row in _rows_of_kind(recording, kind)]


def _rows_of_kind(recording: RecordingTables, kind: SubjectKind) -> Iterator[SummaryRow]:
    if kind is SubjectKind.LATENCY:
        yield from _delays(recording)
        return
    for table in dict.fromkeys(spec.table for spec in METRICS if spec.subject is kind):
        specs = [spec for spec in METRICS if spec.subject is kind and spec.table == table]
        subjects = _subjects(recording, kind)
        if isinstance(recording, CachedTables):
            recording.prepare(table, [where for subject, _ in subjects if (where := _where(subject))])
        for subject, nodeos in subjects:
            samples = read_samples(recording, table, columns_of(table), _where(subject))
            if samples is not None:
                yield from _rows(specs, subject, samples, _context(recording.manifest, nodeos))


def _rows(
    specs: Sequence[MetricSpec], subject: Subject, samples: Samples, context: Context
) -> Iterator[SummaryRow]:
    """Yield the rows of one subject."""
    bins = _bins(samples.time_s)
    for spec in specs:
        measured = spec.compute(samples, context)
        row = None if measured is None else _row(spec, subject, measured.series, bins)
        if row is not None:
            yield row


def _delays(recording: RecordingTables) -> Iterator[SummaryRow]:
    """Yield the rows of probes of delay: quantiles of blocks of time."""
    for subject, probe, where in delay_subjects(recording):
        samples = read_samples(recording, "latency", columns_of("latency"), where)
        if samples is not None:
            specs = [spec for spec in METRICS if spec.name.startswith(f"latency.{probe}.")]
            yield from _rows(specs, subject, samples, _context(recording.manifest, None))


def _where(subject: Subject) -> Mapping[str, str] | None:
    named = {"nodeos": subject.nodeos, "device": subject.device}
    return {name: value for name, value in named.items() if value is not None} or None


def _subjects(recording: RecordingTables, kind: SubjectKind) -> list[tuple[Subject, Nodeos | None]]:
    known = {nodeos.id: nodeos for nodeos in recording.manifest.nodeos}
    if kind is SubjectKind.HOST:
        return [(Subject(), None)]
    if kind is SubjectKind.NODEOS:
        ids = dict.fromkeys((*known, *_names(recording, "nodeos", "nodeos")))
        return [(Subject(nodeos=one), known.get(one)) for one in ids]
    devices = _devices(recording)
    if kind is SubjectKind.DEVICE:
        return [(Subject(device=device), None) for device in devices]
    return [(Subject(nodeos=one, device=device), known[one]) for one in known for device in devices]


def _devices(recording: RecordingTables) -> tuple[str, ...]:
    """Return the drives, then what carries a role above them; all that was sampled where no topology is known."""
    manifest = recording.manifest
    known = tuple(device.name for device in shown_devices(manifest, roles_of(manifest)))
    return known or _names(recording, "device", "device")


def _names(recording: RecordingTables, table: str, column: str) -> tuple[str, ...]:
    texts = recording.table(table, ()).texts.get(column)
    return () if texts is None else tuple(sorted(set(texts.tolist()) - {None}))


def _context(manifest: Recording, nodeos: Nodeos | None) -> Context:
    mount = manifest.topology.mount_of(nodeos.state_dir) if nodeos and nodeos.state_dir else None
    cores = manifest.host.number("cores")
    return Context(
        cpus=None if cores is None else float(cores),
        page_bytes=manifest.host.number("page_size_bytes") or DEFAULT_PAGE_BYTES,
        nodeos=nodeos,
        state_on_tmpfs=mount is not None and mount.filesystem == "tmpfs",
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Bins:
    """Equal stretches of a subject's time: how many, and in which each sample lies."""

    count: int
    of_sample: NDArray[np.intp]


def _bins(time_s: NDArray[np.float64]) -> _Bins:
    count = min(SHAPE_BINS, time_s.size)
    edges = np.linspace(time_s[0], time_s[-1], count + 1)
    place = np.searchsorted(edges, time_s, side="right") - 1
    return _Bins(count=count, of_sample=np.clip(place, 0, count - 1))


def _row(spec: MetricSpec, subject: Subject, series: Series, bins: _Bins) -> SummaryRow | None:
    known = _stretch(np.isfinite(series.value) & (series.weight_s > 0))
    if known is None:
        return None
    value, weight_s = series.value[known], series.weight_s[known]
    p50, p95 = quantiles(value, (0.5, 0.95))
    return SummaryRow(
        name=spec.name,
        unit=spec.unit,
        subject=subject,
        mean=float(np.average(value, weights=weight_s)),
        p50=p50,
        p95=p95,
        maximum=float(value.max()),
        samples=int(value.size),
        shape=_shape(bins.of_sample[known], value, bins.count),
    )


def _stretch(wanted: NDArray[np.bool_]) -> slice | NDArray[np.bool_] | None:
    """Return where something is wanted, as a slice if it is one stretch: nothing has to be copied; None: nowhere."""
    count = int(np.count_nonzero(wanted))
    if not count:
        return None
    first, last = int(wanted.argmax()), wanted.size - int(wanted[::-1].argmax())
    return slice(first, last) if last - first == count else wanted


def _shape(bins: NDArray[np.intp], value: NDArray[np.float64], count: int) -> tuple[float | None, ...]:
    sums = np.bincount(bins, weights=value, minlength=count)
    counts = np.bincount(bins, minlength=count)
    return tuple(float(s / n) if n else None for s, n in zip(sums, counts, strict=True))
