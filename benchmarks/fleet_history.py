"""The history of a generated fleet: what node_exporter would have told, and the truth that was planted in it.

Every fifth host is a control. On all hosts load grows by two points of CPU at the change; on the others CPU falls by
ten points, writes fall to a tenth and swap use by 2 GB, a little more here and less there, and memory stays as it is.
On two hosts in a hundred the change did not take. Load has a daily swing and noise that remembers two hours.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DAY_S = 86_400
MEMORY_S = 7200
CONTROL_EVERY = 5
STRAGGLER_EVERY = 50
SERIES = 17
MODES = ("user", "system", "idle", "iowait", "nice")
CPU, WRITES = "host.cpu_percent", "host.drive_write_bytes_per_s"
MEMORY, SWAP = "host.mem_available_bytes", "host.swap_used_bytes"
VERDICTS = {CPU: "improved", WRITES: "improved", SWAP: "improved", MEMORY: "unchanged"}
DRIFT_SHARE = 0.02
Series = dict[tuple[str, str], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedHost:
    """A host before its history is made: its levels, and what the change does to it.

    Attributes:
        is_straggler: the change did not take.
        cpu_share: busy share of its CPUs before.
        cpu_step: what the change adds to that.
        write_rates: bytes a second of its two drives before.
        write_factor: what the change makes of them.
        swap_step: what the change adds to the swap in use.
    """

    number: int
    is_control: bool
    is_straggler: bool
    cpu_share: float
    cpu_step: float
    write_rates: tuple[float, float]
    write_factor: float
    swap_step: float

    @property
    def truth(self) -> dict[str, float]:
        """Return metric → difference, after minus before, that its history holds."""
        return {
            CPU: 100 * (self.cpu_step + DRIFT_SHARE),
            WRITES: (self.write_factor - 1) * sum(self.write_rates),
            SWAP: self.swap_step,
            MEMORY: 0.0,
        }


def plan(number: int) -> PlannedHost:
    """Return a host; the same for the same number."""
    rng = np.random.default_rng((1, number))
    share, scale = rng.uniform(0.35, 0.6), rng.uniform(0.8, 1.2)
    cpu, factor, swap = rng.normal(-0.10, 0.01), rng.uniform(0.07, 0.13), rng.normal(-2e9, 1e8)
    is_control = number % CONTROL_EVERY == CONTROL_EVERY - 1
    is_straggler = number % STRAGGLER_EVERY == 0
    takes = not is_control and not is_straggler
    return PlannedHost(
        number=number,
        is_control=is_control,
        is_straggler=is_straggler,
        cpu_share=share,
        cpu_step=cpu if takes else 0.0,
        write_rates=(4e6 * scale, 1e6 * scale),
        write_factor=factor if takes else 1.0,
        swap_step=swap if takes else 0.0,
    )


def history(host: PlannedHost, times: NDArray[np.int64], change_s: int) -> Series:
    """Return its series on some equidistant times: name and labels beyond the instance → values."""
    rng = np.random.default_rng((2, host.number))
    after = times > change_s
    found = _cpus(host, times, after, rng) | _drives(host, times, after, rng)
    found["node_boot_time_seconds", ""] = np.full(times.size, times[0] - 1e6)
    found["node_memory_MemAvailable_bytes", ""] = np.round(8e9 + 1e8 * _noise(times, rng), -3)
    free = 3e9 - host.swap_step * after + 1e8 * _noise(times, rng)
    found["node_memory_SwapFree_bytes", ""] = np.round(free, -3)
    found["node_memory_SwapTotal_bytes", ""] = np.full(times.size, 8e9)
    return found


def _cpus(
    host: PlannedHost, times: NDArray[np.int64], after: NDArray[np.bool_], rng: np.random.Generator
) -> Series:
    step_s = int(times[1] - times[0])
    found: Series = {}
    swing = 1 + 0.1 * np.sin(times / DAY_S * 2 * np.pi)
    for cpu in "01":
        busy = host.cpu_share * swing + (host.cpu_step + DRIFT_SHARE) * after + 0.04 * _noise(times, rng)
        busy = np.clip(busy, 0.0, 0.95)
        waits, nice = np.full(times.size, 0.05), np.zeros(times.size)
        shares = (0.8 * busy, 0.2 * busy, 1 - busy - waits, waits, nice)
        for mode, share in zip(MODES, shares, strict=True):
            counter = np.round(np.cumsum(share * step_s), 2)
            found["node_cpu_seconds_total", f'"cpu":"{cpu}","mode":"{mode}"'] = counter
    return found


def _drives(
    host: PlannedHost, times: NDArray[np.int64], after: NDArray[np.bool_], rng: np.random.Generator
) -> Series:
    step_s = int(times[1] - times[0])
    found: Series = {}
    for device, rate in zip(("sda", "nvme0n1"), host.write_rates, strict=True):
        level = rate * np.where(after, host.write_factor, 1.0) * (1 + 0.2 * _noise(times, rng))
        written = np.cumsum(np.maximum(level, 0.0) * rng.gamma(2, 0.5, times.size) * step_s)
        found["node_disk_written_bytes_total", f'"device":"{device}"'] = written // 4096 * 4096
    found["node_disk_written_bytes_total", '"device":"dm-0"'] = found[
        "node_disk_written_bytes_total", '"device":"sda"'
    ]
    return found


def _noise(times: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Return noise of unit variance that remembers two hours."""
    from scipy.signal import lfilter

    keeps = float(np.exp(-(times[1] - times[0]) / MEMORY_S))
    shocks = rng.normal(size=times.size) * np.sqrt(1 - keeps**2)
    shocks[0] = rng.normal()
    return np.asarray(lfilter([1.0], [1.0, -keeps], shocks), dtype=np.float64)
