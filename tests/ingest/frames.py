"""Frames and survey texts for the tests of ingest."""

from collections.abc import Mapping

from leapprof.model import Frame, ReadStatus, Section

SECOND_NS = 1_000_000_000
WALL_NS = 1_796_000_000 * SECOND_NS

STAT_LINE = (
    "{pid} (nodeos) S 1 1 1 0 -1 4194560 31837 0 7 0 {utime} 248 0 0 20 0 15 0 {start} 3133440 394"
    " 18446744073709551615 1 1 1 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
)


def section(name: str, text: str | ReadStatus) -> Section:
    """Return a reading that succeeded with a text, or failed with a status."""
    if isinstance(text, ReadStatus):
        return Section(name=name, status=text, text=b"")
    return Section(name=name, status=ReadStatus.OK, text=text.encode())


def frame(
    seq: int,
    texts: Mapping[str, str | ReadStatus],
    *,
    boottime_s: float | None = None,
    wall_step_s: float = 0.0,
) -> Frame:
    """Return the frame of second ``seq`` after the first, with these sections."""
    since_boot_ns = round((seq if boottime_s is None else boottime_s) * SECOND_NS) + 1000 * SECOND_NS
    return Frame(
        seq=seq,
        boottime_ns=since_boot_ns,
        wall_ns=WALL_NS + seq * SECOND_NS + round(wall_step_s * SECOND_NS),
        deadline_ns=since_boot_ns,
        agent_cpu_ns=seq * 100_000,
        agent_rss_bytes=13_000_000,
        dropped=0,
        sections=tuple(section(name, text) for name, text in texts.items()),
    )


def stat_text(pid: int, start: int, utime: int = 1000) -> str:
    """Return /proc/PID/stat of a nodeos."""
    return STAT_LINE.format(pid=pid, start=start, utime=utime)


def nodeos_texts(nodeos: str = "eos", pid: int = 42, start: int = 900, utime: int = 1000) -> dict[str, str]:
    """Return what every tick reads of a nodeos, beside /proc/stat."""
    return {
        "/proc/stat": "cpu  1 2 3 4 5 6 7 8 9 10\nctxt 11\n",
        f"nodeos/{nodeos}/{pid}/{start}/stat": stat_text(pid, start, utime),
    }
