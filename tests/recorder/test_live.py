"""Tests of the line of the live view."""

from leapprof.cli.live_view import cells
from leapprof.model import Frame, ReadStatus, Section
from leapprof.recorder.live import LiveHost

S = 1_000_000_000
MEMINFO = b"MemTotal: 100 kB\nSwapTotal:  2048 kB\nSwapFree: 1024 kB\n"
DISK = b"   8       0 sda 1 0 8 0 1 0 %d 0 0 0 0\n   7       0 loop0 1 0 8 0 1 0 %d 0 0 0 0\n"


def frame(second: int, busy: int, idle: int, sectors: int) -> Frame:
    """Return a frame of a host."""
    texts = {
        "/proc/stat": b"cpu  %d 0 0 %d 0 0 0 0 0 0\n" % (busy, idle),
        "/proc/meminfo": MEMINFO,
        "/proc/diskstats": DISK % (sectors, sectors),
    }
    return Frame(
        seq=second,
        boottime_ns=second * S,
        wall_ns=second * S,
        deadline_ns=second * S,
        agent_cpu_ns=None,
        agent_rss_bytes=None,
        dropped=0,
        sections=tuple(Section(name=n, status=ReadStatus.OK, text=t) for n, t in texts.items()),
    )


def test_rates_come_from_the_last_two_frames() -> None:
    """CPU, swap and writes per device are those of the last second; loop devices are left out."""
    host = LiveHost(host="h")
    for one in (frame(1, 0, 0, 0), frame(2, 90, 10, 7), frame(3, 120, 80, 2007)):
        host.add(one)
    line = host.line()
    assert line.cpu_percent == 30.0
    assert line.swap_used_bytes == 1024 * 1024
    assert line.write_bytes_per_s == {"sda": 2000 * 512.0}
    assert (line.samples, line.state) == (3, "sampling")


def test_a_reset_is_no_spike() -> None:
    """After a counter went down the value is not known, not huge, not 0."""
    host = LiveHost(host="h")
    for one in (frame(1, 100, 100, 5000), frame(2, 1, 1, 3)):
        host.add(one)
    line = host.line()
    assert line.cpu_percent is None
    assert line.write_bytes_per_s == {}


def test_what_is_not_known_is_a_dash() -> None:
    """Before the first frame, and without nodeos, nothing is shown as 0."""
    shown = cells(LiveHost(host="h").line())
    assert shown == ("h", "–", "–", "–", "–", "–", "–", "–", "0", "0", "waiting")
