"""Cloud volumes: no TBW that the tenant could see, but limits of operations and bytes a second.

Included baselines, from the providers' documentation: AWS gp3 3,000 operations and 125 MiB/s at any size; Azure
Premium SSD v2 3,000 operations and 125 MB/s. Anything else is given as ``IOPS:MB/s``.
"""

from dataclasses import dataclass

import numpy as np

from leapprof.analysis.rates import rate_on
from leapprof.assess.samples import RecordingTables, read_samples
from leapprof.errors import ConfigError
from leapprof.model.wear import VolumeLoad
from leapprof.units import MIB, SECTOR_BYTES

PERCENTILE = 0.95
MOST = 1e15


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeLimit:
    """Operations and bytes a second that a volume allows."""

    iops: float
    bytes_per_s: float


KNOWN_VOLUMES = {
    "gp3": VolumeLimit(iops=3000, bytes_per_s=125 * MIB),
    "premium-v2": VolumeLimit(iops=3000, bytes_per_s=125e6),
}


def parse_volume(name: str) -> VolumeLimit:
    """Return the limits of a volume kind, or of ``IOPS:MB/s``.

    Raises:
        ConfigError: neither.
    """
    if name in KNOWN_VOLUMES:
        return KNOWN_VOLUMES[name]
    iops, _, megabytes = name.partition(":")
    try:
        limit = VolumeLimit(iops=float(iops), bytes_per_s=float(megabytes) * 1e6)
    except ValueError:
        limit = VolumeLimit(iops=0, bytes_per_s=0)
    if not (0 < limit.iops < MOST and 0 < limit.bytes_per_s < MOST):
        raise ConfigError(
            f"{name!r} is no volume; give one of {', '.join(KNOWN_VOLUMES)} or IOPS:MB/s, for example 16000:250",
            key="--volume",
        )
    return limit


def volume_load(recording: RecordingTables, device: str, name: str) -> VolumeLoad:
    """Return the 95th percentiles of operations and bytes a second as shares of a volume's limits."""
    limit = parse_volume(name)
    return VolumeLoad(
        volume=name,
        iops_limit=limit.iops,
        bytes_per_s_limit=limit.bytes_per_s,
        iops_share=_p95(recording, device, ("reads_total", "writes_total"), 1.0, limit.iops),
        bytes_share=_p95(
            recording, device, ("read_sectors_total", "write_sectors_total"), SECTOR_BYTES, limit.bytes_per_s
        ),
    )


def _p95(
    recording: RecordingTables, device: str, columns: tuple[str, ...], scale: float, most: float
) -> float | None:
    """Return the 95th percentile of a sum of counters' rates as a share; None where one was not read."""
    samples = read_samples(recording, "device", columns, {"device": device})
    total = samples.sum_of(*columns) if samples is not None else None
    if samples is None or total is None:
        return None
    series = rate_on(samples.times, total, scale=scale)
    finite = series.value[np.isfinite(series.value)]
    return float(np.quantile(finite, PERCENTILE)) / most if finite.size else None
