"""Runs the probes of delay of one period, each as a process of its own: the recorder's work must not delay them."""

import ctypes
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from threading import Event as StopEvent

from leapprof.config.playbook_probes import SERVED, ProbeEntry
from leapprof.config.playbook_schema import Phase
from leapprof.control.commands import shown
from leapprof.errors import SourceError, StoreError
from leapprof.units import NS_PER_S

PATIENCE_S = 120.0
"""For a probe to write what it measured, after its time is over."""
CUT_PATIENCE_S = 15.0
"""The same for one that is ended early; nobody will compare what it measured."""
SERVED_TIMEOUT_S = 1800.0
_POLL_S = 0.2
_MAX_LOG_BYTES = 4096
_PROGRAM = (
    sys.executable,
    "-c",
    "from leapprof.experiment.probing import end_with_parent; end_with_parent(); "
    "from leapprof.cli.main import main; main()",
    "latency",
)
_PR_SET_PDEATHSIG = 1


def end_with_parent() -> None:
    """Let this process end with the one that started it: a killed run leaves no probe behind (prctl(2), Linux)."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def live_words(probe: ProbeEntry, phase: Phase) -> tuple[str, ...]:
    """Return the command line of a probe that runs through a phase; the warm-up is cut off when it is compared."""
    own_warm_up = ("--warm-up", "0s") if probe.latency == "request" else ()
    milliseconds = round((phase.warm_up + phase.duration) * 1000)
    return (*probe.words, *own_warm_up, "--duration", f"{milliseconds}ms")


def served_words(probe: ProbeEntry, began_wall_ns: int, ended_wall_ns: int) -> tuple[str, ...]:
    """Return the command line of a probe that asks a server for the time of a phase."""
    start, end = (
        datetime.fromtimestamp(wall_ns // NS_PER_S, tz=UTC).isoformat()
        for wall_ns in (began_wall_ns, ended_wall_ns)
    )
    return (*probe.words, "--start", start, "--end", end)


@dataclass(slots=True, kw_only=True)
class Probing:
    """The probes of one attempt to record a period.

    Attributes:
        phase: its times.
        phase_name: under which they are recorded.
        out: directory of their recordings, one below it a probe.
        stop: set when a probe fails, so that the phase does not go on in vain.
    """

    phase: Phase
    phase_name: str
    out: Path
    stop: StopEvent
    _running: dict[str, "subprocess.Popen[bytes]"] = field(default_factory=dict)

    @contextmanager
    def running(self, probes: Sequence[ProbeEntry]) -> Iterator[None]:
        """Run the probes that measure while a phase lasts; those that still run at its end are let end."""
        over = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(over,), name="probes", daemon=True)
        try:
            for probe in probes:
                if probe.latency != SERVED:
                    self._running[probe.label] = self._start(probe, live_words(probe, self.phase))
            watcher.start()
            yield
        finally:
            over.set()
            for process in self._running.values():
                is_cut = self.stop.is_set()
                if is_cut and process.poll() is None:
                    process.send_signal(signal.SIGINT)
                _ended(process, CUT_PATIENCE_S if is_cut else PATIENCE_S)

    def ask(self, probes: Sequence[ProbeEntry], began_wall_ns: int, ended_wall_ns: int) -> None:
        """Ask the servers of the others what they counted meanwhile."""
        for probe in probes:
            if probe.latency == SERVED:
                process = self._start(probe, served_words(probe, began_wall_ns, ended_wall_ns))
                self._running[probe.label] = process
                _ended(process, SERVED_TIMEOUT_S)

    def recordings(self) -> dict[str, Path]:
        """Return the recording of each probe by its name.

        Raises:
            SourceError: one failed; the message is its own.
        """
        found = {}
        for name, process in self._running.items():
            made = list((self.out / name).glob("*/recording.json"))
            if process.returncode != 0:
                raise SourceError(f"probe {name}", self._last_words(name) or "it ended without a word")
            if len(made) != 1:
                raise SourceError(
                    f"probe {name}", f"made {len(made)} recordings: one probe for each place, please"
                )
            found[name] = made[0].parent
        return found

    def _start(self, probe: ProbeEntry, words: Sequence[str]) -> "subprocess.Popen[bytes]":
        out = self.out / probe.label
        argv = [*_PROGRAM, *words, "--phase", self.phase_name, "--out", str(out)]
        try:
            self.out.mkdir(parents=True, exist_ok=True)
            with self._log(probe.label).open("wb") as log:
                return subprocess.Popen(  # noqa: S603 - our own program, with the words that the playbook gives it
                    argv,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,  # Ctrl-C is for the run, which hands it on
                )
        except OSError as error:
            raise StoreError(str(self.out), error.strerror or str(error)) from error

    def _watch(self, over: threading.Event) -> None:
        while not over.wait(_POLL_S):
            if any(process.poll() not in (None, 0) for process in self._running.values()):
                self.stop.set()

    def _log(self, name: str) -> Path:
        return self.out / f"{name}.log"

    def _last_words(self, name: str) -> str:
        lines = self._log(name).read_bytes()[-_MAX_LOG_BYTES:].splitlines()
        return shown(lines[-1].removeprefix(b"leapprof: ")) if lines else ""


def _ended(process: "subprocess.Popen[bytes]", timeout_s: float) -> None:
    """Wait for the end of a process; one that does not end is killed."""
    try:
        process.wait(timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
