"""Recordings of many hosts on disk: the CPU of each, two hours a phase, nothing else."""

import numpy as np

from leapprof.importers.blocks import Block, Imported
from leapprof.importers.recording import write_recording
from leapprof.model import Host

HOUR = 3600
START_NS = 1_700_000_000 * 10**9


def recorded(directory, name, phase, busy, seed, *, hours=2.0):
    """Write a recording of a host that is busy by this share, and return its directory."""
    rng = np.random.default_rng(seed)
    times = np.arange(0, int(hours * HOUR), 5)
    shift = 96 * HOUR if phase == "after" else 0
    load = np.clip(busy * rng.gamma(50, 1 / 50, times.size), 0, 1)
    columns = {"cpu_nice_ticks_total": np.zeros(times.size), "cpu_system_ticks_total": np.zeros(times.size)}
    columns["cpu_user_ticks_total"] = np.cumsum(load * 500)
    columns["cpu_idle_ticks_total"] = np.cumsum((1 - load) * 500)
    wall_ns = START_NS + (times + shift) * 10**9
    block = Block(table="host", texts={}, wall_ns=wall_ns, columns=columns)
    host = Imported(host=Host(name=name, boot_id=""), source="test", interval_s=5.0, blocks=(block,))
    return write_recording(host, directory, phase=phase, command="")
