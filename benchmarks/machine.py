"""Where figures were measured: the machine, and how busy it was."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

BUSY_LOAD = 0.75


def describe(load_before: float) -> str:
    """Return the machine, the date and the load before the measurement began, in words."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    cores = os.cpu_count() or 1
    day = datetime.now(tz=UTC).strftime("%Y-%m-%d")
    loaded = (
        f"while others used the machine (load {load_before:.1f})"
        if is_busy(load_before)
        else "on an idle machine"
    )
    return (
        f"{day} {loaded}: {cores} × {model}, Linux {platform.release().split('-')[0]}, "
        f"Python {platform.python_version()}"
    )


def is_busy(load: float) -> bool:
    """Return whether others used more than a part of the machine."""
    return load > BUSY_LOAD * (os.cpu_count() or 1)


def load_now() -> float:
    """Return the load of the last minute."""
    return os.getloadavg()[0]


def process_count() -> int:
    """Return how many processes run."""
    return sum(path.name.isdigit() for path in Path("/proc").iterdir())


def package_version(package: str) -> str:
    """Return the version of a Debian package; empty when it is not known."""
    words = ["dpkg-query", "-W", "-f", "${Version}", package]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""
