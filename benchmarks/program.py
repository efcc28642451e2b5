"""Runs leapprof as a program and says what it took."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

PROGRAM = "import sys; from leapprof.cli.main import main; main()"
KIB = 1024
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""An installed program has its bytecode; without it each run would compile all modules anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How one run went."""

    elapsed_s: float
    cpu_s: float
    memory_bytes: int
    status: int


def words_of(*words: object, program: str = PROGRAM) -> list[str]:
    """Return the command line that runs leapprof."""
    return [sys.executable, "-c", program, *map(str, words)]


def run(words: Sequence[str]) -> Run:
    """Run a program to its end, its output unseen."""
    began = time.monotonic()
    process = subprocess.Popen(
        words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        env=_ENVIRONMENT,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Run(
        elapsed_s=time.monotonic() - began,
        cpu_s=usage.ru_utime + usage.ru_stime,
        memory_bytes=usage.ru_maxrss * KIB,
        status=process.returncode,
    )


def best(words: Sequence[str], times: int) -> Run:
    """Return the quickest of some runs: the others waited for somebody else."""
    return min((run(words) for _ in range(times)), key=lambda one: one.elapsed_s)
