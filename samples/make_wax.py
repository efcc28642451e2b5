"""Makes samples/wax/: the published WAX case, reconstructed: python -m samples.make_wax.

Published (EOSphere's how-to on WAX 5.0, February 2024): a public P2P node with 195–200 peers on 4 cores, 64 GB RAM
and 128 GB swap, a drive of 384 GB and one of 6 TB (ZFS). With the same upgrade as on EOS its CPU **rose** from 40 % to
55 %, but chain-threads, net-threads and producer-threads were set to 4 in the same change: what did it cannot be told.

Invented: the shape around both levels, that four days of each were seen, the days, and that nothing else changed.
"""

import sys
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from leapprof.units import DAY_S, GIB
from samples.eosphere_texts import CORES, Scenario, daily_wave, frames, slow_noise, survey
from samples.replayed import record_frames
from samples.survey_texts import Disk, device_texts

HERE = Path(__file__).parent / "wax"
CHANGE = int(datetime(2024, 2, 1, 12, tzinfo=UTC).timestamp())
NODEOS = "wax-p2p"
HOST = "eosphere-wax"
INTERVAL_S = 120
DAYS = 4
RAM_KB = 64 * GIB // 1024
SOURCE = (
    "Reconstructed from figures published by EOSphere about Leap 5 on WAX (February 2024). Nothing here was "
    "measured by leapprof; the shape around the published levels is invented."
)
COMMON = {"chain-state-db-size-mb": "131072", "max-clients": "200", "data-dir": "/srv/eos/data"}
THREADS = {"chain-threads": "4", "net-threads": "4", "producer-threads": "4"}
DISKS = (
    Disk(name="vda", major_minor="252:0", size_bytes=384_000_000_000, virtual=True, mount="/"),
    Disk(
        name="vdb",
        major_minor="252:16",
        size_bytes=6_000_000_000_000,
        virtual=True,
        mount="/blocks",
        filesystem="zfs",
    ),
)


def _scenario(version: str, percent: float, start: int, seed: int) -> Scenario:
    """Return four days at one level of CPU."""
    count = DAYS * DAY_S // INTERVAL_S + 6
    rng = np.random.default_rng(seed)
    shape = 1.5 * daily_wave(start, INTERVAL_S, count) + 2.0 * slow_noise(rng, count, 0.8)
    return Scenario(
        start_wall_s=start,
        interval_s=INTERVAL_S,
        version=[version] * count,
        map_mode=[""] * count,
        start_ticks=[1_000_000] * count,
        cpu_cores=np.clip(percent + shape, 1.0, 100.0) / 100 * CORES,
        peers=rng.integers(195, 201, count),
        ram_kb=RAM_KB,
    )


def _make(phase: str, scenario: Scenario, config: dict[str, str]) -> None:
    sys.stdout.write(f"wax/{phase}\n")
    first = survey(HOST, NODEOS, scenario.start_ticks[0], device_texts(DISKS))
    record_frames(
        HERE / phase,
        frames(scenario, nodeos_id=NODEOS, first=first, config=config),
        host=HOST,
        phase=phase,
        interval_s=scenario.interval_s,
        notes={
            "origin": SOURCE,
            "invented": "daily wave of ±1.5 points and slow noise of 2 points on CPU; when and how long it was seen",
        },
        version=scenario.version[0],
        reconstructed=SOURCE,
    )


def main() -> None:
    """Make both sides."""
    _make("before", _scenario("v4.0.4", 40.0, CHANGE - (DAYS + 1) * DAY_S, 11), COMMON)
    _make("after", _scenario("v5.0.0", 55.0, CHANGE, 12), COMMON | THREADS)


if __name__ == "__main__":
    main()
