"""Our reading of this machine's /proc against psutil's, an independent parser."""

import os
from pathlib import Path

import psutil
import pytest

from leapprof.probes.diskstats import parse_diskstats
from leapprof.probes.meminfo import parse_meminfo
from leapprof.probes.pid_stat import parse_pid_stat
from leapprof.probes.pid_status import parse_pid_status
from leapprof.probes.stat import parse_stat
from leapprof.units import SECTOR_BYTES

pytestmark = pytest.mark.skipif(not Path("/proc/diskstats").exists(), reason="/proc of Linux is not mounted")


def read(path: str) -> str:
    """Return the text of a file."""
    return Path(path).read_text()


def test_memory_is_what_psutil_says() -> None:
    """Total memory and swap are the same bytes."""
    ours = parse_meminfo(read("/proc/meminfo"))
    assert ours.mem_total_bytes == psutil.virtual_memory().total
    assert ours.swap_total_bytes == psutil.swap_memory().total


def test_bytes_written_are_between_two_readings_of_psutil() -> None:
    """A sector is 512 bytes, for each device."""
    before = psutil.disk_io_counters(perdisk=True, nowrap=False)
    ours = parse_diskstats(read("/proc/diskstats"))
    after = psutil.disk_io_counters(perdisk=True, nowrap=False)
    for name in set(before) & set(after) & set(ours):
        sectors = ours[name].write_sectors_total
        assert sectors is not None
        assert before[name].write_bytes <= sectors * SECTOR_BYTES <= after[name].write_bytes


def test_cpu_time_is_between_two_readings_of_psutil() -> None:
    """Ticks are hundredths of a second; user holds guest, as in the file."""
    before = psutil.cpu_times().user
    ours = parse_stat(read("/proc/stat"))
    after = psutil.cpu_times().user
    assert ours.cpu_user_ticks_total is not None
    assert before - 0.011 <= ours.cpu_user_ticks_total / os.sysconf("SC_CLK_TCK") <= after + 0.011


def test_own_process_is_what_psutil_says() -> None:
    """Threads and start of this very process."""
    own = psutil.Process()
    threads = own.num_threads()
    stat = parse_pid_stat(read("/proc/self/stat"))
    assert stat.comm == own.name()[:15]
    assert stat.threads is not None
    assert stat.threads in range(
        *sorted((threads, own.num_threads() + 1))
    )  # those of other tests may end meanwhile
    assert stat.start_ticks is not None
    assert abs(psutil.boot_time() + stat.start_ticks / os.sysconf("SC_CLK_TCK") - own.create_time()) < 60
    assert (parse_pid_status(read("/proc/self/status")).rss_bytes or 0) > 0
