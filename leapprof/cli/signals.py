"""What asks a command to end."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM, with which systemd and supervisors end a program, raise KeyboardInterrupt as Ctrl-C does.

    In another thread than the main one nothing changes: signals are the main thread's.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
