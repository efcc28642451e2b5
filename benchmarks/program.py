"""Runs leapprof as a program and says what it took."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PROGRAM = "import sys; from leapprof.cli.main import main; main()"
KIB = 1024
LOOK_EVERY_S = 0.02
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""An installed program has its bytecode; without it each run would compile all modules anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How one run went, the processes that it made included."""

    elapsed_s: float
    cpu_s: float
    status: int


def words_of(*words: object, program: str = PROGRAM) -> list[str]:
    """Return the command line that runs leapprof."""
    return [sys.executable, "-c", program, *map(str, words)]


def _started(words: Sequence[str]) -> "subprocess.Popen[bytes]":
    """Start a program, its output unseen."""
    return subprocess.Popen(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env=_ENVIRONMENT,
    )


def run(words: Sequence[str]) -> Run:
    """Run a program to its end, its output unseen."""
    began = time.monotonic()
    process = _started(words)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(
        elapsed_s=time.monotonic() - began,
        cpu_s=usage.ru_utime + usage.ru_stime,
        status=process.returncode,
    )


def best(words: Sequence[str], times: int) -> Run:
    """Return the quickest of some runs: the others waited for somebody else."""
    return min((run(words) for _ in range(times)), key=lambda one: one.elapsed_s)


def memory_bytes(words: Sequence[str]) -> int:
    """Run a program and return the sum of the most memory that each of its processes ever held.

    That is at least what they held together at any moment: their highest moments need not be one, and what a forked
    process shares with the one before counts twice. It is a run of its own, for looking takes time.
    """
    process = _started(words)
    peaks: dict[int, int] = {}
    while process.poll() is None:
        for pid in (process.pid, *_children(process.pid)):
            peaks[pid] = max(peaks.get(pid, 0), _peak_bytes(pid))
        time.sleep(LOOK_EVERY_S)
    return sum(peaks.values())


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _peak_bytes(pid: int) -> int:
    """Return the most that a process ever held (VmHWM); 0 when it has gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * KIB for line in lines if line.startswith("VmHWM:")), 0)
