"""Makes the recordings of starts and stops of a real nodeos: python -m samples.make_starts CAPTURES.

Each recording is several runs of the process one after the other, each from its capture and its log. The logs go
through the agent's own filter. A line of chainbase has no time: it comes with the line before it, and where it says
``complete`` with the line after it.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from leapprof.agent.agent import filter_log
from leapprof.model import Frame, ReadStatus, Section
from leapprof.nodeos.privacy import allowed_option_names
from leapprof.nodeos.told import MARKS, OPTIONS_MARK, _time_ms
from samples.captures import Process, _sections, boot_wall_s, find_process, read_ticks
from samples.make_captures import HERE, Case, survey_sections
from samples.replayed import record_frames

NS_PER_S = 1_000_000_000
LOG_MARKS = [(b"options", OPTIONS_MARK.encode()), *((b"line", mark.encode()) for mark in MARKS)]
ALLOWED = frozenset(
    name.encode()
    for name in (*allowed_option_names(), "config-dir", "data-dir", "snapshot", "disable-replay-opts")
)
LOG_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run of the process.

    Attributes:
        capture, log: files below the captures.
        gone_s: when it had gone, as starts/timeline.txt says.
        words: of its command line beside the directories.
    """

    capture: str
    log: str
    gone_s: float
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A recording of some runs on one loop device."""

    name: str
    phase: str
    base: Case
    runs: tuple[Run, ...]


LONG_A = "v5.0.3-long-mapped"
LONG_B = "v5.0.3-long-mapped_private"
CASES = (
    Recorded(
        name="nodeos-v5-starts/mapped",
        phase="before",
        base=Case(
            capture=LONG_A,
            name="",
            phase="before",
            data_dir="/srv/nodeos/run-long-A/data",
            version="v5.0.3",
            loop="loop0",
            config="config.ini",
        ),
        runs=(
            Run(
                capture=f"{LONG_A}/stop-samples.gz", log=f"{LONG_A}/nodeos-log-300.txt", gone_s=1796057097.237
            ),
            Run(capture="starts/mapped-start.gz", log="starts/mapped-start.log", gone_s=1796057460.452),
        ),
    ),
    Recorded(
        name="nodeos-v5-starts/mapped_private",
        phase="after",
        base=Case(
            capture=LONG_B,
            name="",
            phase="after",
            data_dir="/srv/nodeos/run-long-B/data",
            version="v5.0.3",
            loop="loop1",
            config="config.ini",
        ),
        runs=(
            Run(
                capture=f"{LONG_B}/stop-samples.gz", log=f"{LONG_B}/nodeos-log-300.txt", gone_s=1796057139.284
            ),
            Run(
                capture="starts/first-start-from-snapshot.gz",
                log="starts/first-start-from-snapshot.log",
                gone_s=1796057235.351,
                words=("--snapshot", "/srv/nodeos/snap.bin"),
            ),
            Run(capture="starts/second-start.gz", log="starts/second-start.log", gone_s=1796057382.374),
        ),
    ),
)


def _timed_lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines of a log with the milliseconds since the epoch at which they count as written."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    times = [_time_ms(found[0]) if (found := LOG_TIME.search(line[:40])) else None for line in lines]
    known = [time for time in times if time is not None]
    timed, last = [], known[0]
    for index, (line, time) in enumerate(zip(lines, times, strict=True)):
        if time is None and line.endswith("file, complete."):
            time = next((t for t in times[index:] if t is not None), last)
        last = time if time is not None else last
        timed.append((last, line))
    return timed


def _log_section(
    process: Process, lines: list[tuple[int, str]], after_ms: int, until_ms: int
) -> Section | None:
    text = "\n".join(line for at, line in lines if after_ms < at <= until_ms) + "\n"
    shown = filter_log(text.encode(), LOG_MARKS, ALLOWED)
    return Section(name=process.section("log"), status=ReadStatus.OK, text=shown) if shown else None


def _uptime(wall_s: float, boot_s: int) -> bytes:
    """Return the uptime when a process had gone: nothing else was read then."""
    return f"{wall_s - boot_s:.2f} 0.00\n".encode()


def _run_frames(captures: Path, case: Recorded, run: Run) -> Iterator[Frame]:
    path = captures / run.capture
    process, boot_s = find_process(path, "nodeos"), boot_wall_s(path)
    lines = _timed_lines(captures / run.log)
    ticks = list(read_ticks(path))
    told_ms = 0 if run.words or "starts/" in run.capture else round(ticks[0].wall_s * 1000) - 60_000
    for number, tick in enumerate(ticks):
        is_last = number == len(ticks) - 1
        alive = replace(tick, texts={name: text for name, text in tick.texts.items() if name != "GONE"})
        sections = list(_sections(alive, process))
        if number == 0:
            command = (
                "nodeos",
                "--config-dir",
                _config_dir(case),
                "--data-dir",
                case.base.data_dir,
                *run.words,
            )
            text = ("\0".join(command) + "\0").encode()
            sections.insert(0, Section(name=process.section("cmdline"), status=ReadStatus.OK, text=text))
        now_ms = round(tick.wall_s * 1000)
        log = _log_section(process, lines, told_ms, now_ms)
        told_ms = now_ms
        yield _frame(tick.wall_s, boot_s, (*sections, *((log,) if log else ())))
        if is_last:
            gone_s = max(run.gone_s, tick.wall_s + 0.1)
            rest = _log_section(process, lines, told_ms, round(gone_s * 1000) + 600_000)
            uptime = Section(name="/proc/uptime", status=ReadStatus.OK, text=_uptime(gone_s, boot_s))
            yield _frame(gone_s, boot_s, (uptime, *((rest,) if rest else ())))


def _frame(wall_s: float, boot_s: int, sections: tuple[Section, ...]) -> Frame:
    wall_ns = round(wall_s * NS_PER_S)
    return Frame(
        seq=0,
        boottime_ns=wall_ns - boot_s * NS_PER_S,
        wall_ns=wall_ns,
        deadline_ns=wall_ns - boot_s * NS_PER_S,
        agent_cpu_ns=None,
        agent_rss_bytes=None,
        dropped=0,
        sections=sections,
    )


def _config_dir(case: Recorded) -> str:
    return case.base.data_dir.removesuffix("data") + "config"


def _all_frames(captures: Path, case: Recorded) -> Iterator[Frame]:
    first = find_process(captures / case.runs[0].capture, "nodeos")
    survey = survey_sections(captures, case.base, first)
    seq = 0
    for run in case.runs:
        for frame in _run_frames(captures, case, run):
            seq += 1
            sections = (*survey, *frame.sections[1:]) if seq == 1 else frame.sections
            yield replace(frame, seq=seq, sections=sections)


def main() -> None:
    """Make both."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m samples.make_starts CAPTURES")
    captures = Path(sys.argv[1])
    for case in CASES:
        sys.stdout.write(f"{case.name}\n")
        record_frames(
            HERE / case.name,
            _all_frames(captures, case),
            host="captured",
            phase=case.phase,
            interval_s=1.0,
            version=case.base.version,
            notes={
                "origin": f"captures {', '.join(run.capture for run in case.runs)} of a real nodeos v5.0.3, replayed",
                "build": "nodeos built without optimisation and without EOS VM OC: CPU figures are not a release's",
            },
        )


if __name__ == "__main__":
    main()
