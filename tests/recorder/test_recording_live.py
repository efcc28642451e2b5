"""Tests of the recorder with the real agent on this machine, and a process that stands for nodeos."""

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from leapprof.assess.load import load
from leapprof.errors import LeapprofError, SourceError, StoreError
from leapprof.model import Frame, Gap, Recording
from leapprof.model.access import HostConfig, NodeosSelector
from leapprof.recorder.clock import SystemClock
from leapprof.recorder.hosts import record_hosts
from leapprof.recorder.planning import RecordOptions
from leapprof.recorder.session import HostSession
from leapprof.sources import ChannelClosedError
from leapprof.sources.local import LocalSource

BUSY = "import time\nwhile True:\n sum(range(20000)); time.sleep(0.002)"
NAMES = (f"lp-observed-{os.getpid()}-{n}" for n in itertools.count())


class Watcher:
    """Calls something after some frames or with a process, and keeps what it is told."""

    def __init__(self) -> None:
        self.frames = 0
        self.directory: Path | None = None
        self.gaps: list[Gap] = []
        self.troubles: list[str] = []
        self.problems: list[str | None] = []
        self.on_process: Callable[[int], object] = lambda pid: None
        self._calls: list[tuple[int, object]] = []

    def at(self, frames: int, call: object) -> None:
        """Call something after so many frames."""
        self._calls.append((frames, call))

    def started(self, host: str, directory: Path, manifest: Recording) -> None:
        self.directory = directory

    def sampled(self, host: str, frame: Frame) -> None:
        self.frames += 1
        for frames, call in self._calls:
            if frames == self.frames:
                call()  # type: ignore[operator]
        for pid in {int(s.name.split("/")[2]) for s in frame.sections if s.name.startswith("nodeos/")}:
            self.on_process(pid)

    def gap(self, host: str, gap: Gap) -> None:
        self.gaps.append(gap)

    def trouble(self, host: str, problem: str) -> None:
        self.troubles.append(problem)

    def ended(self, host: str, problem: str | None) -> None:
        self.problems.append(problem)


@contextmanager
def observed(name: str) -> Iterator[subprocess.Popen]:
    """Run a busy process under a name."""
    process = subprocess.Popen([name, "-c", BUSY], executable=sys.executable)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def session(out: Path, watcher: Watcher, source: object = None, **options: object) -> HostSession:
    """Return a session of this machine at ten ticks a second."""
    chosen: dict = {"phase": "before", "interval_s": 0.1, **options}
    return HostSession(
        host=HostConfig(name="local", address="", transport="local"),
        source=source or LocalSource("local"),
        out=out,
        options=RecordOptions(**chosen),
        clock=SystemClock(),
        stop=threading.Event(),
        observer=watcher,
        commands=("leapprof record local",),
    )


def selectors(name: str) -> tuple[NodeosSelector, ...]:
    """Return how the observed process is recognised."""
    return (NodeosSelector(id="eos", kind="cmdline", value=name),)


def test_a_recording_of_this_machine_is_whole(tmp_path: Path) -> None:
    """Host, process and manifest are there, sealed, without gap, and counters grow."""
    name, watcher = next(NAMES), Watcher()
    with observed(name):
        one = session(tmp_path, watcher, selectors=selectors(name))
        watcher.at(12, one.stop.set)
        directory = one.run()
    loaded = load(directory)
    manifest = loaded.manifest
    assert [n.id for n in manifest.nodeos] == ["eos"]
    assert manifest.cost.samples >= 12
    assert manifest.cost.cpu_s is not None
    assert len(manifest.clock_offsets) == 2
    assert all(abs(offset.offset_s) <= offset.round_trip_s for offset in manifest.clock_offsets)
    assert manifest.started_wall_ns is not None and manifest.ended_wall_ns is not None
    nodeos = loaded.table("nodeos", where={"nodeos": "eos"})
    runtime = nodeos.integers["main_runtime_ns_total"]
    assert runtime.present.all()
    assert runtime.values[-1] > runtime.values[0]
    assert not (directory / "journal.sqlite").exists()
    assert loaded.table("host").integers["seq"].values.tolist() == list(range(1, manifest.cost.samples + 1))


