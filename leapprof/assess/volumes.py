"""Cloud volumes: no TBW that the tenant could see, but limits of operations and bytes a second.

Included baselines, from the providers' documentation: AWS gp3 3,000 operations and 125 MiB/s at any size; Azure
Premium SSD v2 3,000 operations and 125 MB/s. Anything else is given as ``IOPS:MB/s``.
"""

from dataclasses import dataclass

import numpy as np

from leapprof.analysis.rates import counter_rate
from leapprof.assess.load import LoadedRecording
from leapprof.errors import ConfigError
from leapprof.model.wear import VolumeLoad
from leapprof.units import MIB, NS_PER_S, SECTOR_BYTES


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
    if not (limit.iops > 0 and limit.bytes_per_s > 0):
        raise ConfigError(
            f"{name!r} is no volume; give one of {', '.join(KNOWN_VOLUMES)} or IOPS:MB/s, for example 16000:250",
            key="--volume",
        )
    return limit


def volume_load(recording: LoadedRecording, device: str, name: str) -> VolumeLoad:
    """Return the 95th percentiles of operations and bytes a second as shares of a volume's limits."""
    limit = parse_volume(name)
    columns = ("reads_total", "writes_total", "read_sectors_total", "write_sectors_total")
    table = recording.table("device", columns, where={"device": device})
    shares: list[float | None] = [None, None]
    if table is not None and table.rows > 1:
        time_s = table.integers["boottime_ns"].values / NS_PER_S
        rates = [counter_rate(time_s, table.integers[c]).value for c in columns]
        for number, (values, most) in enumerate(
            ((rates[0] + rates[1], limit.iops), ((rates[2] + rates[3]) * SECTOR_BYTES, limit.bytes_per_s))
        ):
            finite = values[np.isfinite(values)]
            shares[number] = float(np.quantile(finite, 0.95)) / most if finite.size else None
    return VolumeLoad(
        volume=name,
        iops_limit=limit.iops,
        bytes_per_s_limit=limit.bytes_per_s,
        iops_share=shares[0],
        bytes_share=shares[1],
    )
