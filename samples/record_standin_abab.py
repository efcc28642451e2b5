"""Record samples/standin-abab: the stand-in in mapped, mapped_private, mapped, mapped_private.

    python samples/record_standin_abab.py DIRECTORY --out OUT [--minutes 30] [--used-mb 600] ...

DIRECTORY lies on a filesystem of its own, whose device nothing else writes to. For 4 KiB folios, as in the
captures of a real nodeos, its read-ahead is off::

    truncate -s 8G disk.img; DEVICE=$(losetup -f --show disk.img); mkfs.ext4 $DEVICE
    blockdev --setra 0 $DEVICE; mount $DEVICE DIRECTORY

Each phase leaves ``OUT/<n>-<mode>.wire``, the bytes of the agent as they came (survey, then one frame a
second), and ``OUT/<n>-<mode>-stop.wire``: a second run of the agent over the stop that ended the phase.
The recorder makes recordings of them by replay, so that a mended parser reads them anew.
"""

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from leapprof.agent.bootstrap import python_command, python_payload
from leapprof.agent.frame import FrameDecoder
from leapprof.agent.plan import (
    BEAT_MESSAGE,
    END_MESSAGE,
    ChildFile,
    ConfigRead,
    HttpGet,
    Link,
    Listing,
    Match,
    Plan,
    ProcessFile,
    Read,
    StatVfs,
    encode_plan,
    plan_message,
)
from leapprof.ingest.reads import FACT_READS, KEEP_LINES, TOPOLOGY_LINKS, TOPOLOGY_LISTINGS, TOPOLOGY_READS
from leapprof.model import Frame
from leapprof.probes import PROBES

MODES = ("mapped", "mapped_private", "mapped", "mapped_private")
ADDRESS = "127.0.0.1:27431"
MATCH_ID = "standin"
STOP_BEFORE_S, STOP_AFTER_S = 10, 40  # of a stop: a bit of the run, and one write-back cycle after it
BEAT_S = 10.0
CHECK_AFTER_S = 25
START_ATTEMPTS = 12
PYTHON = "/usr/bin/python3"

CONFIG = """\
# The stand-in's config.ini
database-map-mode = {mode}
chain-state-db-size-mb = 2048
http-server-address = {address}
chain-threads = 2
net-threads = 4
used-mb = {used_mb}
transactions-per-s = {transactions_per_s}
rows-per-transaction = {rows}
write-back = steps
"""

FACT_FILES = (
    *(path for path in FACT_READS if path != "/etc/machine-id"),
    *TOPOLOGY_READS,
    "/proc/diskstats",
    "/proc/uptime",
    "/proc/version",
)
LISTINGS = (*TOPOLOGY_LISTINGS, "/sys/class/block/*/holders")
ALLOWED_OPTIONS = (
    "m", "data-dir", "config-dir", "database-map-mode", "chain-state-db-size-mb", "http-server-address",
    "chain-threads", "net-threads",
)  # fmt: skip


def _matches(data_dir: Path) -> tuple[Match, ...]:
    return (Match(id=MATCH_ID, kind="cmdline", value=f"leapprof.standin --data-dir {data_dir}"),)


def _once(data_dir: Path, config_dir: Path) -> dict[str, object]:
    """Return the readings of the survey, which the sampling plan takes again at its start and end."""
    return {
        "listings": tuple(Listing(path=path) for path in LISTINGS),
        "links": tuple(Link(path=path) for path in TOPOLOGY_LINKS),
        "statvfs": (StatVfs(path=str(data_dir)),),
        "configs": (
            ConfigRead(match_id=MATCH_ID, path=str(config_dir / "config.ini"), options=ALLOWED_OPTIONS),
        ),
        "matches": _matches(data_dir),
        "allowed_options": ALLOWED_OPTIONS,
    }


PROCESS_FACTS = ("cmdline", "exe", "cwd", "limits", "stat", "status")
HTTP_PATHS = ("/v1/chain/get_info", "/v1/db_size/get", "/v1/prometheus/metrics")


def _https(every_ticks: int) -> tuple[HttpGet, ...]:
    return tuple(
        HttpGet(match_id=MATCH_ID, address=ADDRESS, path=path, every_ticks=every_ticks) for path in HTTP_PATHS
    )


def survey_plan(data_dir: Path, config_dir: Path) -> Plan:
    """Return the plan of one frame with the facts of host, devices and stand-in."""
    reads = tuple(Read(path=path, every_ticks=0, keep=KEEP_LINES.get(path, ())) for path in FACT_FILES)
    files = tuple(ProcessFile(name=name, every_ticks=0) for name in PROCESS_FACTS)
    once = _once(data_dir, config_dir)
    return Plan(ticks=1, reads=reads, process_files=files, https=_https(0), **once)  # type: ignore[arg-type]


