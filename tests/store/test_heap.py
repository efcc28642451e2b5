"""Tests of what becomes of freed memory."""

import subprocess
import sys

import pytest

FAULTS = """
import resource, sys
import numpy as np
from leapprof.store.heap import share_heap
if sys.argv[1] == "keep":
    share_heap()
def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt
def columns():
    return [np.ones(600_000) for _ in range(8)]
columns()
before = faults()
for _ in range(20):
    columns()
print(faults() - before)
"""


def faults(how: str) -> int:
    """Return how often the kernel gave a page while columns of a week were made and freed twenty times."""
    done = subprocess.run([sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mallopt is of glibc")
def test_what_is_freed_is_used_again() -> None:
    """Columns of a week take no new pages once there were some; as glibc is set they do each time."""
    assert faults("keep") < 1000 < faults("leave")
