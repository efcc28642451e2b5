"""Frames become rows and events; what was not read is missing and never 0."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leapprof.ingest.columns import TABLES
from leapprof.ingest.rows import FrameIngest
from leapprof.ingest.tick import BOOT_ID_PATH
from leapprof.model import Frame, ReadStatus, Section, Table
from tests.ingest.frames import frame, nodeos_texts, stat_text


def ingest(*frames: Frame) -> FrameIngest:
    """Return an ingest that took these frames."""
    taken = FrameIngest()
    for each in frames:
        taken.add(each)
    return taken


def value(table: Table, column: str, row: int = 0) -> int | None:
    """Return one cell, None where it is not present."""
    found = table.integers[column]
    return int(found.values[row]) if found.present[row] else None


def kinds(taken: FrameIngest) -> list[tuple[str, str]]:
    """Return kind and subject of all events."""
    return [(event.kind, event.subject) for event in taken.events()]


DISK = "   8       0 sda 1 0 8 1 {writes} 0 80 2 0 3 4\n"


def test_host_row_joins_all_files_and_the_agents_own_cost() -> None:
    """One frame is one row of the host table, with the agent's cost and clock in it."""
    texts = {
        "/proc/uptime": "12.50 3.00\n",
        "/proc/meminfo": "MemTotal: 4 kB\n",
        "/proc/pressure/io": "some avg10=0 avg60=0 avg300=0 total=7\n",
    }
    host = ingest(frame(1, texts)).tables()["host"]
    assert host.rows == 1
    assert value(host, "uptime_ms") == 12_500
    assert value(host, "mem_total_bytes") == 4096
    assert value(host, "io_pressure_some_us_total") == 7
    assert value(host, "agent_cpu_ns_total") == 100_000
    assert value(host, "seq") == 1


def test_missing_reading_is_missing_and_not_zero() -> None:
    """Columns of a file that was not read are not present."""
    host = ingest(frame(1, {"/proc/uptime": "1.0 1.0\n"})).tables()["host"]
    assert value(host, "swap_total_bytes") is None
    assert value(host, "cpu_user_ticks_total") is None


def test_tables_have_every_column_whatever_was_read() -> None:
    """The columns of a table do not depend on the host."""
    host = ingest(frame(1, {"/proc/uptime": "1.0 1.0\n"})).tables()["host"]
    assert set(host.integers) == {"seq", "boottime_ns", "wall_ns", "boot", *TABLES["host"].integers}
    assert all(column.values.dtype == np.int64 for column in host.integers.values())
    assert all(column.present.dtype == np.bool_ for column in host.integers.values())


def test_denied_and_absent_are_named_once_and_without_pids() -> None:
    """A reading that is refused at each tick is one entry."""
    texts = {
        **nodeos_texts(),
        "nodeos/eos/42/900/io": ReadStatus.DENIED,
        "/proc/pressure/cpu": ReadStatus.ABSENT,
    }
    taken = ingest(frame(1, texts), frame(2, texts))
    assert taken.denied == ("nodeos/eos/io",)
    assert taken.absent == ("/proc/pressure/cpu",)
    assert value(taken.tables()["nodeos"], "io_write_bytes_total") is None


def test_file_that_was_there_before_is_not_absent() -> None:
    """A process that just ended does not make its files absent from the host."""
    gone = {name: ReadStatus.ABSENT for name in nodeos_texts() if name != "/proc/stat"}
    taken = ingest(frame(1, nodeos_texts()), frame(2, {"/proc/stat": "ctxt 11\n", **gone}))
    assert taken.absent == ()
    assert kinds(taken) == [("nodeos-stopped", "eos")]


def test_unreadable_file_is_named_and_its_columns_are_missing() -> None:
    """A file in a form that we do not know costs its own columns alone."""
    taken = ingest(frame(1, {"/proc/uptime": "1.0 1.0\n", "/proc/meminfo": "MemTotal: much\n"}))
    assert list(taken.unreadable) == ["/proc/meminfo"]
    assert value(taken.tables()["host"], "uptime_ms") == 1000


def test_cut_text_loses_its_torn_last_line() -> None:
    """Half a number is not taken for a number."""
    cut = Section(name="/proc/meminfo", status=ReadStatus.CUT, text=b"MemTotal: 8 kB\nMemFree: 12")
    taken = FrameIngest()
    taken.add(replace(frame(1, {}), sections=(cut,), agent_cpu_ns=None))
    host = taken.tables()["host"]
    assert value(host, "mem_total_bytes") == 8192
    assert value(host, "mem_free_bytes") is None
    assert value(host, "agent_cpu_ns_total") is None


def test_device_rows_are_one_a_device() -> None:
    """Each line of diskstats is a row."""
    texts = {"/proc/diskstats": DISK.format(writes=5) + "   8      16 sdb 1 0 8 1 9 0 80 2 0 3 4\n"}
    device = ingest(frame(1, texts)).tables()["device"]
    assert list(device.texts["device"]) == ["sda", "sdb"]
    assert [value(device, "writes_total", row) for row in (0, 1)] == [5, 9]
    assert value(device, "discards_total") is None