def sampling_plan(data_dir: Path, config_dir: Path) -> Plan:
    """Return the plan of one frame a second: every probe, and the survey's facts at start and end."""
    host = [Read(path=p.section, every_ticks=p.every_ticks, keep=p.keep) for p in PROBES if p.scope == "host"]
    sampled = {read.path for read in host}
    host += [
        Read(path=path, every_ticks=0, keep=KEEP_LINES.get(path, ()))
        for path in FACT_FILES
        if path not in sampled
    ]
    files = [
        ProcessFile(name=p.file, every_ticks=p.every_ticks, keep=p.keep)
        for p in PROBES
        if p.scope == "nodeos"
    ]
    sampled = {file.name for file in files}
    files += [ProcessFile(name=name, every_ticks=0) for name in PROCESS_FACTS if name not in sampled]
    children = tuple(
        ChildFile(name=p.file, every_ticks=p.every_ticks, keep=p.keep) for p in PROBES if p.scope == "child"
    )
    once = _once(data_dir, config_dir)
    return Plan(
        reads=tuple(host),
        process_files=tuple(files),
        child_files=children,
        https=_https(10),
        **once,  # type: ignore[arg-type]
    )


class Agent:
    """The agent as a child, whose bytes are appended to a file as they come."""

    def __init__(self, path: Path) -> None:
        """Start it; the file is made anew."""
        self._file = path.open("wb", buffering=0)
        self._child = subprocess.Popen(
            ["/bin/sh", "-c", python_command(PYTHON)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._stdin, self._stdout = self._child.stdin, self._child.stdout
        os.set_blocking(self._stdout.fileno(), False)
        self._decoder = FrameDecoder(path.name)
        self._beat_due = 0.0
        self.frames = 0
        self._stdin.write(python_payload())

    @classmethod
    def started(cls, path: Path, survey: Plan, sampling: Plan) -> tuple[Self, list[Frame]]:
        """Start an agent, take the survey, begin to sample; return it with the survey's frame."""
        agent = cls(path)
        agent.send_plan(survey)
        frames = agent.collect(30, until_frames=1)
        agent.send_plan(sampling)
        return agent, frames

    def send_plan(self, plan: Plan) -> None:
        """Hand the agent a plan."""
        self._stdin.write(plan_message(encode_plan(plan)))

    def collect(self, seconds: float, *, until_frames: int = 0) -> list[Frame]:
        """Append what comes for that long, or until so many frames have come; return the frames.

        Raises:
            RuntimeError: the agent ended.
        """
        end = time.monotonic() + seconds
        found: list[Frame] = []
        while time.monotonic() < end and not (until_frames and len(found) >= until_frames):
            if time.monotonic() >= self._beat_due:
                self._stdin.write(BEAT_MESSAGE)
                self._beat_due = time.monotonic() + BEAT_S
            data = self._stdout.read(1 << 18)
            if data == b"":
                raise RuntimeError(f"the agent ended with {self._child.wait()}")
            if data is None:
                time.sleep(0.1)
                continue
            self._file.write(data)
            found += self._decoder.feed(data)
        self.frames += len(found)
        return found

    def end(self) -> None:
        """Tell the agent to end, and keep its last frame."""
        self._stdin.write(END_MESSAGE)
        with contextlib.suppress(RuntimeError):
            self.collect(10)
        self._stdin.close()
        self._stdout.close()
        self._child.wait(timeout=30)
        self._file.close()


def _say(text: str) -> None:
    print(f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())} {text}", flush=True)


def _start(data_dir: Path, config_dir: Path, log: Path) -> subprocess.Popen[bytes]:
    """Start the stand-in and wait for its first block; try again when its address is taken."""
    for attempt in range(START_ATTEMPTS):
        child = _start_once(data_dir, config_dir, log)
        while b"Received block" not in log.read_bytes():
            if child.poll() is not None:
                break
            time.sleep(0.2)
        else:
            return child
        _say(
            f"attempt {attempt + 1}: the stand-in ended with {child.returncode}: {log.read_bytes()[-200:]!r}"
        )
        time.sleep(5)
    raise RuntimeError(f"the stand-in does not start; see {log}")


def _start_once(data_dir: Path, config_dir: Path, log: Path) -> subprocess.Popen[bytes]:
    command = [PYTHON, "-m", "leapprof.standin", "--data-dir", str(data_dir), "--config-dir", str(config_dir)]
    with log.open("wb") as file:
        return subprocess.Popen(command, cwd=data_dir.parent, stderr=file)


def _stop(child: subprocess.Popen[bytes]) -> float:
    began = time.monotonic()
    child.send_signal(signal.SIGTERM)
    if child.wait(timeout=300) != 0:
        raise RuntimeError(f"the stand-in ended with {child.returncode}")
    return time.monotonic() - began


def _check(frames: Sequence[Frame], device: str) -> None:
    """Raise unless the frames hold what a sample needs."""
    names = {section.name for frame in frames for section in frame.sections if section.status == "ok"}
    for needed in ("/stat", "/status", "/io", "/schedstat"):
        if not any(name.startswith(f"nodeos/{MATCH_ID}/") and name.endswith(needed) for name in names):
            raise RuntimeError(f"no {needed} of the stand-in in {sorted(names)}")
    wanted = {f"http/{MATCH_ID}{path}" for path in HTTP_PATHS}
    wanted |= {"/proc/diskstats", "/proc/stat", "/proc/self/mountinfo", f"/sys/class/block/{device}/dev"}
    if missing := wanted - names:
        raise RuntimeError(f"not in the frames: {sorted(missing)}")
    if not any(
        f" {device} ".encode() in s.text for f in frames for s in f.sections if s.name == "/proc/diskstats"
    ):
        raise RuntimeError(f"{device} is not in diskstats")


def _device(directory: Path) -> str:
    number = directory.stat().st_dev
    return Path(os.path.realpath(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")).name


def _write_config(directory: Path, mode: str, arguments: argparse.Namespace, *, load: bool) -> Path:
    config_dir = directory / "config"
    config_dir.mkdir(parents=True, exist_ok=True)
    text = CONFIG.format(
        mode=mode,
        address=ADDRESS,
        used_mb=arguments.used_mb,
        transactions_per_s=arguments.transactions_per_s if load else 0,
        rows=arguments.rows,
    )
    (config_dir / "config.ini").write_text(text, encoding="ascii")
    return config_dir


def record_phase(directory: Path, out: Path, number: int, mode: str, arguments: argparse.Namespace) -> None:
    """Record one phase and its stop."""
    data_dir, name = directory / "standin", f"{number}-{mode}"
    config_dir = _write_config(directory, mode, arguments, load=True)
    survey, sampling = survey_plan(data_dir, config_dir), sampling_plan(data_dir, config_dir)
    child = _start(data_dir, config_dir, out / f"{name}.log")
    try:
        agent, first = Agent.started(out / f"{name}.wire", survey, sampling)
        first += agent.collect(CHECK_AFTER_S)
        _check(first, _device(directory))
        _say(f"{name}: {len(first)} frames are as they should be")
        agent.collect(arguments.minutes * 60 - CHECK_AFTER_S)
        agent.end()
        _say(f"{name}: {agent.frames} frames")
        agent, _ = Agent.started(out / f"{name}-stop.wire", survey, sampling)
        agent.collect(STOP_BEFORE_S)
    except BaseException:
        child.terminate()
        raise
    took_s = _stop(child)
    agent.collect(STOP_AFTER_S)
    agent.end()
    _say(f"{name}: stopped in {took_s:.1f} s; {agent.frames} frames of the stop")


def prepare(directory: Path, out: Path, arguments: argparse.Namespace) -> None:
    """Make the state once, so that no phase begins with a load from a snapshot."""
    data_dir = directory / "standin"
    data_dir.mkdir(parents=True, exist_ok=True)
    config_dir = _write_config(directory, "mapped", arguments, load=False)
    _stop(_start(data_dir, config_dir, out / "0-load.log"))
    os.sync()


def main() -> int:
    """Record the four phases."""
    parser = argparse.ArgumentParser(description="record the stand-in in A B A B")
    parser.add_argument("directory", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--used-mb", type=int, default=600)
    parser.add_argument("--transactions-per-s", type=float, default=13)
    parser.add_argument("--rows", type=int, default=50)
    parser.add_argument("--phases", type=int, default=len(MODES))
    arguments = parser.parse_args()
    directory = arguments.directory.absolute()
    arguments.out.mkdir(parents=True, exist_ok=True)
    prepare(directory, arguments.out, arguments)
    for number, mode in enumerate(MODES[: arguments.phases], start=1):
        record_phase(directory, arguments.out, number, mode, arguments)
    _say("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
