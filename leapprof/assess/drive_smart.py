"""What drives say of themselves, from a recording's SMART readings; and three meters of the same writes.

The device counter, the drive's own count of host writes, and what its flash wrote, between the first and the last
reading. Where a meter's step is larger than what was written, the device counter is the one that tells.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from leapprof.analysis.allowance import Nature, allowing
from leapprof.analysis.batch import Span, batch_length_s, batch_means, within
from leapprof.analysis.estimate import estimate
from leapprof.analysis.rates import counter_total, rate_on
from leapprof.assess.measure import MeasuredSide, range_of
from leapprof.assess.metrics import spec_of
from leapprof.assess.samples import RecordingTables, read_samples, samples_of
from leapprof.assess.steady import WRITES, SteadyWrites
from leapprof.endurance.ata import calibrated_unit_bytes
from leapprof.endurance.lifetime import plausible_bytes
from leapprof.endurance.smart import SmartReading
from leapprof.model import Column, Device, Table
from leapprof.model.wear import Meter, Smart
from leapprof.units import SECTOR_BYTES, format_bytes, significant

KERNEL, DRIVE, FLASH = "device counter", "SMART host writes", "flash writes"
HOST, NAND, STEP = "host_written_bytes_total", "nand_written_bytes_total", "host_written_step_bytes"
UNDECLARED = "undeclared_writes_total"
MILLI = 1000
FEWEST_STEPS = 10
"""With fewer steps between two readings a counter's own coarseness is over 10 %."""
LINK_BYTES_PER_S = {"NVMe": 16e9}
OTHER_LINK_BYTES_PER_S = 1.2e9
"""PCIe 5.0 with four lanes; SAS with 12 Gbit/s (SATA has half). No drive has taken more than its link gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriveSmart:
    """What is known of one drive from SMART.

    Attributes:
        reading: the latest, None without any; its host bytes are None where they cannot be.
        meters: two or three meters of the time between the first and the last reading.
        implausible: host bytes that the drive claims and that its link could not have carried.
    """

    reading: SmartReading | None
    meters: tuple[Meter, ...] = ()
    implausible: int | None = None

    @property
    def smart(self) -> Smart | None:
        """Return what the drive says of its state."""
        said = self.reading
        if said is None:
            return None
        return Smart(
            percent_used=said.percent_used,
            spare_percent=said.spare_percent,
            spare_threshold_percent=said.spare_threshold_percent,
            power_on_hours=said.power_on_hours,
            media_errors=said.media_errors,
            temperature_celsius=said.temperature_celsius,
            warning=", ".join(said.critical) or None,
        )


def drive_smart(recording: RecordingTables, device: Device, given: SmartReading | None) -> DriveSmart:
    """Return what a drive says of itself.

    Args:
        recording: its table ``smart`` holds what commands ``smart_DEVICE`` printed.
        device: the drive.
        given: a document from a file; it wins over the recording's.
    """
    rows = _rows(recording, device)
    if rows is None:
        return _checked(given, ())
    latest = given or _latest(rows)
    meters, unit = _meters(recording, device, rows)
    if latest.host_written_bytes is None and unit and latest.undeclared_raw is not None:
        latest = replace(latest, host_written_bytes=latest.undeclared_raw * unit)
    return _checked(latest, meters)


def _checked(latest: SmartReading | None, meters: tuple[Meter, ...]) -> DriveSmart:
    """Return the drive without a claim that cannot be."""
    if latest is None or latest.host_written_bytes is None or not latest.power_on_hours:
        return DriveSmart(reading=latest, meters=meters)
    link = LINK_BYTES_PER_S.get(latest.protocol or "NVMe", OTHER_LINK_BYTES_PER_S)
    # The hour that is running is not counted yet.
    if plausible_bytes(latest.host_written_bytes, latest.power_on_hours + 1, link):
        return DriveSmart(reading=latest, meters=meters)
    claimed = latest.host_written_bytes
    return DriveSmart(
        reading=replace(latest, host_written_bytes=None, waf=None), meters=meters, implausible=claimed
    )


def _rows(recording: RecordingTables, device: Device) -> Table | None:
    """Return the rows about a drive: by kernel name, else serial number, else as the namespace of a controller."""
    names = recording.table("smart", ())
    if names is None or not names.rows:
        return None
    told = list(dict.fromkeys(zip(names.texts["device"], names.texts["serial"], strict=True)))
    for name, serial in told:
        if name == device.name or (serial and serial == device.serial):
            return recording.table("smart", None, {"device": str(name)})
    for name, _ in told:
        if re.fullmatch(r"nvme\d+", str(name)) and re.fullmatch(rf"{name}n\d+", device.name):
            return recording.table("smart", None, {"device": str(name)})
    return None


def _latest(rows: Table) -> SmartReading:
    """Return the last value of each column: several commands about a drive may have answered at different ticks."""

    def number(name: str) -> int | None:
        known = _known(rows, name)
        return known[-1] if known else None

    def text(name: str) -> str | None:
        known = [str(t) for t in rows.texts[name] if t is not None]
        return known[-1] if known else None

    host, nand, waf = (number(n) for n in (HOST, NAND, "waf_milli"))
    warning = rows.texts["warning"][-1]
    return SmartReading(
        model=text("model"),
        serial=text("serial"),
        host_written_source=text("meter"),
        host_written_bytes=host,
        host_written_resolution_bytes=number(STEP),
        nand_written_bytes=nand,
        undeclared_raw=number(UNDECLARED),
        percent_used=number("percent_used"),
        spare_percent=number("spare_percent"),
        spare_threshold_percent=number("spare_threshold_percent"),
        power_on_hours=number("power_on_hours"),
        media_errors=number("media_errors_total"),
        temperature_celsius=number("temperature_celsius"),
        capacity_bytes=number("capacity_bytes"),
        waf=waf / MILLI if waf is not None else (nand / host if nand and host else None),
        critical=(warning,) if warning else (),
    )


def _known(rows: Table, name: str) -> list[int]:
    """Return the readings of a column, in the order of time."""
    column = rows.integers.get(name)
    return column.values[column.present].tolist() if column is not None else []


def _meters(recording: RecordingTables, device: Device, rows: Table) -> tuple[tuple[Meter, ...], int | None]:
    """Return the meters of the time between first and last reading, and the unit of an undeclared counter.

    No meters without a counter that was read twice.
    """
    host, nand, raw = (_known(rows, name) for name in (HOST, NAND, UNDECLARED))
    if max(len(host), len(nand), len(raw)) < 2:
        return (), None
    times = samples_of(rows)
    kernel = _kernel_bytes(recording, device.name, float(times.time_s[0]), float(times.time_s[-1]))
    counter = Meter(
        name=KERNEL,
        written_bytes=kernel,
        resolution_bytes=SECTOR_BYTES,
        note="/proc/diskstats, between the first and the last SMART reading",
    )
    meters = [] if kernel is None else [counter]
    unit = None
    if len(raw) > 1 and not host:
        unit = calibrated_unit_bytes(raw[0], raw[-1], kernel) if kernel is not None else None
        note = f"unit {format_bytes(unit)}, told by the device counter" if unit else "unit not known"
        meters.append(_meter(DRIVE, (raw[-1] - raw[0]) * unit if unit else None, unit, None, note))
    elif host:
        step, known = _known(rows, STEP), [str(t) for t in rows.texts["meter"] if t is not None]
        note = known[-1] if known else ""
        meters.append(_meter(DRIVE, _delta(host), step[-1] if step else None, host[-1], note))
    if nand:
        delta, note = _delta(nand), "what the flash wrote"
        if delta and kernel:
            note += f": {significant(delta / kernel)} for each byte of the device counter"
        meters.append(_meter(FLASH, delta, None, nand[-1], note))
    return tuple(meters), unit


def _delta(known: Sequence[int]) -> int | None:
    """Return what a counter counted; None with one reading, or when it went back."""
    return known[-1] - known[0] if len(known) > 1 and known[-1] >= known[0] else None


def _meter(name: str, delta: float | None, step: int | None, life: float | None, note: str) -> Meter:
    """Return a meter; one with too few steps says so."""
    if delta is not None and step and delta < FEWEST_STEPS * step:
        what = "below its resolution" if delta < step else "few steps"
        note += f"; {what} of {format_bytes(step)}: the device counter tells"
    return Meter(name=name, written_bytes=delta, resolution_bytes=step, life_bytes=life, note=note)


def _kernel_bytes(recording: RecordingTables, device: str, start_s: float, end_s: float) -> float | None:
    samples = read_samples(recording, "device", ("write_sectors_total",), {"device": device})
    if samples is None:
        return None
    first, last = np.searchsorted(samples.time_s, [start_s - 1e-6, end_s + 1e-6])
    part = slice(int(first), int(last))
    column = samples.columns["write_sectors_total"]
    found = counter_total(
        samples.time_s[part],
        Column(values=column.values[part], present=column.present[part]),
        samples.breaks[part],
    )
    return found.amount * SECTOR_BYTES if found is not None else None


def smart_writes(recording: RecordingTables, device: Device, span: Span) -> SteadyWrites | None:
    """Return the rate of host writes from the drive's own counter, for a recording without device counters.

    Args:
        recording: say an imported history of SMART documents.
        device: the drive.
        span: seconds on the samples' timeline.
    """
    rows = _rows(recording, device)
    samples = samples_of(rows) if rows is not None else None
    if rows is None or samples is None or not samples.has(HOST):
        return None
    column = samples.columns[HOST]
    series = within(rate_on(samples.times, column), span)
    total = counter_total(samples.time_s, column, samples.breaks)
    length_s = batch_length_s(span.duration_s)
    batches = batch_means(series, span, length_s) if length_s else None
    found = estimate(batches, series, total_per_s=total.per_s if total is not None else None)
    if found is None:
        return None
    found = allowing(found, Nature(memory_s=spec_of(WRITES).memory_s, range=range_of(batches)))
    return SteadyWrites(
        bytes_per_s=found.mean,
        ci95=found.ci95,
        covered_s=found.covered_seconds,
        lower_bound=total is not None and total.lower_bound,
        measured=MeasuredSide(estimate=found, series=series, batches=batches),
        meter=f"{DRIVE}, {_latest(rows).host_written_source or 'the drive'}",
    )