def test_cgroup_devices_get_their_kernel_names() -> None:
    """io.stat says major:minor; diskstats knows the name, and a number without a name stays."""
    texts = {
        "/proc/diskstats": DISK.format(writes=5),
        "cgroup/eos/io.stat": "8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0\n9:9 rbytes=7 wbytes=8\n",
    }
    table = ingest(frame(1, texts)).tables()["nodeos_device"]
    assert list(table.texts["device"]) == ["sda", "9:9"]
    assert value(table, "cgroup_write_bytes_total") == 2


def test_cgroup_v1_files_join_in_one_row_and_the_recursive_one_wins() -> None:
    """Bytes and operations come from two files; the plain file leaves out child cgroups."""
    texts = {
        "/proc/diskstats": DISK.format(writes=5),
        "cgroup/eos/blkio.throttle.io_service_bytes_recursive": "8:0 Read 10\n8:0 Write 20\n",
        "cgroup/eos/blkio.throttle.io_service_bytes": "8:0 Read 1\n8:0 Write 2\n",
        "cgroup/eos/blkio.throttle.io_serviced": "8:0 Write 3\n",
        "cgroup/eos/cpuacct.usage": "5000\n",
    }
    table = ingest(frame(1, {**nodeos_texts(), **texts})).tables()
    assert value(table["nodeos_device"], "cgroup_write_bytes_total") == 20
    assert value(table["nodeos_device"], "cgroup_writes_total") == 3
    assert value(table["nodeos"], "cgroup_cpu_us_total") == 5


def test_children_are_summed_beside_their_parent() -> None:
    """CPU and memory of oc-compile are added up under names of their own; without children they are missing."""
    children = {
        "child/eos/50/950/stat": stat_text(50, 950, 30),
        "child/eos/51/951/stat": stat_text(51, 951, 12),
        "child/eos/50/950/status": "VmRSS:\t 4 kB\n",
        "child/eos/51/951/status": "VmRSS:\t 8 kB\n",
    }
    nodeos = ingest(frame(1, {**nodeos_texts(), **children}), frame(2, nodeos_texts())).tables()["nodeos"]
    assert value(nodeos, "child_utime_ticks_total") == 42
    assert value(nodeos, "child_rss_bytes") == 12 * 1024
    assert value(nodeos, "utime_ticks_total") == 1000
    assert value(nodeos, "child_utime_ticks_total", 1) is None


def test_threads_are_rows_by_name() -> None:
    """The thread table has a row for each thread name."""
    texts = {**nodeos_texts(), "nodeos/eos/42/900/threads": "chain-0 113 20 1\nnodeos 9 8 2\n"}
    thread = ingest(frame(1, texts)).tables()["thread"]
    assert list(thread.texts["thread"]) == ["chain-0", "nodeos"]
    assert value(thread, "threads", 1) == 2


def test_what_the_first_frame_shows_has_not_just_started() -> None:
    """A nodeos that runs when the recording begins is no event."""
    assert kinds(ingest(frame(1, nodeos_texts()))) == []


def test_later_nodeos_has_started() -> None:
    """A nodeos that appears later is an event."""
    assert kinds(ingest(frame(1, {"/proc/stat": "ctxt 11\n"}), frame(2, nodeos_texts()))) == [
        ("nodeos-started", "eos")
    ]


def test_other_identity_is_a_restart_without_a_counter_reset() -> None:
    """Another start time is another process, even with the same pid; its counters begin anew."""
    taken = ingest(frame(1, nodeos_texts(start=900)), frame(2, nodeos_texts(start=2000, utime=3)))
    assert kinds(taken) == [("nodeos-restarted", "eos")]


def test_restart_with_a_pause_is_stopped_then_restarted() -> None:
    """A frame in between without the process says that it was down."""
    down = frame(2, {"/proc/stat": "ctxt 11\n"})
    taken = ingest(frame(1, nodeos_texts(pid=42)), down, frame(3, nodeos_texts(pid=43, start=1200)))
    assert kinds(taken) == [("nodeos-stopped", "eos"), ("nodeos-restarted", "eos")]


def test_zombie_has_stopped() -> None:
    """A process that nobody has waited for is still listed, and runs no more."""
    zombie = {name: text.replace("(nodeos) S", "(nodeos) Z") for name, text in nodeos_texts().items()}
    taken = ingest(frame(1, nodeos_texts()), frame(2, zombie), frame(3, zombie))
    assert kinds(taken) == [("nodeos-stopped", "eos")]
    assert taken.tables()["nodeos"].rows == 1


def test_failed_reading_is_named_with_its_reason() -> None:
    """Pressure files exist where the kernel was started with psi=0, and cannot be read."""
    failed = Section(name="/proc/pressure/io", status=ReadStatus.FAILED, text=b"Operation not supported")
    taken = FrameIngest()
    taken.add(replace(frame(1, {"/proc/uptime": "1.0 1.0"}), sections=(failed,)))
    assert taken.unreadable == {"/proc/pressure/io": "Operation not supported"}
    assert (taken.denied, taken.absent) == ((), ())


