"""Makes samples/eosphere/: recordings reconstructed from EOSphere's published figures: python -m samples.make_eosphere.

- ``month``: 14 days before and after 2024-01-22 20:00, CPU 85 % then 60 % (one continuous recording, every 5 minutes)
- ``drive-mapped`` and ``drive-mapped_private``: drive 1 at 4 MB/s and at 12 kB/s, 10–15 transactions a second
- ``memory-first-start``, ``memory-second-start``, ``memory-mapped``: the three memory situations
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from leapprof.units import DAY_S, GIB
from samples.eosphere_texts import (
    CORES,
    SOURCE,
    Scenario,
    bursts,
    daily_wave,
    frames,
    slow_noise,
    survey,
)
from samples.replayed import record_frames

HERE = Path(__file__).parent / "eosphere"
CHANGE = int(datetime(2024, 1, 22, 20, tzinfo=UTC).timestamp())
NODEOS = "eos-p2p"
HOST = "eosphere"
GIB_KB = GIB // 1024
COMMON = {
    "chain-state-db-size-mb": "131072",
    "max-clients": "200",
    "data-dir": "/srv/eos/data",
}


def _cpu_cores(start: int, interval_s: int, count: int, percent: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (count,) cores: the published level with an invented daily wave and slow noise."""
    rng = np.random.default_rng(20240122)
    shape = 2.0 * daily_wave(start, interval_s, count) + 2.5 * slow_noise(rng, count, 0.95)
    return np.clip(percent + shape, 1.0, 100.0) / 100 * CORES


def _month() -> Scenario:
    interval_s, days = 300, 14
    count = 2 * days * DAY_S // interval_s + 1
    start = CHANGE - days * DAY_S
    after = start + interval_s * np.arange(count) >= CHANGE
    rng = np.random.default_rng(1)
    return Scenario(
        start_wall_s=start,
        interval_s=interval_s,
        version=["v5.0.0" if flag else "v4.0.4" for flag in after],
        map_mode=["" for _ in after],
        start_ticks=[2_000_000 if flag else 1_000_000 for flag in after],
        cpu_cores=_cpu_cores(start, interval_s, count, np.where(after, 60.0, 85.0)),
        peers=rng.integers(180, 196, count),
    )


def _drive(version: str, map_mode: str, bytes_per_s: float, seed: int) -> Scenario:
    interval_s, count = 10, 2 * 3600 // 10 + 31
    start = CHANGE + (0 if map_mode == "mapped" else DAY_S)
    rng = np.random.default_rng(seed)
    return Scenario(
        start_wall_s=start,
        interval_s=interval_s,
        version=[version] * count,
        map_mode=[map_mode] * count,
        start_ticks=[1_000_000] * count,
        write_bytes=bursts(rng, interval_s, count, bytes_per_s),
        transactions=rng.uniform(10, 15, count) * interval_s,
        peers=rng.integers(180, 196, count),
    )


def _memory(map_mode: str, anon_gib: float, file_gib: float, swap_gib: float) -> Scenario:
    """Return 40 minutes from a start: memory rises to its level within ten minutes."""
    interval_s, count = 10, 40 * 60 // 10
    rise = np.minimum(np.arange(count) * interval_s / 600, 1.0)
    rng = np.random.default_rng(7)
    return Scenario(
        start_wall_s=CHANGE + 2 * DAY_S,
        interval_s=interval_s,
        version=["v5.0.0"] * count,
        map_mode=[map_mode] * count,
        start_ticks=[1_000_000_000] * count,
        rss_anon_kb=np.asarray(rise * anon_gib * GIB_KB, dtype=np.int64),
        rss_file_kb=np.asarray(rise * file_gib * GIB_KB, dtype=np.int64),
        swap_kb=np.asarray(rise * swap_gib * GIB_KB, dtype=np.int64),
        peers=rng.integers(180, 196, count),
    )


def _make(name: str, phase: str, scenario: Scenario, invented: str) -> None:
    sys.stdout.write(f"eosphere/{name}\n")
    mode = scenario.map_mode[0]
    config = COMMON | {"database-map-mode": mode} if mode else None
    first = survey(HOST, NODEOS, scenario.start_ticks[0], {})
    record_frames(
        HERE / name,
        frames(scenario, nodeos_id=NODEOS, first=first, config=config),
        host=HOST,
        phase=phase,
        interval_s=scenario.interval_s,
        notes={"origin": SOURCE, "invented": invented},
        version=scenario.version[0],
        reconstructed=SOURCE,
    )


def main() -> None:
    """Make all of them."""
    _make(
        "month",
        "",
        _month(),
        "daily wave of ±2 points and slow noise of 2.5 points on CPU; map mode not stated",
    )
    _make("drive-mapped", "before", _drive("v5.0.0", "mapped", 4e6, 3), "bursts around 4 MB/s; when it was")
    _make(
        "drive-mapped_private",
        "after",
        _drive("v5.0.0", "mapped_private", 12e3, 4),
        "bursts around 12 kB/s; when it was",
    )
    sizes = "all sizes of memory: only which situation takes more is published"
    _make("memory-first-start", "first-start", _memory("mapped_private", 27.0, 0.2, 24.0), sizes)
    _make("memory-second-start", "second-start", _memory("mapped_private", 2.0, 6.0, 0.0), sizes)
    _make("memory-mapped", "mapped", _memory("mapped", 0.3, 9.0, 0.0), sizes)


if __name__ == "__main__":
    main()