def test_a_restart_of_the_process_is_an_event_and_no_spike(tmp_path: Path) -> None:
    """Another pid under the same name restarts the counters in a new identity."""
    name, watcher = next(NAMES), Watcher()
    processes = [subprocess.Popen([name, "-c", BUSY], executable=sys.executable)]
    first = processes[0].pid

    def restart() -> None:
        processes[-1].kill()
        processes[-1].wait()
        processes.append(subprocess.Popen([name, "-c", BUSY], executable=sys.executable))

    try:
        one = session(tmp_path, watcher, selectors=selectors(name))
        watcher.at(8, restart)
        watcher.on_process = lambda pid: one.stop.set() if pid != first else None
        directory = one.run()
    finally:
        processes[-1].kill()
        processes[-1].wait()
    loaded = load(directory)
    kinds = [event.kind for event in loaded.manifest.events]
    assert "nodeos-restarted" in kinds or kinds.count("nodeos-stopped") == 1
    nodeos = loaded.table("nodeos")
    assert len(set(nodeos.integers["start_ticks"].values.tolist())) == 2


CLI = "import sys; from leapprof.cli.main import main; main()"


def wait_for(condition: object, seconds: float = 60.0) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.05)


def start_cli(out: Path) -> subprocess.Popen:
    """Start the real command on this machine."""
    words = ["record", "local", "--out", str(out), "--phase", "before", "--interval", "100ms"]
    return subprocess.Popen(
        [sys.executable, "-c", CLI, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def recorded(out: Path) -> int:
    """Return how many samples can be read."""
    found = list(out.glob("*/recording.json"))
    return load(found[0].parent).table("host").rows if found else 0


def test_kill_9_leaves_a_recording_that_is_read(tmp_path: Path) -> None:
    """After kill -9 everything up to the last samples is there and the manifest is completed."""
    with start_cli(tmp_path) as process:
        wait_for(lambda: recorded(tmp_path) >= 10)
        before = recorded(tmp_path)
        process.send_signal(signal.SIGKILL)
    loaded = load(next(tmp_path.iterdir()))
    assert loaded.table("host").rows >= before
    assert loaded.manifest.ended_wall_ns == int(loaded.table("host").integers["wall_ns"].values[-1])
    assert [finding.code for finding in loaded.manifest.findings if finding.code == "recording-not-closed"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_recording_in_good_order(tmp_path: Path, number: signal.Signals) -> None:
    """Ctrl-C and SIGTERM seal, print the path and end with 130."""
    with start_cli(tmp_path) as process:
        wait_for(lambda: recorded(tmp_path) >= 5)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    directory = next(tmp_path.iterdir())
    assert process.returncode == 130, err
    assert str(directory) in out
    assert "interrupted; what was recorded is kept" in err
    assert not (directory / "journal.sqlite").exists()


class BreakingChannel:
    """A channel that is lost when its source is cut."""

    def __init__(self, channel: object, is_cut: threading.Event) -> None:
        self._channel, self._is_cut = channel, is_cut

    @property
    def stderr_tail(self) -> str:
        return ""

    def read(self, timeout_s: float) -> bytes:
        if self._is_cut.is_set():
            self._channel.close()  # type: ignore[attr-defined]
            raise ChannelClosedError("local", "connection lost")
        return self._channel.read(timeout_s)  # type: ignore[attr-defined, no-any-return]

    def write(self, data: bytes) -> None:
        self._channel.write(data)  # type: ignore[attr-defined]

    def close(self) -> None:
        self._channel.close()  # type: ignore[attr-defined]


class BreakingSource(LocalSource):
    """This machine over a connection that breaks once, when ``is_cut`` is set."""

    def __init__(self) -> None:
        super().__init__("local")
        self.opened, self.is_cut = 0, threading.Event()

    def open(self, command: str) -> object:  # type: ignore[override]
        self.opened += 1
        channel = super().open(command)
        return BreakingChannel(channel, self.is_cut) if self.opened == 1 else channel


def test_a_lost_connection_is_a_gap_and_the_recording_goes_on(tmp_path: Path) -> None:
    """The gap and both events say what happened; sequence numbers go on; no sample is counted twice."""
    watcher = Watcher()
    source = BreakingSource()
    one = session(tmp_path, watcher, source)
    watcher.at(5, source.is_cut.set)
    watcher.at(20, one.stop.set)
    loaded = load(one.run())
    kinds = [e.kind for e in loaded.manifest.events if e.kind.startswith("connection")]
    assert kinds == ["connection-lost", "connection-restored"]
    assert "connection-lost" in [gap.reason for gap in loaded.manifest.gaps]
    sequence = loaded.table("host").integers["seq"].values.tolist()
    assert sequence == sorted(set(sequence))
    assert watcher.troubles == ["connection lost"]


class GoneSource(BreakingSource):
    """This machine over a connection that breaks and cannot be made again."""

    def open(self, command: str) -> object:  # type: ignore[override]
        if self.opened:
            raise SourceError("local", "no route to host")
        return super().open(command)


def test_a_host_that_never_comes_back_fails_and_says_how_much_is_missing(tmp_path: Path) -> None:
    """A recording that holds two seconds of eight is no success; what came is sealed."""
    watcher = Watcher()
    source = GoneSource()
    one = session(tmp_path, watcher, source, duration_s=8.0)
    watcher.at(16, source.is_cut.set)
    with pytest.raises(SourceError, match=r"did not come back: the last [1-7] s are missing"):
        one.run()
    assert watcher.directory is not None
    loaded = load(watcher.directory)
    assert loaded.table("host").rows > 5
    assert [f.code for f in loaded.manifest.findings if f.code == "host-never-came-back"]
    assert not (watcher.directory / "journal.sqlite").exists()


class UnreachableSource(LocalSource):
    """A host that cannot be reached."""

    def run(self, command: str, timeout_s: float) -> object:  # type: ignore[override]
        raise SourceError("far", "no route to host")


def test_a_host_that_fails_ends_nobody_elses_recording(tmp_path: Path) -> None:
    """The other host is recorded to its end, and the failure is said."""
    watcher, failing = Watcher(), Watcher()
    good = session(tmp_path / "a", watcher, duration_s=2.0)
    bad = session(tmp_path / "b", failing, UnreachableSource("far"))
    results = record_hosts((bad, good), good.stop)
    assert isinstance(results[0].error, SourceError)
    assert results[1].error is None
    assert results[1].directory is not None
    assert load(results[1].directory).manifest.cost.samples >= 2
    assert failing.problems == ["far: no route to host"]


def test_a_bug_in_one_session_is_kept_apart(tmp_path: Path) -> None:
    """Even an error that is none of ours becomes the result of its host alone."""
    watcher = Watcher()
    watcher.at(3, lambda: 1 // 0)
    one = session(tmp_path, watcher)
    results = record_hosts((one,), one.stop)
    assert isinstance(results[0].error, LeapprofError)
    assert "ZeroDivisionError" in str(results[0].error)
    assert results[0].directory is not None
    assert load(results[0].directory).table("host").rows >= 2


def can_mount(path: Path) -> bool:
    """Return whether a small tmpfs could be mounted there."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(path)]
    return os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0


def test_a_full_disk_ends_one_host_and_keeps_what_was_recorded(tmp_path: Path) -> None:
    """The error says that the disk is full; the samples before are read."""
    small = tmp_path / "small"
    small.mkdir()
    if not can_mount(small):
        pytest.skip("mount: a tmpfs needs root")
    try:
        watcher = Watcher()
        one = session(small, watcher, interval_s=0.1)
        watcher.at(5, lambda: fill(small))
        results = record_hosts((one,), one.stop)
        assert isinstance(results[0].error, StoreError)
        assert "the disk is full" in str(results[0].error)
        assert results[0].directory is not None
        assert load(results[0].directory).table("host").rows >= 5
    finally:
        subprocess.run(["umount", "-l", str(small)], check=False)


def fill(directory: Path) -> None:
    """Leave no byte free."""
    try:
        with (directory / "ballast").open("wb", buffering=0) as out:
            while out.write(b"x" * 4096):
                pass
    except OSError:
        pass


def test_an_hour_is_sealed_while_recording_goes_on(tmp_path: Path) -> None:
    """Segments follow each other, together they hold every sample once."""
    watcher = Watcher()
    one = session(tmp_path, watcher, seal_every_s=0.5)
    watcher.at(17, one.stop.set)
    directory = one.run()
    assert len(list(directory.glob("host-*.parquet"))) >= 3
    sequence = load(directory).table("host").integers["seq"].values.tolist()
    assert sequence == list(range(1, len(sequence) + 1))
