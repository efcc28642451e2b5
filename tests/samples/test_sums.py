"""The recordings of a real nodeos hold what was counted when they were captured.

The windows are those of the captures' load, seconds since the epoch;
the sums were taken from the captured text by hand.
"""

from pathlib import Path

import numpy as np
import pytest

from leapprof.assess.load import LoadedRecording, load
from leapprof.model import Column
from leapprof.units import NS_PER_S, SECTOR_BYTES

SAMPLES = Path(__file__).parent.parent.parent / "samples"
CASES = [
    ("nodeos-v5/mapped", 1796050121.6, 1796050603.0, "vda", 62.2e9, 63.1e9),
    ("nodeos-v5/mapped_private", 1796050880.6, 1796051361.8, "vda", None, 18.0e6),
    ("nodeos-v5/mapped-4k-folios", 1796051641.5, 1796052123.0, "loop0", 7.5e6 * 481, 3.70e9),
    ("nodeos-v4/mapped", 1796052455.0, 1796052755.1, "vda", 283e6 * 300, 85.9e9),
    ("nodeos-v4/heap", 1796052922.4, 1796053222.5, "vda", 11.5e6, 11.2e6),
    ("nodeos-v5-long/mapped", 1796055310.0, 1796057020.0, "loop0", 4.095e6 * 1710, 4.088e6 * 1710),
    ("nodeos-v5-long/mapped_private", 1796055310.0, 1796057020.0, "loop1", 0.0230e6 * 1710, 0.0181e6 * 1710),
]


def growth(
    recording: LoadedRecording, table: str, column: str, where: dict[str, str], window: tuple[float, float]
) -> int:
    """Return by how much a counter grew within a window."""
    found = recording.table(table, (column,), where=where)
    wall_s = found.integers["wall_ns"].values / NS_PER_S
    inside = np.flatnonzero((wall_s >= window[0]) & (wall_s <= window[1]))
    counter: Column = found.integers[column]
    assert counter.present[inside].all()
    return int(counter.values[inside[-1]] - counter.values[inside[0]])


@pytest.mark.parametrize(("name", "start_s", "end_s", "device", "device_bytes", "process_bytes"), CASES)
def test_a_recording_holds_the_sums_of_its_capture(
    name: str, start_s: float, end_s: float, device: str, device_bytes: float | None, process_bytes: float
) -> None:
    """Bytes of the device and of the process under load agree within 3 %."""
    recording, window = load(SAMPLES / name), (start_s, end_s)
    written = growth(recording, "nodeos", "io_write_bytes_total", {"nodeos": "nodeos"}, window)
    assert written == pytest.approx(process_bytes, rel=0.03)
    if device_bytes is not None:
        sectors = growth(recording, "device", "write_sectors_total", {"device": device}, window)
        assert sectors * SECTOR_BYTES == pytest.approx(device_bytes, rel=0.03)
