"""One heap for all that reads and computes days of samples: what one part frees, the others use again."""

import ctypes
from contextlib import suppress
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # M_… of glibc's malloc.h
_LARGEST_BYTES = 2**25  # the most that mallopt(3) takes: a column of four million samples
_KEPT_BYTES = 2**30


@cache
def share_heap() -> None:
    """Let glibc keep what is freed, for all threads, and let pyarrow take its memory there too.

    A column of seven days at 1 Hz is 5 MB, and each step of a computation makes and frees some: as glibc is set,
    each comes from the kernel anew, page by page (mallopt(3)). That is a third of all page faults of ``show``. A pool
    of pyarrow's own keeps what it frees from numpy.
    """
    import pyarrow as pa

    with suppress(AttributeError):  # other C libraries have no mallopt
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _LARGEST_BYTES)
        mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_ARENA_MAX, 1)  # what one thread frees is there for the other
    pa.set_memory_pool(pa.system_memory_pool())
