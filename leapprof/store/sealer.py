"""One thread for what takes much memory while a recording is sealed.

Allocators (Arrow's and libc's) keep for each thread what it once needed: with a hundred recordings in a hundred threads
that would be a hundred times the memory of one seal.
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
_THREAD = ThreadPoolExecutor(1, thread_name_prefix="leapprof-seal")


def in_sealing_thread(work: Callable[[], T]) -> T:
    """Return what a function returns, or raise what it raises, after the sealing thread has called it.

    The main thread calls it itself: it seals one recording after the other, and Ctrl-C may come there at any moment.
    """
    if threading.current_thread() is threading.main_thread():
        return work()
    return _THREAD.submit(work).result()
