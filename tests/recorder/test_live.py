"""Tests of the line of the live view."""

import io
from dataclasses import replace

from rich.console import Console

from leapprof.cli.live_view import cells, live_table
from leapprof.model import Frame, ReadStatus, Section
from leapprof.recorder.live import LiveHost, LiveLine

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


def test_a_row_fits_a_terminal_of_80_columns() -> None:
    """No number is cut, and neither is a head; what is 0 on every host has no column."""
    host = LiveLine(
        host="wax-node-2.example.org",
        cpu_percent=99.5,
        rss_anon_bytes=17 * 2**30,
        rss_file_bytes=22 * 2**30,
        rss_shmem_bytes=0,
        swap_used_bytes=128 * 2**30,
        write_bytes_per_s={"sda": 4e6, "sdb": 1.0},
        head_lag_s=12.51,
        samples=1234,
        gaps=3,
        state="cannot connect to 10.0.0.1:22: Connection refused",
    )
    out = io.StringIO()
    Console(file=out, width=80).print(live_table((host,), 80))
    text = out.getvalue()
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "shmem" not in text
    for part in ("99.5 %", "17.0 GiB", "22.0 GiB", "128 GiB", "12.5 s", "gaps", "swap"):
        assert part in text


def test_the_lag_stays_until_nodeos_tells_it_anew() -> None:
    """A line between two questions, ten seconds apart, shows the last answer, also when it is 0."""
    host = LiveHost(host="h")
    answer = (
        b'200 500 nodeos/v5.0.3\n{"head_block_num": 7, "last_irreversible_block_num": 6, '
        b'"head_block_time": "1970-01-01T00:00:02.000"}'
    )
    told = frame(2, 90, 10, 7)
    asked = Section(name="http/eos/v1/chain/get_info", status=ReadStatus.OK, text=answer)
    host.add(frame(1, 0, 0, 0))
    assert host.line().head_lag_s is None
    host.add(replace(told, sections=(*told.sections, asked)))
    for second in (3, 4, 5):
        host.add(frame(second, 100 * second, 10, 7))
    assert host.line().head_lag_s == 0.0