def test_frame_without_any_tick_reading_says_nothing_of_processes() -> None:
    """A frame that only brings a late answer does not stop a nodeos."""
    taken = ingest(frame(1, nodeos_texts()), frame(2, {"list:/sys/class/block": "sda\n"}))
    assert kinds(taken) == []


def test_new_boot_id_counts_a_boot() -> None:
    """A reboot is an event, and rows after it belong to the next boot; counters may begin anew."""
    first = {BOOT_ID_PATH: "aaa\n", "/proc/diskstats": DISK.format(writes=500)}
    second = {BOOT_ID_PATH: "bbb\n", "/proc/diskstats": DISK.format(writes=5)}
    taken = ingest(frame(1, first), frame(2, second))
    assert kinds(taken) == [("reboot", "")]
    assert [value(taken.tables()["device"], "boot", row) for row in (0, 1)] == [0, 1]


def test_boottime_that_runs_back_is_a_reboot_where_no_boot_id_is_known() -> None:
    """CLOCK_BOOTTIME never goes back within one boot."""
    taken = ingest(frame(1, {}, boottime_s=100), frame(2, {}, boottime_s=3))
    assert (taken.boot, kinds(taken)) == (1, [("reboot", "")])


def test_same_boot_id_after_an_agents_restart_is_no_reboot() -> None:
    """A reconnect sends the boot id again; nothing has happened."""
    texts = {BOOT_ID_PATH: "aaa\n"}
    assert kinds(ingest(frame(1, texts), frame(2, texts))) == []


def test_falling_counter_is_a_reset() -> None:
    """A counter that goes down within one identity is an event that names the columns; no wrap is guessed."""
    taken = ingest(
        frame(1, {"/proc/diskstats": DISK.format(writes=500)}),
        frame(2, {"/proc/diskstats": DISK.format(writes=5)}),
    )
    assert kinds(taken) == [("counter-reset", "sda")]
    assert "writes_total" in taken.events()[0].detail


@pytest.mark.parametrize("line", ["cpu  1 2 3 4 {} 6 7 8 9 10\n", "cpu  1 2 3 {} 5 6 7 8 9 10\n"])
def test_falling_iowait_and_idle_are_no_reset(line: str) -> None:
    """proc(5): iowait may decrease."""
    taken = ingest(frame(1, {"/proc/stat": line.format(50)}), frame(2, {"/proc/stat": line.format(49)}))
    assert kinds(taken) == []


def test_step_of_the_wall_clock_is_an_event() -> None:
    """The wall clock set by 5 s is an event; the rows go on by boottime."""
    taken = ingest(frame(1, {}), frame(2, {}, wall_step_s=5.0), frame(3, {}, wall_step_s=5.0))
    assert kinds(taken) == [("clock-step", "")]
    assert "+5.000 s" in taken.events()[0].detail


def test_slewed_clock_is_no_step() -> None:
    """500 ppm over an hour without samples is within what adjtimex does."""
    taken = ingest(frame(1, {}), frame(3601, {}, wall_step_s=1.8))
    assert kinds(taken) == []


def test_change_of_the_number_of_cpus_is_an_event() -> None:
    """A hot-plugged CPU changes what a share of all cores means."""
    online = "/sys/devices/system/cpu/online"
    taken = ingest(frame(1, {online: "0-3\n"}), frame(2, {}), frame(3, {online: "0-1\n"}))
    assert kinds(taken) == [("cpu-count-changed", "")]


def test_drained_rows_are_gone_and_counters_go_on() -> None:
    """Sealing takes the rows; a reset across a seal is still seen."""
    taken = ingest(frame(1, {"/proc/diskstats": DISK.format(writes=500)}))
    assert taken.drain()["device"].rows == 1
    assert taken.tables() == {}
    taken.add(frame(2, {"/proc/diskstats": DISK.format(writes=5)}))
    assert kinds(taken) == [("counter-reset", "sda")]


NAMES = st.one_of(
    st.sampled_from(
        [
            "/proc/stat",
            "/proc/diskstats",
            "nodeos/a/1/2/stat",
            "nodeos/a/x/2/stat",
            "nodeos/a",
            "child/a/1/2/status",
            "cgroup/a",
            "cgroup/a/io.stat",
            "http/a/v1/chain/get_info",
            "http/",
            "http/a/v1/prometheus/metrics",
            BOOT_ID_PATH,
        ]
    ),
    st.text(max_size=30),
)
SECTIONS = st.builds(Section, name=NAMES, status=st.sampled_from(ReadStatus), text=st.binary(max_size=80))


@settings(max_examples=200, deadline=None)
@given(sections=st.lists(SECTIONS, max_size=6))
def test_no_frame_breaks_the_ingest(sections: list[Section]) -> None:
    """Whatever a host sends, the frames before and after it are kept."""
    hostile = replace(frame(2, {}), sections=tuple(sections))
    taken = ingest(frame(1, nodeos_texts()), hostile, frame(3, nodeos_texts()))
    assert taken.tables()["nodeos"].rows >= 2
