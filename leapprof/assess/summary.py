"""One recording in numbers: each metric's mean, quantiles and shape over its whole length. For `leapprof show`."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leapprof.assess.compute import Context
from leapprof.assess.latency import delay_subjects
from leapprof.assess.metrics import METRICS, MetricSpec, SubjectKind, columns_of
from leapprof.assess.samples import RecordingTables, read_samples
from leapprof.assess.subjects import roles_of, shown_devices
from leapprof.model import Nodeos, Recording, Series, Subject

SHAPE_BINS = 40
DEFAULT_PAGE_BYTES = 4096


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
    """Return a row for each metric that the recording holds, in the order of the metric table."""
    rows = [row for kind in SubjectKind for row in _rows_of(recording, kind)]
    order = {spec.name: index for index, spec in enumerate(METRICS)}
    return tuple(sorted(rows, key=lambda row: order[row.name]))


def _rows_of(recording: RecordingTables, kind: SubjectKind) -> Iterator[SummaryRow]:
    if kind is SubjectKind.LATENCY:
        yield from _delays(recording)
        return
    manifest = recording.manifest
    for table in dict.fromkeys(spec.table for spec in METRICS if spec.subject is kind):
        specs = [spec for spec in METRICS if spec.subject is kind and spec.table == table]
        for subject, nodeos in _subjects(recording, kind):
            samples = read_samples(recording, table, columns_of(table), _where(subject))
            if samples is None:
                continue
            context = _context(manifest, nodeos)
            for spec in specs:
                measured = spec.compute(samples, context)
                row = None if measured is None else _row(spec, subject, measured.series)
                if row is not None:
                    yield row


def _delays(recording: RecordingTables) -> Iterator[SummaryRow]:
    """Yield the rows of probes of delay: quantiles of blocks of time."""
    for subject, probe, where in delay_subjects(recording):
        samples = read_samples(recording, "latency", columns_of("latency"), where)
        for spec in METRICS:
            if samples is None or not spec.name.startswith(f"latency.{probe}."):
                continue
            measured = spec.compute(samples, _context(recording.manifest, None))
            row = None if measured is None else _row(spec, subject, measured.series)
            if row is not None:
                yield row


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
    return () if texts is None else tuple(sorted({str(text) for text in texts if text is not None}))


def _context(manifest: Recording, nodeos: Nodeos | None) -> Context:
    facts = manifest.host.facts
    mount = manifest.topology.mount_of(nodeos.state_dir) if nodeos and nodeos.state_dir else None
    cores, page_bytes = facts.get("cores", ""), facts.get("page_size_bytes", "")
    return Context(
        cpus=float(cores) if cores.isdecimal() else None,
        page_bytes=int(page_bytes) if page_bytes.isdecimal() else DEFAULT_PAGE_BYTES,
        nodeos=nodeos,
        state_on_tmpfs=mount is not None and mount.filesystem == "tmpfs",
    )


def _row(spec: MetricSpec, subject: Subject, series: Series) -> SummaryRow | None:
    known = np.isfinite(series.value) & (series.weight_s > 0)
    if not known.any():
        return None
    value, weight_s = series.value[known], series.weight_s[known]
    p50, p95 = np.quantile(value, (0.5, 0.95))
    return SummaryRow(
        name=spec.name,
        unit=spec.unit,
        subject=subject,
        mean=float(np.average(value, weights=weight_s)),
        p50=float(p50),
        p95=float(p95),
        maximum=float(value.max()),
        samples=int(known.sum()),
        shape=_shape(series.time_s, np.where(known, series.value, np.nan)),
    )


def _shape(time_s: NDArray[np.float64], value: NDArray[np.float64]) -> tuple[float | None, ...]:
    count = min(SHAPE_BINS, time_s.size)
    edges = np.linspace(time_s[0], time_s[-1], count + 1)
    bins = np.clip(np.searchsorted(edges, time_s, side="right") - 1, 0, count - 1)
    known = np.isfinite(value)
    sums = np.bincount(bins[known], weights=value[known], minlength=count)
    counts = np.bincount(bins[known], minlength=count)
    return tuple(float(s / n) if n else None for s, n in zip(sums, counts, strict=True))
